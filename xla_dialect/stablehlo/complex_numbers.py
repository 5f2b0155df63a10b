"""Operations on complex numbers that XLA has for real ones only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ComplexType, f64
from xdsl.ir import Attribute, SSAValue

from xla_dialect.attributes import ComparisonDirection, ComparisonDirectionAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.ops import elementwise_unary as unary
from xla_dialect.ops.elementwise_ternary import SelectOp
from xla_dialect.stablehlo.conversion import Conversion, sizes_of
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.terms import Terms
from xla_dialect.types import (
    PRED,
    Array,
    ElementClass,
    array,
    as_array,
    compatible,
    component_type,
    element_class,
    spell_all,
)

ORDERS: Mapping[type[XlaOp], ComparisonDirection] = {
    binary.MaximumOp: ComparisonDirection.GT,
    binary.MinimumOp: ComparisonDirection.LT,
}
"""What takes the greater, or the less, of two values; the order is that of (real, imaginary)."""


def is_complex(value: SSAValue) -> bool:
    """Whether a value is an array of complex numbers."""
    type_ = as_array(value.type)
    return type_ is not None and element_class(type_.element_type) == ElementClass.COMPLEX


def convert_maximum(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.maximum`."""
    return emit_ordered(binary.MaximumOp, op, conversion, conversion.operands(op))


def convert_minimum(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.minimum`."""
    return emit_ordered(binary.MinimumOp, op, conversion, conversion.operands(op))


def emit_ordered(
    op_class: type[XlaOp], op: SourceOp, conversion: Conversion, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Any operation of two operands; of complex ones its order is computed."""
    types = [value.type for value in operands]
    if op_class not in ORDERS or not is_complex(operands[0]):
        return conversion.emit(op_class, operands, conversion.result_types(op))
    if not all(compatible(other, types[0]) for other in types):
        op.fail(f"operands {spell_all(types)} differ in type")
    return _select(operands, conversion, ORDERS[op_class], conversion.result_types(op)[0])


def convert_cbrt(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.cbrt`: of complex numbers the principal root, by radius and angle in f64."""
    (operand,) = conversion.operands(op)
    if not is_complex(operand):
        return conversion.emit(unary.CbrtOp, [operand], conversion.result_types(op))
    declared = cast(Array, operand.type)
    x = Terms(conversion, declared).of(operand).converted(ComplexType(f64))
    angle = x.imag().arctangent(x.real()) / 3.0
    radius = abs(x).apply(unary.CbrtOp)
    # An infinite radius times the sine of no angle is none.
    imaginary = angle.equals(0.0).where(angle, radius * angle.apply(unary.SineOp))
    root = (radius * angle.apply(unary.CosineOp)).complex(imaginary, x.type)
    return [root.converted(declared.element_type).value]


def _select(
    operands: Sequence[SSAValue],
    conversion: Conversion,
    direction: ComparisonDirection,
    declared: Attribute,
) -> Sequence[SSAValue]:
    type_ = as_array(operands[0].type)
    assert type_ is not None
    sizes = sizes_of(type_)
    truth, part = array(PRED, sizes), array(component_type(type_.element_type), sizes)

    def emit(op_class: type[XlaOp], values: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        return conversion.emit(op_class, values, [type_])[0]

    def compare(values: Sequence[SSAValue], how: ComparisonDirection) -> SSAValue:
        properties = {"direction": ComparisonDirectionAttr(how)}
        return conversion.emit(binary.CompareOp, values, [truth], properties)[0]

    real = [emit(unary.RealOp, [value], part) for value in operands]
    imaginary = [emit(unary.ImagOp, [value], part) for value in operands]
    equal = compare(real, ComparisonDirection.EQ)
    tie = emit(binary.AndOp, [equal, compare(imaginary, direction)], truth)
    first = emit(binary.OrOp, [compare(real, direction), tie], truth)
    return [emit(SelectOp, [first, *operands], declared)]
