"""The search space: what is tuned, where a search starts, the steps between schedules."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, prod
from random import Random
from typing import TypeAlias

from xdsl.ir import Operation

from lowerings.dialects.schedule import Loop, Schedule, Step
from lowerings.ir.independent_loops import LEAST_MICROSECONDS
from lowerings.loops.body import Body, LaneAnalysis, indexed_dimensions
from lowerings.loops.contraction import contraction_of
from lowerings.loops.initial_values import foldable_fills
from lowerings.loops.memory import LaneStride
from lowerings.loops.nest import Nest, nest_of
from lowerings.loops.views import collapse_dense, collapse_groups
from lowerings.scheduling.contractions import (
    MOST_ROWS,
    PackedContraction,
    Tile,
    columns_in_lanes,
    direct_plan,
    dot_plan,
    extent_of,
    packed_plan,
)
from lowerings.scheduling.lanes import fitted, in_parallel, lanes_for, plan_order


@dataclass(frozen=True)
class TuningProblem:
    """An operation to find a schedule for."""

    op: Operation
    default: Schedule
    """The planner's."""
    vector_bits: int
    pair_products: bool = True
    threads: int = 1
    known: tuple[Schedule, ...] = ()
    """Schedules that were found before."""

    @cached_property
    def nest(self) -> Nest:
        """The iteration space, no dimensions merged."""
        return nest_of(self.op, "tuning")

    def view(self, schedule: Schedule) -> tuple[Nest, Body]:
        """The iteration space with the dimensions merged that a schedule merges."""
        nest = collapse_groups(self.nest, schedule.collapsed)
        return nest, Body(nest)

    def foldable(self, schedule: Schedule) -> tuple[int, ...]:
        """The outputs that could start from a fill under a schedule."""
        return tuple(foldable_fills(*self.view(schedule), schedule.steps))


Space: TypeAlias = Callable[[TuningProblem, Schedule, Random], Schedule | None]
"""A schedule near another one, admitted or not; None where it finds none."""

CostModel: TypeAlias = Callable[[TuningProblem, Schedule], float]
"""The estimated cost of a schedule, in any unit: it ranks those of one problem."""

Strategy: TypeAlias = Callable[
    [TuningProblem, Space, CostModel, Random], Generator[Schedule, float, None]
]
"""
Yields one schedule after the other to measure, and is sent the time of each, relative to that of
the default; infinite for one that is not admitted, or computes something else. Ends when it has no
more.
"""


PANEL_ROWS = 2 * MOST_ROWS
"""Rows of register tiles that are tried: more than the planner takes."""


def seeds(problem: TuningProblem) -> list[Schedule]:
    """Schedules that differ from the default by more than one step, each once."""
    found = [
        _finished(problem, fitted(schedule, nest.extents), groups)
        for nest, groups in _views(problem)
        for bits in _widths(problem)
        for schedule in _plans(nest, Body(nest), bits)
    ]
    return [each for each in dict.fromkeys((*problem.known, *found)) if each != problem.default]


def packed_seed(problem: TuningProblem, random: Random) -> Schedule | None:
    """A contraction with one factor packed, in tiles and blocks of any size; None for others."""
    choices: list[tuple[PackedContraction, tuple[tuple[int, ...], ...]]] = []
    for nest, groups in _views(problem):
        plans = _packed_plans(nest, Body(nest), random.choice(_widths(problem)))
        choices += [(plan, groups) for plan in plans]
    if not choices:
        return None
    plan, groups = random.choice(choices)
    nest = plan.nest
    vectors = ceil(nest.extents[plan.vector] / plan.lanes)
    tile = Tile(
        random.randint(1, min(PANEL_ROWS, nest.extents[plan.row])),
        random.randint(1, min(4, vectors)),
    )
    blocks = tuple(
        ceil(nest.extents[d] / random.choice((1, 1, 2, 3, 4, 8))) for d in plan.roles.summed
    )
    changed = replace(
        plan,
        tile=tile,
        panels=random.choice((1, 2, 4, 8, 16)),
        term_blocks=blocks,
        rows_are_large=random.random() < 0.3,
    )
    return _finished(problem, fitted(changed.schedule(LEAST_MICROSECONDS), nest.extents), groups)


def _finished(
    problem: TuningProblem, schedule: Schedule, groups: tuple[tuple[int, ...], ...]
) -> Schedule:
    schedule = replace(schedule, collapsed=groups)
    return replace(schedule, folded_fills=problem.foldable(schedule))


def _views(problem: TuningProblem) -> list[tuple[Nest, tuple[tuple[int, ...], ...]]]:
    """The nest with dense dimensions merged, and as it is if that differs."""
    nest = problem.nest
    merged, groups = collapse_dense(nest, indexed_dimensions(nest))
    return [(merged, groups), (nest, ())] if groups else [(nest, ())]


def _widths(problem: TuningProblem) -> list[int]:
    bits = problem.vector_bits
    return [each for each in (bits, bits // 2, bits // 4) if each >= 128] or [bits]


def _plans(nest: Nest, body: Body, bits: int) -> Iterator[Schedule]:
    if nest.is_empty:
        return
    yield _scheduled(nest, body, plan_order(nest, body, bits))
    contraction = contraction_of(nest, body)
    if contraction is None or not bits:
        return
    dot = dot_plan(nest, body, contraction, bits)
    if dot is not None:
        yield _scheduled(nest, body, dot)
    for roles in (contraction, contraction.transposed()):
        for vector in columns_in_lanes(nest, body, roles, LaneStride.UNIT):
            direct = direct_plan(nest, body, roles, vector, bits)
            if isinstance(direct, Schedule):
                yield _scheduled(nest, body, direct)
    for packed in _packed_plans(nest, body, bits):
        yield packed.schedule(LEAST_MICROSECONDS)


def _packed_plans(nest: Nest, body: Body, bits: int) -> list[PackedContraction]:
    contraction = contraction_of(nest, body)
    if contraction is None or not bits:
        return []
    return [
        packed_plan(nest, body, roles, vector, bits)
        for roles in (contraction, contraction.transposed())
        if roles.rows and extent_of(nest, roles.rows) > 1
        for stride in (LaneStride.UNIT, LaneStride.STRIDED)
        for vector in columns_in_lanes(nest, body, roles, stride)
        if lanes_for(body, LaneAnalysis(body, vector), bits) > 1
    ]


def _scheduled(nest: Nest, body: Body, order: Schedule) -> Schedule:
    loops = in_parallel(nest, body, order.loops, order.lanes, LEAST_MICROSECONDS)
    return replace(order, steps=loops)


MOST_UNROLLED = 160
"""Vectors of a tile: larger ones take seconds to compile and leave the registers."""

TILES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32)
BLOCKS = (16, 32, 64, 128, 256, 512, 1024, 4096)
VECTORS = (1, 2, 3, 4, 5, 6, 8, 12, 16)

_Move: TypeAlias = Callable[[TuningProblem, Schedule, Random], "Schedule | None"]


def mutated(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """A schedule one step from another; None where the step that was drawn leads nowhere."""
    move = random.choices([move for move, _ in MOVES], [weight for _, weight in MOVES])[0]
    found = move(problem, schedule, random)
    if found is None:
        return None
    found = replace(found, folded_fills=())
    if _unrolled(found) > MOST_UNROLLED * max(found.lanes, 1):
        return None
    found = replace(found, folded_fills=problem.foldable(found))
    return None if found == schedule else found


def _unrolled(schedule: Schedule) -> int:
    innermost = {loop.dimension: loop.tile for loop in schedule.loops}
    return prod(innermost.values())


def _retile(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """Another tile for one loop."""
    number = _any_loop(schedule, random)
    if number is None:
        return None
    loop = schedule.steps[number]
    assert isinstance(loop, Loop)
    extent = problem.view(schedule)[0].extents[loop.dimension]
    if any(each.dimension == loop.dimension for each in _loops_after(schedule, number)):
        sizes = [size for size in BLOCKS if size < extent]
    elif loop.dimension == schedule.vector:
        whole = ceil(extent / schedule.lanes)
        sizes = [schedule.lanes * count for count in {*VECTORS, whole} if count <= whole]
    else:
        divisors = [n for n in range(2, min(extent, 33)) if extent % n == 0]
        sizes = [size for size in (*TILES, *divisors) if size <= extent]
    return _with_step(schedule, number, replace(loop, tile=random.choice(sorted(sizes) or [1])))


def _reorder(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """One step elsewhere."""
    steps = list(schedule.steps)
    if len(steps) < 2:
        return None
    step = steps.pop(random.randrange(len(steps)))
    steps.insert(random.randrange(len(steps) + 1), step)
    return replace(schedule, steps=tuple(steps))


def _relane(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """Vectors of another length along the same dimension."""
    if schedule.vector is None or any(schedule.packs):
        return None
    return _in_lanes(problem, schedule, schedule.vector, random)


def _revector(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """Vectors along another dimension."""
    if any(schedule.packs) or not problem.vector_bits:
        return None
    others = sorted({loop.dimension for loop in schedule.loops} - {schedule.vector})
    if not others:
        return None
    steps = tuple(
        replace(step, tile=1) if isinstance(step, Loop) and step.dimension == schedule.vector
        else step
        for step in schedule.steps
    )  # fmt: skip
    plain = replace(schedule, steps=_without_blocks(steps), vector=None, lanes=1, transposed=None)
    return _in_lanes(problem, plain, random.choice(others), random)


def _in_lanes(
    problem: TuningProblem, schedule: Schedule, vector: int, random: Random
) -> Schedule | None:
    """Vectors along a dimension, of a length that registers have for some type."""
    extent = problem.view(schedule)[0].extents[vector]
    widest = max(1, problem.vector_bits // 8)
    choices = [n for n in (2, 4, 8, 16, 32, 64) if n <= min(widest, max(extent, 2))]
    if extent <= widest:
        choices.append(extent)
    lanes = random.choice(choices)
    count = random.choice([n for n in VECTORS if n <= ceil(extent / lanes)] or [1])
    steps = list(schedule.steps)
    number = max(i for i, s in enumerate(steps) if isinstance(s, Loop) and s.dimension == vector)
    steps[number] = replace(steps[number], tile=lanes * count)
    return replace(schedule, steps=tuple(steps), vector=vector, lanes=lanes, transposed=None)


def _block(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """A loop over blocks of a dimension around others."""
    number = _any_loop(schedule, random)
    if number is None:
        return None
    loop = schedule.steps[number]
    assert isinstance(loop, Loop)
    extent = problem.view(schedule)[0].extents[loop.dimension]
    sizes = [size for size in BLOCKS if loop.tile < size < extent and size % loop.tile == 0]
    sizes += [ceil(extent / n / loop.tile) * loop.tile for n in (2, 3, 4)]
    sizes = sorted(size for size in sizes if loop.tile < size < extent)
    if not sizes:
        return None
    block = Loop(loop.dimension, random.choice(sizes), loop.is_parallel)
    steps = [*schedule.steps]
    steps[number] = replace(loop, is_parallel=False)
    steps.insert(random.randrange(number + 1), block)
    return replace(schedule, steps=tuple(steps))


def _unblock(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """No loop over blocks where there is one."""
    steps = schedule.steps
    outer = [
        number
        for number, step in enumerate(steps)
        if isinstance(step, Loop)
        and any(each.dimension == step.dimension for each in _loops_after(schedule, number))
    ]
    if not outer:
        return None
    number = random.choice(outer)
    return replace(schedule, steps=(*steps[:number], *steps[number + 1 :]))


def _transpose(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """Blocks transposed in registers, or none where there are some."""
    vector = schedule.vector
    if vector is None or any(schedule.packs):
        return None
    if schedule.transposed is not None:
        steps = tuple(
            replace(step, tile=1) if isinstance(step, Loop)
            and step.dimension == schedule.transposed else step
            for step in schedule.steps
        )  # fmt: skip
        return replace(schedule, steps=steps, transposed=None)
    others = sorted({loop.dimension for loop in schedule.loops} - {vector})
    if not others:
        return None
    transposed, lanes = random.choice(others), random.choice((4, 8, 16))
    sizes = {vector: lanes * random.choice((1, 1, 2, 4)), transposed: lanes}
    rest = [
        replace(step, tile=1)
        for step in _without_blocks(schedule.steps)
        if isinstance(step, Loop) and step.dimension not in sizes
    ]
    order = sorted(sizes, key=lambda d: (d == vector, d))
    steps = (*rest, *(Loop(d, sizes[d]) for d in order))
    return replace(schedule, steps=steps, vector=vector, lanes=lanes, transposed=transposed)


def _share(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """Another loop, or none, for threads to share."""
    if problem.threads < 2:
        return None
    loops = [i for i, step in enumerate(schedule.steps) if isinstance(step, Loop)]
    chosen = random.choice([None, *loops[:3]])
    steps = tuple(
        replace(step, is_parallel=number == chosen) if isinstance(step, Loop) else step
        for number, step in enumerate(schedule.steps)
    )
    return replace(schedule, steps=steps)


def _repack(problem: TuningProblem, schedule: Schedule, random: Random) -> Schedule | None:
    """A factor packed, in tiles and blocks of other sizes."""
    return packed_seed(problem, random)


MOVES: tuple[tuple[_Move, float], ...] = (
    (_retile, 6),
    (_reorder, 3),
    (_relane, 2),
    (_revector, 2),
    (_block, 2),
    (_unblock, 1),
    (_transpose, 1),
    (_share, 1),
    (_repack, 2),
)
"""The steps, with how often each is drawn, relative to the others."""


def _any_loop(schedule: Schedule, random: Random) -> int | None:
    numbers = [i for i, step in enumerate(schedule.steps) if isinstance(step, Loop)]
    return random.choice(numbers) if numbers else None


def _loops_after(schedule: Schedule, number: int) -> list[Loop]:
    return [step for step in schedule.steps[number + 1 :] if isinstance(step, Loop)]


def _with_step(schedule: Schedule, number: int, step: Step) -> Schedule:
    steps = schedule.steps
    return replace(schedule, steps=(*steps[:number], step, *steps[number + 1 :]))


def _without_blocks(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The innermost loop over each dimension."""
    last = {step.dimension: i for i, step in enumerate(steps) if isinstance(step, Loop)}
    return tuple(
        step for i, step in enumerate(steps) if isinstance(step, Loop) and last[step.dimension] == i
    )
