"""
Writes a nest as its schedule says: outer tiles and copies here, the loops inside by `NestEmitter`.

What a tile leaves over at the end of its dimension is code of its own, after that of whole tiles.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.dialects.schedule import (
    Loop,
    LoopOrder,
    Pack,
    Schedule,
    ScheduleError,
    Step,
    outer_steps,
)
from lowerings.loops.body import Body
from lowerings.loops.builder import Index, LoopBuilder
from lowerings.loops.contraction import roles_of
from lowerings.loops.emission import NestEmitter, fill_with_zeros
from lowerings.loops.nest import Nest, divided, make_access
from lowerings.loops.panels import Panels, order_in
from lowerings.loops.sums_in_memory import FIRST_SCRATCH, rounding_memory

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
