"""Where a search starts: what the planner says of other vectors, other orders, other factors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from random import Random

from lowerings.dialects.schedule import LoopOrder, Schedule
from lowerings.ir.independent_loops import LEAST_MICROSECONDS
from lowerings.loops.body import Body, LaneAnalysis, indexed_dimensions
from lowerings.loops.contraction import contraction_of
from lowerings.loops.memory import LaneStride
from lowerings.loops.nest import Nest
from lowerings.loops.views import collapse_dense
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
from lowerings.tuning.problem import TuningProblem

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
            if isinstance(direct, LoopOrder):
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


def _scheduled(nest: Nest, body: Body, order: LoopOrder) -> Schedule:
    loops = in_parallel(nest, body, order.loops, order.lanes, LEAST_MICROSECONDS)
    return Schedule(loops, order.vector, order.lanes, order.transposed)
