"""
The loops of a nest as a schedule says them, as data: loops around others, copies of factors into
memory of their own, and inside of them all the loops whose tiles are unrolled.

To make them finds out whether a nest admits its schedule, and writes nothing; `emission.emit`
writes them, and decides nothing. What a tile leaves over at the end of its dimension is a part of
its own, after that of whole tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.dialects.schedule import (
    Loop,
    Pack,
    Schedule,
    ScheduleError,
    Step,
    outer_steps,
)
from lowerings.ir.scalar_attributes import scalar_attribute
from lowerings.loops.body import Body, LaneAnalysis
from lowerings.loops.contraction import Contraction, roles_of
from lowerings.loops.long_sums import FIRST_SCRATCH, rounding_memory
from lowerings.loops.nest import Nest, divided, elementwise_nest, make_access
from lowerings.loops.order_rules import check_order
from lowerings.loops.panels import Panels, order_in
from xla_dialect.xdsl.creation import create

MOST_PANEL_BYTES = 1 << 20
"""What a copy may take of the stack."""


@dataclass(frozen=True)
class Scratch:
    """Memory that the parts after it use, and no others at the same time but of another number."""

    memory: SSAValue
    """What stands for it in the accesses of nests."""
    number: int = 0

    @staticmethod
    def of(type_: MemRefType[Attribute], number: int = 0) -> Scratch:
        """Memory of a type, which nothing uses yet."""
        return Scratch(Block(arg_types=[type_]).args[0], number)


@dataclass(frozen=True)
class InnerLoops:
    """The loops of a nest inside of all others: their tiles are unrolled."""

    nest: Nest
    body: Body
    order: Schedule
    lane_analysis: LaneAnalysis | None

    @staticmethod
    def of(nest: Nest, order: Schedule) -> InnerLoops:
        """Those of an order that the nest needs. Raises ScheduleError unless it admits them."""
        order, body = order_in(nest, order), Body(nest)
        lane_analysis = None if order.vector is None else LaneAnalysis(body, order.vector)
        check_order(nest, body, order, lane_analysis)
        return InnerLoops(nest, body, order, lane_analysis)


@dataclass(frozen=True)
class OuterLoop:
    """A loop around others, from 0 in steps of 1."""

    dimension: int
    iterations: int
    is_parallel: bool
    parts: tuple[LoopPart, ...]


LoopPart: TypeAlias = "Scratch | InnerLoops | OuterLoop"
"""What follows each other in a loop, or in a function."""


def zeros(op: Operation, memory: SSAValue, lanes: int) -> InnerLoops:
    """What writes zeros to memory, with at most so many lanes, for what an operation becomes."""
    element = cast("MemRefType[Attribute]", memory.type).element_type
    value: Mapping[str, Attribute] = {"value": scalar_attribute(0.0, element)}
    zero = create(arith.ConstantOp, result_types=[element], properties=value)
    nest = elementwise_nest(op, zero.result, memory)
    last = len(nest.extents) - 1
    loops = [Loop(d) for d in nest.loop_dimensions if d != last]
    lanes = min(lanes, nest.extents[last])
    if nest.extents[last] > 1:
        loops.append(Loop(last, lanes))
    return InnerLoops.of(nest, Schedule(tuple(loops), last if lanes > 1 else None, lanes))


def loops_of(nest: Nest, schedule: Schedule) -> Sequence[LoopPart]:
    """
    The loops of a nest by a schedule whose steps fit it.

    Raises ScheduleError where its lanes, unrolled tiles, or copies do not.
    """
    inner = dict(enumerate(range(len(nest.extents))))
    return list(_TiledNest(nest, nest, schedule, inner).parts(schedule.steps))


def panel_dimension(schedule: Schedule, pack: Pack, roles: Contraction) -> int | None:
    """
    The dimension along which panels of a copy lie: that of vectors; without vectors, the last
    column that the copy runs over and a loop inside of it. None if there is none.
    """
    inside = schedule.steps[schedule.steps.index(pack) + 1 :]
    read = {step.dimension for step in inside if isinstance(step, Loop)}
    columns = [loop.dimension for loop in pack.copy.loops if loop.dimension in roles.columns]
    if schedule.vector is not None:
        columns = [d for d in roles.columns if d == schedule.vector]
    return next((dimension for dimension in reversed(columns) if dimension in read), None)


@dataclass(frozen=True)
class _TiledNest:
    """The part of a nest inside of some loops."""

    whole: Nest
    nest: Nest
    schedule: Schedule
    inner: Mapping[int, int]
    """For each dimension of the schedule the one that counts inside the tiles around."""

    def parts(self, steps: Sequence[Step]) -> Iterable[LoopPart]:
        """What some last steps of the schedule make of it."""
        if not outer_steps(steps):
            yield InnerLoops.of(self.nest, self._order(steps))
            return
        step, *rest = steps
        if isinstance(step, Pack):
            yield from self._packed(step, rest)
            return
        rounding, whole = self._with_rounding(step)
        yield from rounding
        if all(other.dimension != step.dimension for other in rest if isinstance(other, Loop)):
            yield from whole._in_loop(whole.inner[step.dimension], step, rest)
            return
        for part, counter in whole._divided(step.dimension, step.tile):
            yield from part.parts(rest) if counter is None else part._in_loop(counter, step, rest)

    def _order(self, steps: Sequence[Step]) -> Schedule:
        schedule, inner = self.schedule, self.inner
        loops = (step for step in steps if isinstance(step, Loop))
        return Schedule(
            tuple(replace(loop, dimension=inner[loop.dimension]) for loop in loops),
            _at(schedule.vector, inner),
            schedule.lanes,
            _at(schedule.transposed, inner),
        )

    def _with_rounding(self, step: Loop) -> tuple[Sequence[LoopPart], _TiledNest]:
        """
        With memory for how much too large the sums are that many iterations of a loop add to, if
        that is the first one over their terms; and what makes that memory.
        """
        nest, dimension = self.nest, self.inner[step.dimension]
        if not nest.is_reduction[dimension] or any(nest.is_reduction[d] for d in nest.enclosing):
            return (), self
        combiner = Body(nest).combiner(0)
        if combiner is None or not isinstance(combiner[0], arith.AddfOp):
            return (), self
        vector = _at(self.schedule.vector, self.inner)
        kept = [d for d in nest.loop_dimensions if not nest.is_reduction[d]]
        kept.sort(key=lambda d: d == vector)
        type_ = rounding_memory(nest, 0, kept, ceil(nest.extents[dimension] / step.tile))
        if type_ is None:
            return (), self
        scratch = Scratch.of(type_, FIRST_SCRATCH + len(nest.outputs))
        indices = [AffineExpr.dimension(d) for d in kept]
        access = make_access(scratch.memory, indices, nest.extents)
        made = scratch, zeros(nest.op, scratch.memory, self.schedule.lanes)
        return made, replace(self, nest=replace(nest, rounding=access))

    def _divided(self, dimension: int, size: int) -> Iterable[tuple[_TiledNest, int | None]]:
        """The parts of a dimension in pieces of one size, each with what counts the pieces."""
        for nest, inner, counter in divided(self.nest, self.inner[dimension], size):
            yield replace(self, nest=nest, inner={**self.inner, dimension: inner}), counter

    def _in_loop(self, dimension: int, step: Loop, steps: Sequence[Step]) -> Iterable[LoopPart]:
        """The loop over a dimension, with some steps inside."""
        nest, iterations = self.nest, self.nest.extents[dimension]
        if iterations == 1:
            yield from self.parts(steps)
            return
        inside = replace(self, nest=replace(nest, enclosing=nest.enclosing | {dimension}))
        yield OuterLoop(dimension, iterations, step.is_parallel, tuple(inside.parts(steps)))

    def _packed(self, pack: Pack, steps: Sequence[Step]) -> Iterable[LoopPart]:
        """The copy of a factor, and the contraction that reads it."""
        loops = [step for step in steps if isinstance(step, Loop)]
        roles = roles_of(self.whole, Body(self.whole), pack.factor)
        assert roles is not None
        vector = panel_dimension(self.schedule, pack, roles)
        assert vector is not None
        width = next(loop.tile for loop in loops if loop.dimension == vector)
        terms = tuple(self.inner[d] for d in roles.summed)
        whole = self.inner[vector]
        for part, counter in self._divided(vector, width):
            inner = part.inner
            panels = Panels(part.nest, roles.right, inner[vector], counter, terms)
            if panels.bytes > MOST_PANEL_BYTES:
                raise ScheduleError(
                    f"(SR9) a copy of {panels.bytes} bytes; at most {MOST_PANEL_BYTES}"
                )
            scratch = Scratch.of(panels.memory)
            copy = [replace(loop, dimension=self.inner[loop.dimension]) for loop in pack.copy.loops]
            copying = Schedule(
                tuple(panels.loops_of(copy, whole)),
                _at(pack.copy.vector, inner),
                pack.copy.lanes,
                _at(pack.copy.transposed, inner),
            )
            yield scratch
            yield InnerLoops.of(panels.copying_nest(scratch.memory), copying)
            excess = None
            if panels.flipped is not None:
                excess = Scratch.of(panels.excess_memory, 1)
                yield excess
                yield part._excess(panels, scratch, excess)
            order = self._order(loops)
            moved = tuple(panels.loops_of(order.loops, whole))
            reading = replace(order, steps=moved, vector=_at(self.schedule.vector, inner))
            taken_off = None if excess is None else excess.memory
            yield InnerLoops.of(panels.reading_nest(scratch.memory, taken_off), reading)

    def _excess(self, panels: Panels, memory: Scratch, excess: Scratch) -> InnerLoops:
        """What computes the excess of sums whose factors have flipped sign bits."""
        nest = panels.excess_nest(memory.memory, excess.memory)
        column = panels.column
        lanes = min(self.schedule.lanes, nest.extents[column])
        others = [d for d in nest.loop_dimensions if not nest.is_reduction[d] and d != column]
        loops = [*map(Loop, others), Loop(column, lanes), *map(Loop, panels.terms)]
        return InnerLoops.of(nest, Schedule(tuple(loops), column, lanes))


def _at(dimension: int | None, inner: Mapping[int, int]) -> int | None:
    return None if dimension is None else inner[dimension]
