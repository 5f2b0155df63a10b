"""
Elementwise operations: what XLA has for some element types only.

`bitcast_convert` between i1, which is one bit wide in StableHLO, and wider types is among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from xla_dialect.ops.conversion import BitcastConvertOp
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.data_movement import BroadcastOp, ReshapeOp
from xla_dialect.ops.elementwise import AbsOp, OrOp, ShiftLeftOp
from xla_dialect.ops.elementwise import ShiftRightLogicalOp as ShiftRightOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.stablehlo.conversion import (
    Conversion,
    Legalize,
    applied_to_two,
    dimension_list,
    sizes_of,
)
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops import elementwise as stablehlo
from xla_dialect.stablehlo.special_functions import (
    convert_cbrt,
    convert_clamp,
    convert_ordered,
    emit_comparison,
)
from xla_dialect.stablehlo.terms import Term, Terms
from xla_dialect.types import (
    BY_NAME,
    BY_TYPE,
    PRED,
    Array,
    ElementClass,
    array,
    element_class,
)
from xla_dialect.xdsl.operation_table import OperationTable


def convert_bits(
    conversion: Conversion, operand: SSAValue, before: Array, after: Array
) -> Sequence[SSAValue]:
    """Bit i of an element is element i along the last dimension of the array of i1."""
    is_narrow = before.element_type == PRED
    after = stablehlo.bits_type(before, after)
    row = BY_TYPE[(after if is_narrow else before).element_type]
    sizes = sizes_of(before)[:-1] if is_narrow else sizes_of(before)
    integers = array(BY_NAME[f"u{row.bits}"].type, sizes)
    last, bits = len(sizes), Terms(conversion, array(integers.element_type, (*sizes, row.bits)))

    def places() -> Term:
        """The number of each bit, from the least significant one."""
        along = {"iota_dimension": IntegerAttr(last, i64)}
        return bits.of(conversion.emit(IotaOp, (), [bits.type], along)[0])

    if not is_narrow:
        whole = conversion.emit(BitcastConvertOp, [operand], [integers])
        dimensions = {"dimensions": dimension_list(range(last))}
        spread = bits.of(conversion.emit(BroadcastOp, whole, [bits.type], dimensions)[0])
        single = spread.emit(ShiftRightOp, places()) & 1
        return [single.differs(0).value]
    single = bits.of(operand).converted(integers.element_type)
    placed = single.emit(ShiftLeftOp, places())
    zero = conversion.constant(array(integers.element_type, ()), [0])
    whole = conversion.emit(
        ReduceOp,
        [placed.value, zero],
        [integers],
        {"dimensions": dimension_list([last])},
        [applied_to_two(OrOp, integers.element_type)],
    )
    return conversion.emit(BitcastConvertOp, whole, [after])


def abs_of_xla(op: AbsOp, legalization: FromXla) -> Sequence[SSAValue]:
    """The operand itself where it has no sign: StableHLO has no operation for that."""
    element_type = cast(Array, op.operand.type).element_type
    is_unsigned = element_class(element_type) == ElementClass.UNSIGNED
    return legalization.operands(op) if is_unsigned else legalization.same(op, stablehlo.AbsOp)


def convert_compare(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.compare`."""
    return emit_comparison(op, conversion, conversion.operands(op), op.xla_properties())


def convert_bitcast(op: stablehlo.BitcastConvertOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.bitcast_convert`; i1 is one bit wide, and a new dimension of size 1 is allowed."""
    (operand,), (declared,) = conversion.operands(op), conversion.result_types(op)
    op.inferred([operand.type], [declared])
    before, after = cast(Array, operand.type), cast(Array, declared)
    if (before.element_type == PRED) != (after.element_type == PRED):
        return convert_bits(conversion, operand, before, after)
    type_ = stablehlo.reshaped(before, after)
    if type_ is not before:
        (operand,) = conversion.emit(ReshapeOp, [operand], [type_])
    return conversion.emit(BitcastConvertOp, [operand], [declared])


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.CbrtOp, convert_cbrt)
    .add((stablehlo.MaximumOp, stablehlo.MinimumOp), convert_ordered)
    .add(stablehlo.ClampOp, convert_clamp)
    .add(stablehlo.CompareOp, convert_compare)
    .add(stablehlo.BitcastConvertOp, convert_bitcast)
)

FROM_XLA = OperationTable[LegalizeFromXla]().add(AbsOp, abs_of_xla)
