"""Operations that take the elements of arrays one by one, and those that make arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized
from xla_dialect.op import XlaOp
from xla_dialect.ops import (
    control_flow,
    conversion,
    creation,
    data_movement,
    elementwise_binary,
    elementwise_ternary,
    elementwise_unary,
    operations_of,
    random,
)
from xla_dialect.ops.reduction import MapOp


def elementwise(rules: Rules, op: XlaOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """What is there in all operands; scalars go with everything."""
    (result,) = rules.again(*(x.data for x in operands))
    return [Sized(result, rules.common(*operands))]


def made(rules: Rules, op: XlaOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Results that are as large as they can be."""
    return [Sized(result, {}) for result in rules.again(*(x.data for x in operands))]


RULES: Mapping[type[XlaOp], Rule] = {
    **dict.fromkeys(
        (
            *operations_of(elementwise_unary),
            *operations_of(elementwise_binary),
            *operations_of(elementwise_ternary),
            conversion.BitcastConvertOp,
            conversion.ConvertOp,
            conversion.ReducePrecisionOp,
            control_flow.DomainOp,
            control_flow.OptBarrierOp,
            data_movement.CopyOp,
            MapOp,
        ),
        elementwise,
    ),
    **dict.fromkeys(
        (creation.IotaOp, random.RngOp, random.RngBitGeneratorOp),
        made,
    ),
}
