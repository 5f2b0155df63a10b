"""Operations that change the element type (operations.md, sections 8 and 21, and appendix A)."""

from __future__ import annotations

from xla_dialect.builder.recorder import Recorder, violated
from xla_dialect.builder.type_spelling import ElementTypeLike, as_element_type
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp, bitcast_type
from xla_dialect.types import array_like
from xla_dialect.violation import Violation


class ConversionMethods(Recorder):
    """Methods that change the element type."""

    def convert_element_type(
        self, operand: XlaValue, new_element_type: ElementTypeLike
    ) -> XlaValue:
        """
        The elements converted: floats to integers truncate and saturate, anything else rounds.

        Example: `b.convert_element_type(x, "bf16")`.
        """
        result = array_like(operand.array_type, as_element_type(new_element_type))
        return self._append_one(ConvertOp, self._ssa(operand), result_types=[result])

    def bitcast_convert_type(
        self, operand: XlaValue, new_element_type: ElementTypeLike
    ) -> XlaValue:
        """
        The bits read as another element type, the least significant ones first.

        A wider type consumes the last dimension, a narrower one appends one.
        Example: `b.bitcast_convert_type(x, "u8")`.
        """
        element_type = as_element_type(new_element_type)
        try:
            result = bitcast_type(operand.array_type, element_type)
        except Violation as violation:
            raise violated("bitcast_convert_type", violation) from None
        return self._append_one(BitcastConvertOp, self._ssa(operand), result_types=[result])
