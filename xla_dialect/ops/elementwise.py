"""Elementwise operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, cast

from xdsl.dialects.builtin import ComplexType, Float32Type, Float64Type
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.traits import Commutative, Pure

from xla_dialect.attributes import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
)
from xla_dialect.constraints import (
    ArrayOf,
    as_array,
    require_same_elements,
    require_same_shape,
)
from xla_dialect.op import PointwiseOp, Types
from xla_dialect.types import (
    BY_TYPE,
    PRED,
    Array,
    ElementClass,
    array_like,
    component_type,
    element_class,
    united_type,
    without_layout,
)
from xla_dialect.violations import require

FLOAT = ElementClass.FLOAT
COMPLEX = ElementClass.COMPLEX
INTEGER = ElementClass.INTEGER
SIGNED = ElementClass.SIGNED | FLOAT
NUMBER = ElementClass.NUMBER
PREDICATE = ElementClass.PRED


class ElementwiseUnaryOp(PointwiseOp):
    """
    `result[i] = f(operand[i])`, for an f of each operation.

    (C1) the operand is an array of an element type that the operation takes. The result has its
    dimensions, and its element type unless stated.
    """

    operand = operand_def()

    @classmethod
    def infer(cls, operand: Array) -> Types:
        """The type of the operand."""
        return (without_layout(operand),)


class InexactOp(ElementwiseUnaryOp):
    """A function that is approximated, mostly of complex numbers too; HLO may say how well."""

    operand = operand_def(ArrayOf(FLOAT | COMPLEX))


class ComponentOp(ElementwiseUnaryOp):
    """An operation that gives the component type of a complex operand."""

    operand = operand_def(ArrayOf(FLOAT | COMPLEX))

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
class AcosOp(InexactOp):
    """`arccos x`, in [0, π]; NaN outside [-1, 1]."""

    name = "xla.acos"


@irdl_op_definition
class AcoshOp(InexactOp):
    """`arcosh x`; NaN below 1."""

    name = "xla.acosh"


@irdl_op_definition
class AsinOp(InexactOp):
    """`arcsin x`, in [-π/2, π/2]; NaN outside [-1, 1]."""

    name = "xla.asin"


@irdl_op_definition
class AsinhOp(InexactOp):
    """`arsinh x`."""

    name = "xla.asinh"


@irdl_op_definition
class AtanhOp(InexactOp):
    """`artanh x`; ±infinity at ±1, NaN beyond."""

    name = "xla.atanh"


@irdl_op_definition
class CbrtOp(InexactOp):
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
class CosineOp(InexactOp):
    """`cos x`."""

    name = "xla.cosine"


@irdl_op_definition
class CoshOp(InexactOp):
    """`cosh x`."""

    name = "xla.cosh"


@irdl_op_definition
class ErfOp(InexactOp):
    """`erf(x) = (2/√π) ∫_0^x e^(-t²) dt`."""

    name = "xla.erf"
    operand = operand_def(ArrayOf(FLOAT))


@irdl_op_definition
class ExponentialOp(InexactOp):
    """`e^x`."""

    name = "xla.exponential"


@irdl_op_definition
class ExponentialMinusOneOp(InexactOp):
    """`e^x - 1`, accurate near 0."""

    name = "xla.exponential_minus_one"


@irdl_op_definition
class FloorOp(ElementwiseUnaryOp):
    """The largest integer not above x; keeps the sign of zero."""

    name = "xla.floor"
    operand = operand_def(ArrayOf(FLOAT))


@irdl_op_definition
class ImagOp(ComponentOp):
    """The imaginary part, of the component type; 0 for a float operand."""

    name = "xla.imag"


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
class LogOp(InexactOp):
    """`ln x`; -infinity at ±0, NaN below."""

    name = "xla.log"


@irdl_op_definition
class LogPlusOneOp(InexactOp):
    """`ln(1 + x)`, accurate near 0."""

    name = "xla.log_plus_one"


@irdl_op_definition
class LogisticOp(InexactOp):
    """`1 / (1 + e^(-x))`."""

    name = "xla.logistic"


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
class RsqrtOp(InexactOp):
    """`1 / √x`; ±infinity at ±0."""

    name = "xla.rsqrt"


@irdl_op_definition
class SignOp(ElementwiseUnaryOp):
    """-1, 0 or 1; keeps -0 and NaN. Complex: `x / |x|`, 0 for 0."""

    name = "xla.sign"
    operand = operand_def(ArrayOf(SIGNED | COMPLEX))


@irdl_op_definition
class SineOp(InexactOp):
    """`sin x`."""

    name = "xla.sine"


@irdl_op_definition
class SinhOp(InexactOp):
    """`sinh x`."""

    name = "xla.sinh"


@irdl_op_definition
class SqrtOp(InexactOp):
    """`√x`; NaN below zero, `√-0 = -0`."""

    name = "xla.sqrt"


@irdl_op_definition
class TanOp(InexactOp):
    """`tan x`."""

    name = "xla.tan"


@irdl_op_definition
class TanhOp(InexactOp):
    """`tanh x`."""

    name = "xla.tanh"


def operand_array(lhs: Array, rhs: Array) -> Array:
    """The common type of both operands, by (C1) and (C2); the default layout."""
    if lhs is rhs:
        return without_layout(lhs)
    require_same_elements(lhs, rhs, "lhs and rhs", "C1")
    require_same_shape(lhs, rhs, "lhs and rhs", "C2")
    return united_type(lhs, rhs)


def _nothing(element_type: Attribute) -> float | int:
    """The neutral element of addition; for floats -0.0, because adding 0.0 turns -0.0 into 0.0."""
    return -0.0 if element_class(element_type) == FLOAT else 0


def _zero(_: Attribute) -> int:
    return 0


def _one(_: Attribute) -> int:
    return 1


def _least(element_type: Attribute) -> float | int:
    row = BY_TYPE[element_type]
    return float("-inf") if row.element_class == FLOAT else row.integers[0]


def _greatest(element_type: Attribute) -> float | int:
    row = BY_TYPE[element_type]
    return float("inf") if row.element_class == FLOAT else row.integers[-1]


def _ones(element_type: Attribute) -> int:
    """The number of the element type whose bits are all 1."""
    integers = BY_TYPE[element_type].integers
    return -1 if -1 in integers else integers[-1]


class ElementwiseBinaryOp(PointwiseOp):
    """
    `result[i] = f(lhs[i], rhs[i])`, for an f of each operation.

    (C1) both operands are arrays of one element type that the operation takes. (C2) their
    dimensions are equal; broadcasting is an operation of its own.
    """

    NEUTRAL: ClassVar[Callable[[Attribute], float | int] | None] = None
    """
    The neutral element for an element type, of operations that are commutative and, up to rounding,
    associative. It may be -0.0 or an infinity, which some narrow float types do not have.
    """

    lhs = operand_def()
    rhs = operand_def()

    @classmethod
    def infer(cls, lhs: Array, rhs: Array) -> Types:
        """The common type of the operands."""
        return (operand_array(lhs, rhs),)


class CommutativeOp(ElementwiseBinaryOp):
    """One whose operands may be exchanged."""

    traits = traits_def(Pure(), Commutative())


class BitwiseOp(CommutativeOp):
    """A function of each bit, or of truth values."""

    lhs = rhs = operand_def(ArrayOf(INTEGER | PREDICATE))


class ShiftOp(ElementwiseBinaryOp):
    """The bits of `lhs` moved by `rhs` places."""

    lhs = rhs = operand_def(ArrayOf(INTEGER))


@irdl_op_definition
class AddOp(CommutativeOp):
    """`lhs + rhs`; integers wrap, pred: logical or."""

    name = "xla.add"
    lhs = rhs = operand_def(ArrayOf(NUMBER | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_nothing)


@irdl_op_definition
class SubtractOp(ElementwiseBinaryOp):
    """`lhs - rhs`; integers wrap."""

    name = "xla.subtract"
    lhs = rhs = operand_def(ArrayOf(NUMBER))


@irdl_op_definition
class MultiplyOp(CommutativeOp):
    """`lhs * rhs`; integers wrap, pred: logical and."""

    name = "xla.multiply"
    lhs = rhs = operand_def(ArrayOf(NUMBER | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_one)


@irdl_op_definition
class DivideOp(ElementwiseBinaryOp):
    """`lhs / rhs`; integers truncate toward zero.

    `x / 0` is -1 for signed and all ones for unsigned integers; `INT_MIN / -1 = INT_MIN`.
    """

    name = "xla.divide"
    lhs = rhs = operand_def(ArrayOf(NUMBER))


@irdl_op_definition
class PowerOp(ElementwiseBinaryOp):
    """`lhs` to the power `rhs`.

    Integers: repeated multiplication that wraps; a negative exponent gives 1 for base 1, ±1 for
    base -1, else 0. Floats: C's pow.
    """

    name = "xla.power"
    lhs = rhs = operand_def(ArrayOf(NUMBER))


@irdl_op_definition
class RemainderOp(ElementwiseBinaryOp):
    """The remainder with the sign of `lhs` and less than `rhs` in absolute value.

    Integers: `x rem 0 = x`, `INT_MIN rem -1 = 0`. Floats: C's fmod.
    """

    name = "xla.remainder"
    lhs = rhs = operand_def(ArrayOf(INTEGER | FLOAT))


@irdl_op_definition
class MaximumOp(CommutativeOp):
    """The larger operand; NaN if either is NaN; `max(-0, +0) = +0`."""

    name = "xla.maximum"
    lhs = rhs = operand_def(ArrayOf(INTEGER | FLOAT | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_least)


@irdl_op_definition
class MinimumOp(CommutativeOp):
    """The smaller operand; NaN if either is NaN; `min(-0, +0) = -0`."""

    name = "xla.minimum"
    lhs = rhs = operand_def(ArrayOf(INTEGER | FLOAT | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_greatest)


@irdl_op_definition
class AndOp(BitwiseOp):
    """Bitwise and; logical and of pred."""

    name = "xla.and"
    NEUTRAL: ClassVar = staticmethod(_ones)


@irdl_op_definition
class OrOp(BitwiseOp):
    """Bitwise or; logical or of pred."""

    name = "xla.or"
    NEUTRAL: ClassVar = staticmethod(_zero)


@irdl_op_definition
class XorOp(BitwiseOp):
    """Bitwise exclusive or; logical exclusive or of pred."""

    name = "xla.xor"
    NEUTRAL: ClassVar = staticmethod(_zero)


@irdl_op_definition
class MulhiOp(CommutativeOp):
    """The high half of the product of double width."""

    name = "xla.mulhi"
    lhs = rhs = operand_def(ArrayOf(INTEGER))


@irdl_op_definition
class ShiftLeftOp(ShiftOp):
    """`lhs << rhs`; the amount is unsigned, 0 from the bit width on."""

    name = "xla.shift_left"


@irdl_op_definition
class ShiftRightArithmeticOp(ShiftOp):
    """The right shift that fills with the top bit, of unsigned types too.

    The amount is unsigned; from the bit width on all bits are the sign bit.
    """

    name = "xla.shift_right_arithmetic"


@irdl_op_definition
class ShiftRightLogicalOp(ShiftOp):
    """The right shift that fills with zeros; 0 from the bit width on."""

    name = "xla.shift_right_logical"


@irdl_op_definition
class Atan2Op(ElementwiseBinaryOp):
    """The angle of the point (x = rhs, y = lhs), in [-π, π]."""

    name = "xla.atan2"
    lhs = rhs = operand_def(ArrayOf(FLOAT | COMPLEX))


@irdl_op_definition
class ComplexOp(ElementwiseBinaryOp):
    """`lhs + i rhs`; f32 gives c64, f64 gives c128. (C1) the element type is f32 or f64."""

    name = "xla.complex"
    lhs = rhs = operand_def(ArrayOf(FLOAT))

    @classmethod
    def infer(cls, lhs: Array, rhs: Array) -> Types:
        """The complex type whose components are the operands."""
        parts = operand_array(lhs, rhs)
        element = parts.element_type
        require(isinstance(element, Float32Type | Float64Type), "C1", "components are {}", element)
        return (array_like(parts, ComplexType(element)),)  # pyright: ignore[reportArgumentType]


_DEFAULT_ORDER = {
    ElementClass.PRED: ComparisonType.UNSIGNED,
    ElementClass.UNSIGNED: ComparisonType.UNSIGNED,
    ElementClass.SIGNED: ComparisonType.SIGNED,
    ElementClass.FLOAT: ComparisonType.FLOAT,
    ElementClass.COMPLEX: ComparisonType.FLOAT,
}


@irdl_op_definition
class CompareOp(PointwiseOp):
    """
    `result[i] = lhs[i] direction rhs[i]`, of element type pred.

    FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
    NaNs by payload. An absent comparison type is that of the element type.

    (C1) one element type, number or pred. (C2) equal dimensions.
    (C5) complex only with EQ and NE.
    (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
    """

    name = "xla.compare"
    lhs = rhs = operand_def(ArrayOf(NUMBER | PREDICATE))
    direction = prop_def(ComparisonDirectionAttr)
    comparison_type = opt_prop_def(ComparisonTypeAttr)

    @staticmethod
    def infer(
        lhs: Array,
        rhs: Array,
        *,
        direction: ComparisonDirection,
        comparison_type: ComparisonType | None,
    ) -> Types:
        """The dimensions of the operands with element type pred."""
        operands = operand_array(lhs, rhs)
        elements = element_class(operands.element_type)
        equality = direction in (ComparisonDirection.EQ, ComparisonDirection.NE)
        require(elements != COMPLEX or equality, "C5", "{} of complex values", direction)
        fitting = (None, _DEFAULT_ORDER[elements])
        if elements == FLOAT:
            fitting = (*fitting, ComparisonType.TOTALORDER)
        require(
            comparison_type in fitting,
            "C6",
            "comparison type {} of {}",
            comparison_type,
            operands.element_type,
        )
        return (array_like(operands, PRED),)

    @property
    def order(self) -> ComparisonType:
        """The comparison type, the default one resolved."""
        if self.comparison_type is not None:
            return self.comparison_type.data
        return _DEFAULT_ORDER[element_class(cast(Array, self.lhs.type).element_type)]


@irdl_op_definition
class ClampOp(PointwiseOp):
    """
    `result[i] = min(max(min[i], operand[i]), max[i])`; NaN in any argument gives NaN.

    (C1) one element type: integer, float or pred. (C2) `min` and `max` have the dimensions of the
    operand or are scalars.
    """

    name = "xla.clamp"
    min = operand_def()
    operand = operand_def(ArrayOf(ElementClass.REAL | ElementClass.PRED))
    max = operand_def()

    @staticmethod
    def infer(min: Attribute, operand: Array, max: Attribute) -> Types:
        """The type of the operand."""
        parts = [operand]
        for name, bound in (("min", min), ("max", max)):
            limit = as_array(bound, name)
            require_same_elements(limit, operand, f"{name} and operand", "C1")
            if limit.shape.data:
                require_same_shape(limit, operand, f"{name} and operand", "C2")
                parts.append(limit)
        return (united_type(*parts),)


@irdl_op_definition
class SelectOp(PointwiseOp):
    """
    `result[i] = pred[i] ? on_true[i] : on_false[i]`; a scalar pred picks one of the two arrays.

    (C1) `pred` has element type pred. (C2) `on_true` and `on_false` have one type.
    (C3) `pred` has their dimensions or is a scalar.
    """

    name = "xla.select"
    pred = operand_def(ArrayOf(ElementClass.PRED))
    on_true = operand_def(ArrayOf(ElementClass.ANY, "C2"))
    on_false = operand_def(ArrayOf(ElementClass.ANY, "C2"))

    @staticmethod
    def infer(pred: Array, on_true: Array, on_false: Array) -> Types:
        """The type of `on_true`."""
        require_same_elements(on_true, on_false, "on_true and on_false", "C2")
        require_same_shape(on_true, on_false, "on_true and on_false", "C2")
        if not pred.shape.data:
            return (united_type(on_true, on_false),)
        require_same_shape(pred, on_true, "pred and on_true", "C3")
        return (united_type(on_true, on_false, pred),)
