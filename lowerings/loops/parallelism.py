"""
Which loops run on several threads: those with enough work and no loop-carried dependences.

What a loop computes does not depend on the number of threads: sums are never divided among them
but in parts that are the same for any number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import ceil, prod

from xdsl.dialects import memref, scf
from xdsl.rewriter import Rewriter

from lowerings.loops.body import Body, indexed_dimensions
from lowerings.loops.constants import element_bits
from lowerings.loops.nest import Access, Nest, blocks, restrict, split
from lowerings.loops.planning import body_cost
from lowerings.loops.schedule import Loop, Schedule

VECTOR_OPERATIONS_PER_NANOSECOND = 8
BYTES_PER_NANOSECOND = 40
"""What one thread does at best: arithmetic, and moving memory that is in the last cache."""

BALANCED_ITERATIONS = 16
"""Iterations from which a loop is divided well among a few threads."""

LEAST_BLOCK_BYTES = 8192
"""Pieces of the rows of a matrix that are read as fast as whole rows; 2 KB cost a fifth more."""


def microseconds(nest: Nest, body: Body, lanes: int) -> float:
    """The time that one thread takes for a nest with vectors of so many lanes, at the least."""
    points = prod(nest.extents)
    operations = body_cost(body)
    for output in range(len(nest.outputs)):
        combiner = body.combiner(output)
        if combiner is not None and body.fused_factors(*combiner) is not None:
            operations -= 1
    arithmetic = points * operations / lanes / VECTOR_OPERATIONS_PER_NANOSECOND
    movement = sum(bytes_of(nest, access) for access in nest.accesses) / BYTES_PER_NANOSECOND
    return max(arithmetic, movement) / 1000


def bytes_of(nest: Nest, access: Access) -> int:
    """The bytes that an access reaches, if no two points reach the same of different indices."""
    points = prod(n for d, n in enumerate(nest.extents) if access.reaches(d))
    return points * (element_bits(access.type.element_type) or 64) // 8


def is_independent(nest: Nest, body: Body, dimension: int) -> bool:
    """Whether no step of a dimension reads or writes what another one writes."""
    if nest.is_reduction[dimension]:
        return False
    if not all(access.reaches(dimension) for access in nest.outputs):
        return False
    places = {access.memref: (access.strides, access.offset) for access in nest.outputs}
    read = [access for access in nest.inputs if isinstance(access, Access)]
    loaded = {op.memref for op in body.ops if isinstance(op, memref.LoadOp)}
    return loaded.isdisjoint(places) and all(
        places.get(each.memref, (each.strides, each.offset)) == (each.strides, each.offset)
        for each in read
    )


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


def in_parallel(nest: Nest, body: Body, schedule: Schedule, least: float) -> Schedule:
    """
    A schedule with one of its outer loops parallel, if that is at least `least` microseconds of
    work each time that the loop runs.
    """
    loops = [(each.dimension, nest.extents[each.dimension] // each.tile) for each in schedule.loops]
    work = microseconds(nest, body, schedule.lanes)
    shared = shared_loop(nest, body, loops, work, least)
    parallel = (
        replace(each, is_parallel=True) if each.dimension == shared else each
        for each in schedule.loops
    )
    return replace(schedule, loops=tuple(parallel))


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


def column_blocks(
    nest: Nest, body: Body, schedule: Schedule, least: float
) -> list[tuple[Nest, Schedule]] | None:
    """
    A nest that walks along rows and adds them up, in blocks of columns that threads share.

    Each sum stays what it is. None for other nests, less work than `least`, or narrow rows.
    """
    vector, lanes = schedule.vector, schedule.lanes
    if vector is None or not nest.is_reduction[schedule.loops[0].dimension]:
        return None
    if vector in indexed_dimensions(nest) or not is_independent(nest, body, vector):
        return None
    if microseconds(nest, body, lanes) < least:
        return None
    widest = max((element_bits(a.type.element_type) or 64) // 8 for a in nest.accesses)
    even = ceil(nest.extents[vector] / BALANCED_ITERATIONS)
    size = ceil(max(even, LEAST_BLOCK_BYTES // widest) / lanes) * lanes
    if nest.extents[vector] < 2 * size:
        return None
    parts: list[tuple[Nest, Schedule]] = []
    for block in blocks(nest.extents[vector], size):
        part = restrict(nest, vector, block.start, block.count)
        if block.count == block.size:
            parts.append((part, schedule))
            continue
        part = split(part, vector, size)
        inner = len(part.extents) - 1
        loops = (
            replace(e, dimension=inner) if e.dimension == vector else e for e in schedule.loops
        )
        shared = Loop(vector, is_parallel=True)
        parts.append((part, replace(schedule, loops=(shared, *loops), vector=inner)))
    return parts
