"""Elementwise operations: what XLA has for some element types only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue

from xla_dialect.ops.conversion import BitcastConvertOp
from xla_dialect.ops.data_movement import ReshapeOp
from xla_dialect.ops.elementwise import AbsOp
from xla_dialect.shapes.size_arithmetic import compatible
from xla_dialect.stablehlo.bits import convert_bits
from xla_dialect.stablehlo.complex_numbers import (
    convert_cbrt,
    convert_clamp,
    convert_maximum,
    convert_minimum,
    emit_comparison,
)
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sizes_of
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla
from xla_dialect.stablehlo.ops import elementwise as stablehlo
from xla_dialect.types import (
    BY_TYPE,
    PRED,
    Array,
    ElementClass,
    array,
    as_array,
    element_class,
    fits,
    spell,
)
from xla_dialect.xdsl.operation_table import OperationTable


def abs_of_xla(op: AbsOp, legalization: FromXla) -> Sequence[SSAValue]:
    """The operand itself where it has no sign: StableHLO has no operation for that."""
    element_type = cast(Array, op.operand.type).element_type
    is_unsigned = element_class(element_type) == ElementClass.UNSIGNED
    return legalization.operands(op) if is_unsigned else legalization.same(op, stablehlo.AbsOp)


def convert_compare(op: stablehlo.CompareOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.compare`."""
    return emit_comparison(op, conversion, conversion.operands(op), op.xla_properties())


def convert_bitcast(op: stablehlo.BitcastConvertOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.bitcast_convert`; i1 is one bit wide, and a new dimension of size 1 is allowed."""
    (operand,), (declared,) = conversion.operands(op), conversion.result_types(op)
    before, after = as_array(operand.type), as_array(declared)
    if before is None or after is None:
        op.fail(f"takes and returns arrays, found {spell(operand.type)} and {spell(declared)}")
    if (before.element_type == PRED) != (after.element_type == PRED):
        return convert_bits(op, conversion, operand, before, after)
    sizes, rank = sizes_of(before), len(sizes_of(after))
    if BY_TYPE[before.element_type].bits == BY_TYPE[after.element_type].bits:
        others = [(*sizes, 1), *([sizes[:-1]] if sizes and compatible(sizes[-1], 1) else [])]
        for other in others:
            if len(other) == rank and fits(array(after.element_type, other), declared):
                reshaped = array(before.element_type, other)
                (operand,) = conversion.emit(ReshapeOp, [operand], [reshaped])
    return conversion.emit(BitcastConvertOp, [operand], [declared])


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.CbrtOp, convert_cbrt)
    .add(stablehlo.MaximumOp, convert_maximum)
    .add(stablehlo.MinimumOp, convert_minimum)
    .add(stablehlo.ClampOp, convert_clamp)
    .add(stablehlo.CompareOp, convert_compare)
    .add(stablehlo.BitcastConvertOp, convert_bitcast)
)

FROM_XLA = OperationTable[LegalizeFromXla]().add(AbsOp, abs_of_xla)
