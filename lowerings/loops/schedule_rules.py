"""
Which schedules an operation admits, and the nests that a schedule makes of it.

The rules, `(SR1)` and on, are those of docs/specification/schedules.md. Some show only as loops
are written: outer tiles and copies by `ScheduledNest`, the loops inside by `NestEmitter`. What a
tile leaves over at the end of its dimension is code of its own, after that of whole tiles.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.utils.exceptions import PassFailedException

from lowerings.dialects.schedule import (
    TERMS_AT_ONCE,
    Factor,
    Loop,
    LoopOrder,
    Pack,
    Schedule,
    ScheduleError,
    Step,
    outer_steps,
    schedule_of,
    set_schedule,
)
from lowerings.ir.dot_products import LANES
from lowerings.ir.independent_loops import promised_microseconds
from lowerings.loops.body import Body, indexed_dimensions
from lowerings.loops.builder import Index, LoopBuilder
from lowerings.loops.constants import FunctionConstants
from lowerings.loops.contraction import contraction_of, paired_terms, roles_of
from lowerings.loops.emission import NestEmitter, fill_with_zeros
from lowerings.loops.initial_values import fold_fills, foldable_fills
from lowerings.loops.long_sums import FIRST_SCRATCH, rounding_memory
from lowerings.loops.narrow_products import DotProductOp
from lowerings.loops.nest import Nest, divided, make_access, nest_of
from lowerings.loops.order_rules import check_lanes, is_independent
from lowerings.loops.panels import Panels, order_in
from lowerings.loops.views import collapse_groups
from lowerings.rewriting.conversion import describe_location
from xla_dialect.xdsl.traversal import ancestors, free_values

MOST_PANEL_BYTES = 1 << 20
"""What a copy may take of the stack."""


def emit_nest(nest: Nest, schedule: Schedule, builder: LoopBuilder) -> None:
    """Writes the loops of a nest that admits a schedule."""
    if not outer_steps(schedule.steps):
        order = LoopOrder(
            tuple(schedule.loops), schedule.vector, schedule.lanes, schedule.transposed
        )
        NestEmitter(nest, Body(nest), order_in(nest, order), builder).emit()
        return
    inner = dict(enumerate(range(len(nest.extents))))
    _TiledNest(nest, nest, schedule, inner).emit(schedule.steps, builder)


@dataclass(frozen=True)
class _TiledNest:
    """The part of a nest inside the loops that are written."""

    whole: Nest
    nest: Nest
    schedule: Schedule
    inner: Mapping[int, int]
    """For each dimension of the schedule the one that counts inside the tiles around."""
    bound: dict[int, Index] = field(default_factory=dict[int, Index])
    """Where the loops around are, by dimension of the nest."""

    def emit(self, steps: Sequence[Step], builder: LoopBuilder) -> None:
        """Writes some last steps of the schedule."""
        if not outer_steps(steps):
            self._emit_order(self._order(steps), builder)
            return
        step, *rest = steps
        if isinstance(step, Pack):
            self._emit_packed(step, rest, builder)
            return
        if all(other.dimension != step.dimension for other in rest if isinstance(other, Loop)):
            whole = self._with_rounding(step, builder)
            with whole._loop_over(whole.inner[step.dimension], step, builder) as inside:
                inside.emit(rest, builder)
            return
        whole = self._with_rounding(step, builder)
        for part, counter in whole._divided(step.dimension, step.tile):
            if counter is None:
                part.emit(rest, builder)
                continue
            with part._loop_over(counter, step, builder) as inside:
                inside.emit(rest, builder)

    def _order(self, steps: Sequence[Step]) -> LoopOrder:
        schedule, inner = self.schedule, self.inner
        loops = (step for step in steps if isinstance(step, Loop))
        return LoopOrder(
            tuple(replace(loop, dimension=inner[loop.dimension]) for loop in loops),
            None if schedule.vector is None else inner[schedule.vector],
            schedule.lanes,
            None if schedule.transposed is None else inner[schedule.transposed],
        )

    def _emit_order(self, order: LoopOrder, builder: LoopBuilder) -> None:
        nest = self.nest
        NestEmitter(nest, Body(nest), order_in(nest, order), builder, self.bound).emit()

    def _with_rounding(self, step: Loop, builder: LoopBuilder) -> _TiledNest:
        """
        With memory for how much too large the sums are that many iterations of a loop add to, if
        that is the first one over their terms.
        """
        nest, dimension = self.nest, self.inner[step.dimension]
        if not nest.is_reduction[dimension] or any(nest.is_reduction[d] for d in nest.enclosing):
            return self
        combiner = Body(nest).combiner(0)
        if combiner is None or not isinstance(combiner[0], arith.AddfOp):
            return self
        vector = None if self.schedule.vector is None else self.inner[self.schedule.vector]
        kept = [d for d in nest.loop_dimensions if not nest.is_reduction[d]]
        kept.sort(key=lambda d: d == vector)
        type_ = rounding_memory(nest, 0, kept, ceil(nest.extents[dimension] / step.tile))
        if type_ is None:
            return self
        memory = builder.scratch(type_, FIRST_SCRATCH + len(nest.outputs))
        fill_with_zeros(nest.op, memory, self.schedule.lanes, builder)
        access = make_access(memory, [AffineExpr.dimension(d) for d in kept], nest.extents)
        return replace(self, nest=replace(nest, rounding=access))

    def _divided(self, dimension: int, size: int) -> Iterable[tuple[_TiledNest, int | None]]:
        """The parts of a dimension in pieces of one size, each with what counts the pieces."""
        for nest, inner, counter in divided(self.nest, self.inner[dimension], size):
            yield replace(self, nest=nest, inner={**self.inner, dimension: inner}), counter

    @contextmanager
    def _loop_over(self, dimension: int, step: Loop, builder: LoopBuilder) -> Generator[_TiledNest]:
        """Writes a loop around what is written in the context."""
        extent = self.nest.extents[dimension]
        if extent == 1:
            yield self
            return
        index = builder.constants.index
        is_parallel = step.is_parallel and not builder.is_in_parallel
        name = f"d{dimension}"
        loop = builder.open_loop(index(0), index(extent), index(1), (), name, is_parallel)
        enclosing = self.nest.enclosing | {dimension}
        bound = {**self.bound, dimension: Index(loop.induction_variable)}
        yield replace(self, nest=replace(self.nest, enclosing=enclosing), bound=bound)
        builder.close_loop(loop)

    def _emit_packed(self, pack: Pack, steps: Sequence[Step], builder: LoopBuilder) -> None:
        """Writes the copy of a factor, and the contraction that reads it."""
        vector = self.schedule.vector
        assert vector is not None
        loops = [step for step in steps if isinstance(step, Loop)]
        width = next(loop.tile for loop in loops if loop.dimension == vector)
        roles = roles_of(self.whole, Body(self.whole), pack.factor)
        assert roles is not None
        terms = tuple(self.inner[d] for d in roles.summed)
        whole = self.inner[vector]
        for part, counter in self._divided(vector, width):
            inner = part.inner
            panels = Panels(part.nest, roles.right, inner[vector], counter, terms)
            if panels.bytes > MOST_PANEL_BYTES:
                raise ScheduleError(
                    f"(SR9) a copy of {panels.bytes} bytes; at most {MOST_PANEL_BYTES}"
                )
            memory = builder.scratch(panels.memory)
            copy = [replace(loop, dimension=self.inner[loop.dimension]) for loop in pack.copy.loops]
            copying = LoopOrder(
                tuple(panels.loops_of(copy, whole)),
                _at(pack.copy.vector, inner),
                pack.copy.lanes,
                _at(pack.copy.transposed, inner),
            )
            replace(part, nest=panels.copying_nest(memory))._emit_order(copying, builder)
            excess = part._emit_excess(panels, memory, builder)
            order = self._order(loops)
            moved = tuple(panels.loops_of(order.loops, whole))
            reading = replace(order, loops=moved, vector=inner[vector])
            replace(part, nest=panels.reading_nest(memory, excess))._emit_order(reading, builder)

    def _emit_excess(
        self, panels: Panels, memory: SSAValue, builder: LoopBuilder
    ) -> SSAValue | None:
        """Writes what computes the excess of sums whose factors have flipped sign bits."""
        product = panels.flipped
        if product is None:
            return None
        excess = builder.scratch(panels.excess_memory, 1)
        zero = builder.constants.number(0, panels.factor.type)
        nest = panels.excess_nest(product, memory, excess, zero)
        column = panels.column
        lanes = min(self.schedule.lanes, nest.extents[column])
        others = [d for d in nest.loop_dimensions if not nest.is_reduction[d] and d != column]
        loops = [*map(Loop, others), Loop(column, lanes), *map(Loop, panels.terms)]
        order = LoopOrder(tuple(loops), column, lanes)
        replace(self, nest=nest)._emit_order(order, builder)
        return excess


def _at(dimension: int | None, inner: Mapping[int, int]) -> int | None:
    return None if dimension is None else inner[dimension]


@dataclass(frozen=True)
class ScheduledNest:
    """What an operation with a schedule becomes."""

    op: Operation
    parts: Sequence[tuple[Nest, Schedule]]
    """Nests that follow each other: none for an operation without points, and usually one."""
    folded: Sequence[Operation]
    """Operations before it that it makes superfluous."""

    def emit(self, builder: LoopBuilder, asker: str) -> None:
        """Writes the loops. Raises PassFailedException for a schedule that breaks a rule."""
        try:
            for nest, schedule in self.parts:
                emit_nest(nest, schedule, builder)
        except ScheduleError as error:
            raise located(self.op, asker, error) from error


def located(op: Operation, asker: str, error: ScheduleError) -> PassFailedException:
    """What a pass that has to obey the schedule of an operation fails with."""
    place = describe_location(op.location)
    where = op.name if place is None else f"{place}: {op.name}"
    return PassFailedException(f"{asker}: {where}: schedule: {error}")


def scheduled_nest(op: Operation, asker: str, constants: FunctionConstants) -> ScheduledNest:
    """
    The nests of an operation by its schedule.

    Raises PassFailedException with the place where it has none of either, or breaks a rule.
    """
    nest = nest_of(op, asker)
    schedule = schedule_of(op)
    if schedule is None:
        schedule = Schedule(tuple(Loop(d) for d in nest.loop_dimensions))
    if nest.is_empty:
        return ScheduledNest(op, (), ())
    try:
        return _scheduled(nest, schedule, constants)
    except ScheduleError as error:
        raise located(op, asker, error) from error


def _scheduled(nest: Nest, schedule: Schedule, constants: FunctionConstants) -> ScheduledNest:
    _check_groups(nest, schedule.collapsed)
    nest = collapse_groups(nest, schedule.collapsed)
    body = Body(nest)
    if schedule.paired is None:
        if schedule.odd is not None:
            raise ScheduleError("(SR10) an entry 'odd' without one for 'pairs'")
        parts = [(nest, schedule)]
    else:
        parts = _paired_parts(nest, body, schedule, schedule.paired)
    for part, own in parts:
        check_steps(part, Body(part) if part is not nest else body, own)
    fills = foldable_fills(nest, body, schedule.steps) if schedule.folded_fills else {}
    for output in schedule.folded_fills:
        if output not in fills:
            raise ScheduleError(f"(SR11) output {output} cannot start from a fill before")
    chosen = {output: fills[output] for output in schedule.folded_fills}
    first, own = parts[0]
    parts[0] = fold_fills(first, chosen, constants), own
    return ScheduledNest(nest.op, parts, tuple(chosen.values()))


def _check_groups(nest: Nest, groups: Sequence[Sequence[int]]) -> None:
    named = [d for group in groups for d in group]
    indexed = indexed_dimensions(nest)
    for number, dimension in enumerate(named):
        if dimension >= len(nest.extents):
            raise ScheduleError(f"(SR1) d{dimension} is no dimension of {len(nest.extents)}")
        if dimension in named[:number]:
            raise ScheduleError(f"(SR1) d{dimension} is collapsed twice")
        if dimension in indexed:
            raise ScheduleError(f"(SR12) the operation asks for the index of d{dimension}")
    if not all(groups):
        raise ScheduleError("(SR1) an empty group of dimensions")


def _paired_parts(
    nest: Nest, body: Body, schedule: Schedule, dimension: int
) -> list[tuple[Nest, Schedule]]:
    contraction = contraction_of(nest, body)
    if contraction is None or dimension not in contraction.summed:
        raise ScheduleError(f"(SR10) d{dimension} is not summed by a contraction")
    packed = next((pack.factor for pack in schedule.packs), None)
    if packed is None and schedule.at_once != TERMS_AT_ONCE["pairs"]:
        raise ScheduleError("(SR10) four terms at a time without a copy of a factor")
    terms = schedule.at_once, packed or Factor.RHS
    paired = paired_terms(nest, body, contraction, dimension, *terms)
    if paired is None:
        raise ScheduleError("(SR10) wide factors, a sum of other than 32 bits, or few terms")
    if schedule.lanes > LANES[-1] and Body(paired.pairs).has(DotProductOp):
        raise ScheduleError(f"(SR10) sums of {LANES[-1]} lanes at most, not {schedule.lanes}")
    if (paired.rest is None) != (schedule.odd is None):
        raise ScheduleError(f"(SR10) d{dimension} has {nest.extents[dimension]} terms")
    parts = [(paired.pairs, schedule)]
    if paired.rest is not None and schedule.odd is not None:
        parts.append((paired.rest, schedule.odd))
    return parts


def check_steps(nest: Nest, body: Body, schedule: Schedule) -> None:
    """Raises ScheduleError unless a nest admits the loops, tiles and copies around its vectors."""
    steps, rank = schedule.steps, len(nest.extents)
    packs = [step for step in steps if isinstance(step, Pack)]
    copied = [loop.dimension for pack in packs for loop in pack.copy.loops]
    orders = [schedule, *(pack.copy for pack in packs)]
    entries = [each for order in orders for each in (order.vector, order.transposed)]
    for order in orders:
        check_lanes(order)
    loops = list(schedule.loops)
    named = {loop.dimension for loop in loops}
    for dimension in (*named, *copied, *(each for each in entries if each is not None)):
        if dimension >= rank:
            raise ScheduleError(f"(SR1) d{dimension} is no dimension of {rank}")
        if any(dimension in group[:-1] for group in schedule.collapsed):
            raise ScheduleError(f"(SR1) d{dimension} is collapsed into another dimension")
    missing = [f"d{d}" for d in nest.loop_dimensions if d not in named]
    if missing:
        raise ScheduleError(f"(SR1) no loop over {', '.join(missing)}")
    for entry, name in ((schedule.vector, "vectors"), (schedule.transposed, "transposed blocks")):
        if entry is not None and entry not in named:
            raise ScheduleError(f"(SR1) {name} along d{entry}, which has no loop")
    _check_tiles(nest, schedule)
    _check_threads(nest, body, loops)
    _check_terms(nest, body, loops)
    if packs:
        _check_packs(nest, body, schedule, packs)


def _check_tiles(nest: Nest, schedule: Schedule) -> None:
    """(SR2), (SR3), (SR12)"""
    indexed = indexed_dimensions(nest)
    around = outer_steps(schedule.steps)
    room = list(nest.extents)
    last = {loop.dimension: loop for loop in schedule.loops}
    seen: set[int] = set()
    for number, step in enumerate(schedule.steps):
        if isinstance(step, Pack):
            continue
        dimension, tile = step.dimension, step.tile
        filling = schedule.lanes - 1 if dimension == schedule.vector else 0
        is_done = dimension in seen and room[dimension] == 1
        if is_done or not 1 <= tile <= room[dimension] + filling:
            raise ScheduleError(f"(SR2) d{dimension} by {tile}, of {room[dimension]} iterations")
        if dimension in seen and dimension in indexed:
            raise ScheduleError(f"(SR12) the operation asks for the index of d{dimension}")
        seen.add(dimension)
        if number < around and step is last[dimension] and tile != 1:
            raise ScheduleError(f"(SR3) d{dimension} by {tile} is outside of other tiles or copies")
        room[dimension] = tile


def _check_threads(nest: Nest, body: Body, loops: Sequence[Loop]) -> None:
    """(SR6)"""
    parallel = [loop.dimension for loop in loops if loop.is_parallel]
    if len(parallel) > 1:
        raise ScheduleError(f"(SR6) {len(parallel)} parallel loops")
    for dimension in parallel:
        if not is_independent(nest, body, dimension):
            raise ScheduleError(f"(SR6) iterations of d{dimension} depend on each other")


def _check_terms(nest: Nest, body: Body, loops: Sequence[Loop]) -> None:
    """(SR7)"""
    reducing = [loop for loop in loops if nest.is_reduction[loop.dimension]]
    dimensions = [loop.dimension for loop in reducing]
    in_order = dimensions == sorted(set(dimensions))
    if in_order and all(loop.tile == 1 for loop in reducing[:-1]):
        return
    for output in range(len(nest.outputs)):
        if body.accumulators[output] in body.folded and body.combiner(output) is None:
            raise ScheduleError(f"(SR7) output {output} would take its terms in another order")


def _check_packs(nest: Nest, body: Body, schedule: Schedule, packs: Sequence[Pack]) -> None:
    """(SR9)"""
    vector, (pack, *others) = schedule.vector, packs
    if others:
        raise ScheduleError(f"(SR9) {len(packs)} copies")
    roles = roles_of(nest, body, pack.factor)
    if roles is None:
        raise ScheduleError("(SR9) a copy of a factor, of what is no contraction")
    if vector is None or vector not in roles.columns:
        raise ScheduleError(f"(SR9) vectors along no dimension of {pack.factor} alone")
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
    if indexed_dimensions(nest):
        raise ScheduleError("(SR12) a copy of what depends on an index")
    _check_copy(
        body.mask[roles.right], pack.copy, vector, [s for s in inside if isinstance(s, Loop)]
    )
    if any(isinstance(op, scf.ParallelOp) for op in ancestors(nest.op)):
        raise ScheduleError("(SR9) a copy inside of a parallel loop")


def _check_copy(reached: int, copy: LoopOrder, vector: int, inside: Sequence[Loop]) -> None:
    """(SR1), (SR2), (SR6), of a copy of what depends on some dimensions, before some loops."""
    copied = [loop.dimension for loop in copy.loops]
    needed = {loop.dimension for loop in inside if reached >> loop.dimension & 1}
    missing = [f"d{d}" for d in sorted(needed.difference(copied))]
    if missing:
        raise ScheduleError(f"(SR1) no loop of the copy over {', '.join(missing)}")
    for loop in copy.loops:
        dimension = loop.dimension
        if copied.count(dimension) > 1 + (dimension == vector):
            raise ScheduleError(f"(SR2) tiles of d{dimension} in a copy")
        if loop.tile < 1:
            raise ScheduleError(f"(SR2) d{dimension} by {loop.tile}")
        if loop.is_parallel:
            raise ScheduleError("(SR6) a parallel loop of a copy")
    for entry in (copy.vector, copy.transposed):
        if entry is not None and entry not in copied:
            raise ScheduleError(f"(SR1) vectors of a copy along d{entry}, which has no loop")


def require_independence(loop: Operation, asker: str) -> None:
    """Raises PassFailedException unless a loop's iterations are promised to be independent."""
    if promised_microseconds(loop) is None:
        rule = ScheduleError("(SR6) iterations of a parallel loop may depend on each other")
        raise located(loop, asker, rule)


def reason_against(op: Operation, schedule: Schedule) -> str | None:
    """
    Why an operation does not admit a schedule; None if it does.

    Whether outputs can start from a fill is not asked: that depends on what stands before the
    operation. It takes as long as to convert the operation.
    """
    schedule = replace(schedule, folded_fills=())
    block = Block()
    values: dict[SSAValue, SSAValue] = {}
    for value in free_values(op):
        if isinstance(value.owner, arith.ConstantOp):
            constant = value.owner.clone()
            block.add_op(constant)
            values[value] = constant.result
        else:
            values[value] = block.insert_arg(value.type, len(block.args))
    copy = op.clone(values)
    block.add_op(copy)
    set_schedule(copy, schedule)
    builder = LoopBuilder(FunctionConstants(block))
    try:
        scheduled_nest(copy, "", builder.constants).emit(builder, "")
    except PassFailedException as error:
        return str(error).rpartition("schedule: ")[2]
    return None
