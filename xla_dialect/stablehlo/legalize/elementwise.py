"""
Elementwise operations: what XLA has for some element types only.

`bitcast_convert` between i1, which is one bit wide in StableHLO, and wider types is among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.conversion import BitcastConvertOp
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.data_movement import ReshapeOp
from xla_dialect.ops.elementwise import AbsOp, OrOp, ShiftLeftOp
from xla_dialect.ops.elementwise import ShiftRightLogicalOp as ShiftRightOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.stablehlo.attributes import integers
from xla_dialect.stablehlo.conversion import (
    Conversion,
    Legalize,
    sizes_of,
)
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla
from xla_dialect.stablehlo.op import StableHloOp, applied_to_two
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
    whole_type = array(BY_NAME[f"u{row.bits}"].type, sizes)
    last, bits = len(sizes), Terms(conversion, array(whole_type.element_type, (*sizes, row.bits)))

    def places() -> Term:
        """The number of each bit, from the least significant one."""
        along = {"iota_dimension": IntegerAttr(last, i64)}
        return bits.of(conversion.emit(IotaOp, (), [bits.type], along)[0])

    if not is_narrow:
        whole = conversion.emit(BitcastConvertOp, [operand], [whole_type])
        spread = bits.of(conversion.broadcast(whole[0], bits.type, range(last)))
        single = spread.emit(ShiftRightOp, places()) & 1
        return [single.differs(0).value]
    single = bits.of(operand).converted(whole_type.element_type)
    placed = single.emit(ShiftLeftOp, places())
    zero = conversion.constant(array(whole_type.element_type, ()), [0])
    whole = conversion.emit(
        ReduceOp,
        [placed.value, zero],
        [whole_type],
        {"dimensions": integers([last])},
        [applied_to_two(OrOp, whole_type.element_type, ReturnOp)],
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
