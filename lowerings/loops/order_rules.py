"""
Which loops, lanes and unrolled tiles a nest admits: the rules that `schedule_rules` numbers; and
which loops threads may share, those without loop-carried dependences.

What a loop computes does not depend on the number of threads: sums are never divided among them
but in parts that are the same for any number.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import scf
from xdsl.rewriter import Rewriter

from lowerings.dialects.schedule import Schedule, ScheduleError
from lowerings.loops.access import Access
from lowerings.loops.lane_analysis import LaneAnalysis
from lowerings.loops.memory import LARGEST_BLOCK, is_read_turned, lane_stride
from lowerings.loops.nest import LOADS, Nest

MOST_POINTS = 1024


def check_order(nest: Nest, order: Schedule, lane_analysis: LaneAnalysis | None) -> None:
    """Raises ScheduleError unless a nest can be written in an order."""
    extents = nest.extents
    unrolled = prod(min(loop.tile, extents[loop.dimension]) for loop in order.loops)
    if unrolled > MOST_POINTS * order.lanes:
        raise ScheduleError(
            f"(SR8) tiles that unroll {unrolled // order.lanes} points; at most {MOST_POINTS}"
        )
    if order.vector is not None and lane_analysis is not None:
        _check_vectors(nest, order, order.vector, lane_analysis)
    if order.transposed is not None:
        _check_transposed(nest, order, order.transposed)


def _check_vectors(nest: Nest, order: Schedule, vector: int, lane_analysis: LaneAnalysis) -> None:
    if reason := reason_against_lanes(nest, lane_analysis):
        raise ScheduleError(reason)
    tile = next((loop.tile for loop in order.loops if loop.dimension == vector), order.lanes)
    if tile % order.lanes:
        raise ScheduleError(f"(SR2) a tile of {tile} iterations in vectors of {order.lanes} lanes")
    for output in range(len(nest.outputs)):
        mask = nest.mask[nest.accumulators[output]]
        if not mask >> vector & 1 and mask >> order.loops[-1].dimension & 1:
            raise ScheduleError(
                f"(SR4) output {output} is folded over lanes, and d{order.loops[-1].dimension}, "
                "which chooses its element, is innermost"
            )


def reason_against_lanes(nest: Nest, lane_analysis: LaneAnalysis) -> str | None:
    """Why a nest has no vectors along a dimension, in whatever order; None if it can have them."""
    if not lane_analysis.is_possible:
        return "(SR4) the operation does what vectors cannot"
    vector = lane_analysis.dimension
    for access in nest.accesses:
        if lane_stride(access, vector) is None:
            return f"(SR4) an operand of type {access.type} that vectors cannot reach"
    for output in range(len(nest.outputs)):
        if not has_vector_result(nest, vector, output):
            return f"(SR4) output {output} is folded over the lanes by what may not be reassociated"
    return None


def has_vector_result(nest: Nest, dimension: int, output: int) -> bool:
    """Whether an output is stored in lanes along a dimension, or folded over them."""
    if nest.mask[nest.accumulators[output]] >> dimension & 1:
        return True
    return nest.is_reduction[dimension] and nest.combiners[output] is not None


def _check_transposed(nest: Nest, order: Schedule, transposed: int) -> None:
    rows = next((loop.tile for loop in order.loops if loop.dimension == transposed), 1)
    if reason := reason_against_blocks(nest, order.vector, transposed, rows, order.lanes):
        raise ScheduleError(reason)


def reason_against_blocks(
    nest: Nest, vector: int | None, transposed: int, rows: int, lanes: int
) -> str | None:
    """Why a nest transposes no blocks of a size, in whatever order; None if it can do so."""
    if rows != lanes or lanes & (lanes - 1) or lanes > LARGEST_BLOCK:
        return (
            "(SR5) a transposed block has as many rows as vectors have lanes, a power of two up to "
            f"{LARGEST_BLOCK}; found {rows} rows of {lanes} lanes"
        )
    if any(nest.is_reduction[d] for d in nest.loop_dimensions):
        return "(SR5) nothing is reduced where blocks are transposed"
    inputs = (access for access in nest.inputs if isinstance(access, Access))
    if not any(is_read_turned(access, vector, transposed) for access in inputs):
        return "(SR5) no input has unit stride along the transposed dimension only"
    return None


def is_independent(nest: Nest, dimension: int) -> bool:
    """Whether no step of a dimension reads or writes what another one writes."""
    if nest.is_reduction[dimension]:
        return False
    if not all(access.reaches(dimension) for access in nest.outputs):
        return False
    places = {access.memref: (access.strides, access.offset) for access in nest.outputs}
    read = [access for access in nest.inputs if isinstance(access, Access)]
    loaded = {op.operands[0] for op in nest.ops if type(op) in LOADS}
    return loaded.isdisjoint(places) and all(
        places.get(each.memref, (each.strides, each.offset)) == (each.strides, each.offset)
        for each in read
    )


def run_in_parallel(loop: scf.ForOp) -> None:
    """
    Puts a parallel loop in the place of one whose iterations are independent.

    Nests inside must not pack: what they pack into would be one place for all iterations.
    """
    body = loop.detach_region(loop.body)
    end = body.block.last_op
    assert isinstance(end, scf.YieldOp)
    Rewriter.replace_op(end, scf.ReduceOp())
    shared = scf.ParallelOp([loop.lb], [loop.ub], [loop.step], body)
    shared.location = loop.location
    Rewriter.replace_op(loop, shared)
