"""Elementwise operations of one operand.

(C1) of all: the operand is an array of an allowed element type. The result has its dimensions, and
its element type unless stated.
"""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xla_dialect.dimensions import pointwise
from xla_dialect.op import Types, XlaOp
from xla_dialect.rules.constraints import ArrayOf
from xla_dialect.types import PRED, Array, ElementClass, array_like, component_type, without_layout

FLOAT = ElementClass.FLOAT
COMPLEX = ElementClass.COMPLEX
INTEGER = ElementClass.INTEGER
SIGNED = ElementClass.SIGNED | FLOAT
PREDICATE = ElementClass.PRED


class ElementwiseUnaryOp(XlaOp):
    """`result[i] = f(operand[i])`; subclasses state f and the element types it takes."""

    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operand: Array) -> Types:
        """The type of the operand."""
        return (without_layout(operand),)

    relate = staticmethod(pointwise)


class ComponentOp(ElementwiseUnaryOp):
    """An operation that gives the component type of a complex operand."""

    @classmethod
    def infer(cls, operand: Array) -> Types:
        """The type of the operand with c64 replaced by f32 and c128 by f64."""
        return (array_like(operand, component_type(operand.element_type)),)


@irdl_op_definition
class AbsOp(ComponentOp):
    """
    `|x|`; of a complex operand the real modulus, of an unsigned one itself.

    `abs(INT_MIN) = INT_MIN`.
    """

    name = "xla.abs"
    operand = operand_def(ArrayOf(INTEGER | FLOAT | COMPLEX))


@irdl_op_definition
class AcosOp(ElementwiseUnaryOp):
    """`arccos x`, in [0, π]; NaN outside [-1, 1]."""

    name = "xla.acos"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class AcoshOp(ElementwiseUnaryOp):
    """`arcosh x`; NaN below 1."""

    name = "xla.acosh"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class AsinOp(ElementwiseUnaryOp):
    """`arcsin x`, in [-π/2, π/2]; NaN outside [-1, 1]."""

    name = "xla.asin"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class AsinhOp(ElementwiseUnaryOp):
    """`arsinh x`."""

    name = "xla.asinh"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class AtanhOp(ElementwiseUnaryOp):
    """`artanh x`; ±infinity at ±1, NaN beyond."""

    name = "xla.atanh"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class CbrtOp(ElementwiseUnaryOp):
    """The cube root, real for negative x."""

    name = "xla.cbrt"
    operand = operand_def(ArrayOf(FLOAT))


@irdl_op_definition
class CeilOp(ElementwiseUnaryOp):
    """The smallest integer not below x; keeps the sign of zero."""

    name = "xla.ceil"
    operand = operand_def(ArrayOf(FLOAT))


@irdl_op_definition
class CountLeadingZerosOp(ElementwiseUnaryOp):
    """The number of leading zero bits; the bit width for 0."""

    name = "xla.count_leading_zeros"
    operand = operand_def(ArrayOf(INTEGER))


@irdl_op_definition
class CosineOp(ElementwiseUnaryOp):
    """`cos x`."""

    name = "xla.cosine"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class CoshOp(ElementwiseUnaryOp):
    """`cosh x`."""

    name = "xla.cosh"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class ErfOp(ElementwiseUnaryOp):
    """`erf(x) = (2/√π) ∫_0^x e^(-t²) dt`."""

    name = "xla.erf"
    operand = operand_def(ArrayOf(FLOAT))


@irdl_op_definition
class ExponentialOp(ElementwiseUnaryOp):
    """`e^x`."""

    name = "xla.exponential"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class ExponentialMinusOneOp(ElementwiseUnaryOp):
    """`e^x - 1`, accurate near 0."""

    name = "xla.exponential_minus_one"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class FloorOp(ElementwiseUnaryOp):
    """The largest integer not above x; keeps the sign of zero."""

    name = "xla.floor"
    operand = operand_def(ArrayOf(FLOAT))


@irdl_op_definition
class ImagOp(ComponentOp):
    """The imaginary part, of the component type; 0 for a float operand."""

    name = "xla.imag"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class IsFiniteOp(ElementwiseUnaryOp):
    """True where x is neither infinite nor NaN; the result has element type pred."""

    name = "xla.is_finite"
    operand = operand_def(ArrayOf(FLOAT))

    @classmethod
    def infer(cls, operand: Array) -> Types:
        """The dimensions of the operand with element type pred."""
        return (array_like(operand, PRED),)


@irdl_op_definition
class LogOp(ElementwiseUnaryOp):
    """`ln x`; -infinity at ±0, NaN below."""

    name = "xla.log"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class LogPlusOneOp(ElementwiseUnaryOp):
    """`ln(1 + x)`, accurate near 0."""

    name = "xla.log_plus_one"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class LogisticOp(ElementwiseUnaryOp):
    """`1 / (1 + e^(-x))`."""

    name = "xla.logistic"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class NegateOp(ElementwiseUnaryOp):
    """`-x`; integers wrap, unsigned ones too."""

    name = "xla.negate"
    operand = operand_def(ArrayOf(INTEGER | FLOAT | COMPLEX))


@irdl_op_definition
class NotOp(ElementwiseUnaryOp):
    """Logical negation of pred, bitwise complement of integers."""

    name = "xla.not"
    operand = operand_def(ArrayOf(INTEGER | PREDICATE))


@irdl_op_definition
class PopcntOp(ElementwiseUnaryOp):
    """The number of set bits."""

    name = "xla.popcnt"
    operand = operand_def(ArrayOf(INTEGER))


@irdl_op_definition
class RealOp(ComponentOp):
    """The real part, of the component type; a float operand unchanged."""

    name = "xla.real"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class RoundNearestAfzOp(ElementwiseUnaryOp):
    """The nearest integer, ties away from zero; keeps the sign of zero."""

    name = "xla.round_nearest_afz"
    operand = operand_def(ArrayOf(FLOAT))


@irdl_op_definition
class RoundNearestEvenOp(ElementwiseUnaryOp):
    """The nearest integer, ties to even; keeps the sign of zero."""

    name = "xla.round_nearest_even"
    operand = operand_def(ArrayOf(FLOAT))


@irdl_op_definition
class RsqrtOp(ElementwiseUnaryOp):
    """`1 / √x`; ±infinity at ±0."""

    name = "xla.rsqrt"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class SignOp(ElementwiseUnaryOp):
    """-1, 0 or 1; keeps -0 and NaN. Complex: `x / |x|`, 0 for 0."""

    name = "xla.sign"
    operand = operand_def(ArrayOf(SIGNED | COMPLEX))


@irdl_op_definition
class SineOp(ElementwiseUnaryOp):
    """`sin x`."""

    name = "xla.sine"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class SinhOp(ElementwiseUnaryOp):
    """`sinh x`."""

    name = "xla.sinh"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class SqrtOp(ElementwiseUnaryOp):
    """`√x`; NaN below zero, `√-0 = -0`."""

    name = "xla.sqrt"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class TanOp(ElementwiseUnaryOp):
    """`tan x`."""

    name = "xla.tan"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class TanhOp(ElementwiseUnaryOp):
    """`tanh x`."""

    name = "xla.tanh"
    operand = operand_def(ArrayOf(FLOAT | COMPLEX))
