"""The meaning of quantized operations: dequantize, compute with the numbers, quantize.

As the specification defines `dequantize_op_quantize` and its kin. Operations that only move stored
integers keep them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Block, SSAValue

from xla_dialect.quantized_types import quantization_of, with_element_type
from xla_dialect.stablehlo.conversion import Conversion, Legalize
from xla_dialect.stablehlo.op import HloOperation, SourceError
from xla_dialect.stablehlo.ops.elementwise import UniformDequantizeOp, UniformQuantizeOp
from xla_dialect.stablehlo.quantization.rules import NUMBERS, check_quantized
from xla_dialect.stablehlo.quantization.values import dequantized, quantized
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.operation_table import OperationTable


def convert_as(
    op: HloOperation,
    conversion: Conversion,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: Mapping[str, Attribute] | None = None,
) -> list[SSAValue]:
    """What the operation becomes on other, converted operands; `properties` replace its own."""
    block = Block(arg_types=[value.type for value in operands])
    for argument, value in zip(block.args, operands, strict=True):
        conversion.define(argument, value)
    regions = [region.clone() for region in op.regions]
    for source, region in zip(op.regions, regions, strict=True):
        conversion.locations.copy(source, region)
    plain = create(
        type(op),
        operands=block.args,
        result_types=result_types,
        properties={**op.properties, **(properties or {})},
        attributes=op.attributes,
        regions=regions,
    )
    op.attributes.clear()
    try:
        conversion.convert_operation(plain)
    except SourceError as error:
        error.op = op
        raise
    return [conversion.value(result) for result in plain.results]


def expressed_arithmetic(op: HloOperation, conversion: Conversion) -> Sequence[SSAValue]:
    """Computes with numbers of the expressed type."""
    if op.name not in NUMBERS:
        return conversion.by_pattern(op)
    operands = list(map(conversion.value, op.operands))
    for position, operand in enumerate(op.operands):
        quantization = quantization_of(operand.type)
        if quantization is not None:
            operands[position] = dequantized(conversion, operands[position], quantization)
    found = [quantization_of(result.type) for result in op.results]
    types = [
        result.type if each is None else with_element_type(result.type, each.expressed)
        for result, each in zip(op.results, found, strict=True)
    ]
    results = convert_as(op, conversion, operands, types)
    return [
        value if each is None else quantized(conversion, value, each)
        for value, each in zip(results, found, strict=True)
    ]


def convert_quantize(op: HloOperation, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.uniform_quantize`, of numbers or of what stands for them."""
    check_quantized(op)
    (value,) = conversion.operands(op)
    source, result = (quantization_of(v.type) for v in (op.operands[0], op.results[0]))
    assert result is not None
    if source is not None:
        value = dequantized(conversion, value, source)
    return [quantized(conversion, value, result)]


def convert_dequantize(op: HloOperation, conversion: Conversion) -> Sequence[SSAValue]:
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
