"""The search space: what is tuned, where a search starts, the steps between schedules."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, prod
from random import Random
from typing import Any, TypeAlias

from xdsl.ir import Operation

from lowerings.dialects.schedule import Factor, Loop, Pack, Schedule, ScheduleError
from lowerings.ir.independent_loops import LEAST_MICROSECONDS_AWAKE
from lowerings.loops.contraction import contraction_of
from lowerings.loops.initial_values import foldable_fills
from lowerings.loops.memory import LaneStride
from lowerings.loops.nest import Nest, nest_of
from lowerings.loops.schedule_rules import loops_by
from lowerings.loops.views import collapse_dense, collapse_groups
from lowerings.scheduling.contractions import columns_of, copy_along_lanes, dot_plan
from lowerings.scheduling.lanes import in_parallel, plan_order
from lowerings.scheduling.primitives import Primitive, primitives_of


@dataclass(frozen=True)
class TuningProblem:
    """An operation to find a schedule for."""

    op: Operation
    default: Schedule
    """The planner's."""
    vector_bits: int
    threads: int = 1
    known: tuple[Schedule, ...] = ()
    """Schedules that were found before."""

    @cached_property
    def nest(self) -> Nest:
        """The iteration space, no dimensions merged."""
        return nest_of(self.op)

    def view(self, schedule: Schedule) -> Nest:
        """The iteration space with the dimensions merged that a schedule merges."""
        nest = collapse_groups(self.nest, schedule.collapsed)
        return nest

    def foldable(self, schedule: Schedule) -> tuple[int, ...]:
        """The outputs that could start from a fill under a schedule."""
        return tuple(foldable_fills(self.view(schedule), schedule.steps))


Space: TypeAlias = Callable[[TuningProblem, Schedule, Random], Schedule | None]
"""A schedule near another one; None where it finds none."""

Strategy: TypeAlias = Callable[[TuningProblem, Space, Random], Generator[Schedule, float, None]]
"""
Yields one schedule after the other to measure, and is sent the time of each, relative to that of
the default; infinite for one that is not admitted, or computes something else. Ends when it has no
more.
"""


def seeds(problem: TuningProblem) -> list[Schedule]:
    """Schedules that differ from the default by more than one step, each once."""
    found = [
        _finished(problem, in_parallel(nest, order, LEAST_MICROSECONDS_AWAKE), groups)
        for nest, groups in _views(problem)
        for bits in _widths(problem)
        for order in _plans(nest, bits)
    ]
    return [each for each in dict.fromkeys((*problem.known, *found)) if each != problem.default]


def _finished(
    problem: TuningProblem, schedule: Schedule, groups: tuple[tuple[int, ...], ...]
) -> Schedule:
    schedule = replace(schedule, collapsed=groups)
    return replace(schedule, folded_fills=problem.foldable(schedule))


def _views(problem: TuningProblem) -> list[tuple[Nest, tuple[tuple[int, ...], ...]]]:
    """The nest with dense dimensions merged, and as it is if that differs."""
    nest = problem.nest
    merged, groups = collapse_dense(nest, nest.indexed)
    return [(merged, groups), (nest, ())] if groups else [(nest, ())]


def _widths(problem: TuningProblem) -> list[int]:
    bits = problem.vector_bits
    return [each for each in (bits, bits // 2, bits // 4) if each >= 128] or [bits]


def _plans(nest: Nest, bits: int) -> Iterator[Schedule]:
    if nest.is_empty:
        return
    yield plan_order(nest, bits)
    contraction = contraction_of(nest)
    if contraction is None or not bits:
        return
    dot = dot_plan(nest, contraction, bits)
    if dot is not None:
        yield dot
    for roles in (contraction, contraction.transposed()):
        for stride in (LaneStride.UNIT, LaneStride.STRIDED):
            for columns in columns_of(nest, roles, stride, bits):
                if stride is LaneStride.UNIT:
                    yield columns.direct()
                if columns.rows > 1 and columns.most_lanes > 1:
                    yield columns.packed()


MOST_UNROLLED = 160
"""Vectors of a tile: larger ones take seconds to compile and leave the registers."""

TILES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32)
BLOCKS = (16, 32, 64, 128, 256, 512, 1024, 4096)
VECTORS = (1, 2, 3, 4, 5, 6, 8, 12, 16)

Draw: TypeAlias = Callable[[TuningProblem, Schedule, Random], "tuple[Any, ...] | None"]
"""Arguments for a primitive, drawn for a schedule; None to leave one out."""


def mutated(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """
    A schedule one primitive from another: one added, one in the place of another, or one less; None
    where the operation does not admit it.
    """
    name = random.choices([*DRAWS], [weight for _, weight in DRAWS.values()])[0]
    arguments = DRAWS[name][0](problem, schedule, random)
    made = primitives_of(schedule, problem.nest.loop_dimensions)
    before = [
        number
        for number, each in enumerate(made)
        if each.name == name
        and (arguments is None or name not in _OF_A_DIMENSION or each.arguments[0] == arguments[0])
    ]
    gone = random.choice(before) if before and (name != "tile" or random.random() < 0.5) else None
    try:
        found = _replayed(problem, [each for n, each in enumerate(made) if n != gone])
        if arguments is not None:
            found = Primitive(name, arguments).on(found)
        if _unrolled(found) > MOST_UNROLLED * found.lanes:
            return None
        found = replace(found, folded_fills=problem.foldable(found))
        loops_by(problem.nest, found)
    except ScheduleError:
        return None
    return None if found == schedule else found


def _replayed(problem: TuningProblem, made: Iterable[Primitive]) -> Schedule:
    """What primitives make of plain loops, but for those that have become impossible."""
    schedule = Schedule.over(*problem.nest.loop_dimensions)
    for primitive in made:
        with suppress(ScheduleError):
            schedule = primitive.on(schedule)
    return schedule


def _unrolled(schedule: Schedule) -> int:
    innermost = {loop.dimension: loop.tile for loop in schedule.loops}
    return prod(innermost.values())


def _any_dimension(
    problem: TuningProblem, schedule: Schedule, random: Random
) -> tuple[int, int, int]:
    """A dimension, its extent, and how much of it is unrolled."""
    innermost = {loop.dimension: loop.tile for loop in schedule.loops}
    dimension = random.choice(sorted(innermost))
    extent = problem.view(schedule).extents[dimension]
    return dimension, extent, innermost[dimension]


def _draw_tile(
    problem: TuningProblem, schedule: Schedule, random: Random
) -> tuple[int, int] | None:
    dimension, extent, inside = _any_dimension(problem, schedule, random)
    sizes = [*BLOCKS, *(ceil(extent / n / inside) * inside for n in (2, 3, 4))]
    fitting = sorted(size for size in sizes if inside < size < extent)
    return (dimension, random.choice(fitting)) if fitting else None


def _draw_unroll(
    problem: TuningProblem, schedule: Schedule, random: Random
) -> tuple[int, int] | None:
    dimension, extent, _ = _any_dimension(problem, schedule, random)
    if dimension == schedule.vector:
        whole = ceil(extent / schedule.lanes)
        factors = [count for count in {*VECTORS, whole} if 1 < count <= whole]
    else:
        divisors = [n for n in range(2, min(extent, 33)) if extent % n == 0]
        factors = [size for size in (*TILES, *divisors) if 1 < size <= extent]
    return (dimension, random.choice(sorted(factors))) if factors else None


def _draw_order(
    problem: TuningProblem, schedule: Schedule, random: Random
) -> tuple[int, ...] | None:
    """One loop elsewhere, inside of copies."""
    copies = [number for number, step in enumerate(schedule.steps) if isinstance(step, Pack)]
    inside = schedule.steps[max(copies, default=-1) + 1 :]
    order = [step.dimension for step in inside if isinstance(step, Loop)]
    moved = order.pop(random.randrange(len(order)))
    order.insert(random.randrange(len(order) + 1), moved)
    return tuple(order)


def _draw_lanes(
    problem: TuningProblem, schedule: Schedule, random: Random
) -> tuple[int, int] | None:
    """Of a length that registers have for some type."""
    dimension, extent, _ = _any_dimension(problem, schedule, random)
    if any(schedule.packs) or not problem.vector_bits:
        return None
    widest = max(1, problem.vector_bits // 8)
    choices = [n for n in (2, 4, 8, 16, 32, 64) if n <= min(widest, max(extent, 2))]
    return dimension, random.choice([*choices, extent] if extent <= widest else choices)


def _draw_blocks(problem: TuningProblem, schedule: Schedule, random: Random) -> tuple[int] | None:
    if schedule.transposed is not None or any(schedule.packs):
        return None
    return _any_dimension(problem, schedule, random)[:1]


def _draw_shared(problem: TuningProblem, schedule: Schedule, random: Random) -> tuple[int] | None:
    shared = random.choice([None, *schedule.loops[:3]])
    return None if shared is None or problem.threads < 2 else (shared.dimension,)


def _draw_pack(
    problem: TuningProblem, schedule: Schedule, random: Random
) -> tuple[Factor, Schedule, int] | None:
    """A copy of either factor of a contraction, anywhere."""
    nest = problem.view(schedule)
    if contraction_of(nest) is None:
        return None
    factor, place = random.choice([*Factor]), random.randrange(len(schedule.steps))
    return factor, copy_along_lanes(nest, schedule, factor, place), place


DRAWS: dict[str, tuple[Draw, float]] = {
    "unroll": (_draw_unroll, 6),
    "interchange": (_draw_order, 3),
    "vectorize": (_draw_lanes, 4),
    "tile": (_draw_tile, 3),
    "pack": (_draw_pack, 2),
    "transpose": (_draw_blocks, 1),
    "parallel": (_draw_shared, 1),
}
"""By primitive: how its arguments are drawn, and how often, relative to the others."""
_OF_A_DIMENSION = ("unroll", "tile")
"""Primitives of which a schedule has one for each dimension that they name first."""
