"""The operations on sizes themselves, and reshapes, in which sizes follow from sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any, cast

from xdsl.ir import Operation

from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized, dynamic
from xla_dialect.builder import XlaValue
from xla_dialect.literals.arrays import to_numpy
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import ReshapeOp
from xla_dialect.ops.dynamic_shapes import (
    DynamicReshapeOp,
    GetDimensionSizeOp,
    SetDimensionSizeOp,
)
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.shapes.size_arithmetic import DynamicSize, ReshapeGroup, is_dynamic, reshape_groups
from xla_dialect.types import Array, sizes_of
from xla_dialect.xdsl.operation_table import OperationTable


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


RULES = (
    OperationTable[Rule]()
    .add(DynamicReshapeOp, dynamic_reshape)
    .add(GetDimensionSizeOp, get_dimension_size)
    .add(ReshapeOp, reshape)
    .add(SetDimensionSizeOp, set_dimension_size)
)
