"""Arrays that loops take slices of and pass on as they are: gathered once, or slice by slice."""

from __future__ import annotations

from typing import cast

from lowerings.partitioning.mesh_atoms import MeshAtoms
from lowerings.partitioning.reshard_steps import Spread
from lowerings.partitioning.resharding import plan
from lowerings.partitioning.trip_counts import trip_count
from xla_dialect.dimensions import DataFlowEdge, terminator
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import WhileOp
from xla_dialect.ops.data_movement import DynamicSliceOp
from xla_dialect.types import Array, sizes_of


def spread_in_loop(mesh: MeshAtoms, op: XlaOp, edge: DataFlowEdge, spread: Spread) -> Spread:
    """
    How the values of a data-flow edge are spread that would be spread so.

    Of a dimension that is split, devices fold each slice. Where a loop takes slices of one array,
    and their folds are more bytes than to gather it, they have all of it from before the loop on.
    """
    trips = trip_count(op) if isinstance(op, WhileOp) and any(spread.dimensions) else None
    if trips is None:
        return spread
    last = terminator(cast(WhileOp, op).body)
    parameter = next(each for each in edge.parameters if each.block is last.parent)
    if parameter not in [source.value for source in edge.sources if source.operation is last]:
        return spread
    type_, sent, whole = cast(Array, parameter.type), 0.0, spread
    for use in parameter.uses:
        taken = use.operation
        if not isinstance(taken, DynamicSliceOp) or use.index:
            continue
        result, rest = cast(Array, taken.result.type), spread
        for d, size in enumerate(sizes_of(result)):
            if size != sizes_of(type_)[d]:
                rest, whole = rest.with_dimension(d, ()), whole.with_dimension(d, ())
        terms = Spread(rest.dimensions, spread.used - rest.used)
        sent += trips * plan(mesh, result, terms, rest).bytes
    return whole if plan(mesh, type_, spread, whole).bytes < sent else spread
