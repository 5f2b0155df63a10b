"""Between numbers and the integers that are stored for them."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from xla_dialect.stablehlo.ops.elementwise import UnaryOp


class QuantizationOp(UnaryOp):
    """An operation between quantized arrays and numbers."""

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"


@irdl_op_definition
class UniformDequantizeOp(QuantizationOp):
    """The numbers that stored integers stand for."""

    name = "stablehlo.uniform_dequantize"


@irdl_op_definition
class UniformQuantizeOp(QuantizationOp):
    """The nearest stored integers of numbers, or of what stands for them."""

    name = "stablehlo.uniform_quantize"
