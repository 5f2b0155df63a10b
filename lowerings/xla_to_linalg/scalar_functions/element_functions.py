"""What an elementwise operation does to scalars, by the class of their element type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, Float64Type, f32, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from lowerings.xla_to_linalg.scalar_functions.scalars import (
    ScalarBuilder,
    arithmetic_type,
    is_float,
)
from xla_dialect.types import Array, ElementClass, element_name

WIDE = (Float32Type, Float64Type)
"""The float types in which values are computed."""

ScalarFunction: TypeAlias = Callable[..., SSAValue]
"""From the builder and the operands to the result."""


def elements_of(value: SSAValue) -> Attribute:
    """The element type of an array of the xla dialect (unsigned integers are unsigned)."""
    return cast(Array, value.type).element_type


class NotLowered(DiagnosticException):
    """An element type that an operation has no lowering for yet; the message is a reason."""


_OF_CLASS = {
    ElementClass.FLOAT.value: "floats",
    ElementClass.SIGNED.value: "signed",
    ElementClass.UNSIGNED.value: "unsigned",
    ElementClass.PRED.value: "pred",
    ElementClass.COMPLEX.value: "complex",
}


@dataclass(frozen=True)
class ElementFunction:
    """
    One function for each class of element types; None where the operation rejects the class.

    The functions of floats see f32 and f64 only: narrower values are extended before and rounded
    after every operation, as the reference does it.
    """

    floats: ScalarFunction | None = None
    signed: ScalarFunction | None = None
    unsigned: ScalarFunction | None = None
    pred: ScalarFunction | None = None
    complex: ScalarFunction | None = None

    @staticmethod
    def integer(function: ScalarFunction, **others: ScalarFunction) -> ElementFunction:
        """The same function for signed and unsigned integers, and others."""
        return ElementFunction(signed=function, unsigned=function, **others)

    def of(self, elements: ElementClass) -> ScalarFunction | None:
        """The function of a class."""
        return getattr(self, _OF_CLASS[elements.value])

    def apply(
        self,
        scalars: ScalarBuilder,
        operands: Sequence[SSAValue],
        elements: ElementClass,
        element_type: Attribute,
    ) -> SSAValue:
        """The result for operands whose class and (unsigned or signed) type are given."""
        function = self.of(elements)
        if function is None:
            raise NotLowered(f"not lowered yet for {element_name(element_type)}")
        if elements is not ElementClass.FLOAT or isinstance(element_type, WIDE):
            return function(scalars, *operands)
        result = function(scalars, *(widen(scalars, operand) for operand in operands))
        return narrow(scalars, result, operands[0].type) if is_float(result.type) else result


def widen(scalars: ScalarBuilder, value: SSAValue) -> SSAValue:
    """A float in the type in which it is computed; exact."""
    type_ = arithmetic_type(value.type)
    return value if value.type == type_ else scalars.emit(arith.ExtFOp, (value,), type_)


def narrow(scalars: ScalarBuilder, value: SSAValue, type_: Attribute) -> SSAValue:
    """An f32 or f64 rounded to nearest even in a float type that is not wider; rounds once."""
    if value.type == type_:
        return value
    if isinstance(value.type, Float64Type) and not isinstance(type_, Float32Type):
        value = round_to_odd(scalars, value)
    return scalars.emit(arith.TruncFOp, (value,), type_)


def round_to_odd(scalars: ScalarBuilder, value: SSAValue) -> SSAValue:
    """
    An f64 as f32, truncated and with the last bit set if that is inexact.

    Rounding the result again, to at most 22 bits, is the same as rounding the f64 once. (A direct
    conversion of f64 to f16 or bf16 is a library call on most processors.)
    """
    nearest = scalars.emit(arith.TruncFOp, (value,), f32)
    back = scalars.emit(arith.ExtFOp, (nearest,), value.type)
    inexact = scalars.compare_floats("une", back, value)
    away = scalars.compare_floats("ogt", scalars.absf(back), scalars.absf(value))
    bits = scalars.bitcast(nearest, i32)
    truncated = scalars.integers(arith.SubiOp, bits, scalars.resize(away, 32, signed=False))
    odd = scalars.integers(arith.OrIOp, truncated, 1)
    return scalars.bitcast(scalars.select(inexact, odd, bits), f32)
