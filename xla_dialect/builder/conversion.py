"""Operations that change the element type (docs/generated/ops.md#conversion)."""

from __future__ import annotations

from xla_dialect.builder.recorder import Recorder
from xla_dialect.builder.type_spelling import ElementTypeLike, as_element_type
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp, ReducePrecisionOp
from xla_dialect.ops.random import StochasticConvertOp
from xla_dialect.types import array_like


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
        return self._append_one(
            BitcastConvertOp, self._ssa(operand), element_type=as_element_type(new_element_type)
        )

    def reduce_precision(
        self, operand: XlaValue, exponent_bits: int, mantissa_bits: int
    ) -> XlaValue:
        """
        The elements rounded to a format with fewer bits, and back.

        Example: `b.reduce_precision(x, exponent_bits=5, mantissa_bits=10)`.
        """
        return self._append_one(
            ReducePrecisionOp,
            self._ssa(operand),
            exponent_bits=exponent_bits,
            mantissa_bits=mantissa_bits,
        )

    def stochastic_convert(
        self, operand: XlaValue, random: XlaValue, new_element_type: ElementTypeLike
    ) -> XlaValue:
        """
        The elements rounded up or down by chance, which `random` decides.

        `random`: unsigned integers as wide as the elements of the operand.
        Example: `b.stochastic_convert(x, b.bitcast_convert_type(y, "u32"), "bf16")`.
        """
        return self._append_one(
            StochasticConvertOp,
            self._ssa(operand),
            self._ssa(random, "random"),
            element_type=as_element_type(new_element_type),
        )
