"""Operations that move elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized, dynamic
from xla_dialect.builder import XlaValue
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops import data_movement as ops

Ints = tuple[int, ...]


def broadcast(rules: Rules, op: ops.BroadcastOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Sizes go where their dimensions go."""
    (operand,), dimensions = operands, cast(Ints, decode(op.dimensions))
    (result,) = rules.again(operand.data)
    return [Sized(result, {dimensions[d]: count for d, count in operand.sizes.items()})]


def transpose(rules: Rules, op: ops.TransposeOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Sizes go where their dimensions go."""
    (operand,), dimensions = operands, cast(Ints, decode(op.dimensions))
    (result,) = rules.again(operand.data)
    return [Sized(result, {dimensions.index(d): count for d, count in operand.sizes.items()})]


def slice_(rules: Rules, op: ops.SliceOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """What is there between start and limit; zeros where a single element is not."""
    b, (operand,) = rules.b, operands
    kept = [d for d in dynamic(rules.result_bounds()) if d in operand.sizes]
    missing = {d: count for d, count in operand.sizes.items() if d not in kept}
    (result,) = rules.again(rules.filled(operand.data, missing))
    lists = (op.start_indices, op.limit_indices, op.strides)
    starts, limits, strides = (cast(Ints, decode(each)) for each in lists)
    counts: dict[int, XlaValue] = {}
    for d in kept:
        end = b.min(operand.sizes[d], rules.number(limits[d]))
        length = b.max(end - starts[d], rules.number(0))
        # Rounded up, without a sum that could overflow.
        counts[d] = b.div(length, strides[d]) + b.min(b.rem(length, strides[d]), rules.number(1))
    return [Sized(result, counts)]


def concatenate(rules: Rules, op: ops.ConcatenateOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Each operand is put where the one before ends, over what is not there of that."""
    b, dimension = rules.b, cast(int, decode(op.dimension))
    counts = {d: count for d, count in rules.common(*operands).items() if d != dimension}
    if any(dimension in x.sizes for x in operands):
        end = rules.number(0)
        for x in operands:
            end = end + rules.size(x, dimension)
        counts[dimension] = end
    if not any(dimension in x.sizes for x in operands[:-1]):
        return [Sized(rules.again(*(x.data for x in operands))[0], counts)]
    sizes = [int(size) for size in rules.result_bounds()]
    found = b.broadcast(rules.zero(operands[0].data.element_type), sizes)
    place = rules.number(0)
    for x in operands:
        starts = [place if d == dimension else 0 for d in range(len(sizes))]
        found = b.dynamic_update_slice(found, x.data, starts)
        place = place + rules.size(x, dimension)
    return [Sized(found, counts)]


def pad(rules: Rules, op: ops.PadOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """What is not there is padding, too."""
    b, (operand, value) = rules.b, operands
    (result,) = rules.again(rules.filled(operand.data, operand.sizes, value.data), value.data)
    lists = (op.edge_padding_low, op.edge_padding_high, op.interior_padding)
    low, high, interior = (cast(Ints, decode(each)) for each in lists)
    counts: dict[int, XlaValue] = {}
    for d, count in operand.sizes.items():
        # The gaps and both edges may be far apart in size; their sum is that of an array.
        gaps = b.max(rules.wide(count) - 1, b.constant(0, "s64")) * interior[d]
        padded = rules.wide(count) + gaps + (low[d] + high[d])
        counts[d] = rules.narrow(b.max(padded, b.constant(0, "s64")))
    return [Sized(result, counts)]


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
    return [Sized(result, operand.sizes)]


def dynamic_slice(
    rules: Rules, op: ops.DynamicSliceOp, operands: Sequence[Sized]
) -> Sequence[Sized]:
    """Dimensions that are taken whole keep their sizes; others have zeros for what is missing."""
    operand, *starts = operands
    kept = [d for d in dynamic(rules.result_bounds()) if d in operand.sizes]
    missing = {d: count for d, count in operand.sizes.items() if d not in kept}
    data = rules.filled(operand.data, missing)
    (result,) = rules.again(data, *(x.data for x in starts))
    return [Sized(result, {d: operand.sizes[d] for d in kept})]


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
    (result,) = rules.again(operand.data, new, *places)
    return [Sized(result, operand.sizes)]


RULES: Mapping[type[XlaOp], Rule] = {
    ops.BroadcastOp: broadcast,
    ops.ConcatenateOp: concatenate,
    ops.DynamicSliceOp: dynamic_slice,
    ops.DynamicUpdateSliceOp: dynamic_update_slice,
    ops.PadOp: pad,
    ops.ReverseOp: reverse,
    ops.SliceOp: slice_,
    ops.TransposeOp: transpose,
}
