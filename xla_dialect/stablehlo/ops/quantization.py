"""Between quantized arrays and numbers."""

from __future__ import annotations

from xla_dialect.stablehlo.ops.elementwise import UnaryOp
from xla_dialect.xdsl.definition import op_definition


class QuantizationOp(UnaryOp):
    """An operation between quantized arrays and numbers."""

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"


@op_definition
class UniformDequantizeOp(QuantizationOp):
    """The numbers that stored integers stand for."""

    name = "stablehlo.uniform_dequantize"


@op_definition
class UniformQuantizeOp(QuantizationOp):
    """The nearest stored integers of numbers, or of what stands for them."""

    name = "stablehlo.uniform_quantize"
