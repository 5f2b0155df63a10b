"""
Chooses how a nest runs: which dimension in the lanes of vectors, in what order and what tiles.

The rules compare estimated costs per point of the iteration space, in units of one vector
instruction. They need to rank alternatives that differ by factors, no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2, prod

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute

from lowerings.loops.body import Body, LaneAnalysis, Lanewise
from lowerings.loops.constants import element_bits, part_type
from lowerings.loops.interleaving import interleaved
from lowerings.loops.memory import LaneStride, is_read_turned, lane_stride, takes_every_other
from lowerings.loops.nest import Nest
from lowerings.loops.order_rules import MOST_LANES, reason_against_blocks, reason_against_lanes
from lowerings.loops.transposition import LARGEST_BLOCK
from lowerings.schedules.schedule import Loop, LoopOrder

ACCESS_COST = {
    LaneStride.INVARIANT: 0.25,
    LaneStride.UNIT: 1.0,
    LaneStride.REVERSED: 2.0,
}
"""Of one vector. A strided one costs `STRIDED_LANE_COST` for each lane."""
STRIDED_LANE_COST = 1.5
EVERY_OTHER_COST = 3.0
"""Of one vector of every other element: two loads and a shuffle."""
INTERLEAVED_COST = 2.5
"""Of one vector of elements that others, read with it, lie between: a load and its shuffles."""
TRANSPOSED_BLOCK_COST = 6.0
"""Of one vector of a block that is read the other way and transposed in registers."""

SMALLEST_EVEN_BLOCK = 8
"""Rows and lanes of the smallest block that is chosen for leaving no edges."""

MATH_COST = 20
"""Of a call of the math dialect, when it is expanded."""

LIGHT_BODY = 8
"""Up to this cost of a body, several vectors a step hide the latency of a reduction."""
VECTORS_IN_FLIGHT = 4
MORE_VECTORS_IN_FLIGHT = 8
"""For long rows: a maximum, with its care for NaN and signed zeros, takes some fifteen cycles."""
LONG_ROW_VECTORS = 32

FEW_POINTS = 3
"""
Up to so many points run one by one: they were often written so just before, and a processor that
loads them together waits until all are in the cache.
"""

ROWS_PER_PASS = 8
"""Rows that a reduction along columns adds at once while it walks along the row."""
SMALL_BUFFER_BYTES = 32 * 1024
"""What a first-level cache holds: up to this size the order of accesses does not matter."""


@dataclass(frozen=True)
class Lanes:
    """A choice of the dimension that runs in lanes, with its estimated cost per point."""

    dimension: int
    lanes: int
    cost: float
    transposed: int | None = None
    """A dimension along which inputs are read in blocks and transposed in registers."""


def plan_order(nest: Nest, body: Body, vector_bits: int) -> LoopOrder:
    """The loops of a nest; `vector_bits` is the width of a register, 0 for scalars only."""
    dimensions = nest.loop_dimensions
    if prod(nest.extents) <= FEW_POINTS and not reduces(nest):
        return LoopOrder(tuple(Loop(d, nest.extents[d]) for d in dimensions))
    chosen = choose_lanes(nest, body, vector_bits)
    vector = None if chosen is None else chosen.dimension
    kept = [d for d in dimensions if not nest.is_reduction[d] and d != vector]
    kept.sort(key=lambda d: output_stride(nest, d), reverse=True)
    reduced = [d for d in dimensions if nest.is_reduction[d] and d != vector]
    if chosen is None or vector is None:
        return LoopOrder(tuple(Loop(d) for d in (*kept, *reduced)))
    in_flight = vectors_in_flight(nest, body, chosen)
    lanes_loop = Loop(vector, chosen.lanes * in_flight)
    kept_loops = [Loop(d) for d in kept]
    reduced_loops = [Loop(d) for d in reduced]
    if nest.is_reduction[vector]:
        loops = [*kept_loops, *reduced_loops, lanes_loop]
    elif reduced and walks_along_rows(nest):
        loops = [*kept_loops, *loops_along_rows(nest, reduced, lanes_loop, chosen.lanes)]
    else:
        if chosen.transposed is not None:
            kept_loops = [loop for loop in kept_loops if loop.dimension != chosen.transposed]
            kept_loops.append(Loop(chosen.transposed, chosen.lanes))
        loops = [*kept_loops, lanes_loop, *reduced_loops]
    return LoopOrder(tuple(loops), vector, chosen.lanes, chosen.transposed)


def loops_along_rows(
    nest: Nest, reduced: Sequence[int], lanes_loop: Loop, lanes: int
) -> Sequence[Loop]:
    """
    The loops of a reduction that goes row by row, several rows at once.

    Rows that are one tile long have their results in registers, longer ones in memory.
    """
    *outer, last = reduced
    is_one_tile = nest.extents[lanes_loop.dimension] <= lanes_loop.tile
    at_once = ROWS_PER_PASS * lanes // lanes_loop.tile if is_one_tile else ROWS_PER_PASS
    rows = [*(Loop(d) for d in outer), Loop(last, min(at_once, nest.extents[last]))]
    return [lanes_loop, *rows] if is_one_tile else [*rows, Loop(lanes_loop.dimension, lanes)]


def output_stride(nest: Nest, dimension: int) -> int:
    """How far a step in a dimension moves the first output."""
    strides = nest.outputs[0].strides if nest.outputs else None
    return 0 if strides is None else abs(strides[dimension])


def choose_lanes(nest: Nest, body: Body, vector_bits: int) -> Lanes | None:
    """The dimension that is best run in lanes; None if scalars are best."""
    best: Lanes | None = None
    for dimension in nest.loop_dimensions:
        lane_analysis = LaneAnalysis(body, dimension)
        lanes = lanes_for(body, lane_analysis, vector_bits)
        if lanes < 2 or reason_against_lanes(nest, body, lane_analysis, lanes):
            continue
        cost = cost_in_lanes(nest, body, lane_analysis, lanes)
        choices = transposed_lanes(nest, body, lane_analysis, lanes)
        for choice in (*choices, Lanes(dimension, lanes, cost)):
            if best is None or choice.cost < best.cost:
                best = choice
    if best is not None and best.cost >= body_cost(body) + len(nest.accesses):
        return None
    return best


def lanes_for(body: Body, lane_analysis: LaneAnalysis, vector_bits: int) -> int:
    """
    How many of the widest elements that differ from lane to lane a register holds, and vectors
    may have.
    """
    types: list[Attribute] = [
        access.type.element_type
        for access in body.nest.accesses
        if access.reaches(lane_analysis.dimension)
    ]
    types += [value.type for value in body.mask if lane_analysis.of(value) is Lanewise.VARYING]
    bits = [element_bits(part_type(each)) or 64 for each in types if type(each) is not IndexType]
    fitting = vector_bits // max(8, *bits) if bits else vector_bits // 32
    return max(1, min(fitting, MOST_LANES))


def reduces(nest: Nest) -> bool:
    """Whether some output element takes several points."""
    return any(nest.is_reduction[d] for d in nest.loop_dimensions)


def body_cost(body: Body) -> float:
    """The cost of the operations of a body."""
    return sum(MATH_COST if op.name.startswith("math.") else 1 for op in body.ops)


def transposed_lanes(
    nest: Nest, body: Body, lane_analysis: LaneAnalysis, lanes: int
) -> list[Lanes]:
    """The choices to read blocks along another dimension and transpose them in registers."""
    extents, dimension = nest.extents, lane_analysis.dimension
    across = [
        access
        for access in body.inputs.values()
        if lane_stride(access, dimension) is LaneStride.STRIDED
    ]
    if not across:
        return []
    # All blocks that are transposed together share the register file.
    lanes = min(lanes, LARGEST_BLOCK >> (len(across) - 1).bit_length())
    if lanes < 2:
        return []
    result: list[Lanes] = []
    for other in nest.loop_dimensions:
        if min(extents[other], extents[dimension]) < lanes:
            continue
        if reason_against_blocks(nest, dimension, other, lanes, lanes):
            continue
        cost = cost_in_lanes(nest, body, lane_analysis, lanes, other)
        side = block_side(lanes, extents[other], extents[dimension])
        result.append(Lanes(dimension, side, cost, other))
    return result


def block_side(largest: int, *extents: int) -> int:
    """
    The rows and lanes of a block that is transposed in registers: half of the largest, if that
    leaves no edges where the largest would.

    Edges are read lane by lane, in code of their own for each side and the corner: without them a
    transpose compiles in half the time, and takes a sixth longer.
    """
    half = largest // 2
    fits = half >= SMALLEST_EVEN_BLOCK and all(extent % half == 0 for extent in extents)
    return half if fits and any(extent % largest for extent in extents) else largest


def cost_in_lanes(
    nest: Nest, body: Body, lane_analysis: LaneAnalysis, lanes: int, transposed: int | None = None
) -> float:
    """The cost per point with vectors along a dimension that can have them."""
    dimension = lane_analysis.dimension
    extent = nest.extents[dimension]
    cost = body_cost(body)
    groups = interleaved(body.inputs.values(), dimension)
    together = {access for group in groups for access in group}
    for access in nest.accesses:
        strided = STRIDED_LANE_COST * min(lanes, extent)
        if access not in nest.outputs and takes_every_other(access, dimension):
            strided = EVERY_OTHER_COST
        if access not in nest.outputs and access in together:
            strided = INTERLEAVED_COST
        if access not in nest.outputs and is_read_turned(access, dimension, transposed):
            strided = TRANSPOSED_BLOCK_COST
        stride = lane_stride(access, dimension)
        cost += ACCESS_COST[stride] if stride in ACCESS_COST else strided
    vectors = ceil(extent / lanes)
    if nest.is_reduction[dimension]:
        others = prod(
            nest.extents[d] for d in nest.loop_dimensions if nest.is_reduction[d] and d != dimension
        )
        cost += 3 * log2(lanes) / (vectors * max(others, 1))
    return cost * vectors / extent


def vectors_in_flight(nest: Nest, body: Body, chosen: Lanes) -> int:
    """How many vectors one iteration of the vector loop works on."""
    if not reduces(nest):
        return 1
    if body_cost(body) > LIGHT_BODY:
        return 1
    vectors = ceil(nest.extents[chosen.dimension] / chosen.lanes)
    if nest.is_reduction[chosen.dimension] and vectors >= LONG_ROW_VECTORS:
        return MORE_VECTORS_IN_FLIGHT
    return min(VECTORS_IN_FLIGHT, vectors)


def walks_along_rows(nest: Nest) -> bool:
    """
    Whether a reduction whose terms lie across the lanes goes row by row.

    The alternative, each group of columns from top to bottom, keeps sums in registers, but
    touches one cache line, and soon one page, a step.
    """
    bytes_read = 0
    for access in nest.accesses[: -len(nest.outputs)]:
        points = prod(nest.extents[d] for d in nest.loop_dimensions if access.reaches(d))
        bits = element_bits(access.type.element_type) or 64
        bytes_read = max(bytes_read, points * bits // 8)
    return bytes_read > SMALL_BUFFER_BYTES
