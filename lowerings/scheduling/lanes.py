"""
Chooses how a nest runs: which dimension in the lanes of vectors, in what order, in what tiles, and
which loop threads share.

The rules compare estimated costs per point of the iteration space, in units of one vector
instruction. They need to rank alternatives that differ by factors, no more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2, prod

from lowerings.dialects.schedule import Loop, Pack, Schedule
from lowerings.loops.access import Access
from lowerings.loops.constants import element_bits
from lowerings.loops.lane_analysis import LaneAnalysis
from lowerings.loops.long_sums import IN_TURN, MOST_BYTES, block_of
from lowerings.loops.memory import (
    LARGEST_BLOCK,
    LaneStride,
    interleaved,
    is_read_turned,
    lane_stride,
)
from lowerings.loops.nest import Nest
from lowerings.loops.order_rules import (
    is_independent,
    reason_against_blocks,
    reason_against_lanes,
)

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
    sizes = range(_LEAST_VECTORS, 1 if row.dimension in nest.indexed else _MOST_VECTORS + 1)
    size = max((n for n in sizes if vectors % n == 0), default=vectors)
    blocks = [Loop(row.dimension, size * row.tile)] if size < vectors else []
    return replace(order, steps=(*kept, *blocks, column, row))


_VECTOR_OPERATIONS_PER_NANOSECOND = 8
_BYTES_PER_NANOSECOND = 40
"""What one thread does at best: arithmetic, and moving memory that is in the last cache."""

_BALANCED_ITERATIONS = 16
"""Iterations from which a loop is divided well among a few threads."""

_TIMES_INSIDE = 20
"""How many times the least work pays for a loop inside of a copy or of too few iterations."""

_BLOCK_BYTES = 8192
"""Pieces of the rows of a matrix that are read as fast as whole rows; 2 KB cost a fifth more."""
_LEAST_BLOCK_BYTES = 4096
"""Pieces of rows that are too short for two of the others."""


def microseconds(nest: Nest, lanes: int) -> float:
    """The time that one thread takes for a nest with vectors of so many lanes, at the least."""
    operations = body_cost(nest) - len(nest.products)
    arithmetic = prod(nest.extents) * operations / lanes / _VECTOR_OPERATIONS_PER_NANOSECOND
    movement = sum(_bytes_moved(nest, each) for each in nest.accesses) / _BYTES_PER_NANOSECOND
    return max(arithmetic, movement) / 1000


def _bytes_moved(nest: Nest, access: Access) -> int:
    """The bytes that an access reaches, each once, though the windows of several points overlap."""
    reached, sizes = bytes_of(nest, access), access.type.get_shape()
    return (
        min(reached, prod(sizes) * bytes_of_element(access))
        if min(sizes, default=1) >= 0
        else reached
    )


def bytes_of(nest: Nest, access: Access) -> int:
    """The bytes that an access reaches, if no two points reach the same of different indices."""
    points = prod(n for d, n in enumerate(nest.extents) if access.reaches(d))
    return points * bytes_of_element(access)


def bytes_of_element(access: Access) -> int:
    """At least one."""
    return ceil((element_bits(access.type.element_type) or 64) / 8)


def lanes_of(nest: Nest, vector_bits: int) -> int:
    """How many lanes the vectors of a nest have at most, for its widest elements."""
    return max(1, vector_bits // 8 // max(map(bytes_of_element, nest.accesses), default=1))


def in_parallel(nest: Nest, order: Schedule, least: float) -> Schedule:
    """
    An order with one of the outer loops parallel, if that is at least `least` microseconds of work:
    one outside of a copy, else one inside. Inside, the work after all copies counts as one, because
    threads are awake from one to the next; but it has to be much, for what one thread has copied
    goes to the caches of others.

    It is the outermost loop, so that a thread finds in its cache what it wrote in the loop before;
    one of more iterations inside of it only if that is much work each time that it runs.
    """
    room, work = list(nest.extents), microseconds(nest, order.lanes)
    left, is_possible, most, best, enough = work, True, 1, order, least
    for place, step in enumerate(order.steps):
        if isinstance(step, Pack):
            if best is not order:
                break
            left, is_possible, enough = work, True, least * _TIMES_INSIDE
            continue
        iterations, room[step.dimension] = room[step.dimension] // step.tile, step.tile
        is_possible &= left >= enough and is_independent(nest, step.dimension)
        if is_possible and iterations > most:
            shared = replace(step, is_parallel=True)
            steps = (*order.steps[:place], shared, *order.steps[place + 1 :])
            most, best, enough = iterations, replace(order, steps=steps), least * _TIMES_INSIDE
        is_possible &= iterations < _BALANCED_ITERATIONS
        left /= max(1, iterations)
    return best


def block_columns(nest: Nest, order: Schedule, least: float) -> Schedule:
    """
    An order that walks along rows and adds them up, in blocks of columns that threads can share,
    or that long sums with compensation need; other orders, of less work than `least`, or with
    narrow rows, as they are.

    Each sum stays what it is.
    """
    vector, lanes = order.vector, order.lanes
    first = next((n for n, loop in enumerate(order.loops) if nest.is_reduction[loop.dimension]), 0)
    outer, inner = order.loops[:first], order.loops[first:]
    if vector is None or any(order.packs) or not nest.is_reduction[inner[0].dimension]:
        return order
    if vector in nest.indexed or not is_independent(nest, vector):
        return order
    if any(loop.dimension == vector for loop in outer):
        return order
    widest = max(map(bytes_of_element, nest.accesses))
    columns = nest.extents[vector]
    is_shared = not outer and microseconds(nest, lanes) >= least
    if not is_shared and not (columns * widest > MOST_BYTES and _adds_long_sums(nest, order)):
        return order
    even = ceil(columns / _BALANCED_ITERATIONS)
    size = max(even, min(ceil(columns / 2), _BLOCK_BYTES // widest), _LEAST_BLOCK_BYTES // widest)
    size = ceil(min(size, MOST_BYTES // widest) / lanes) * lanes
    return (
        replace(order, steps=(*outer, Loop(vector, size), *inner)) if 2 * size <= columns else order
    )


def _adds_long_sums(nest: Nest, order: Schedule) -> bool:
    """Whether a nest adds up floats with compensation."""
    added = [loop for loop in order.loops if nest.is_reduction[loop.dimension]]
    turns = prod(ceil(nest.extents[loop.dimension] / loop.tile) for loop in added)
    return block_of(turns, 1, IN_TURN) is not None and bool(nest.sums)


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
_MOST_WINDOW_ROWS, _MANY_REGISTERS_BITS = 7, 512
"""More rows where that leaves no edges; there are twice as many registers of so many bits."""
_NEAR_BYTES = 3 << 18
"""What stays in a second-level cache while it is gone over several times."""
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


def plan_order(nest: Nest, vector_bits: int) -> Schedule:
    """The loops of a nest; `vector_bits` is the width of a register, 0 for scalars only."""
    dimensions = nest.loop_dimensions
    if prod(nest.extents) <= _FEW_POINTS and not _reduces(nest):
        return Schedule(tuple(Loop(d, nest.extents[d]) for d in dimensions))
    chosen = _choose_lanes(nest, vector_bits)
    vector = None if chosen is None else chosen.dimension
    kept = [d for d in dimensions if not nest.is_reduction[d]]
    kept = outermost_first(nest, kept, () if vector is None else (vector,))
    reduced = [d for d in dimensions if nest.is_reduction[d] and d != vector]
    if chosen is None or vector is None:
        return Schedule.over(*kept, *reduced)
    vectors = _vectors_in_flight(nest, chosen)
    if nest.is_reduction[vector]:
        order = Schedule.over(*kept, *reduced, vector).vectorize(vector, chosen.lanes)
        return order.unroll(vector, vectors)
    row = _row_of_window(nest, kept, reduced, vector)
    if row is None and reduced and walks_along_rows(nest):
        return along_reduced_rows(nest, kept, reduced, vector, chosen.lanes, vectors)
    if row is not None:
        order = _along_windows(nest, kept, reduced, vector, row, vector_bits)
        return order.vectorize(vector, chosen.lanes).unroll(vector, min(vectors, _WINDOW_VECTORS))
    if chosen.transposed is not None:
        kept = [*(d for d in kept if d != chosen.transposed), chosen.transposed]
    order = Schedule.over(*kept, vector, *reduced).vectorize(vector, chosen.lanes)
    order = order.unroll(vector, vectors)
    return order if chosen.transposed is None else order.transpose(chosen.transposed)


def outermost_first(nest: Nest, dimensions: Iterable[int], but: Collection[int] = ()) -> list[int]:
    """Some dimensions by how far their steps move the first output."""
    left = (dimension for dimension in dimensions if dimension not in but)
    return sorted(left, key=nest.output_stride, reverse=True)


def _row_of_window(
    nest: Nest, kept: Sequence[int], reduced: Sequence[int], vector: int
) -> int | None:
    """
    The innermost dimension for several steps of which vectors of an input are the same, in a
    reduction of few terms: the weights of a depthwise convolution, for neighbouring pixels.

    Other vectors have to be those of a window that slides along. What has vectors of its own for
    each step and term is read from so many places at once that they drive each other out.
    """
    if not reduced or prod(nest.extents[d] for d in reduced) > _WINDOW_POINTS:
        return None
    inputs = [access for access in nest.read.values() if access.reaches(vector)]
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


def _along_windows(
    nest: Nest,
    kept: Sequence[int],
    reduced: Sequence[int],
    vector: int,
    row: int,
    vector_bits: int,
) -> Schedule:
    """
    The order of a reduction whose windows slide along `row`, for several of its steps at once.

    Where what the windows reach stays in the second-level cache, but not in the first, they slide
    over all of it for a few vectors, then for the next: of these, the first-level cache has their
    rows from one to the next.
    """
    extents, read = nest.extents, list(nest.read.values())
    most = _WINDOW_ROWS if vector_bits < _MANY_REGISTERS_BITS else _MOST_WINDOW_ROWS
    sizes = range(_WINDOW_ROWS, most + 1)
    rows = next((n for n in sizes if extents[row] % n == 0), _WINDOW_ROWS)
    slides = [d for d in kept if any(_slides(nest, access, d, reduced) for access in read)]
    around = [d for d in kept if d not in slides and d != row]
    reached = max(_bytes_moved(nest, access) for access in read) // prod(extents[d] for d in around)
    inside = [*(d for d in slides if d != row), row]
    is_near = row in slides and _SMALL_BUFFER_BYTES < reached <= _NEAR_BYTES
    kept = [*around, vector, *inside] if is_near else [*around, *inside, vector]
    order, last = Schedule.over(*kept, *reduced).unroll(row, rows), reduced[-1]
    return order.unroll(last, min(_WINDOW_ROWS, extents[last]))


def along_reduced_rows(
    nest: Nest, kept: Sequence[int], reduced: Sequence[int], vector: int, lanes: int, vectors: int
) -> Schedule:
    """
    A reduction that goes row by row, several rows at once.

    Rows that are one tile of vectors long have their results in registers, longer ones in memory.
    """
    last, is_one_tile = reduced[-1], nest.extents[vector] <= vectors * lanes
    order = (vector, *reduced) if is_one_tile else (*reduced, vector)
    at_once = _ROWS_PER_PASS // vectors if is_one_tile else _ROWS_PER_PASS
    schedule = Schedule.over(*kept, *order).vectorize(vector, lanes)
    if is_one_tile:
        schedule = schedule.unroll(vector, vectors)
    return schedule.unroll(last, min(at_once, nest.extents[last]))


def _choose_lanes(nest: Nest, vector_bits: int) -> _Lanes | None:
    """The dimension that is best run in lanes; None if scalars are best."""
    best = min(_choices(nest, vector_bits), key=lambda each: each.cost, default=None)
    if best is None or best.cost >= body_cost(nest) + len(nest.accesses):
        return None
    return best


def _choices(nest: Nest, vector_bits: int) -> Iterator[_Lanes]:
    """The dimensions that may run in lanes, with and without blocks that are transposed."""
    extents = nest.extents
    for dimension in nest.loop_dimensions:
        lane_analysis = LaneAnalysis(nest, dimension)
        lanes = lane_analysis.lanes(vector_bits)
        if lanes < 2 or reason_against_lanes(nest, lane_analysis):
            continue
        strides = [lane_stride(access, dimension) for access in nest.read.values()]
        across = strides.count(LaneStride.STRIDED)
        # All blocks that are transposed together share the register file.
        side = min(lanes, LARGEST_BLOCK >> max(0, across - 1).bit_length())
        for other in nest.loop_dimensions if across else ():
            if not 1 < side <= min(extents[other], extents[dimension]):
                continue
            if not reason_against_blocks(nest, dimension, other, side, side):
                cost = _cost_in_lanes(nest, dimension, side, other)
                even = block_side(side, extents[other], extents[dimension])
                yield _Lanes(dimension, even, cost, other)
        cost = _cost_in_lanes(nest, dimension, lanes)
        yield _Lanes(dimension, min(lanes, extents[dimension]), cost)


def _reduces(nest: Nest) -> bool:
    """Whether some output element takes several points."""
    return any(nest.is_reduction[d] for d in nest.loop_dimensions)


def body_cost(nest: Nest) -> float:
    """The cost of the operations of a body."""
    return len(nest.ops) + (_MATH_COST - 1) * nest.math_operations


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


def _cost_in_lanes(nest: Nest, dimension: int, lanes: int, transposed: int | None = None) -> float:
    """The cost per point with vectors along a dimension that can have them."""
    extent = nest.extents[dimension]
    cost = body_cost(nest)
    groups = interleaved(nest.read.values(), dimension)
    together = {access: len(group) for group in groups for access in group}
    for access in nest.accesses:
        stride = lane_stride(access, dimension)
        if stride in _ACCESS_COST:
            cost += _ACCESS_COST[stride]
        elif access in nest.outputs:
            cost += _STRIDED_LANE_COST * min(lanes, extent)
        elif is_read_turned(access, dimension, transposed):
            cost += _TRANSPOSED_BLOCK_COST
        elif access in together:
            cost += _INTERLEAVED_COST if together[access] > 1 else _EVERY_OTHER_COST
        else:
            cost += _STRIDED_LANE_COST * min(lanes, extent)
    vectors = ceil(extent / lanes)
    if nest.is_reduction[dimension]:
        others = prod(
            nest.extents[d] for d in nest.loop_dimensions if nest.is_reduction[d] and d != dimension
        )
        cost += 3 * log2(lanes) / (vectors * max(others, 1))
    return cost * vectors / extent


def _vectors_in_flight(nest: Nest, chosen: _Lanes) -> int:
    """How many vectors one iteration of the vector loop works on."""
    if not _reduces(nest) or body_cost(nest) > _LIGHT_BODY:
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
    read = nest.accesses[: -len(nest.outputs)]
    return max((bytes_of(nest, access) for access in read), default=0) > _SMALL_BUFFER_BYTES
