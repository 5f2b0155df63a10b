"""
Elementwise operations: what XLA has for some element types only.

`bitcast_convert` between i1, which is one bit wide in StableHLO, and wider types is among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, i64
from xdsl.ir import Attribute, Region, SSAValue

from xla_dialect.attributes import ComparisonDirection, ComparisonDirectionAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import BroadcastOp, ReshapeOp
from xla_dialect.ops.elementwise import AbsOp, AndOp, CompareOp, OrOp, ShiftLeftOp
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
from xla_dialect.stablehlo.ops import elementwise as stablehlo
from xla_dialect.stablehlo.special_functions import (
    convert_cbrt,
    convert_clamp,
    convert_maximum,
    convert_minimum,
    emit_comparison,
)
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


class _Bits:
    """The arrays of bits of one array of integers, the bits along a dimension of their own."""

    def __init__(self, conversion: Conversion, integers: Array, width: int):
        self.conversion = conversion
        self.integers = integers
        self.bits = array(integers.element_type, (*sizes_of(integers), width))
        self.last = len(sizes_of(integers))

    def emit(
        self,
        op_class: type[XlaOp],
        operands: Sequence[SSAValue],
        result: Attribute,
        regions: Sequence[Region] = (),
        **properties: Attribute,
    ) -> SSAValue:
        """Adds an operation and returns its result."""
        return self.conversion.emit(op_class, operands, [result], properties, regions)[0]

    def places(self) -> SSAValue:
        """The number of each bit, from the least significant one."""
        return self.emit(IotaOp, (), self.bits, iota_dimension=IntegerAttr(self.last, i64))

    def number(self, value: int) -> SSAValue:
        scalar = array(self.integers.element_type, ())
        literal = DenseIntOrFPElementsAttr.from_list(cast(Any, scalar), [value])
        return self.emit(ConstantOp, (), scalar, value=literal)

    def numbers(self, value: int) -> SSAValue:
        nowhere = dimension_list(())
        return self.emit(BroadcastOp, [self.number(value)], self.bits, dimensions=nowhere)


def convert_bits(
    conversion: Conversion, operand: SSAValue, before: Array, after: Array
) -> Sequence[SSAValue]:
    """Bit i of an element is element i along the last dimension of the array of i1."""
    is_narrow = before.element_type == PRED
    after = stablehlo.bits_type(before, after)
    row = BY_TYPE[(after if is_narrow else before).element_type]
    sizes = sizes_of(before)[:-1] if is_narrow else sizes_of(before)
    integers = array(BY_NAME[f"u{row.bits}"].type, sizes)
    bits = _Bits(conversion, integers, row.bits)
    if not is_narrow:
        whole = bits.emit(BitcastConvertOp, [operand], integers)
        dimensions = dimension_list(range(bits.last))
        spread = bits.emit(BroadcastOp, [whole], bits.bits, dimensions=dimensions)
        shifted = bits.emit(ShiftRightOp, [spread, bits.places()], bits.bits)
        single = bits.emit(AndOp, [shifted, bits.numbers(1)], bits.bits)
        direction = ComparisonDirectionAttr(ComparisonDirection.NE)
        return [bits.emit(CompareOp, [single, bits.numbers(0)], after, direction=direction)]
    single = bits.emit(ConvertOp, [operand], bits.bits)
    placed = bits.emit(ShiftLeftOp, [single, bits.places()], bits.bits)
    whole = bits.emit(
        ReduceOp,
        [placed, bits.number(0)],
        integers,
        [applied_to_two(OrOp, integers.element_type)],
        dimensions=dimension_list([bits.last]),
    )
    return [bits.emit(BitcastConvertOp, [whole], after)]


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
    .add(stablehlo.MaximumOp, convert_maximum)
    .add(stablehlo.MinimumOp, convert_minimum)
    .add(stablehlo.ClampOp, convert_clamp)
    .add(stablehlo.CompareOp, convert_compare)
    .add(stablehlo.BitcastConvertOp, convert_bitcast)
)

FROM_XLA = OperationTable[LegalizeFromXla]().add(AbsOp, abs_of_xla)
