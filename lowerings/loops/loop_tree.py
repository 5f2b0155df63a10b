"""
The loops of a nest as a schedule says them, as data: loops around others, copies of factors into
memory of their own, and inside of them all the loops whose tiles are unrolled.

To make them finds out whether a nest admits its schedule, and writes nothing. They say as well
which value of a body is written at which loop, and which ones in lanes. `emission.emit` writes
them, and decides nothing. What a tile leaves over at the end of its dimension is a part of its own,
after that of whole tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, prod
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
from lowerings.loops.access import Access, make_access
from lowerings.loops.constants import element_bits
from lowerings.loops.contraction import Contraction, roles_of
from lowerings.loops.lane_analysis import LaneAnalysis, Lanewise
from lowerings.loops.long_sums import (
    IN_ORDER,
    IN_TURN,
    MOST_BYTES,
    PRODUCTS_IN_ORDER,
    SumBlocks,
    block_of,
)
from lowerings.loops.memory import interleaved, is_read_turned
from lowerings.loops.nest import Nest, divided, elementwise_nest
from lowerings.loops.order_rules import check_order
from lowerings.loops.panels import Panels, order_in
from xla_dialect.xdsl.creation import create

FIRST_SCRATCH = 2
"""The number of the scratch memory of the first output."""

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
class SumInMemory:
    """How a sum is added up whose elements are in memory, because loops over them are inside."""

    level: int
    """In front of which of the loops it begins."""
    parts: tuple[Scratch, InnerLoops]
    """Memory for how much too large the elements are, and what fills it with zeros."""
    rounding: Access
    """To that memory."""

    @staticmethod
    def of(
        nest: Nest,
        output: int,
        level: int,
        dimensions: Iterable[int],
        turns: int,
        order: Schedule,
        number: int,
    ) -> SumInMemory | None:
        """
        For a sum over some dimensions that is added to so many times; None where it is added to
        without compensation. `number` tells apart the memory of several in a nest.
        """
        places = sorted(dimensions, key=lambda d: d == order.vector)
        element = nest.outputs[output].type.element_type
        size = nest.points(places) * (element_bits(element) or 0) // 8
        if block_of(turns, 1, IN_TURN) is None or size > MOST_BYTES:
            return None
        scratch = Scratch.of(
            MemRefType(element, [nest.extents[d] for d in places]), FIRST_SCRATCH + number
        )
        indices = [AffineExpr.dimension(d) for d in places]
        access = make_access(scratch.memory, indices, nest.extents)
        filled = zeros(nest.op, scratch.memory, order.lanes)
        return SumInMemory(level, (scratch, filled), access)


SHORT = -1
"""The slot of the vector that is shorter than the others, at the end of the dimension."""


@dataclass(frozen=True)
class InnerLoops:
    """
    The loops of a nest inside of all others: their tiles are unrolled.

    A level is the number of loops around, of these. A slot is the number of a vector of partial
    results in the tile of the vector dimension.
    """

    nest: Nest
    order: Schedule
    lane_analysis: LaneAnalysis | None

    @staticmethod
    def of(nest: Nest, order: Schedule) -> InnerLoops:
        """Those of an order that the nest needs. Raises ScheduleError unless it admits them."""
        order = order_in(nest, order)
        lane_analysis = None if order.vector is None else LaneAnalysis(nest, order.vector)
        check_order(nest, order, lane_analysis)
        return InnerLoops(nest, order, lane_analysis)

    def level(self, mask: int) -> int:
        """The first level where all dimensions in `mask` are bound."""
        loops = enumerate(self.order.loops, 1)
        return max((level for level, loop in loops if mask >> loop.dimension & 1), default=0)

    @cached_property
    def output_masks(self) -> Sequence[int]:
        """For each output the dimensions of its elements."""
        return [self.nest.mask[argument] for argument in self.nest.accumulators]

    @cached_property
    def output_levels(self) -> Sequence[int]:
        """For each output the level that has one of its elements."""
        return [self.level(mask) for mask in self.output_masks]

    @cached_property
    def terms(self) -> Sequence[SSAValue]:
        """For each output what a point folds into it, or what it stores there."""
        pairs = zip(self.nest.combiners, self.nest.yields, strict=True)
        return [result if combiner is None else combiner[1] for combiner, result in pairs]

    @cached_property
    def tiled(self) -> Sequence[int]:
        """
        The dimensions that are unrolled. The vectors of one row follow each other, so that what is
        broadcast along it is used up at once and does not occupy registers.
        """
        vector = () if self.order.vector is None else (self.order.vector,)
        tiled = (loop.dimension for loop in self.order.loops if loop.tile > 1)
        return (*(dimension for dimension in tiled if dimension not in vector), *vector)

    @cached_property
    def turned(self) -> Sequence[Access]:
        """What is read in blocks that are transposed in registers."""
        along = self.order.vector, self.order.transposed
        read = dict.fromkeys(self.nest.read.values())
        return [access for access in read if is_read_turned(access, *along)]

    @cached_property
    def together(self) -> Sequence[Sequence[Access]]:
        """What vectors read together, because its elements alternate."""
        read = dict.fromkeys(self.nest.read.values())
        return interleaved((a for a in read if a not in self.turned), self.order.vector)

    @cached_property
    def used_in_lanes(self) -> Mapping[SSAValue, None]:
        """The values that vectors are made of, or that are stored in lanes, in their order."""
        lanes = self.lane_analysis
        if lanes is None:
            return {}
        used: list[SSAValue] = []
        for output, term in enumerate(self.terms):
            used += self.nest.products[output].operands if output in self.nest.products else [term]
        for op in self.nest.ops:
            if any(lanes.of(result) is Lanewise.VARYING for result in op.results):
                used += lanes.operands_in_lanes(op)
        return dict.fromkeys(used)

    @cached_property
    def values(self) -> Sequence[Sequence[SSAValue]]:
        """
        For each level the values that are written there, the first one that has all they depend on;
        then those that depend on what outputs hold.
        """
        nest, mask = self.nest, self.nest.mask
        fused = {
            *self.nest.products.values(),
            *(each[0] for each in self.nest.combiners if each is not None),
        }
        read = (each for each in nest.read if each.first_use is not None)
        made = (result for op in nest.ops if op not in fused for result in op.results)
        # What comes from outside the body is the same at every point.
        values = [[value for value in self.used_in_lanes if value not in mask]]
        values += [[] for _ in range(len(self.order.loops) + 1)]
        for value in (*read, *made):
            values[-1 if value in nest.folded else self.level(mask[value])].append(value)
        return values

    def is_vector(self, output: int) -> bool:
        """Whether vectors of an output's elements are stored."""
        vector = self.order.vector
        return vector is not None and bool(self.output_masks[output] >> vector & 1)

    def is_folded_in_lanes(self, output: int) -> bool:
        """Whether an output is reduced over the vector dimension."""
        return self.order.vector is not None and not self.is_vector(output)

    def is_added_behind(self, output: int) -> bool:
        """
        Whether running values of an output hold what these loops fold, to which what is in memory
        comes when they are done: where lanes are folded, where loops around add to a sum, where a
        sum is added to with compensation, and where a tile is folded in pairs before.
        """
        if self.output_levels[output] < len(self.order.loops):
            around = any(self.nest.is_reduction[d] for d in self.nest.enclosing)
            is_added = output in self.nest.sums and around
        else:
            is_added = self.nest.combiners[output] is not None and output not in self.nest.products
        return is_added or self.is_folded_in_lanes(output) or output in self.in_memory

    def slots(self, output: int) -> list[int]:
        """The slots of an output's running values."""
        vector, lanes = self.order.vector, self.order.lanes
        if vector is None or not self.is_folded_in_lanes(output):
            return [0]
        extent = self.nest.extents[vector]
        tile = next(loop.tile for loop in self.order.loops if loop.dimension == vector)
        slots = list(range(min(tile, extent) // lanes))
        return [*slots, SHORT] if extent % lanes else slots

    @cached_property
    def blocks(self) -> SumBlocks | None:
        """The blocks in which long sums of floats are added up."""
        products = [output for output in self.nest.sums if output in self.nest.products]
        most = IN_ORDER
        if products:
            most = max(IN_ORDER, PRODUCTS_IN_ORDER // len(self.slots(products[0])))
        loops = self.order.loops
        first = min((self.output_levels[output] for output in self.nest.sums), default=len(loops))
        return SumBlocks.of(self.nest.extents, loops, first, most)

    def is_in_blocks(self, output: int) -> bool:
        """Whether an output is a sum that the loop over blocks adds up."""
        blocks = self.blocks
        return (
            output in self.nest.sums
            and blocks is not None
            and self.output_levels[output] <= blocks.level
        )

    @cached_property
    def in_memory(self) -> Mapping[int, SumInMemory]:
        """The sums of floats that are added to in memory, with compensation."""
        found = {output: self._in_memory(output) for output in self.nest.sums}
        return {output: own for output, own in found.items() if own is not None}

    def _in_memory(self, output: int) -> SumInMemory | None:
        mask, loops, extents = self.output_masks[output], self.order.loops, self.nest.extents
        around = enumerate(loops[: self.output_levels[output]])
        added = [level for level, loop in around if not mask >> loop.dimension & 1]
        level = added[0] if added else len(loops)
        own = [loop.dimension for loop in loops[level:] if mask >> loop.dimension & 1]
        # Elements of a tile of a loop around have no places of their own.
        if not own or any(loop.tile > 1 for loop in loops[:level]):
            return None
        turns = prod(ceil(extents[loops[n].dimension] / loops[n].tile) for n in added)
        return SumInMemory.of(self.nest, output, level, own, turns, self.order, output)


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
        loops = tuple(step for step in steps if isinstance(step, Loop))
        return replace(self.schedule, steps=loops).renamed(self.inner)

    def _with_rounding(self, step: Loop) -> tuple[Sequence[LoopPart], _TiledNest]:
        """
        With memory for how much too large the sums are that many iterations of a loop add to, if
        that is the first one over their terms; and what makes that memory.
        """
        nest, dimension = self.nest, self.inner[step.dimension]
        if not nest.is_reduction[dimension] or any(nest.is_reduction[d] for d in nest.enclosing):
            return (), self
        if 0 not in nest.sums:
            return (), self
        kept = [d for d in nest.loop_dimensions if not nest.is_reduction[d]]
        turns, order = ceil(nest.extents[dimension] / step.tile), self._order(())
        own = SumInMemory.of(nest, 0, 0, kept, turns, order, len(nest.outputs))
        if own is None:
            return (), self
        return own.parts, replace(self, nest=replace(nest, rounding=own.rounding))

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
        roles = roles_of(self.whole, pack.factor)
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
            copying = panels.order_of(pack.copy.renamed(self.inner), whole)
            yield scratch
            yield InnerLoops.of(panels.copying_nest(scratch.memory), copying)
            excess = None
            if panels.flipped is not None:
                excess = Scratch.of(panels.excess_memory, 1)
                yield excess
                yield part._excess(panels, scratch, excess)
            reading = panels.order_of(self._order(loops), whole)
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
