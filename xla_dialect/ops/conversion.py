"""Operations that change type or precision of elements."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xla_dialect.attributes import INTEGER
from xla_dialect.constraints import ArrayOf, declared_array, require_same_shape, with_elements
from xla_dialect.dimensions import Factor, FactorType, RelationsBuilder, Traversal
from xla_dialect.op import PointwiseOp, PureOp, Types
from xla_dialect.shapes.size_arithmetic import compatible
from xla_dialect.types import BY_TYPE, Array, ElementClass, array, array_like, sizes_of
from xla_dialect.violations import require


@irdl_op_definition
class ConvertOp(PointwiseOp):
    """
    `result[i] = operand[i]` converted to the element type of the result.

    Float to integer truncates and saturates, NaN gives 0; integers wrap; anything to pred is
    `x != 0`; floats round to nearest even; real to complex has imaginary part 0.

    (C1) both are arrays of XLA element types. (C2) the dimensions are equal.
    """

    name = "xla.convert"
    operand = operand_def(ArrayOf())

    @staticmethod
    def infer(operand: Array, *, declared: Types) -> Types:
        """The dimensions of the operand with the declared element type."""
        result = with_elements(declared_array(declared), ElementClass.ANY, "the result")
        require_same_shape(operand, result, "operand and result", "C2")
        return (array_like(operand, result.element_type),)


@irdl_op_definition
class BitcastConvertOp(PureOp):
    """
    The bits of the operand read as another element type, least significant bits first.

    With a wider result the last dimension is consumed, with a narrower one it is appended.

    (C1) both are arrays of XLA element types.
    (C2) the wider bit width is a multiple of the narrower one.
    (C3) if the result is wider, the last dimension of the operand is the quotient of the widths.
    (C4) complex types only to complex types.
    """

    name = "xla.bitcast_convert"
    HANDS_ON: ClassVar = True
    operand = operand_def(ArrayOf())

    @staticmethod
    def infer(operand: Array, *, declared: Types) -> Types:
        """The type that follows from the operand and the declared element type."""
        target = with_elements(declared_array(declared), ElementClass.ANY, "the result")
        return (bitcast_type(operand, target.element_type),)

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        """Dimension by dimension, but for the one that is consumed or appended."""
        before, after = relations.operands[0], relations.results[0]
        common = min(len(before), len(after))
        relations.add_each(before[:common])
        for size in before[common:]:
            relations.add(Factor(size, FactorType.NEED_REPLICATION, Traversal.WHOLE), {0: common})
            relations.static[0, common] = "its elements become one"
        for size in after[common:]:
            relations.add(
                Factor(size, FactorType.NEED_REPLICATION, Traversal.WHOLE), {}, {0: common}
            )


def bitcast_type(source: Array, element_type: Attribute) -> Array:
    """The type of a bitcast-convert to an element type; raises Violation (C2) to (C4)."""
    old, new = BY_TYPE[source.element_type], BY_TYPE[element_type]
    sizes = sizes_of(source)
    require(
        (old.element_class == ElementClass.COMPLEX) == (new.element_class == ElementClass.COMPLEX),
        "C4",
        "{} to {}",
        old.name,
        new.name,
    )
    wide, narrow = max(old.bits, new.bits), min(old.bits, new.bits)
    require(wide % narrow == 0, "C2", "{} bits to {} bits", old.bits, new.bits)
    if old.bits > new.bits:
        return array(element_type, (*sizes, wide // narrow))
    if old.bits == new.bits:
        return array(element_type, sizes)
    require(
        bool(sizes) and compatible(sizes[-1], wide // narrow),
        "C3",
        "last dimension of {} should be {}",
        list(sizes),
        wide // narrow,
    )
    return array(element_type, sizes[:-1])


@irdl_op_definition
class ReducePrecisionOp(PointwiseOp):
    """
    `result[i] = operand[i]` rounded to a format with fewer bits, and back.

    First the significand is rounded to `mantissa_bits`, ties to even; then, where `exponent_bits`
    is less than the type has, with bias `B = 2^(exponent_bits - 1) - 1`: an exponent above B gives
    infinity, one below `1 - B` a zero of the same sign. NaN stays NaN.

    (C1) elements are floats. (C2) `exponent_bits >= 1`. (C3) `mantissa_bits >= 0`.
    """

    name = "xla.reduce_precision"
    operand = operand_def(ArrayOf(ElementClass.FLOAT))
    exponent_bits = prop_def(INTEGER)
    mantissa_bits = prop_def(INTEGER)

    @staticmethod
    def infer(operand: Array, *, exponent_bits: int, mantissa_bits: int) -> Types:
        """The type of the operand."""
        require(exponent_bits >= 1, "C2", "exponent_bits is {}", exponent_bits)
        require(mantissa_bits >= 0, "C3", "mantissa_bits is {}", mantissa_bits)
        return (array_like(operand),)
