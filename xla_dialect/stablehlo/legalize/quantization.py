"""Between quantized arrays and numbers: stored integers as the arithmetic that they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xla_dialect.quantized_types import quantization_of
from xla_dialect.stablehlo.conversion import Conversion, Legalize
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops.quantization import UniformDequantizeOp, UniformQuantizeOp
from xla_dialect.stablehlo.quantization.expressed import dequantized, quantized
from xla_dialect.stablehlo.quantization.rules import check_quantized
from xla_dialect.xdsl.operation_table import OperationTable


def convert_quantize(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.uniform_quantize`, of numbers or of what stands for them."""
    check_quantized(op)
    (value,) = conversion.operands(op)
    source, result = (quantization_of(v.type) for v in (op.operands[0], op.results[0]))
    assert result is not None
    if source is not None:
        value = dequantized(conversion, value, source)
    return [quantized(conversion, value, result)]


def convert_dequantize(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.uniform_dequantize`."""
    check_quantized(op)
    source = quantization_of(op.operands[0].type)
    assert source is not None
    return [dequantized(conversion, conversion.operands(op)[0], source)]


TO_XLA = (
    OperationTable[Legalize]()
    .add(UniformDequantizeOp, convert_dequantize)
    .add(UniformQuantizeOp, convert_quantize)
)
