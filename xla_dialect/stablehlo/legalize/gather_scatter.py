"""Indexed reads and writes: operands of a scatter are promoted, an operand may say slice sizes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xla_dialect.ops import gather_scatter as xla
from xla_dialect.stablehlo.conversion import Conversion, Legalize, dimension_list
from xla_dialect.stablehlo.dynamic_shapes import take_shape
from xla_dialect.stablehlo.legalize.reduction import convert_reduction
from xla_dialect.stablehlo.ops import gather_scatter as stablehlo
from xla_dialect.xdsl.operation_table import OperationTable


def convert_dynamic_gather(
    op: stablehlo.DynamicGatherOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_gather`, whose last operand has the slice sizes."""
    sizes = {"slice_sizes": dimension_list(take_shape(op, conversion, 2))}
    operands, types = conversion.operands(op)[:2], conversion.result_types(op)
    return conversion.emit(xla.GatherOp, operands, types, op.xla_properties() | sizes)


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.DynamicGatherOp, convert_dynamic_gather)
    .add(stablehlo.ScatterOp, convert_reduction)
)
