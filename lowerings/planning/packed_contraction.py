"""
Contractions whose columns are first copied into panels.

This pays where the columns do not have unit stride to begin with, or where their rows, far apart
in memory, do not stay in the caches. A few panels, side by side in the operand, are packed at a
time; then all rows pass by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Block

from lowerings.loops.body import Body
from lowerings.loops.contraction import Contraction
from lowerings.loops.memory import LaneStride, lane_stride
from lowerings.loops.nest import Nest, divided
from lowerings.loops.panels import Panels, order_in
from lowerings.loops.word import WordOp
from lowerings.planning.lanes import block_side, output_stride, plan_order
from lowerings.planning.register_tiles import Tile
from lowerings.planning.threads import in_parallel, microseconds, shared_loop
from lowerings.schedules.schedule import Factor, Loop, LoopOrder, Pack, Schedule, Step


@dataclass(frozen=True)
class PackedContraction:
    """A contraction that copies the operand of its columns into panels."""

    nest: Nest
    roles: Contraction
    factor: Factor
    """What is copied: the right factor of `roles`."""
    vector: int
    """The column dimension that runs in lanes."""
    row: int
    """The row dimension that is tiled."""
    tile: Tile
    lanes: int
    panels: int
    """How many panels are packed at a time."""
    term_blocks: tuple[int, ...]
    """How much of each summed dimension a panel holds at a time."""
    vector_bits: int
    rows_are_large: bool
    """Whether the operand of the rows leaves the second-level cache from panel to panel."""

    @property
    def width(self) -> int:
        """The columns of one panel."""
        return self.tile.vectors * self.lanes

    def schedule(self, least: float) -> Schedule:
        """The schedule; loops with `least` microseconds of work or more are parallel."""
        nest, vector = self.nest, self.vector
        outer = [*self.roles.batch, *(d for d in self.roles.columns if d != vector)]
        outer.sort(key=lambda d: output_stride(nest, d), reverse=True)
        shared = self._shared_dimension(outer, least)
        around = [Loop(d, is_parallel=d == shared) for d in outer]
        if nest.extents[vector] > self.width * self.panels:
            around.append(Loop(vector, self.width * self.panels, shared == vector))
        for dimension, size in zip(self.roles.summed, self.term_blocks, strict=True):
            if size != nest.extents[dimension]:
                around.append(Loop(dimension, size))
        part = _InnermostPart.of(nest, around, self)
        steps: list[Step] = [*around, Pack(self.factor, self._copy(part))]
        inside = self._loops_inside()
        if shared is None:
            inside = self._in_parallel(part, inside, least)
        return Schedule((*steps, *inside), vector, self.lanes)

    def _shared_dimension(self, outer: Sequence[int], least: float) -> int | None:
        """
        The dimension whose loop is parallel, around the packing: one of `outer`, or the columns.

        None where none of them has enough iterations; loops over the rows that pass by may.
        """
        extents = self.nest.extents
        loops = [(d, extents[d]) for d in outer if extents[d] > 1]
        loops.append((self.vector, extents[self.vector] // (self.width * self.panels)))
        body = Body(self.nest)
        work = microseconds(self.nest, body, self.lanes)
        return shared_loop(self.nest, body, loops, work, least)

    def _copy(self, part: _InnermostPart) -> LoopOrder:
        """Along the rows of the operand if they have unit stride; else as for any copy."""
        panels = part.panels
        nest = panels.copying_nest(Block(arg_types=[panels.memory]).args[0])
        body = Body(nest)
        inputs = body.inputs.values()
        if any(lane_stride(access, panels.column) is not LaneStride.UNIT for access in inputs):
            order = plan_order(nest, body, self.vector_bits)
            if panels.counter is None or order.vector != panels.counter:
                return self._in_even_blocks(part.in_schedule(order, self.width))
        loops = [*map(Loop, self._terms), Loop(self.vector, self.width)]
        if body.has(WordOp) and self.width > self.lanes:
            # Putting words together is much code for each vector.
            loops.append(Loop(self.vector, self.lanes))
        return LoopOrder(tuple(loops), self.vector, self.lanes)

    def _loops_inside(self) -> list[Loop]:
        others = [d for d in self.roles.rows if d != self.row]
        others.sort(key=lambda d: output_stride(self.nest, d), reverse=True)
        row, panels = Loop(self.row, self.tile.rows), Loop(self.vector, self.width)
        # If the rows do not stay in the L2 cache from panel to panel, they are the outer loop.
        order = [row, panels] if self.rows_are_large else [panels, row]
        return [*(Loop(d) for d in others), *order, *map(Loop, self._terms)]

    @property
    def _terms(self) -> list[int]:
        """The summed dimensions of which a panel holds several terms."""
        sizes = zip(self.roles.summed, self.term_blocks, strict=True)
        return [d for d, size in sizes if size != 1]

    def _in_even_blocks(self, order: LoopOrder) -> LoopOrder:
        """A copy in blocks that leave no edges at the end of the operand either, if there are."""
        vector, transposed = order.vector, order.transposed
        if vector is None or transposed is None:
            return order
        extents = self.nest.extents
        side = block_side(order.lanes, extents[vector], extents[transposed])
        innermost = {loop.dimension: loop for loop in order.loops}
        blocks = [innermost[dimension] for dimension in (vector, transposed)]
        loops = (
            replace(loop, tile=side) if any(loop is block for block in blocks) else loop
            for loop in order.loops
        )
        return replace(order, loops=tuple(loops), lanes=side)

    def _in_parallel(self, part: _InnermostPart, loops: list[Loop], least: float) -> list[Loop]:
        """The loops inside of the copy, one of them parallel if that pays."""
        panels = part.panels
        nest = panels.reading_nest(Block(arg_types=[panels.memory]).args[0])
        own = [replace(loop, dimension=part.inner[loop.dimension]) for loop in loops]
        moved = panels.loops_of(own, part.inner[self.vector])
        order = order_in(nest, LoopOrder(tuple(moved), panels.column, self.lanes))
        shared = {
            part.outside(loop.dimension)
            for loop in in_parallel(nest, Body(nest), order.loops, order.lanes, least)
            if loop.is_parallel
        }
        return [replace(loop, is_parallel=loop.dimension in shared) for loop in loops]


@dataclass(frozen=True)
class _InnermostPart:
    """The first of the parts that the tiles of a contraction leave: whole tiles, if there are."""

    panels: Panels
    inner: dict[int, int]
    """For each dimension of the contraction the one that counts in the tiles around the panels."""

    @staticmethod
    def of(nest: Nest, around: Sequence[Loop], plan: PackedContraction) -> _InnermostPart:
        inner = dict(enumerate(range(len(nest.extents))))
        for loop in around:
            counter: int | None = loop.dimension
            if loop.tile != 1:
                parts = divided(nest, loop.dimension, loop.tile)
                nest, inner[loop.dimension], counter = next(iter(parts))
            if counter is not None:
                nest = replace(nest, enclosing=nest.enclosing | {counter})
        own = inner[plan.vector]
        nest, column, counter = next(iter(divided(nest, own, plan.width)))
        terms = tuple(inner[d] for d in plan.roles.summed)
        return _InnermostPart(Panels(nest, plan.roles.right, column, counter, terms), inner)

    def outside(self, dimension: int) -> int:
        """The dimension of the contraction that one of the part comes from."""
        counter = self.panels.counter
        if dimension == self.panels.column and counter is not None:
            dimension = counter
        return next(outer for outer, own in self.inner.items() if own == dimension)

    def in_schedule(self, order: LoopOrder, width: int) -> LoopOrder:
        """Loops of a copy over dimensions of the contraction."""
        panels = self.panels
        loops: list[Loop] = []
        for number, loop in enumerate(order.loops):
            before = order.loops[number - 1].dimension if number else None
            if loop.dimension == panels.counter:
                loops.append(Loop(self.outside(loop.dimension), width))
            elif not (
                loop.dimension == panels.column
                and panels.counter is not None
                and before == panels.counter
                and loop.tile == width
            ):
                loops.append(replace(loop, dimension=self.outside(loop.dimension)))
        vector, transposed = (
            None if each is None else self.outside(each)
            for each in (order.vector, order.transposed)
        )
        return LoopOrder(tuple(loops), vector, order.lanes, transposed)
