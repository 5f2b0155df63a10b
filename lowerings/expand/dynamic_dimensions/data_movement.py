"""Operations that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from lowerings.expand.dynamic_dimensions.regular import with_sizes
from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized
from xla_dialect.builder import XlaValue
from xla_dialect.op import Ints, decode
from xla_dialect.ops import data_movement as ops
from xla_dialect.xdsl.operation_table import OperationTable


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


RULES = (
    OperationTable[Rule]()
    .add(ops.ConcatenateOp, concatenate)
    .add(ops.DynamicUpdateSliceOp, dynamic_update_slice)
    .add(ops.PadOp, pad)
    .add(ops.ReverseOp, reverse)
)
