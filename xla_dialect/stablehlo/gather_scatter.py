"""Indexed reads and writes of StableHLO; their dimension numbers are fields of one attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.stablehlo.conversion import Conversion, Row
from xla_dialect.stablehlo.correspondence import (
    FieldProperties,
    Special,
    flag,
    integer,
    integers,
    named,
    same,
)
from xla_dialect.stablehlo.legalize.reduction import promoted
from xla_dialect.stablehlo.ops.reduction import accumulators_of
from xla_dialect.stablehlo.source import SourceOp

_GATHER_LISTS = (
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
)
_SCATTER_LISTS = (
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
)


GATHER = same(
    GatherOp,
    named(
        *(integers(name, ()) for name in _GATHER_LISTS),
        integer("index_vector_dim", 0),
        integers("slice_sizes"),
        flag("indices_are_sorted"),
    ),
    fields=FieldProperties(
        "dimension_numbers", "stablehlo.gather", (*_GATHER_LISTS, "index_vector_dim")
    ),
)
_SCATTER = same(
    ScatterOp,
    named(
        *(integers(name, ()) for name in _SCATTER_LISTS),
        integer("index_vector_dim", 0),
        flag("indices_are_sorted"),
        flag("unique_indices"),
    ),
    fields=FieldProperties(
        "scatter_dimension_numbers", "stablehlo.scatter", (*_SCATTER_LISTS, "index_vector_dim")
    ),
)


def convert_scatter(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.scatter`, with as many results as inputs."""
    if len(op.operands) % 2 == 0:
        op.fail(f"has {len(op.operands)} operands, expected indices and one update for each input")
    properties = _SCATTER.taken(op)
    regions, operands = conversion.regions(op), conversion.operands(op)
    count = len(operands) // 2
    accumulators = accumulators_of(regions[0], count)
    if accumulators:
        indices = operands[count].type
        operands = promoted(conversion, operands, [*accumulators, indices, *accumulators])
    return conversion.emit(ScatterOp, operands, conversion.result_types(op), properties, regions)


ROWS: Mapping[str, Row] = {
    "stablehlo.gather": Row(
        None,
        GATHER,
        operands=2,
    ),
    "stablehlo.scatter": Row(None, Special(_SCATTER, convert_scatter), results=None, regions=1),
}
