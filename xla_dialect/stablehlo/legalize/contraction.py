"""Convolutions: the kernel has the sizes of the window, and an operand may say its padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue

from xla_dialect.ops import contraction as xla
from xla_dialect.shapes.size_arithmetic import compatible
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sizes_of
from xla_dialect.stablehlo.ops import contraction as stablehlo
from xla_dialect.stablehlo.source import UnknownShape
from xla_dialect.types import spell
from xla_dialect.xdsl.operation_table import OperationTable


def convert_convolution(op: stablehlo.ConvolutionOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.convolution`."""
    return emit_convolution(op, conversion, op.padding, conversion.result_types(op))


def emit_convolution(
    op: stablehlo.ConvolvingOp,
    conversion: Conversion,
    padding: Attribute | None,
    types: Sequence[Attribute],
) -> Sequence[SSAValue]:
    """Emits the convolution with a padding, whose result has these types."""
    operands = conversion.operands(op)[:2]
    op.xla_operand_types([operand.type for operand in operands])
    properties = op.with_window(sizes_of(operands[1].type), padding)
    return conversion.emit(xla.ConvolutionOp, operands, types, properties)


def convert_dynamic_convolution(
    op: stablehlo.DynamicConvOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_conv`, whose last operand has the padding."""
    padding = conversion.operands(op)[2]
    sizes = sizes_of(padding.type)
    found = conversion.constant_integers(padding)
    if len(sizes) != 2 or not compatible(sizes[1], 2):
        op.fail(f"the padding is {spell(padding.type)}, not a list of pairs")
    if found is None:
        raise UnknownShape(op, 2)
    literal = DenseIntOrFPElementsAttr.from_list(TensorType(i64, sizes), found)
    return emit_convolution(op, conversion, literal, conversion.result_types(op))


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.ConvolutionOp, convert_convolution)
    .add(stablehlo.DynamicConvOp, convert_dynamic_convolution)
)
