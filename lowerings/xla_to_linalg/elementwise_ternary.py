"""Elementwise operations of three operands."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from lowerings.xla_to_linalg.scalar_functions.element_functions import (
    ElementFunction,
    ScalarFunction,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder
from xla_dialect.ops.elementwise_ternary import SelectOp


def _clamped(maximum: type[Operation], minimum: type[Operation]) -> ScalarFunction:
    """`min(max(low, x), high)` by the operations of the element class."""

    def function(s: ScalarBuilder, low: SSAValue, x: SSAValue, high: SSAValue) -> SSAValue:
        return s.emit(minimum, (s.emit(maximum, (low, x)), high))

    return function


CLAMP = ElementFunction(
    floats=_clamped(arith.MaximumfOp, arith.MinimumfOp),
    signed=_clamped(arith.MaxSIOp, arith.MinSIOp),
    unsigned=_clamped(arith.MaxUIOp, arith.MinUIOp),
    pred=_clamped(arith.OrIOp, arith.AndIOp),
)


def select(
    s: ScalarBuilder, _op: SelectOp, pred: SSAValue, on_true: SSAValue, on_false: SSAValue
) -> SSAValue:
    """The result of a `select` of scalars, of any type."""
    return s.select(pred, on_true, on_false)
