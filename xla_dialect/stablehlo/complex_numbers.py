"""Operations on complex numbers that XLA has for real ones only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ComplexType, f64
from xdsl.ir import Attribute, SSAValue

from xla_dialect.attributes import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
)
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.conversion import BitcastConvertOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.stablehlo.conversion import NO_DIMENSIONS, Conversion
from xla_dialect.stablehlo.op import HloOperation
from xla_dialect.stablehlo.terms import Term, Terms
from xla_dialect.types import (
    BY_NAME,
    BY_TYPE,
    Array,
    ElementClass,
    array_like,
    as_array,
    compatible,
    element_class,
    fits,
    is_scalar,
    spell,
    spell_all,
    united_type,
)

ORDERS: Mapping[type[XlaOp], ComparisonDirection] = {
    elementwise.MaximumOp: ComparisonDirection.GT,
    elementwise.MinimumOp: ComparisonDirection.LT,
}
"""What takes the greater, or the less, of two values; the order is that of (real, imaginary)."""

_STRICT: Mapping[ComparisonDirection, ComparisonDirection] = {
    ComparisonDirection.GE: ComparisonDirection.GT,
    ComparisonDirection.GT: ComparisonDirection.GT,
    ComparisonDirection.LE: ComparisonDirection.LT,
    ComparisonDirection.LT: ComparisonDirection.LT,
}
"""Comparisons by order; as this one real parts decide alone."""


def is_complex(value: SSAValue) -> bool:
    """Whether a value is an array of complex numbers."""
    type_ = as_array(value.type)
    return type_ is not None and element_class(type_.element_type) == ElementClass.COMPLEX


def convert_maximum(op: HloOperation, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.maximum`."""
    return emit_ordered(elementwise.MaximumOp, op, conversion, conversion.operands(op))


def convert_minimum(op: HloOperation, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.minimum`."""
    return emit_ordered(elementwise.MinimumOp, op, conversion, conversion.operands(op))


def convert_clamp(op: HloOperation, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.clamp`: of complex numbers the minimum of a maximum; bounds may be scalars."""
    operands = conversion.operands(op)
    if not is_complex(operands[1]):
        return conversion.emit(elementwise.ClampOp, operands, conversion.result_types(op))
    type_ = cast(Array, operands[1].type)
    for i in (0, 2):
        if is_scalar(operands[i].type, type_.element_type) and type_.shape.data:
            none = {"dimensions": NO_DIMENSIONS}
            (operands[i],) = conversion.emit(BroadcastOp, [operands[i]], [type_], none)
    least, value, most = _terms(op, conversion, operands)
    value = _of_order(value, least, ComparisonDirection.GT)
    return [_returned(op, conversion, _of_order(value, most, ComparisonDirection.LT))]


def emit_ordered(
    op_class: type[XlaOp], op: HloOperation, conversion: Conversion, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Any operation of two operands; of complex ones its order is computed."""
    if op_class not in ORDERS or not is_complex(operands[0]):
        return conversion.emit(op_class, operands, conversion.result_types(op))
    x, y = _terms(op, conversion, operands)
    return [_returned(op, conversion, _of_order(x, y, ORDERS[op_class]))]


def emit_comparison(
    op: HloOperation,
    conversion: Conversion,
    operands: Sequence[SSAValue],
    properties: Mapping[str, Attribute],
) -> Sequence[SSAValue]:
    """
    A comparison; XLA has no order of complex numbers, that of StableHLO is computed. SIGNED and
    UNSIGNED compare the bits of integers as such, whatever type these have.
    """
    direction, type_ = properties["direction"], properties.get("comparison_type")
    assert isinstance(direction, ComparisonDirectionAttr)
    if isinstance(type_, ComparisonTypeAttr) and type_.data in _INTEGER_ORDERS:
        operands = [_of_sign(value, _INTEGER_ORDERS[type_.data], conversion) for value in operands]
    is_float = type_ in (None, ComparisonTypeAttr(ComparisonType.FLOAT))
    if direction.data not in _STRICT or not is_complex(operands[0]) or not is_float:
        return conversion.emit(
            elementwise.CompareOp, operands, conversion.result_types(op), dict(properties)
        )
    x, y = _terms(op, conversion, operands)
    return [_returned(op, conversion, _in_order(x, y, direction.data))]


_INTEGER_ORDERS = {ComparisonType.SIGNED: "s", ComparisonType.UNSIGNED: "u"}
"""How the names of the element types begin that a comparison is of."""
_INTEGERS = ElementClass.SIGNED | ElementClass.UNSIGNED


def _of_sign(value: SSAValue, letter: str, conversion: Conversion) -> SSAValue:
    """An array of integers, signed or not as the first letter of its element type's name says."""
    type_ = as_array(value.type)
    row = None if type_ is None else BY_TYPE.get(type_.element_type)
    if type_ is None or row is None or not row.element_class & _INTEGERS:
        return value
    if row.name.startswith(letter):
        return value
    other = array_like(type_, BY_NAME[letter + row.name[1:]].type)
    return conversion.emit(BitcastConvertOp, [value], [other])[0]


def convert_cbrt(op: HloOperation, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.cbrt`: of complex numbers the principal root, by radius and angle in f64."""
    operands = conversion.operands(op)
    if not is_complex(operands[0]):
        return conversion.emit(elementwise.CbrtOp, operands, conversion.result_types(op))
    (z,) = _terms(op, conversion, operands)
    x = z.converted(ComplexType(f64))
    angle = x.imag().arctangent(x.real()) / 3.0
    radius = abs(x).apply(elementwise.CbrtOp)
    # An infinite radius times the sine of no angle is none.
    imaginary = angle.equals(0.0).where(angle, radius * angle.apply(elementwise.SineOp))
    root = (radius * angle.apply(elementwise.CosineOp)).complex(imaginary, x.type)
    return [_returned(op, conversion, root.converted(z.element_type))]


def _terms(op: HloOperation, conversion: Conversion, operands: Sequence[SSAValue]) -> list[Term]:
    """The operands, arrays of one type."""
    types = [value.type for value in operands]
    if not all(compatible(other, types[0]) for other in types):
        op.fail(f"operands {spell_all(types)} differ in type")
    terms = Terms(conversion, united_type(*(cast(Array, type_) for type_ in types)))
    return [terms.of(value) for value in operands]


def _in_order(x: Term, y: Term, direction: ComparisonDirection) -> Term:
    """Whether two numbers compare so: by real part, and where these are equal by imaginary part."""
    a, b = x.real(), y.real()
    return a.compare(_STRICT[direction], b) | (a.equals(b) & x.imag().compare(direction, y.imag()))


def _of_order(x: Term, y: Term, direction: ComparisonDirection) -> Term:
    """The first number where it compares so to the second one, which is taken elsewhere."""
    return _in_order(x, y, direction).where(x, y)


def _returned(op: HloOperation, conversion: Conversion, result: Term) -> SSAValue:
    """The result of an operation, which has to be of its declared type."""
    declared = conversion.result_types(op)[0]
    if not fits(result.type, declared):
        op.fail(f"(Result) declared {spell(declared)}, inferred {spell(result.type)}")
    return result.value
