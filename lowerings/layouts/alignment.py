"""Which dimensions of operands and results follow each other in memory, from their relations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.layouts.memory_order import MemoryOrder, canonical
from xla_dialect.dimensions import (
    RESULT,
    DataFlowEdge,
    Dimension,
    DimensionRelations,
    Numbering,
    Traversal,
)
from xla_dialect.op import Ints, XlaOp, decode, encode
from xla_dialect.shapes.size_arithmetic import finest_groups, permuted
from xla_dialect.shapes.window import Window, WindowAttr, WindowDimension
from xla_dialect.types import is_array
from xla_dialect.xdsl.traversal import tensor_shape

Follower: TypeAlias = Ints | None
"""For each dimension of an array the one of the leader that it follows; None: it has none."""


@dataclass(frozen=True)
class Alignment:
    """
    How the orders of operands and results depend on that of one of them, the leader.

    Each is told by its number; those of results are counted on from the last operand.
    """

    leader: int
    followers: tuple[Follower, ...]
    """None where the order is the array's own, or where there is no array with dimensions."""
    is_free: bool = False
    """Whether operands and results may all be in orders of their own."""
    is_elementwise: bool = False
    """Whether elements are computed each for itself: in any order, tiled ones too."""

    def follow(self, number: int, order: MemoryOrder) -> MemoryOrder:
        """The order of an array that goes with one of the leader."""
        follower = self.followers[number]
        if follower is None:
            return MemoryOrder.default(0)
        if follower == self.followers[self.leader]:
            return order
        led = [d for d in order.major_to_minor if d in follower]
        return MemoryOrder(tuple(follower.index(d) for d in led))

    def lead(self, number: int, order: MemoryOrder) -> MemoryOrder | None:
        """The order of the leader that goes with one of an array; None if it says too little."""
        follower = self.followers[number]
        leader = self.followers[self.leader]
        if follower is None or leader is None or len(follower) != len(leader):
            return None
        return MemoryOrder(tuple(follower[d] for d in order.major_to_minor))


@cache
def forwards_values(op_class: type[Operation]) -> bool:
    """Whether a class declares data-flow edges, such as loops and branches."""
    return issubclass(op_class, XlaOp) and op_class.forwards_values()


def edges_of(op: Operation) -> Iterable[DataFlowEdge]:
    """The data-flow edges of an operation."""
    return op.data_flow_edges() if isinstance(op, XlaOp) else ()


def alignment_of(op: Operation) -> Alignment | None:
    """The alignment of an operation; None where its computation has an order of its own."""
    if not isinstance(op, XlaOp) or not op.results:
        return None
    if any(entry.numbers == RESULT for entry in op.NUMBERING.values()):
        count = len(op.operands) + len(op.results)
        return Alignment(count - 1, (None,) * count, is_free=True)
    if op.is_pointwise():
        return _elementwise(tuple(map(_rank, op.operands)), _rank(op.results[0]))
    relations = op.dimension_relations()
    if relations is None or not relations.operands:
        return None
    is_part = _element_count(op.operands[0]) > _element_count(op.results[0])
    return _alignment(relations, is_part)


def _rank(value: SSAValue) -> int | None:
    return len(tensor_shape(value)) if isinstance(value.type, TensorType) else None


@cache
def _elementwise(operands: tuple[int | None, ...], result: int | None) -> Alignment | None:
    if result is None:
        return None
    all_of_them = tuple(range(result))
    followers = (*(all_of_them if rank == result else None for rank in operands), all_of_them)
    return Alignment(len(operands), followers, is_elementwise=True)


def _element_count(value: SSAValue) -> int:
    return prod(tensor_shape(value)) if isinstance(value.type, TensorType) else 0


@lru_cache(1 << 12)
def _alignment(relations: DimensionRelations, is_part: bool) -> Alignment | None:
    """`is_part`: whether operand 0 has more elements than result 0, and leads."""
    arrays = (*relations.operands, *relations.results)
    if any(factor.along in _OF_THEIR_OWN for factor in relations.factors) or any(
        _is_product(relations, d) for dimensions in arrays for d in dimensions
    ):
        return None
    leader = 0 if is_part else len(relations.operands)
    lead = arrays[leader]
    followers = tuple(_follower(dimensions, lead) for dimensions in arrays)
    if any(dimensions and not f for dimensions, f in zip(arrays, followers, strict=True)):
        return None
    return Alignment(leader, followers)


_OF_THEIR_OWN = (Traversal.GENERATED, Traversal.PROCESSES, Traversal.REGROUPED)
"""Ways along a factor that go by the numbers of dimensions, whatever the properties say."""


def _is_product(relations: DimensionRelations, dimension: Dimension) -> bool:
    """Whether several factors make up a dimension; those of a window only overlap."""
    return len(dimension) > 1 and not isinstance(
        relations.factors[dimension[0]].along, WindowDimension
    )


def _follower(dimensions: Sequence[Dimension], lead: Sequence[Dimension]) -> Follower:
    """By the factors, or by the place where both have one that the other has not."""
    place = {factor: d for d, dimension in enumerate(lead) for factor in dimension}
    taken = {factor for dimension in dimensions for factor in dimension}
    found: list[int] = []
    for d, dimension in enumerate(dimensions):
        common = [place[factor] for factor in dimension if factor in place]
        if common:
            found.append(common[0])
        elif len(dimensions) == len(lead) and not taken.intersection(lead[d]):
            found.append(d)
    is_whole = len(found) == len(dimensions) and len(set(found)) == len(found)
    return tuple(found) if found and is_whole else None


# Operations on arrays in memory order


def renumbered(op: XlaOp, orders: Sequence[MemoryOrder]) -> dict[str, Attribute]:
    """The properties for operands and results in these orders."""
    return {
        name: _renumbered(value, op.NUMBERING[name], _by_number(op, orders))
        if name in op.NUMBERING
        else value
        for name, value in op.properties.items()
    }


def relisted(
    op: XlaOp, operands: Sequence[SSAValue], orders: Sequence[MemoryOrder]
) -> list[SSAValue]:
    """The operands for arrays in these orders: some are one for each dimension."""
    found = list(operands)
    places = op.contract().structure.operands.segments(len(found))
    for name, entry in op.NUMBERING.items():
        place = places.get(name)
        if isinstance(place, slice) and entry.listed is not None:
            found[place] = [
                found[place][d] for d in _by_number(op, orders)(entry.listed).major_to_minor
            ]
    return found


def _by_number(op: XlaOp, orders: Sequence[MemoryOrder]) -> Callable[[int], MemoryOrder]:
    return lambda number: orders[len(op.operands) if number == RESULT else number]


def _renumbered(
    attribute: Attribute, entry: Numbering, order_of: Callable[[int], MemoryOrder]
) -> Attribute:
    value = decode(attribute)
    if isinstance(value, int):
        assert entry.numbers is not None
        return encode(order_of(entry.numbers).place_of(value))
    if isinstance(value, Window):
        assert entry.listed is not None
        order = order_of(entry.listed).major_to_minor
        return WindowAttr(Window(tuple(value.dimensions[d] for d in order)))
    values = cast(Ints, value)
    if entry.listed is not None:
        values = permuted(values, order_of(entry.listed).major_to_minor)
    if entry.numbers is not None:
        values = tuple(order_of(entry.numbers).place_of(d) for d in values)
    return encode(values)


def is_computable(op: XlaOp, orders: Sequence[MemoryOrder]) -> bool:
    """
    Whether an operation on arrays in these orders is one of its class with other numbers.

    It is not where a dimension has to be the last one, or where a fold goes in row-major order.
    """
    if op.is_pointwise() or all(order.is_default for order in orders):
        return True
    relations = op.dimension_relations()
    assert relations is not None
    if not op.NUMBERING and not _keep_places(relations, orders):
        return False
    values = (*op.operands, *op.results)
    sizes = [
        order.physical_sizes(tensor_shape(value)) if is_array(value.type) else ()
        for order, value in zip(orders, values, strict=True)
    ]
    count = len(op.operands)
    found = op.relations_for(sizes[:count], sizes[count:], renumbered(op, orders))
    in_default = [MemoryOrder.default(len(order.major_to_minor)) for order in orders]
    return _shape_of(found, in_default) == _shape_of(relations, orders)


def _keep_places(relations: DimensionRelations, orders: Sequence[MemoryOrder]) -> bool:
    """Whether all dimensions that no factor passes through by itself are where they were."""
    arrays = (*relations.operands, *relations.results)
    return all(
        number == d
        or (dimensions[d] and all(relations.factors[f].is_parallel for f in dimensions[d]))
        for dimensions, order in zip(arrays, orders, strict=True)
        for number, d in enumerate(order.major_to_minor)
    )


def _shape_of(relations: DimensionRelations, orders: Sequence[MemoryOrder]) -> tuple[Any, ...]:
    """The relations of arrays in these orders, their factors numbered as they come up."""
    numbers: dict[int, int] = {}
    arrays = tuple(
        tuple(
            tuple(numbers.setdefault(factor, len(numbers)) for factor in dimensions[d])
            for d in order.major_to_minor
        )
        for dimensions, order in zip((*relations.operands, *relations.results), orders, strict=True)
    )
    found = (relations.factors[number] for number in numbers)
    return (
        arrays,
        [(factor.size, factor.type, factor.along) for factor in found],
        [numbers[factor] for factor in relations.ordered],
    )


def renamed_order(transpose: Operation, before: MemoryOrder) -> MemoryOrder:
    """The order in which a transpose of an array in order `before` moves nothing."""
    alignment = alignment_of(transpose)
    found = None if alignment is None else alignment.lead(0, before)
    assert found is not None, "a transpose has each dimension of its operand"
    return found


def dot_result_order(
    relations: DimensionRelations, left: MemoryOrder, right: MemoryOrder
) -> MemoryOrder:
    """The order of a result whose free dimensions are as in the operands' memory."""
    place = {factor: d for d, (factor,) in enumerate(relations.results[0])}
    first, second = relations.operands
    batch = [factor for factor in place if (factor,) in first and (factor,) in second]
    free = [
        factor
        for dimensions, order in ((first, left), (second, right))
        for d in order.major_to_minor
        for factor in dimensions[d]
        if factor in place and factor not in batch
    ]
    return MemoryOrder(tuple(place[factor] for factor in (*batch, *free)))


def reshaped_order(
    before_sizes: Sequence[int], before: MemoryOrder, after_sizes: Sequence[int]
) -> MemoryOrder | None:
    """
    The order in which a reshape leaves the elements where they are; None if there is none.

    Dimensions that become each other have to stand side by side in memory, the most major first;
    these groups may be in any order. Sizes of 1 may be anywhere.
    """
    if before.tiles:
        return None
    if not prod(before_sizes):
        return MemoryOrder.default(len(after_sizes))
    group_of: dict[int, tuple[Ints, Ints]] = {}
    for mine, theirs in finest_groups(before_sizes, after_sizes):
        dims = tuple(d for d in mine if before_sizes[d] != 1)
        group_of.update(dict.fromkeys(dims[:1], (dims, tuple(theirs))))
    rest = [d for d in before.major_to_minor if before_sizes[d] != 1]
    found: list[int] = []
    while rest:
        dims, others = group_of.get(rest[0], ((), ()))
        if not dims or tuple(rest[: len(dims)]) != dims:
            return None
        found.extend(d for d in others if after_sizes[d] != 1)
        rest = rest[len(dims) :]
    ones = (d for d, size in enumerate(after_sizes) if size == 1)
    return canonical(MemoryOrder((*found, *ones)), tuple(after_sizes))


def is_free_reshape(
    before_sizes: Sequence[int],
    before: MemoryOrder,
    after_sizes: Sequence[int],
    after: MemoryOrder,
) -> bool:
    """Whether a reshape leaves the elements where they are."""
    found = reshaped_order(before_sizes, before, after_sizes)
    return found is not None and found == canonical(after, tuple(after_sizes))
