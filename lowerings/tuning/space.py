"""The search space: what is tuned, where a search starts, the steps between schedules."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, prod
from random import Random
from typing import Any, TypeAlias

from xdsl.ir import Operation

from lowerings.dialects.schedule import Factor, Loop, Pack, Schedule, ScheduleError
from lowerings.ir.independent_loops import LEAST_MICROSECONDS_AWAKE
from lowerings.loops.initial_values import foldable_fills
from lowerings.loops.nest import Nest, nest_of
from lowerings.loops.schedule_rules import loops_by
from lowerings.loops.views import collapse_dense, collapse_groups
from lowerings.scheduling.contractions import contraction_plans, copy_along_lanes
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
        return collapse_groups(self.nest, schedule.collapsed)

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
    """
    Schedules that differ from the default by more than one step, each once: all that the planner
    has in mind, for shorter vectors too, with and without dense dimensions merged.
    """
    nest, widest = problem.nest, problem.vector_bits
    widths = [widest, *(bits for bits in (widest // 2, widest // 4) if bits >= SHORTEST)]
    found = [
        _finished(problem, in_parallel(view, order, LEAST_MICROSECONDS_AWAKE), groups)
        for view, groups in (collapse_dense(nest, nest.indexed), (nest, ()))
        for bits in widths
        for order in (plan_order(view, bits), *contraction_plans(view, bits))
    ]
    return [each for each in dict.fromkeys((*problem.known, *found)) if each != problem.default]


def _finished(
    problem: TuningProblem, schedule: Schedule, groups: tuple[tuple[int, ...], ...]
) -> Schedule:
    schedule = replace(schedule, collapsed=groups)
    return replace(schedule, folded_fills=problem.foldable(schedule))


SHORTEST = 128
"""Bits of the shortest vectors that are tried in the place of longer ones."""
MOST_UNROLLED = 160
"""Vectors of a tile: larger ones take seconds to compile and leave the registers."""

TILES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32)
BLOCKS = (16, 32, 64, 128, 256, 512, 1024, 4096)
LANES = (2, 4, 8, 16, 32, 64)
"""Those that registers have for some type."""
LESS_OFTEN = 0.1
"""How often a primitive is left out, and none drawn in its place."""

Draw: TypeAlias = Callable[[TuningProblem, Schedule, Random], "tuple[Any, ...] | None"]
"""
Arguments for a primitive, drawn for a schedule; None to leave one out. Raises ScheduleError where
there are none.
"""


def mutated(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """
    A schedule one primitive from another: one added, one in the place of another, or one less; None
    where the operation does not admit it.
    """
    name = random.choices([*DRAWS], [weight for _, weight in DRAWS.values()])[0]
    made = [*primitives_of(schedule, problem.nest.loop_dimensions)]
    try:
        is_less = random.random() < LESS_OFTEN
        arguments = None if is_less else DRAWS[name][0](problem, schedule, random)
        before = [
            number
            for number, each in enumerate(made)
            if each.name == name
            and (not arguments or name not in _OF_A_DIMENSION or each.arguments[0] == arguments[0])
        ]
        is_added = name == "tile" and random.random() < 0.5
        gone = random.choice(before) if before and not is_added else None
        found = _replayed(problem, [each for n, each in enumerate(made) if n != gone])
        if arguments is not None:
            found = Primitive(name, arguments).on(found)
        if prod(loop.tile for loop in _innermost(found)) > MOST_UNROLLED * found.lanes:
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


def _innermost(schedule: Schedule) -> list[Loop]:
    """The last loop over each dimension, whose tile is unrolled."""
    return [*{loop.dimension: loop for loop in schedule.loops}.values()]


def _size_of(sizes: Callable[[TuningProblem, Schedule, Loop, int], Iterable[int]]) -> Draw:
    """Draws a dimension, and one of the sizes that fit its innermost loop and its extent."""

    def draw(problem: TuningProblem, schedule: Schedule, random: Random) -> tuple[int, int]:
        loop = random.choice(_innermost(schedule))
        extent = problem.view(schedule).extents[loop.dimension]
        found = sizes(problem, schedule, loop, extent)
        fitting = sorted({size for size in found if 1 < size <= extent})
        return loop.dimension, random.choice(fitting or [0])

    return draw


def _tiles(problem: TuningProblem, schedule: Schedule, loop: Loop, extent: int) -> Iterable[int]:
    parts = (ceil(extent / n / loop.tile) * loop.tile for n in (2, 3, 4))
    return (size for size in (*BLOCKS, *parts) if loop.tile < size < extent)


def _factors(problem: TuningProblem, schedule: Schedule, loop: Loop, extent: int) -> Iterable[int]:
    count = ceil(extent / schedule.lanes) if loop.dimension == schedule.vector else extent
    divisors = (n for n in range(2, TILES[-1]) if count % n == 0)
    return (size for size in (*TILES, *divisors, count) if size <= count)


def _lanes(problem: TuningProblem, schedule: Schedule, loop: Loop, extent: int) -> Iterable[int]:
    return (lanes for lanes in (*LANES, extent) if lanes <= problem.vector_bits // 8)


def _order(problem: TuningProblem, schedule: Schedule, random: Random) -> tuple[int, ...]:
    """One loop elsewhere, inside of copies."""
    copies = [number for number, step in enumerate(schedule.steps) if isinstance(step, Pack)]
    inside = schedule.steps[max(copies, default=-1) + 1 :]
    order = [step.dimension for step in inside if isinstance(step, Loop)]
    moved = order.pop(random.randrange(len(order)))
    order.insert(random.randrange(len(order) + 1), moved)
    return tuple(order)


def _any_dimension(problem: TuningProblem, schedule: Schedule, random: Random) -> tuple[int]:
    return (random.choice(_innermost(schedule)).dimension,)


def _outer_dimension(
    problem: TuningProblem, schedule: Schedule, random: Random
) -> tuple[int] | None:
    return (random.choice(schedule.loops[:3]).dimension,) if problem.threads > 1 else None


def _copy(
    problem: TuningProblem, schedule: Schedule, random: Random
) -> tuple[Factor, Schedule, int]:
    """A copy of either factor of a contraction, anywhere."""
    factor, place = random.choice([*Factor]), random.randrange(len(schedule.steps))
    return factor, copy_along_lanes(problem.view(schedule), schedule, factor, place), place


DRAWS: dict[str, tuple[Draw, float]] = {
    "unroll": (_size_of(_factors), 6),
    "interchange": (_order, 3),
    "vectorize": (_size_of(_lanes), 4),
    "tile": (_size_of(_tiles), 3),
    "pack": (_copy, 2),
    "transpose": (_any_dimension, 1),
    "parallel": (_outer_dimension, 1),
}
"""By primitive: how its arguments are drawn, and how often, relative to the others."""
_OF_A_DIMENSION = ("unroll", "tile")
"""Primitives of which a schedule has one for each dimension that they name first."""
