"""
Chooses how a nest runs: which dimension in the lanes of vectors, in what order, in what tiles, and
which loop threads share.

The rules compare estimated costs per point of the iteration space, in units of one vector
instruction. They need to rank alternatives that differ by factors, no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log2, prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute

from lowerings.dialects.schedule import Loop, Pack, Schedule
from lowerings.loops.body import Body, LaneAnalysis, Lanewise, indexed_dimensions
from lowerings.loops.constants import element_bits, part_type
from lowerings.loops.long_sums import IN_TURN, MOST_BYTES, block_of
from lowerings.loops.memory import (
    LARGEST_BLOCK,
    LaneStride,
    interleaved,
    is_read_turned,
    lane_stride,
    takes_every_other,
)
from lowerings.loops.nest import Access, Nest
from lowerings.loops.order_rules import (
    is_independent,
    reason_against_blocks,
    reason_against_lanes,
)
from lowerings.loops.schedule_rules import MOST_LANES

_LEAST_VECTORS = 4
_MOST_VECTORS = 8
"""How many vectors of a row are read before the next rows."""


def along_rows(nest: Nest, order: Schedule) -> Schedule:
    """
    An order that, where it transposes, reads on along a row before it goes to the next.

    Along a column of the input it would take one line of the cache of each row, and come back for
    the next one when the first cache no longer has what else it read with it: pages and, from rows
    a power of two apart, sets. Blocks of long rows are whole ones, for edges are more code.
    """
    if order.transposed is None:
        return order
    *kept, row, column = order.loops
    vectors = nest.extents[row.dimension] // row.tile
    # A dimension whose index is asked for has one loop (SR12).
    is_asked_for = row.dimension in indexed_dimensions(nest)
    sizes = range(_LEAST_VECTORS, 1 if is_asked_for else _MOST_VECTORS + 1)
    size = max((n for n in sizes if vectors % n == 0), default=vectors)
    blocks = [Loop(row.dimension, size * row.tile)] if size < vectors else []
    return replace(order, steps=(*kept, *blocks, column, row))


_VECTOR_OPERATIONS_PER_NANOSECOND = 8
_BYTES_PER_NANOSECOND = 40
"""What one thread does at best: arithmetic, and moving memory that is in the last cache."""

_BALANCED_ITERATIONS = 16
"""Iterations from which a loop is divided well among a few threads."""

_BLOCK_BYTES = 8192
"""Pieces of the rows of a matrix that are read as fast as whole rows; 2 KB cost a fifth more."""
_LEAST_BLOCK_BYTES = 4096
"""Pieces of rows that are too short for two of the others."""


def microseconds(nest: Nest, body: Body, lanes: int) -> float:
    """The time that one thread takes for a nest with vectors of so many lanes, at the least."""
    points = prod(nest.extents)
    operations = body_cost(body)
    for output in range(len(nest.outputs)):
        combiner = body.combiner(output)
        if combiner is not None and body.fused_product(*combiner) is not None:
            operations -= 1
    arithmetic = points * operations / lanes / _VECTOR_OPERATIONS_PER_NANOSECOND
    movement = sum(bytes_of(nest, access) for access in nest.accesses) / _BYTES_PER_NANOSECOND
    return max(arithmetic, movement) / 1000


def bytes_of(nest: Nest, access: Access) -> int:
    """The bytes that an access reaches, if no two points reach the same of different indices."""
    points = prod(n for d, n in enumerate(nest.extents) if access.reaches(d))
    return points * (element_bits(access.type.element_type) or 64) // 8


def in_parallel(nest: Nest, body: Body, order: Schedule, least: float) -> Schedule:
    """
    An order with one of the outer loops parallel, if that is at least `least` microseconds of work
    each time that it runs: one outside of a copy, else one inside. Inside, the work after all
    copies counts as one, because threads are awake from one to the next.
    """
    room, work = list(nest.extents), microseconds(nest, body, order.lanes)
    left, is_possible, most, best = work, True, 1, order
    for place, step in enumerate(order.steps):
        if isinstance(step, Pack):
            if best is not order:
                break
            left, is_possible = work, True
            continue
        iterations, room[step.dimension] = room[step.dimension] // step.tile, step.tile
        is_possible &= left >= least and is_independent(nest, body, step.dimension)
        if is_possible and iterations > most:
            shared = replace(step, is_parallel=True)
            steps = (*order.steps[:place], shared, *order.steps[place + 1 :])
            most, best = iterations, replace(order, steps=steps)
        is_possible &= iterations < _BALANCED_ITERATIONS
        left /= max(1, iterations)
    return best


def block_columns(nest: Nest, body: Body, order: Schedule, least: float) -> Schedule | None:
    """
    The order of a nest that walks along rows and adds them up, in blocks of columns that threads
    share, or that long sums with compensation need.

    Each sum stays what it is. None for other nests, less work than `least`, or narrow rows.
    """
    vector, lanes = order.vector, order.lanes
    first = next((n for n, loop in enumerate(order.loops) if nest.is_reduction[loop.dimension]), 0)
    outer, inner = order.loops[:first], order.loops[first:]
    if vector is None or any(order.packs) or not nest.is_reduction[inner[0].dimension]:
        return None
    if vector in indexed_dimensions(nest) or not is_independent(nest, body, vector):
        return None
    if any(loop.dimension == vector for loop in outer):
        return None
    widest = max(ceil((element_bits(a.type.element_type) or 64) / 8) for a in nest.accesses)
    columns = nest.extents[vector]
    is_shared = not outer and microseconds(nest, body, lanes) >= least
    if not is_shared and not (columns * widest > MOST_BYTES and _adds_long_sums(nest, body, order)):
        return None
    even = ceil(columns / _BALANCED_ITERATIONS)
    size = max(even, min(ceil(columns / 2), _BLOCK_BYTES // widest), _LEAST_BLOCK_BYTES // widest)
    size = ceil(min(size, MOST_BYTES // widest) / lanes) * lanes
    if columns < 2 * size:
        return None
    blocked = replace(order, steps=(*outer, Loop(vector, size, is_parallel=is_shared), *inner))
    return in_parallel(nest, body, blocked, least) if outer else blocked


def _adds_long_sums(nest: Nest, body: Body, order: Schedule) -> bool:
    """Whether a nest adds up floats with compensation."""
    added = [loop for loop in order.loops if nest.is_reduction[loop.dimension]]
    turns = prod(ceil(nest.extents[loop.dimension] / loop.tile) for loop in added)
    combiners = map(body.combiner, range(len(nest.outputs)))
    return block_of(turns, 1, IN_TURN) is not None and any(
        combiner is not None and isinstance(combiner[0], arith.AddfOp) for combiner in combiners
    )


_ACCESS_COST = {
    LaneStride.INVARIANT: 0.25,
    LaneStride.UNIT: 1.0,
    LaneStride.REVERSED: 2.0,
}
"""Of one vector. A strided one costs `_STRIDED_LANE_COST` for each lane."""
_STRIDED_LANE_COST = 1.5
_EVERY_OTHER_COST = 3.0
"""Of one vector of every other element: two loads and a shuffle."""
_INTERLEAVED_COST = 2.5
"""Of one vector of elements that others, read with it, lie between: a load and its shuffles."""
_TRANSPOSED_BLOCK_COST = 6.0
"""Of one vector of a block that is read the other way and transposed in registers."""

_SMALLEST_EVEN_BLOCK = 8
"""Rows and lanes of the smallest block that is chosen for leaving no edges."""

_MATH_COST = 20
"""Of a call of the math dialect, when it is expanded."""

_LIGHT_BODY = 8
"""Up to this cost of a body, several vectors a step hide the latency of a reduction."""
_VECTORS_IN_FLIGHT = 4
_MORE_VECTORS_IN_FLIGHT = 8
"""For long rows: a maximum, with its care for NaN and signed zeros, takes some fifteen cycles."""
_LONG_ROW_VECTORS = 32

_FEW_POINTS = 3
"""
Up to so many points run one by one: they were often written so just before, and a processor that
loads them together waits until all are in the cache.
"""

_ROWS_PER_PASS = 8
"""Rows that a reduction along columns adds at once while it walks along the row."""
_WINDOW_POINTS, _WINDOW_ROWS, _WINDOW_VECTORS = 64, 4, 2
"""Up to so many terms have an input in registers for so many rows, of so many vectors each."""
_SMALL_BUFFER_BYTES = 32 * 1024
"""What a first-level cache holds: up to this size the order of accesses does not matter."""


@dataclass(frozen=True)
class _Lanes:
    """A choice of the dimension that runs in lanes, with its estimated cost per point."""

    dimension: int
    lanes: int
    cost: float
    transposed: int | None = None
    """A dimension along which inputs are read in blocks and transposed in registers."""


def plan_order(nest: Nest, body: Body, vector_bits: int) -> Schedule:
    """The loops of a nest; `vector_bits` is the width of a register, 0 for scalars only."""
    dimensions = nest.loop_dimensions
    if prod(nest.extents) <= _FEW_POINTS and not _reduces(nest):
        return Schedule(tuple(Loop(d, nest.extents[d]) for d in dimensions))
    chosen = _choose_lanes(nest, body, vector_bits)
    vector = None if chosen is None else chosen.dimension
    kept = [d for d in dimensions if not nest.is_reduction[d] and d != vector]
    kept.sort(key=lambda d: output_stride(nest, d), reverse=True)
    reduced = [d for d in dimensions if nest.is_reduction[d] and d != vector]
    if chosen is None or vector is None:
        return Schedule(tuple(Loop(d) for d in (*kept, *reduced)))
    in_flight = _vectors_in_flight(nest, body, chosen)
    lanes_loop = Loop(vector, chosen.lanes * in_flight)
    kept_loops = [Loop(d) for d in kept]
    reduced_loops = [Loop(d) for d in reduced]
    if nest.is_reduction[vector]:
        loops = [*kept_loops, *reduced_loops, lanes_loop]
    elif (row := _row_of_window(nest, body, kept, reduced, vector)) is not None:
        kept_loops = [loop for loop in kept_loops if loop.dimension != row]
        width = chosen.lanes * min(in_flight, _WINDOW_VECTORS)
        reduced_loops[-1] = Loop(reduced[-1], min(_WINDOW_ROWS, nest.extents[reduced[-1]]))
        loops = [*kept_loops, Loop(row, _WINDOW_ROWS), Loop(vector, width), *reduced_loops]
    elif reduced and walks_along_rows(nest):
        loops = [*kept_loops, *loops_along_rows(nest, reduced, lanes_loop, chosen.lanes)]
    else:
        if chosen.transposed is not None:
            kept_loops = [loop for loop in kept_loops if loop.dimension != chosen.transposed]
            kept_loops.append(Loop(chosen.transposed, chosen.lanes))
        loops = [*kept_loops, lanes_loop, *reduced_loops]
    return Schedule(tuple(loops), vector, chosen.lanes, chosen.transposed)


def _row_of_window(
    nest: Nest, body: Body, kept: Sequence[int], reduced: Sequence[int], vector: int
) -> int | None:
    """
    The innermost dimension for several steps of which vectors of an input are the same, in a
    reduction of few terms: the weights of a depthwise convolution, for neighbouring pixels.

    Other vectors have to be those of a window that slides along. What has vectors of its own for
    each step and term is read from so many places at once that they drive each other out.
    """
    if not reduced or prod(nest.extents[d] for d in reduced) > _WINDOW_POINTS:
        return None
    inputs = [access for access in body.inputs.values() if access.reaches(vector)]
    for row in reversed(kept):
        moving = [access for access in inputs if access.reaches(row)]
        if nest.extents[row] >= _WINDOW_ROWS and len(moving) < len(inputs):
            slides = all(_slides(nest, access, row, reduced) for access in moving)
            return row if slides else None
    return None


def _slides(nest: Nest, access: Access, row: int, reduced: Sequence[int]) -> bool:
    """Whether a step along a dimension is one to elements that another term has read."""
    strides = access.strides
    return strides is not None and any(
        0 < strides[d] <= strides[row] < strides[d] * nest.extents[d]
        and strides[row] % strides[d] == 0
        for d in reduced
    )


def loops_along_rows(
    nest: Nest, reduced: Sequence[int], lanes_loop: Loop, lanes: int
) -> Sequence[Loop]:
    """
    The loops of a reduction that goes row by row, several rows at once.

    Rows that are one tile long have their results in registers, longer ones in memory.
    """
    *outer, last = reduced
    is_one_tile = nest.extents[lanes_loop.dimension] <= lanes_loop.tile
    at_once = _ROWS_PER_PASS * lanes // lanes_loop.tile if is_one_tile else _ROWS_PER_PASS
    rows = [*(Loop(d) for d in outer), Loop(last, min(at_once, nest.extents[last]))]
    return [lanes_loop, *rows] if is_one_tile else [*rows, Loop(lanes_loop.dimension, lanes)]


def output_stride(nest: Nest, dimension: int) -> int:
    """How far a step in a dimension moves the first output."""
    strides = nest.outputs[0].strides if nest.outputs else None
    return 0 if strides is None else abs(strides[dimension])


def _choose_lanes(nest: Nest, body: Body, vector_bits: int) -> _Lanes | None:
    """The dimension that is best run in lanes; None if scalars are best."""
    best: _Lanes | None = None
    for dimension in nest.loop_dimensions:
        lane_analysis = LaneAnalysis(body, dimension)
        lanes = lanes_for(body, lane_analysis, vector_bits)
        if lanes < 2 or reason_against_lanes(nest, body, lane_analysis):
            continue
        cost = _cost_in_lanes(nest, body, lane_analysis, lanes)
        choices = _transposed_lanes(nest, body, lane_analysis, lanes)
        for choice in (*choices, _Lanes(dimension, min(lanes, nest.extents[dimension]), cost)):
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


def _reduces(nest: Nest) -> bool:
    """Whether some output element takes several points."""
    return any(nest.is_reduction[d] for d in nest.loop_dimensions)


def body_cost(body: Body) -> float:
    """The cost of the operations of a body."""
    return sum(_MATH_COST if op.name.startswith("math.") else 1 for op in body.ops)


def _transposed_lanes(
    nest: Nest, body: Body, lane_analysis: LaneAnalysis, lanes: int
) -> list[_Lanes]:
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
    result: list[_Lanes] = []
    for other in nest.loop_dimensions:
        if min(extents[other], extents[dimension]) < lanes:
            continue
        if reason_against_blocks(nest, dimension, other, lanes, lanes):
            continue
        cost = _cost_in_lanes(nest, body, lane_analysis, lanes, other)
        side = block_side(lanes, extents[other], extents[dimension])
        result.append(_Lanes(dimension, side, cost, other))
    return result


def block_side(largest: int, *extents: int) -> int:
    """
    The rows and lanes of a block that is transposed in registers: half of the largest, if that
    leaves no edges where the largest would.

    Edges are read lane by lane, in code of their own for each side and the corner: without them a
    transpose compiles in half the time, and takes a sixth longer.
    """
    half = largest // 2
    fits = half >= _SMALLEST_EVEN_BLOCK and all(extent % half == 0 for extent in extents)
    return half if fits and any(extent % largest for extent in extents) else largest


def _cost_in_lanes(
    nest: Nest, body: Body, lane_analysis: LaneAnalysis, lanes: int, transposed: int | None = None
) -> float:
    """The cost per point with vectors along a dimension that can have them."""
    dimension = lane_analysis.dimension
    extent = nest.extents[dimension]
    cost = body_cost(body)
    groups = interleaved(body.inputs.values(), dimension)
    together = {access for group in groups for access in group}
    for access in nest.accesses:
        strided = _STRIDED_LANE_COST * min(lanes, extent)
        if access not in nest.outputs and takes_every_other(access, dimension):
            strided = _EVERY_OTHER_COST
        if access not in nest.outputs and access in together:
            strided = _INTERLEAVED_COST
        if access not in nest.outputs and is_read_turned(access, dimension, transposed):
            strided = _TRANSPOSED_BLOCK_COST
        stride = lane_stride(access, dimension)
        cost += _ACCESS_COST[stride] if stride in _ACCESS_COST else strided
    vectors = ceil(extent / lanes)
    if nest.is_reduction[dimension]:
        others = prod(
            nest.extents[d] for d in nest.loop_dimensions if nest.is_reduction[d] and d != dimension
        )
        cost += 3 * log2(lanes) / (vectors * max(others, 1))
    return cost * vectors / extent


def _vectors_in_flight(nest: Nest, body: Body, chosen: _Lanes) -> int:
    """How many vectors one iteration of the vector loop works on."""
    if not _reduces(nest):
        return 1
    if body_cost(body) > _LIGHT_BODY:
        return 1
    vectors = ceil(nest.extents[chosen.dimension] / chosen.lanes)
    if nest.is_reduction[chosen.dimension] and vectors >= _LONG_ROW_VECTORS:
        return _MORE_VECTORS_IN_FLIGHT
    return min(_VECTORS_IN_FLIGHT, vectors)


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
    return bytes_read > _SMALL_BUFFER_BYTES
