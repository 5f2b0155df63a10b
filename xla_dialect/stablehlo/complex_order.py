"""Maximum and minimum of complex numbers: the order is that of (real, imaginary)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from xla_dialect.attributes import ComparisonDirection, ComparisonDirectionAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops.elementwise_binary import AndOp, CompareOp, OrOp
from xla_dialect.ops.elementwise_ternary import SelectOp
from xla_dialect.ops.elementwise_unary import ImagOp, RealOp
from xla_dialect.stablehlo.conversion import Conversion, sizes_of
from xla_dialect.stablehlo.correspondence import Same, Special
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.types import (
    PRED,
    ElementClass,
    array,
    as_array,
    compatible,
    component_type,
    element_class,
    spell_all,
)


def ordered(plain: Same, direction: ComparisonDirection) -> Special:
    """The conversion of an operation that takes the greater, or the less, of two values."""

    def convert(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        operands = conversion.operands(op)
        type_ = as_array(operands[0].type)
        if type_ is None or element_class(type_.element_type) != ElementClass.COMPLEX:
            return plain(op, conversion)
        types = [value.type for value in operands]
        if not all(compatible(other, type_) for other in types):
            op.fail(f"operands {spell_all(types)} differ in type")
        return _select(operands, conversion, direction, conversion.result_types(op)[0])

    return Special(plain, convert)


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
        return conversion.emit(CompareOp, values, [truth], properties)[0]

    real, imaginary = ([emit(of, [v], part) for v in operands] for of in (RealOp, ImagOp))
    tie = emit(AndOp, [compare(real, ComparisonDirection.EQ), compare(imaginary, direction)], truth)
    first = emit(OrOp, [compare(real, direction), tie], truth)
    return [emit(SelectOp, [first, *operands], declared)]
