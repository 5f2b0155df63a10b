"""Which loops threads are to share: those with enough work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil, prod

from xdsl.dialects import arith

from lowerings.loops.body import Body, indexed_dimensions
from lowerings.loops.constants import element_bits
from lowerings.loops.long_sums import block_of
from lowerings.loops.nest import Access, Nest
from lowerings.loops.parallelism import is_independent
from lowerings.loops.sums_in_memory import IN_TURN, MOST_BYTES
from lowerings.planning.lanes import body_cost
from lowerings.schedules.schedule import Loop, LoopOrder

VECTOR_OPERATIONS_PER_NANOSECOND = 8
BYTES_PER_NANOSECOND = 40
"""What one thread does at best: arithmetic, and moving memory that is in the last cache."""

BALANCED_ITERATIONS = 16
"""Iterations from which a loop is divided well among a few threads."""

BLOCK_BYTES = 8192
"""Pieces of the rows of a matrix that are read as fast as whole rows; 2 KB cost a fifth more."""
LEAST_BLOCK_BYTES = 4096
"""Pieces of rows that are too short for two of the others."""


def microseconds(nest: Nest, body: Body, lanes: int) -> float:
    """The time that one thread takes for a nest with vectors of so many lanes, at the least."""
    points = prod(nest.extents)
    operations = body_cost(body)
    for output in range(len(nest.outputs)):
        combiner = body.combiner(output)
        if combiner is not None and body.fused_product(*combiner) is not None:
            operations -= 1
    arithmetic = points * operations / lanes / VECTOR_OPERATIONS_PER_NANOSECOND
    movement = sum(bytes_of(nest, access) for access in nest.accesses) / BYTES_PER_NANOSECOND
    return max(arithmetic, movement) / 1000


def bytes_of(nest: Nest, access: Access) -> int:
    """The bytes that an access reaches, if no two points reach the same of different indices."""
    points = prod(n for d, n in enumerate(nest.extents) if access.reaches(d))
    return points * (element_bits(access.type.element_type) or 64) // 8


def shared_loop(
    nest: Nest,
    body: Body,
    loops: Iterable[tuple[int, int]],
    work: float,
    least: float,
) -> int | None:
    """
    Which of some loops, the outer ones of a nest from the outside in, threads are to share.

    `loops` are dimensions with their iterations, `work` is what all of them take, `least` what it
    has to be each time that the parallel loop runs, both in microseconds. None if it is less.
    """
    best: tuple[int, int] | None = None
    for dimension, iterations in loops:
        if work < least or not is_independent(nest, body, dimension):
            break
        if iterations > 1 and (best is None or iterations > best[1]):
            best = dimension, iterations
        if iterations >= BALANCED_ITERATIONS:
            break
        work /= max(1, iterations)
    return None if best is None else best[0]


def in_parallel(
    nest: Nest, body: Body, loops: Sequence[Loop], lanes: int, least: float
) -> tuple[Loop, ...]:
    """
    Loops with one of the outer ones parallel, if that is at least `least` microseconds of work
    each time that it runs.
    """
    room = list(nest.extents)
    counted: list[tuple[int, int]] = []
    for loop in loops:
        counted.append((loop.dimension, room[loop.dimension] // loop.tile))
        room[loop.dimension] = loop.tile
    work = microseconds(nest, body, lanes)
    shared = shared_loop(nest, body, counted, work, least)
    dimensions = [loop.dimension for loop in loops]
    outermost = dimensions.index(shared) if shared is not None else None
    return tuple(
        replace(loop, is_parallel=True) if position == outermost else loop
        for position, loop in enumerate(loops)
    )


def block_columns(
    nest: Nest, body: Body, order: LoopOrder, least: float
) -> tuple[Loop, ...] | None:
    """
    The loops of a nest that walks along rows and adds them up, in blocks of columns that threads
    share, or that long sums with compensation need.

    Each sum stays what it is. None for other nests, less work than `least`, or narrow rows.
    """
    vector, lanes = order.vector, order.lanes
    first = next((n for n, loop in enumerate(order.loops) if nest.is_reduction[loop.dimension]), 0)
    outer, inner = order.loops[:first], order.loops[first:]
    if vector is None or not nest.is_reduction[inner[0].dimension]:
        return None
    if vector in indexed_dimensions(nest) or not is_independent(nest, body, vector):
        return None
    if any(loop.dimension == vector for loop in outer):
        return None
    widest = max(ceil((element_bits(a.type.element_type) or 64) / 8) for a in nest.accesses)
    columns = nest.extents[vector]
    is_shared = not outer and microseconds(nest, body, lanes) >= least
    if not is_shared and not (columns * widest > MOST_BYTES and adds_long_sums(nest, body, order)):
        return None
    even = ceil(columns / BALANCED_ITERATIONS)
    size = max(even, min(ceil(columns / 2), BLOCK_BYTES // widest), LEAST_BLOCK_BYTES // widest)
    size = ceil(min(size, MOST_BYTES // widest) / lanes) * lanes
    if columns < 2 * size:
        return None
    steps = *outer, Loop(vector, size, is_parallel=is_shared), *inner
    return in_parallel(nest, body, steps, lanes, least) if outer else steps


def adds_long_sums(nest: Nest, body: Body, order: LoopOrder) -> bool:
    """Whether a nest adds up floats with compensation."""
    added = [loop for loop in order.loops if nest.is_reduction[loop.dimension]]
    turns = prod(ceil(nest.extents[loop.dimension] / loop.tile) for loop in added)
    combiners = map(body.combiner, range(len(nest.outputs)))
    return block_of(turns, 1, IN_TURN) is not None and any(
        combiner is not None and isinstance(combiner[0], arith.AddfOp) for combiner in combiners
    )
