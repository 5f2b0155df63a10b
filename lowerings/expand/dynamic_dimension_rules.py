"""
What operations become where dimensions are static ones beside sizes.

An array gets its bounds as sizes, and for each dynamic dimension a scalar that counts the elements
that are there, the first ones. What follows them has no meaning, and is masked where it would be
met. So do XLA's passes, which they call dynamic padding. How the dimensions of an operation relate
says it for most; `RULES` are the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import Float8E8M0FNUType
from xdsl.ir import Attribute, Operation, Region

from lowerings.expand.contraction import as_signed
from xla_dialect.analysis.computations import accumulates_in_f32, neutral_element
from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.constraints import flat_results
from xla_dialect.dimensions import (
    Concatenation,
    DimensionRelations,
    FactorType,
    Padding,
    Place,
    Slicing,
    Traversal,
)
from xla_dialect.literals.arrays import numpy_dtype, to_numpy
from xla_dialect.op import Ints, XlaOp, decode
from xla_dialect.ops import data_movement as ops
from xla_dialect.ops.collectives import CollectiveOp
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import ReshapeOp
from xla_dialect.ops.dynamic_shapes import (
    DynamicReshapeOp,
    GetDimensionSizeOp,
    SetDimensionSizeOp,
    whole_windows,
)
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.ops.linear_algebra import CholeskyOp, TriangularSolveOp
from xla_dialect.ops.reduction import ReduceOp, ReduceWindowOp, only_operation
from xla_dialect.ops.sorting import SortOp
from xla_dialect.shapes.size_arithmetic import (
    DynamicSize,
    ReshapeGroup,
    Sizes,
    dilated,
    is_dynamic,
    reshape_groups,
    without,
)
from xla_dialect.shapes.window import WindowDimension
from xla_dialect.types import (
    Array,
    extents,
    is_array,
    sizes_of,
    without_bounds,
)
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.operation_table import OperationTable

Counts: TypeAlias = Mapping[int, XlaValue]
"""By dynamic dimension how many elements are there, as `s32[]`."""


class Sized(NamedTuple):
    """An array of static sizes, of which the first elements along some dimensions count."""

    data: XlaValue
    sizes: Counts


class Check(NamedTuple):
    """What has to hold at run time."""

    holds: XlaValue
    value: XlaValue
    """The number that is wrong if not, `s32[]`."""
    message: str
    """With `{}` for that number."""


@dataclass
class Rules:
    """Builds what takes the place of one operation."""

    b: XlaBuilder
    op: XlaOp
    operands: Sequence[Sized]
    checks: list[Check] = field(default_factory=list[Check])

    def bounds(self, number: int) -> Sizes:
        """The sizes that the type of an operand had, dynamic ones as `DynamicSize`."""
        data, counts = self.operands[number]
        return tuple(DynamicSize(n) if d in counts else n for d, n in enumerate(data.shape))

    @cached_property
    def relations(self) -> DimensionRelations:
        """How the dimensions of the operation relate."""
        found = self.op.dimension_relations()
        assert found is not None
        return found

    @cached_property
    def counts(self) -> Mapping[Place, XlaValue]:
        """
        How many elements are there along dimensions of operands, where some have dynamic sizes.

        Dimensions that belong together all have the smallest of their sizes.
        """
        found: dict[Place, XlaValue] = {}
        for group in self.relations.sized_together:
            known = [self.operands[i].sizes[d] for i, d in group if d in self.operands[i].sizes]
            if known:
                found.update(dict.fromkeys(group, self.smallest(known)))
        return found

    def counted(self, number: int) -> Counts:
        """Those of one operand."""
        return {d: count for (i, d), count in self.counts.items() if i == number}

    def result_bounds(self, number: int = 0) -> Sizes:
        """The sizes of the type of a result, dynamic ones as `DynamicSize`."""
        return sizes_of(cast(Array, self.op.results[number].type))

    def number(self, value: int, element_type: str = "s32") -> XlaValue:
        """An integer constant."""
        return self.b.constant(value, element_type)

    def size(self, x: Sized, dimension: int) -> XlaValue:
        """How many elements are there along a dimension."""
        found = x.sizes.get(dimension)
        return self.number(int(x.data.shape[dimension])) if found is None else found

    def smallest(self, sizes: Iterable[XlaValue]) -> XlaValue:
        """The smallest of sizes."""
        return reduce(self.b.min, {size.ssa: size for size in sizes}.values())

    def wide(self, size: XlaValue) -> XlaValue:
        """A size as `s64[]`, in which no product of sizes overflows."""
        return self.b.convert_element_type(size, "s64")

    def narrow(self, size: XlaValue) -> XlaValue:
        """A size as `s32[]` again."""
        return self.b.convert_element_type(size, "s32")

    def inside(self, sizes: Sequence[int], counts: Counts) -> XlaValue:
        """Of an array of these sizes, where all indices are below the counts."""
        masks = [
            self.b.lt(self._index(sizes, d), self.b.broadcast(count, list(map(int, sizes))))
            for d, count in counts.items()
        ]
        return reduce(self.b.and_, masks)

    def _index(self, sizes: Sequence[int], dimension: int) -> XlaValue:
        return self.b.iota(f"s32[{','.join(str(int(n)) for n in sizes)}]", dimension)

    def filled(self, data: XlaValue, counts: Counts, value: XlaValue | None = None) -> XlaValue:
        """The array with a value, zero by default, in the place of all that is not there."""
        if not counts:
            return data
        value = self.zero(data.element_type) if value is None else value
        return self.b.select(
            self.inside(data.shape, counts), data, self.b.broadcast(value, data.shape)
        )

    def zero(self, element_type: Attribute) -> XlaValue:
        """The scalar whose bits are 0."""
        return self.b.constant(np.zeros((), numpy_dtype(element_type)))

    def again(self, *operands: XlaValue) -> tuple[XlaValue, ...]:
        """The operation on other operands; its results have their bounds as sizes."""
        op = self.op
        return self.b.append(
            create(
                type(op),
                operands=[operand.ssa for operand in operands],
                result_types=[without_bounds(type_) for type_ in op.result_types],
                properties=op.properties,
                attributes=op.attributes,
                regions=[region.clone() for region in op.regions],
            )
        )

    def applied(self, computation: Region, *arguments: XlaValue) -> list[XlaValue]:
        """The results of a computation of the operation, its operations put here."""
        block = computation.block
        known: dict[Any, Any] = dict(
            zip(block.args, (argument.ssa for argument in arguments), strict=True)
        )
        *operations, last = block.ops
        for inner in operations:
            self.b.append(cast(XlaOp, inner.clone(known)))
        assert isinstance(last, ReturnOp)
        return [XlaValue(self.b, known.get(value, value)) for value in last.operands]

    def require(self, holds: XlaValue, value: XlaValue, message: str) -> None:
        """The program fails at run time unless this holds; `{}` in the message is the value."""
        self.checks.append(Check(holds, value, message))

    def scalars(self, computation: Region) -> list[Array]:
        """The types of the scalars that a computation returns."""
        last = computation.block.last_op
        assert last is not None
        return [cast(Array, t) for t in flat_results([value.type for value in last.operands])]


Rule: TypeAlias = Callable[[Rules, Operation, Sequence[Sized]], Sequence[Sized]]
"""From the operation and its operands to what its results become."""


def dynamic(sizes: Sequence[int]) -> list[int]:
    """The dimensions that are dynamic."""
    return [d for d, size in enumerate(sizes) if isinstance(size, DynamicSize)]


NOT_COMPILED = "arrays of dynamic sizes are not compiled here"


def regular(rules: Rules, op: XlaOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """The operation on what is there."""
    return with_sizes(rules, rules.again(*masked(rules)))


def with_sizes(rules: Rules, values: Iterable[XlaValue]) -> list[Sized]:
    """The results, each with those sizes that follow from sizes of the operands."""
    found: list[Sized] = []
    for number, value in enumerate(values):
        sizes = {d: _size(rules, number, d) for d in dynamic(rules.result_bounds(number))}
        found.append(Sized(value, {d: size for d, size in sizes.items() if size is not None}))
    return found


def _size(rules: Rules, result: int, dimension: int) -> XlaValue | None:
    """The size of a dimension of a result; None where it is the bound."""
    relations = rules.relations
    factors = relations.results[result][dimension]
    if len(factors) != 1:
        return None
    along = relations.factors[factors[0]].along
    places = relations.operand_places(relations.sized_as(factors[0]))
    if isinstance(along, Concatenation):
        sizes = [rules.size(rules.operands[i], d) for i, d in places]
        return sum(sizes[1:], sizes[0])
    # Operands with sizes of their own say the size where no other does.
    says = [place for place in places if place[0] not in relations.own_sizes] or places
    count = rules.counts.get(says[0]) if says else None
    follow = _FOLLOWS.get(type(along))
    return count if count is None or follow is None else follow(rules, along, count)


def _sliced(rules: Rules, along: Slicing, count: XlaValue) -> XlaValue:
    """What is there between start and limit."""
    b = rules.b
    end = b.min(count, rules.number(along.limit))
    length = b.max(end - along.start, rules.number(0))
    # Rounded up, without a sum that could overflow.
    return b.div(length, along.stride) + b.min(b.rem(length, along.stride), rules.number(1))


def _padded(rules: Rules, along: Padding, count: XlaValue) -> XlaValue:
    """With what is around and between; the parts may be far larger than their sum."""
    b, none = rules.b, rules.b.constant(0, "s64")
    gaps = b.max(rules.wide(count) - 1, none) * along.interior
    return rules.narrow(b.max(rules.wide(count) + gaps + (along.low + along.high), none))


def placements(rules: Rules, along: WindowDimension, count: XlaValue) -> XlaValue:
    """How often a window fits into a base of a size: `WindowDimension.placements` of it."""
    if not along.moves:
        return count
    b, none = rules.b, rules.b.constant(0, "s64")
    wide = rules.wide(count)
    base = b.select(wide > 0, (wide - 1) * along.base_dilation + 1, none)
    padded = base + (along.padding_low + along.padding_high)
    window = dilated(along.size, along.window_dilation)
    fits = (padded > 0) & (padded >= window)
    found = b.div(b.max(padded - window, none), along.stride) + 1
    return rules.narrow(b.select(fits, found, none))


_FOLLOWS: Mapping[type[object], Callable[[Rules, Any, XlaValue], XlaValue]] = {
    Padding: _padded,
    Slicing: _sliced,
    WindowDimension: placements,
}
"""By how an operation goes along a dimension: the size of a result's from that of an operand's."""


def masked(rules: Rules) -> list[XlaValue]:
    """
    The operands, with what has no influence in the place of what is not there, where it is met.

    It is met where it is reduced, and where a result has no dimension of that size. What changes
    nothing is what the relations say; elsewhere there are zeros.
    """
    return [_masked(rules, number) for number in range(len(rules.operands))]


def _masked(rules: Rules, number: int) -> XlaValue:
    data, relations = rules.operands[number].data, rules.relations
    met: dict[int | None, dict[int, XlaValue]] = {}
    for d, dimension in enumerate(relations.operands[number]):
        count = rules.counts.get((number, d))
        if count is None:
            continue
        neutral = [
            f.neutral
            for f in map(relations.factors.__getitem__, dimension)
            if f.neutral is not None
        ]
        if neutral or not _is_kept(rules, (number, d)):
            met.setdefault(neutral[0] if neutral else None, {})[d] = count
    for neutral, counts in met.items():
        if neutral is not None and isinstance(data.element_type, Float8E8M0FNUType):
            # It has no zero.
            data = rules.b.convert_element_type(data, "f32")
        value = np.array(neutral or 0).astype(numpy_dtype(data.element_type))
        data = rules.filled(data, counts, rules.b.constant(value))
    return data


def _is_kept(rules: Rules, place: Place) -> bool:
    """Whether results have a dimension with the size of one of an operand, and of no other."""
    relations = rules.relations
    (i, d) = place
    places = [p for factor in relations.operands[i][d] for p in relations.result_places(factor)]
    others = [j for f in relations.operands[i][d] for j, _ in relations.operand_places(f)]
    if i in relations.own_sizes and not set(others) <= set(relations.own_sizes):
        return False
    return bool(places) and all(e in dynamic(rules.result_bounds(j)) for j, e in places)


def irregularity(op: XlaOp) -> str | None:
    """Why `regular` does not apply to an operation."""
    relations = op.dimension_relations()
    if relations is None or isinstance(op, CollectiveOp):
        return NOT_COMPILED
    for i, operand in enumerate(op.operands):
        for d in dynamic(extents(operand.type)) if is_array(operand.type) else ():
            if not _is_regular(relations, (i, d)):
                return (
                    f"dimension {d} of operand {i} cannot be dynamic: no rule says what that means"
                )
    return None


def _is_regular(relations: DimensionRelations, place: Place) -> bool:
    """Whether relations tell all that there is to know of a dimension of an operand."""
    dimension = relations.operands[place[0]][place[1]]
    first, *rest = dimension or (None,)
    if first is None:
        return False
    along = relations.factors[first].along
    is_window = isinstance(along, WindowDimension) and len(rest) == 1
    reads = (
        along is None or isinstance(along, Slicing | WindowDimension) or along is Traversal.INDEXED
    )
    reductions = [
        f for f in map(relations.factors.__getitem__, dimension) if f.type is FactorType.REDUCTION
    ]
    if any(factor.neutral is None for factor in reductions):
        return False
    return reads and (not rest or is_window) and bool(reductions or relations.result_places(first))


def get_dimension_size(
    rules: Rules, op: GetDimensionSizeOp, operands: Sequence[Sized]
) -> Sequence[Sized]:
    """The scalar beside the array."""
    return [Sized(rules.size(operands[0], op.dimension.value.data), {})]


def may_fail(op: Operation) -> bool:
    """Whether an operation with dynamic dimensions may go wrong at run time."""
    match op:
        case SetDimensionSizeOp():
            return not _is_within(op)
        case DynamicReshapeOp():
            return True
        case ReshapeOp():
            before, after = (sizes_of(cast(Array, x.type)) for x in (op.operand, op.result))
            return is_dynamic(before) and any(
                is_dynamic([before[d] for d in group.before])
                and (group.open is None or group.rest != 1)
                for group in reshape_groups(before, after)
            )
        case _:
            return False


def _is_within(op: SetDimensionSizeOp) -> bool:
    """Whether the size is a constant that does not exceed the bound."""
    constant = op.size.owner
    if not isinstance(constant, ConstantOp):
        return False
    size = int(cast(Any, to_numpy(constant.value)))
    bound = sizes_of(cast(Array, op.operand.type))[op.dimension.value.data]
    return size == bound if op.is_whole else 0 <= size <= bound


def set_dimension_size(
    rules: Rules, op: SetDimensionSizeOp, operands: Sequence[Sized]
) -> Sequence[Sized]:
    """Another scalar beside the array; zeros where an array may grow."""
    (operand, size), dimension = operands, op.dimension.value.data
    bound = int(operand.data.shape[dimension])
    within = size.data
    if may_fail(op):
        within = rules.b.clamp(rules.number(0), size.data, rules.number(bound))
        message = f"(C4) size {{}} of dimension {dimension}, whose bound is {bound}"
        rules.require(within == size.data, size.data, message)
    known = {d: count for d, count in operand.sizes.items() if d == dimension}
    data = rules.filled(operand.data, known)
    if op.is_whole:
        message = f"(C5) size {{}} of dimension {dimension}, which has {bound} in the result"
        if may_fail(op):
            rules.require(size.data == rules.number(bound), size.data, message)
        return [Sized(data, {d: n for d, n in operand.sizes.items() if d != dimension})]
    return [Sized(data, {**operand.sizes, dimension: within})]


def reshape(rules: Rules, op: ReshapeOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Sizes follow group by group; elements move where gaps would be between them."""
    b, (operand,) = rules.b, operands
    after = rules.result_bounds()
    groups = reshape_groups(rules.bounds(0), after)
    counts: dict[int, XlaValue] = {}
    for group in groups:
        counts.update(_resolved(rules, group, operand))
    if all(_stays(rules, group) for group in groups):
        return [Sized(b.reshape(operand.data, [int(n) for n in after]), counts)]
    return [Sized(_refilled(rules, operand, after, counts), counts)]


def _resolved(rules: Rules, group: ReshapeGroup, operand: Sized) -> dict[int, XlaValue]:
    """The sizes of the dynamic dimensions of the result in a group: `ReshapeGroup.resolved`."""
    b = rules.b
    if not any(d in operand.sizes for d in group.before):
        return {}
    if group.open is not None and group.rest == 1:
        taken = [d for d in group.before if d in operand.sizes or operand.data.shape[d] != 1]
        return {group.open: reduce(b.mul, [rules.size(operand, d) for d in taken])}
    count = _product(rules, [rules.size(operand, d) for d in group.before])
    message = f"{{}} {group.unresolved}"
    if group.open is None or not group.rest:
        total = b.constant(prod(map(int, group.bounds)), "s64")
        rules.require(count == total, rules.narrow(count), message)
        return {}
    rest = b.constant(group.rest, "s64")
    rules.require(b.rem(count, rest) == 0, rules.narrow(count), message)
    return {group.open: rules.narrow(b.div(count, rest))}


def _product(rules: Rules, sizes: Sequence[XlaValue]) -> XlaValue:
    """The product of sizes, as `s64[]`."""
    found = rules.b.constant(1, "s64")
    for size in sizes:
        found = found * rules.wide(size)
    return found


def _stays(rules: Rules, group: ReshapeGroup) -> bool:
    """Whether elements have the same places in the largest array as in the one that is there."""
    before = [rules.bounds(0)[d] for d in group.before]
    return all(not dynamic(_without_ones(sizes)[1:]) for sizes in (before, group.bounds))


def _without_ones(sizes: Sequence[int]) -> list[int]:
    """The sizes but those of 1 that come first: they do not move what follows, if it is there."""
    first = next((d for d, size in enumerate(sizes) if size != 1), len(sizes))
    return list(sizes[first:])


def _refilled(
    rules: Rules, operand: Sized, after: Sequence[int], counts: Mapping[int, XlaValue]
) -> XlaValue:
    """Every element of the result looked up by its number among those that are there."""
    b = rules.b
    before = operand.data.shape
    total, sizes = prod(before), [int(n) for n in after]
    if not total:
        return b.reshape(operand.data, sizes)
    kind = "s32" if total < 2**31 else "s64"
    result = Sized(operand.data, counts)

    def sizes_as(x: Sized, dimensions: int, bounds: Sequence[int]) -> list[XlaValue]:
        return [
            b.convert_element_type(x.sizes[d] if d in x.sizes else rules.number(bounds[d]), kind)
            for d in range(dimensions)
        ]

    spelled = f"{kind}[{','.join(map(str, sizes))}]"
    number = b.broadcast(b.constant(0, kind), sizes)
    for d, size in enumerate(sizes_as(result, len(sizes), sizes)):
        number = number * b.broadcast(size, sizes) + b.iota(spelled, d)
    place = b.broadcast(b.constant(0, kind), sizes)
    stride = 1
    for d, size in reversed(list(enumerate(sizes_as(operand, len(before), before)))):
        # Where nothing is there, any place will do.
        divisor = b.broadcast(b.max(size, b.constant(1, kind)), sizes)
        place = place + b.rem(number, divisor) * stride
        number = b.div(number, divisor)
        stride *= int(before[d])
    (found,) = b.append(
        GatherOp(
            b.reshape(operand.data, [total]).ssa,
            place.ssa,
            offset_dims=[],
            collapsed_slice_dims=[0],
            start_index_map=[0],
            index_vector_dim=len(sizes),
            slice_sizes=[1],
        )
    )
    return found


def dynamic_reshape(
    rules: Rules, op: DynamicReshapeOp, operands: Sequence[Sized]
) -> Sequence[Sized]:
    """As a reshape, to the sizes that are given."""
    b, (operand, *given) = rules.b, operands
    after = rules.result_bounds()
    counts: dict[int, XlaValue] = {}
    for d, (size, bound) in enumerate(zip(given, after, strict=True)):
        least = 0 if isinstance(bound, DynamicSize) else int(bound)
        within = b.clamp(rules.number(least), size.data, rules.number(int(bound)))
        message = f"(C4) size {{}} of dimension {d}, declared as {bound!r}"
        rules.require(within == size.data, size.data, message)
        counts[d] = within
    elements = _product(rules, [rules.size(operand, d) for d in range(len(operand.data.shape))])
    wanted = _product(rules, list(counts.values()))
    rules.require(
        elements == wanted,
        rules.narrow(elements),
        "(C4) {} elements for the sizes, which have another number",
    )
    found = _refilled(rules, operand, after, counts)
    return [Sized(found, {d: counts[d] for d in dynamic(after)})]


def concatenate(rules: Rules, op: ops.ConcatenateOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Each operand is put where the one before ends, over what is not there of that."""
    b, dimension = rules.b, cast(int, decode(op.dimension))
    if not any(dimension in x.sizes for x in operands[:-1]):
        return with_sizes(rules, rules.again(*(x.data for x in operands)))
    sizes = [int(size) for size in rules.result_bounds()]
    found = b.broadcast(rules.zero(operands[0].data.element_type), sizes)
    place = rules.number(0)
    for x in operands:
        starts = [place if d == dimension else 0 for d in range(len(sizes))]
        found = b.dynamic_update_slice(found, x.data, starts)
        place = place + rules.size(x, dimension)
    return with_sizes(rules, [found])


def pad(rules: Rules, op: ops.PadOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """What is not there is padding, too."""
    operand, value = operands
    data = rules.filled(operand.data, operand.sizes, value.data)
    return with_sizes(rules, rules.again(data, value.data))


def reverse(rules: Rules, op: ops.ReverseOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """What was not there comes first then, and is cut off."""
    b, (operand,), dimensions = rules.b, operands, cast(Ints, decode(op.dimensions))
    (result,) = rules.again(operand.data)
    shifted = [d for d in dimensions if d in operand.sizes]
    if shifted:
        sizes = [int(size) for size in result.shape]
        room = [(0, size if d in shifted else 0) for d, size in enumerate(sizes)]
        starts: list[XlaValue | int] = [
            rules.number(size) - operand.sizes[d] if d in shifted else 0
            for d, size in enumerate(sizes)
        ]
        padded = b.pad(result, rules.zero(result.element_type), room)
        result = b.dynamic_slice(padded, starts, sizes)
    return with_sizes(rules, [result])


def dynamic_update_slice(
    rules: Rules, op: ops.DynamicUpdateSliceOp, operands: Sequence[Sized]
) -> Sequence[Sized]:
    """What is not there of the update changes nothing."""
    b, (operand, update, *starts) = rules.b, operands
    places = [x.data for x in starts]
    new = update.data
    if update.sizes:
        old = b.dynamic_slice(operand.data, places, new.shape)
        new = b.select(rules.inside(new.shape, update.sizes), new, old)
    return with_sizes(rules, rules.again(operand.data, new, *places))


Fold = ReduceOp | ReduceWindowOp


def fold(rules: Rules, op: Fold, operands: Sequence[Sized]) -> Sequence[Sized]:
    """The folds of what is there."""
    b, count = rules.b, len(op.inputs)
    inputs, inits = operands[:count], [x.data for x in operands[count:]]
    reduced = {
        d
        for factor in rules.relations.of_type(FactorType.REDUCTION)
        for _, d in rules.relations.operand_places(factor)
    }
    counts = {d: n for d, n in rules.counted(0).items() if d in reduced}
    data = [x.data for x in inputs]
    if not counts:
        return with_sizes(rules, rules.again(*data, *inits))
    type_ = rules.scalars(op.to_apply)[0].element_type
    number = neutral_element(op.to_apply.block, type_) if count == 1 else None
    if number is not None:
        neutral = b.constant(np.array(number).astype(numpy_dtype(type_)))
        return with_sizes(rules, rules.again(rules.filled(data[0], counts, neutral), *inits))
    if accumulates_in_f32(op):
        x, init = (b.convert_element_type(value, "f32") for value in (data[0], inits[0]))
        is_sum = only_operation(op.to_apply.block) is AddOp
        nothing = b.constant(-0.0 if is_sum else 1.0, "f32")
        combine = b.add if is_sum else b.mul
        total = _over(b, op, [rules.filled(x, counts, nothing)], [init], combine)
        return with_sizes(rules, [b.convert_element_type(total[0], data[0].element_type)])

    def merge(*values: XlaValue) -> Sequence[XlaValue]:
        """A part of the fold that has met nothing has no influence, whatever its values are."""
        (any_before, *before), (any_now, *now) = values[: count + 1], values[count + 1 :]
        both = rules.applied(op.to_apply, *before, *now)
        found = [
            b.select(any_now, b.select(any_before, new, second), first)
            for new, second, first in zip(both, now, before, strict=True)
        ]
        return [any_before | any_now, *found]

    mask = rules.inside(data[0].shape, counts)
    values, starts = [mask, *data], [b.constant(True), *inits]
    return with_sizes(rules, _over(b, op, values, starts, merge)[1:])


def _over(
    b: XlaBuilder,
    op: Fold,
    values: Sequence[XlaValue],
    inits: Sequence[XlaValue],
    computation: Callable[..., Any],
) -> Sequence[XlaValue]:
    """The folds of arrays over what an operation folds."""
    if isinstance(op, ReduceOp):
        dimensions = cast(Sequence[int], decode(op.dimensions))
        return b.reduce(values, inits, computation, dimensions)
    window = op.window.data.dimensions
    return b.reduce_window(
        values,
        inits,
        computation,
        [d.size for d in window],
        [d.stride for d in window],
        [d.base_dilation for d in window],
        [d.window_dilation for d in window],
        [(d.padding_low, d.padding_high) for d in window],
    )


def sort(rules: Rules, op: SortOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Along the dimension that is sorted, what is not there comes after everything else."""
    b, dimension = rules.b, cast(int, decode(op.dimension))
    data = [x.data for x in operands]
    count = rules.counts.get((0, dimension))
    if count is None:
        return with_sizes(rules, rules.again(*data))

    def precedes(*places: XlaValue) -> XlaValue:
        first, second, *values = places
        (comes_before,) = rules.applied(op.to_apply, *values)
        return first & (~second | comes_before)

    mask = rules.inside(data[0].shape, {dimension: count})
    found = b.sort([mask, *data], precedes, dimension, bool(decode(op.is_stable)))
    return with_sizes(rules, found[1:])


def scatter(rules: Rules, op: ScatterOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Updates that are not there, or whose windows are not inside of what is, change nothing."""
    b, count = rules.b, len(op.inputs)
    inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    takes_place = _takes_place(rules, op, indices, updates)
    data = [x.data for x in inputs]
    if takes_place is None:
        return with_sizes(rules, rules.again(*data, indices.data, *(x.data for x in updates)))

    def combine(*values: XlaValue) -> Sequence[XlaValue]:
        (kept, *current), (is_there, *new) = values[: count + 1], values[count + 1 :]
        both = rules.applied(op.to_apply, *current, *new)
        found = (b.select(is_there, *pair) for pair in zip(both, current, strict=True))
        return [kept, *found]

    nothing = b.broadcast(b.constant(False), data[0].shape)
    found = b.scatter(
        [nothing, *data],
        indices.data,
        [takes_place, *(x.data for x in updates)],
        combine,
        decode(op.index_vector_dim),
        decode(op.update_window_dims),
        decode(op.inserted_window_dims),
        decode(op.scatter_dims_to_operand_dims),
        decode(op.indices_are_sorted),
        decode(op.unique_indices),
        input_batching_dims=decode(op.input_batching_dims),
        scatter_indices_batching_dims=decode(op.scatter_indices_batching_dims),
    )
    return with_sizes(rules, found[1:])


def _takes_place(
    rules: Rules,
    op: ScatterOp,
    indices: Sized,
    updates: Sequence[Sized],
) -> XlaValue | None:
    """Which updates take place, as far as the operation itself does not say; None for all."""
    sizes = updates[0].data.shape
    window = cast(Ints, decode(op.update_window_dims))
    places = without(range(len(sizes)), window)
    of_indices = without(range(indices.data.rank), [cast(int, decode(op.index_vector_dim))])
    common, counts = rules.counted(0), rules.counted(len(op.inputs) + 1)
    conditions = [rules.inside(sizes, counts)] if counts else []
    batching = cast(Ints, decode(op.input_batching_dims))
    dropped = (*cast(Ints, decode(op.inserted_window_dims)), *batching)
    kept = without(range(len(rules.bounds(0))), dropped)
    extents = dict(zip(kept, (sizes[place] for place in window), strict=True))
    indexed = cast(Ints, decode(op.scatter_dims_to_operand_dims))
    whole = whole_windows(op).values()
    for d in (d for d in common if d not in whole):
        if d in batching:
            pairs = dict(zip(batching, decode(op.scatter_indices_batching_dims), strict=True))
            place = places[of_indices.index(pairs[d])]
            conditions.append(rules.inside(sizes, {place: common[d]}))
            continue
        room = rules.wide(common[d]) - int(extents.get(d, 1))
        if d in indexed:
            start = as_signed(rules.b, _part(rules, op, indices.data, indexed.index(d)))
        else:
            start = rules.b.broadcast(rules.b.constant(0, "s64"), [sizes[p] for p in places])
        inside = rules.b.le(start, rules.b.broadcast(room, start.shape))
        conditions.append(rules.b.broadcast_in_dim(inside, sizes, places))
    return reduce(rules.b.and_, conditions) if conditions else None


def _part(rules: Rules, op: ScatterOp, indices: XlaValue, part: int) -> XlaValue:
    """One part of each index."""
    vector = cast(int, decode(op.index_vector_dim))
    if vector == indices.rank:
        return indices
    sizes = indices.shape
    starts, ends = [0] * len(sizes), list(sizes)
    starts[vector], ends[vector] = part, part + 1
    return rules.b.reshape(rules.b.slice(indices, starts, ends), without(sizes, [vector]))


def convolution(rules: Rules, op: ConvolutionOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """
    The window fits as often as it does into what is there.

    The relations do not tell that of windows that divide the base into factors.
    """
    (lhs, rhs), labels = operands, op.dim_labels.data
    (batch, _, *base), (output, *_) = labels.lhs_order(), labels.rhs_order()
    (result,) = rules.again(*masked(rules))
    found = [lhs.sizes.get(batch), rhs.sizes.get(output)]
    for d, dimension in zip(base, op.window.data.dimensions, strict=True):
        size = lhs.sizes.get(d)
        found.append(None if size is None else placements(rules, dimension, size))
    places = zip(labels.result_order(), found, strict=True)
    return [Sized(result, {d: count for d, count in places if count is not None})]


def _square(rules: Rules, a: Sized, size: XlaValue | None) -> XlaValue:
    """The matrices, continued by those of the identity."""
    if size is None:
        return a.data
    b, (*_, rows, columns) = rules.b, range(a.data.rank)
    sizes = f"s32[{','.join(map(str, a.data.shape))}]"
    diagonal = b.eq(b.iota(sizes, rows), b.iota(sizes, columns))
    one, zero = (b.broadcast(b.constant(n, a.data.element_type), a.data.shape) for n in (1, 0))
    inside = rules.inside(a.data.shape, {rows: size, columns: size})
    return b.select(inside, a.data, b.select(diagonal, one, zero))


def cholesky(rules: Rules, op: CholeskyOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """The factor of a matrix that the identity continues is the factor, continued so."""
    (a,) = operands
    size = rules.counts.get((0, a.data.rank - 1))
    return with_sizes(rules, rules.again(_square(rules, a, size)))


def triangular_solve(
    rules: Rules, op: TriangularSolveOp, operands: Sequence[Sized]
) -> Sequence[Sized]:
    """What is not there of either side are equations of their own, of which 0 is the solution."""
    a, right = operands
    rank = a.data.rank
    solved = rank - (2 if decode(op.left_side) else 1)
    size = rules.counts.get((0, rank - 1))
    data = right.data if size is None else rules.filled(right.data, {solved: size})
    return with_sizes(rules, rules.again(_square(rules, a, size), data))


SIZE_RULES = (
    OperationTable[Rule]()
    .add(DynamicReshapeOp, dynamic_reshape)
    .add(GetDimensionSizeOp, get_dimension_size)
    .add(ReshapeOp, reshape)
    .add(SetDimensionSizeOp, set_dimension_size)
)
"""Of the operations on sizes themselves."""

RULES = (
    OperationTable[Rule](SIZE_RULES)
    .add(ops.ConcatenateOp, concatenate)
    .add(ops.DynamicUpdateSliceOp, dynamic_update_slice)
    .add(ops.PadOp, pad)
    .add(ops.ReverseOp, reverse)
    .add(ReduceOp, fold)
    .add(ReduceWindowOp, fold)
    .add(SortOp, sort)
    .add(GatherOp, regular)
    .add(ScatterOp, scatter)
    .add(ConvolutionOp, convolution)
    .add(CholeskyOp, cholesky)
    .add(TriangularSolveOp, triangular_solve)
)
"""Where relations do not say all."""
