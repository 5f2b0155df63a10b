"""
Which schedules an operation admits, and the loops that a schedule makes of it.

The rules, `(SR1)` and on, are those of docs/specification/schedules.md. Those of lanes, unrolled
tiles and the size of copies are asked where `loop_tree` makes the loops inside of tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Operation

from lowerings.dialects.schedule import (
    TERMS_AT_ONCE,
    Factor,
    Loop,
    Pack,
    Schedule,
    ScheduleError,
    outer_steps,
    schedule_of,
)
from lowerings.dialects.words import DotProductOp
from lowerings.ir.dot_products import LANES
from lowerings.ir.independent_loops import promised_microseconds
from lowerings.loops.contraction import contraction_of, paired_terms, roles_of
from lowerings.loops.initial_values import fold_fills, foldable_fills
from lowerings.loops.lane_analysis import MOST_LANES
from lowerings.loops.loop_tree import LoopPart, loops_of, panel_dimension
from lowerings.loops.nest import Nest, nest_of
from lowerings.loops.order_rules import is_independent
from lowerings.loops.views import collapse_groups
from lowerings.rewriting.failure import FailedAt
from xla_dialect.xdsl.traversal import ancestors


@dataclass(frozen=True)
class ScheduledLoops:
    """What an operation with a schedule becomes."""

    op: Operation
    parts: Sequence[LoopPart]
    """None for an operation without points."""
    folded: Sequence[Operation] = ()
    """Operations before it that it makes superfluous."""


def located(op: Operation, error: ScheduleError) -> FailedAt:
    """What a pass that has to obey the schedule of an operation fails with."""
    return FailedAt(op.location, f"{op.name}: schedule: {error}")


def scheduled_loops(op: Operation) -> ScheduledLoops:
    """
    The loops of an operation by its schedule.

    Raises FailedAt with the place where it has no nest, or breaks a rule.
    """
    nest = nest_of(op)
    schedule = schedule_of(op)
    if schedule is None:
        schedule = Schedule(tuple(Loop(d) for d in nest.loop_dimensions))
    try:
        return loops_by(nest, schedule)
    except ScheduleError as error:
        raise located(op, error) from error


def loops_by(nest: Nest, schedule: Schedule) -> ScheduledLoops:
    """The loops of a nest by a schedule. Raises ScheduleError for the rule that it breaks."""
    if nest.is_empty:
        return ScheduledLoops(nest.op, ())
    _check_groups(nest, schedule.collapsed)
    nest = collapse_groups(nest, schedule.collapsed)
    if schedule.paired is None:
        if schedule.odd is not None:
            raise ScheduleError("(SR10) an entry 'odd' without one for 'pairs'")
        parts = [(nest, schedule)]
    else:
        parts = _paired_parts(nest, schedule, schedule.paired)
    for part, own in parts:
        _check_steps(part, own)
    fills = foldable_fills(nest, schedule.steps) if schedule.folded_fills else {}
    for output in schedule.folded_fills:
        if output not in fills:
            raise ScheduleError(f"(SR11) output {output} cannot start from a fill before")
    chosen = {output: fills[output] for output in schedule.folded_fills}
    first, own = parts[0]
    parts[0] = fold_fills(first, chosen), own
    loops = [loop for part, own in parts for loop in loops_of(part, own)]
    return ScheduledLoops(nest.op, loops, tuple(chosen.values()))


def _check_groups(nest: Nest, groups: Sequence[Sequence[int]]) -> None:
    named = [d for group in groups for d in group]
    indexed = nest.indexed
    for number, dimension in enumerate(named):
        if dimension >= len(nest.extents):
            raise ScheduleError(f"(SR1) d{dimension} is no dimension of {len(nest.extents)}")
        if dimension in named[:number]:
            raise ScheduleError(f"(SR1) d{dimension} is collapsed twice")
        if dimension in indexed:
            raise ScheduleError(f"(SR12) the operation asks for the index of d{dimension}")
    if not all(groups):
        raise ScheduleError("(SR1) an empty group of dimensions")


def _paired_parts(nest: Nest, schedule: Schedule, dimension: int) -> list[tuple[Nest, Schedule]]:
    contraction = contraction_of(nest)
    if contraction is None or dimension not in contraction.summed:
        raise ScheduleError(f"(SR10) d{dimension} is not summed by a contraction")
    packed = next((pack.factor for pack in schedule.packs), None)
    if packed is None and schedule.at_once != TERMS_AT_ONCE["pairs"]:
        raise ScheduleError("(SR10) four terms at a time without a copy of a factor")
    terms = schedule.at_once, packed or Factor.RHS
    parts = paired_terms(nest, contraction, dimension, *terms)
    if not parts:
        raise ScheduleError("(SR10) wide factors, a sum of other than 32 bits, or few terms")
    if schedule.lanes > LANES[-1] and parts[0].has(DotProductOp):
        raise ScheduleError(f"(SR10) sums of {LANES[-1]} lanes at most, not {schedule.lanes}")
    schedules = [schedule] if schedule.odd is None else [schedule, schedule.odd]
    if len(parts) != len(schedules):
        raise ScheduleError(f"(SR10) d{dimension} has {nest.extents[dimension]} terms")
    return list(zip(parts, schedules, strict=True))


def _check_steps(nest: Nest, schedule: Schedule) -> None:
    """Raises ScheduleError unless a nest admits the loops, tiles and copies around its vectors."""
    _check_names(nest, schedule, schedule)
    named = {loop.dimension for loop in schedule.loops}
    missing = [f"d{d}" for d in nest.loop_dimensions if d not in named]
    if missing:
        raise ScheduleError(f"(SR1) no loop over {', '.join(missing)}")
    _check_tiles(nest, schedule)
    _check_threads(nest, schedule.loops)
    _check_terms(nest, schedule.loops)
    for pack in schedule.packs:
        _check_names(nest, schedule, pack.copy)
        _check_pack(nest, schedule, pack)


def _check_names(nest: Nest, schedule: Schedule, order: Schedule) -> None:
    """(SR1), (SR5), (SR8), of a schedule or of a copy in it."""
    named = {loop.dimension for loop in order.loops}
    for dimension in named:
        if not 0 <= dimension < len(nest.extents):
            raise ScheduleError(f"(SR1) d{dimension} is no dimension of {len(nest.extents)}")
        if any(dimension in group[:-1] for group in schedule.collapsed):
            raise ScheduleError(f"(SR1) d{dimension} is collapsed into another dimension")
    for entry, name in ((order.vector, "vectors"), (order.transposed, "transposed blocks")):
        if entry is not None and entry not in named:
            raise ScheduleError(f"(SR1) {name} along d{entry}, which has no loop")
    if order.transposed is not None and order.vector in (None, order.transposed):
        raise ScheduleError("(SR5) blocks are transposed along another dimension than the vectors'")
    if not 1 <= order.lanes <= MOST_LANES:
        raise ScheduleError(f"(SR8) vectors of {order.lanes} lanes; from 1 to {MOST_LANES}")


def _check_tiles(nest: Nest, schedule: Schedule) -> None:
    """(SR2), (SR3), (SR12)"""
    indexed = nest.indexed
    around = outer_steps(schedule.steps)
    room = list(nest.extents)
    last = {loop.dimension: loop for loop in schedule.loops}
    seen: set[int] = set()
    for number, step in enumerate(schedule.steps):
        if isinstance(step, Pack):
            continue
        dimension, tile = step.dimension, step.tile
        filling = schedule.lanes - 1 if dimension == schedule.vector else 0
        if dimension in seen and room[dimension] == 1:
            raise ScheduleError(f"(SR2) d{dimension} is tiled again, but has one iteration left")
        most = room[dimension] + filling
        if not 1 <= tile <= most:
            raise ScheduleError(f"(SR2) d{dimension} is tiled by {tile}, allowed: 1 to {most}")
        if dimension in seen and dimension in indexed:
            raise ScheduleError(f"(SR12) the operation asks for the index of d{dimension}")
        seen.add(dimension)
        if number < around and step is last[dimension] and tile != 1:
            raise ScheduleError(f"(SR3) d{dimension} by {tile} is outside of other tiles or copies")
        room[dimension] = tile


def _check_threads(nest: Nest, loops: Sequence[Loop]) -> None:
    """(SR6)"""
    parallel = [loop.dimension for loop in loops if loop.is_parallel]
    if len(parallel) > 1:
        raise ScheduleError(f"(SR6) {len(parallel)} parallel loops")
    for dimension in parallel:
        if not is_independent(nest, dimension):
            raise ScheduleError(f"(SR6) iterations of d{dimension} depend on each other")


def _check_terms(nest: Nest, loops: Sequence[Loop]) -> None:
    """(SR7)"""
    reducing = [loop for loop in loops if nest.is_reduction[loop.dimension]]
    dimensions = [loop.dimension for loop in reducing]
    in_order = dimensions == sorted(set(dimensions))
    if in_order and all(loop.tile == 1 for loop in reducing[:-1]):
        return
    for output in range(len(nest.outputs)):
        if nest.accumulators[output] in nest.folded and nest.combiners[output] is None:
            raise ScheduleError(f"(SR7) output {output} would take its terms in another order")


def _check_pack(nest: Nest, schedule: Schedule, pack: Pack) -> None:
    """(SR9)"""
    if sum(1 for _ in schedule.packs) > 1:
        raise ScheduleError("(SR9) a second copy")
    roles = roles_of(nest, pack.factor)
    if roles is None:
        raise ScheduleError("(SR9) a copy of a factor, of what is no contraction")
    vector = panel_dimension(schedule, pack, roles)
    if vector is None:
        raise ScheduleError(f"(SR9) panels along no dimension of {pack.factor} alone")
    inside = schedule.steps[schedule.steps.index(pack) + 1 :]
    summing = [nest.is_reduction[step.dimension] for step in inside if isinstance(step, Loop)]
    if schedule.at_once != TERMS_AT_ONCE["pairs"] and summing != sorted(summing):
        # What flipped signs add to a sum is taken off where the sum starts, which has to be once.
        raise ScheduleError("(SR10) quads summed outside of loops over rows or columns")
    if outer_steps(inside):
        # The first loop over the vector dimension may count panels.
        tiles = [step for step in inside if isinstance(step, Loop) and step.dimension != vector]
        if outer_steps(tiles) or len(inside) - len(tiles) > 2:
            raise ScheduleError("(SR9) tiles of tiles inside of a copy")
    if nest.indexed:
        raise ScheduleError("(SR12) a copy of what depends on an index")
    _check_copy(
        nest.mask[roles.right], pack.copy, vector, [s for s in inside if isinstance(s, Loop)]
    )
    if any(isinstance(op, scf.ParallelOp) for op in ancestors(nest.op)):
        raise ScheduleError("(SR9) a copy inside of a parallel loop")


def _check_copy(reached: int, copy: Schedule, vector: int, inside: Sequence[Loop]) -> None:
    """(SR1), (SR2), (SR6), of a copy of what depends on some dimensions, before some loops."""
    copied = [loop.dimension for loop in copy.loops]
    needed = {loop.dimension for loop in inside if reached >> loop.dimension & 1}
    missing = [f"d{d}" for d in sorted(needed.difference(copied))]
    if missing:
        raise ScheduleError(f"(SR1) no loop of the copy over {', '.join(missing)}")
    for loop in copy.loops:
        dimension = loop.dimension
        if copied.count(dimension) > 1 + (dimension == vector):
            raise ScheduleError(f"(SR2) d{dimension} is tiled in a copy, which only vectors may be")
        if loop.tile < 1:
            raise ScheduleError(f"(SR2) d{dimension} is tiled by {loop.tile}, allowed: from 1 on")
        if loop.is_parallel:
            raise ScheduleError("(SR6) a parallel loop of a copy")


def require_independence(loop: Operation) -> None:
    """Raises FailedAt unless a loop's iterations are promised to be independent."""
    if promised_microseconds(loop) is None:
        rule = ScheduleError("(SR6) iterations of a parallel loop may depend on each other")
        raise located(loop, rule)
