"""Elementwise operations of two operands.

(C1) both operands are arrays of one element type that the operation takes.
(C2) their dimensions are equal; broadcasting is an operation of its own.
"""

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
    result_def,
    traits_def,
)
from xdsl.traits import Commutative, Pure

from xla_dialect.attributes import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
)
from xla_dialect.dimensions import pointwise
from xla_dialect.op import Types, XlaOp
from xla_dialect.rules.constraints import ArrayOf, require_same_elements, require_same_shape
from xla_dialect.types import (
    BY_TYPE,
    PRED,
    Array,
    ElementClass,
    array_like,
    element_class,
    united_type,
    without_layout,
)
from xla_dialect.violations import require

INTEGER = ElementClass.INTEGER
FLOAT = ElementClass.FLOAT
COMPLEX = ElementClass.COMPLEX
NUMBER = ElementClass.NUMBER
PREDICATE = ElementClass.PRED


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
    kind = element_class(element_type)
    if kind == FLOAT:
        return float("-inf")
    return -(1 << (BY_TYPE[element_type].bits - 1)) if kind == ElementClass.SIGNED else 0


def _greatest(element_type: Attribute) -> float | int:
    kind = element_class(element_type)
    if kind == FLOAT:
        return float("inf")
    return _all_bits(element_type) >> (kind == ElementClass.SIGNED)


def _all_bits(element_type: Attribute) -> int:
    """The unsigned number whose bits are all 1."""
    is_bit = element_class(element_type) == PREDICATE
    return 1 if is_bit else (1 << BY_TYPE[element_type].bits) - 1


def _ones(element_type: Attribute) -> int:
    """The number of the element type whose bits are all 1."""
    signed = element_class(element_type) == ElementClass.SIGNED
    return -1 if signed else _all_bits(element_type)


class ElementwiseBinaryOp(XlaOp):
    """`result[i] = f(lhs[i], rhs[i])`; subclasses state f and the element types it takes."""

    NEUTRAL: ClassVar[Callable[[Attribute], float | int] | None] = None
    """
    The neutral element for an element type, of operations that are commutative and, up to rounding,
    associative. It may be -0.0 or an infinity, which some narrow float types do not have.
    """

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, lhs: Array, rhs: Array) -> Types:
        """The common type of the operands."""
        return (operand_array(lhs, rhs),)

    relate = staticmethod(pointwise)


@irdl_op_definition
class AddOp(ElementwiseBinaryOp):
    """`lhs + rhs`; integers wrap, pred: logical or."""

    name = "xla.add"
    lhs = rhs = operand_def(ArrayOf(NUMBER | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_nothing)
    traits = traits_def(Pure(), Commutative())


@irdl_op_definition
class SubtractOp(ElementwiseBinaryOp):
    """`lhs - rhs`; integers wrap."""

    name = "xla.subtract"
    lhs = rhs = operand_def(ArrayOf(NUMBER))


@irdl_op_definition
class MultiplyOp(ElementwiseBinaryOp):
    """`lhs * rhs`; integers wrap, pred: logical and."""

    name = "xla.multiply"
    lhs = rhs = operand_def(ArrayOf(NUMBER | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_one)
    traits = traits_def(Pure(), Commutative())


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
class MaximumOp(ElementwiseBinaryOp):
    """The larger operand; NaN if either is NaN; `max(-0, +0) = +0`."""

    name = "xla.maximum"
    lhs = rhs = operand_def(ArrayOf(INTEGER | FLOAT | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_least)
    traits = traits_def(Pure(), Commutative())


@irdl_op_definition
class MinimumOp(ElementwiseBinaryOp):
    """The smaller operand; NaN if either is NaN; `min(-0, +0) = -0`."""

    name = "xla.minimum"
    lhs = rhs = operand_def(ArrayOf(INTEGER | FLOAT | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_greatest)
    traits = traits_def(Pure(), Commutative())


@irdl_op_definition
class AndOp(ElementwiseBinaryOp):
    """Bitwise and; logical and of pred."""

    name = "xla.and"
    lhs = rhs = operand_def(ArrayOf(INTEGER | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_ones)
    traits = traits_def(Pure(), Commutative())


@irdl_op_definition
class OrOp(ElementwiseBinaryOp):
    """Bitwise or; logical or of pred."""

    name = "xla.or"
    lhs = rhs = operand_def(ArrayOf(INTEGER | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_zero)
    traits = traits_def(Pure(), Commutative())


@irdl_op_definition
class XorOp(ElementwiseBinaryOp):
    """Bitwise exclusive or; logical exclusive or of pred."""

    name = "xla.xor"
    lhs = rhs = operand_def(ArrayOf(INTEGER | PREDICATE))
    NEUTRAL: ClassVar = staticmethod(_zero)
    traits = traits_def(Pure(), Commutative())


@irdl_op_definition
class MulhiOp(ElementwiseBinaryOp):
    """The high half of the product of double width."""

    name = "xla.mulhi"
    lhs = rhs = operand_def(ArrayOf(INTEGER))
    traits = traits_def(Pure(), Commutative())


@irdl_op_definition
class ShiftLeftOp(ElementwiseBinaryOp):
    """`lhs << rhs`; the amount is unsigned, 0 from the bit width on."""

    name = "xla.shift_left"
    lhs = rhs = operand_def(ArrayOf(INTEGER))


@irdl_op_definition
class ShiftRightArithmeticOp(ElementwiseBinaryOp):
    """The right shift that fills with the top bit, of unsigned types too.

    The amount is unsigned; from the bit width on all bits are the sign bit.
    """

    name = "xla.shift_right_arithmetic"
    lhs = rhs = operand_def(ArrayOf(INTEGER))


@irdl_op_definition
class ShiftRightLogicalOp(ElementwiseBinaryOp):
    """The right shift that fills with zeros; 0 from the bit width on."""

    name = "xla.shift_right_logical"
    lhs = rhs = operand_def(ArrayOf(INTEGER))


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
class CompareOp(XlaOp):
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
    result = result_def()
    traits = traits_def(Pure())

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

    relate = staticmethod(pointwise)
