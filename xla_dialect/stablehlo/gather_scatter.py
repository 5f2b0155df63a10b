"""Indexed reads and writes of StableHLO; their dimension numbers are fields of one attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue

from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.stablehlo.conversion import Conversion, dimension_list
from xla_dialect.stablehlo.promotion import accumulators_of, promoted
from xla_dialect.stablehlo.source import Row, SourceOp

_GATHER_LISTS = (
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
)


def convert_gather(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.gather`."""
    op.spread("dimension_numbers")
    properties: dict[str, Attribute] = {
        name: dimension_list(op.integers(name, ())) for name in _GATHER_LISTS
    }
    properties["index_vector_dim"] = IntegerAttr(op.integer("index_vector_dim", 0), i64)
    properties["slice_sizes"] = dimension_list(op.integers("slice_sizes"))
    properties["indices_are_sorted"] = BoolAttr.from_bool(op.flag("indices_are_sorted"))
    return conversion.emit(
        GatherOp, conversion.operands(op), conversion.result_types(op), properties
    )


_SCATTER_LISTS = (
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
)


def convert_scatter(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.scatter`, with as many results as inputs."""
    if len(op.operands) % 2 == 0:
        op.fail(f"has {len(op.operands)} operands, expected indices and one update for each input")
    op.spread("scatter_dimension_numbers")
    properties: dict[str, Attribute] = {
        name: dimension_list(op.integers(name, ())) for name in _SCATTER_LISTS
    }
    properties["index_vector_dim"] = IntegerAttr(op.integer("index_vector_dim", 0), i64)
    for name in ("indices_are_sorted", "unique_indices"):
        properties[name] = BoolAttr.from_bool(op.flag(name))
    regions, operands = conversion.regions(op), conversion.operands(op)
    count = len(operands) // 2
    accumulators = accumulators_of(regions[0], count)
    if accumulators:
        indices = operands[count].type
        operands = promoted(conversion, operands, [*accumulators, indices, *accumulators])
    return conversion.emit(ScatterOp, operands, conversion.result_types(op), properties, regions)


ROWS: Mapping[str, Row] = {
    "stablehlo.gather": Row(None, convert_gather, operands=2),
    "stablehlo.scatter": Row(None, convert_scatter, results=None, regions=1),
}
