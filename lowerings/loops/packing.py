"""
Contractions whose columns are first copied into panels.

A panel has as many columns as a register tile is wide and holds them term by term: the vectors
that one step of the tile loads are neighbours, and those of the next step follow. This pays where
the columns do not have unit stride to begin with, or where their rows, far apart in memory, do
not stay in the caches. A few panels, side by side in the operand, are packed at a time; then all
rows pass by them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.loops.body import Body
from lowerings.loops.builder import Index, LoopBuilder
from lowerings.loops.contraction import Contraction
from lowerings.loops.emission import NestEmitter
from lowerings.loops.memory import LaneStride, lane_stride
from lowerings.loops.nest import Nest, blocks, make_access, restrict, split
from lowerings.loops.parallelism import in_parallel, microseconds, shared_loop
from lowerings.loops.planning import output_stride, plan_schedule
from lowerings.loops.schedule import Loop, Schedule
from lowerings.loops.slicing import slice_body
from lowerings.loops.tiling import Tile


@dataclass(frozen=True)
class PackedContraction:
    """A contraction that copies the operand of its columns into panels."""

    nest: Nest
    roles: Contraction
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
    parallel_microseconds: float = inf
    """The estimated work from which on loops are parallel."""

    @property
    def width(self) -> int:
        """The columns of one panel."""
        return self.tile.vectors * self.lanes

    @property
    def adds_blocks(self) -> bool:
        """Whether the output is read and written once for each of several blocks of terms."""
        extents = self.nest.extents
        return any(
            size != extents[d] for d, size in zip(self.roles.summed, self.term_blocks, strict=True)
        )

    def emit(self, builder: LoopBuilder) -> None:
        """Writes the loops over the panels, and in them the packing and the product."""
        outer = [*self.roles.batch, *(d for d in self.roles.columns if d != self.vector)]
        outer.sort(key=lambda d: output_stride(self.nest, d), reverse=True)
        start = PanelNest(self.nest, self.vector, self.vector, self.roles.summed)
        shared = self._shared_dimension(outer)
        with _loops_over(start, outer, builder, shared) as nest:
            for part, columns in nest.divided(self.vector, self.width * self.panels):
                over = [self.vector] if columns != self.vector else []
                with _loops_over(part, over, builder, shared) as group:
                    for panels, column in group.divided(columns, self.width):
                        self._emit_terms(replace(panels, panel=columns, column=column), 0, builder)

    def _shared_dimension(self, outer: Sequence[int]) -> int | None:
        """
        The dimension whose loop is parallel, around the packing: one of `outer`, or the columns.

        None where none of them has enough iterations; loops over the rows that pass by may.
        """
        extents = self.nest.extents
        loops = [(d, extents[d]) for d in outer if extents[d] > 1]
        loops.append((self.vector, extents[self.vector] // (self.width * self.panels)))
        body = Body(self.nest)
        work = microseconds(self.nest, body, self.lanes)
        return shared_loop(self.nest, body, loops, work, self.parallel_microseconds)

    def _emit_terms(self, panel: PanelNest, position: int, builder: LoopBuilder) -> None:
        """Divides the summed dimensions from `position` on into blocks."""
        if position == len(self.roles.summed):
            self._emit_panels(panel, builder)
            return
        dimension, size = self.roles.summed[position], self.term_blocks[position]
        if size == panel.nest.extents[dimension]:
            self._emit_terms(panel, position + 1, builder)
            return
        for part, inner in panel.divided(dimension, size):
            terms = tuple(inner if d == dimension else d for d in part.terms)
            over = [dimension] if inner != dimension else []
            with _loops_over(replace(part, terms=terms), over, builder) as block:
                self._emit_terms(block, position + 1, builder)

    def _emit_panels(self, panel: PanelNest, builder: LoopBuilder) -> None:
        nest, kept = panel.nest, [*panel.counted, *panel.terms, panel.column]
        scratch_type = MemRefType(self.roles.right.type, [nest.extents[d] for d in kept])
        scratch = builder.scratch(scratch_type)
        places = [AffineExpr.dimension(d) for d in kept]
        packing = self._packing(nest, scratch, places)
        body = Body(packing)
        schedule = self._packing_schedule(packing, body, panel)
        NestEmitter(packing, body, schedule, builder, panel.bound).emit()
        product = self._product(nest, scratch, places)
        body = Body(product)
        schedule = self._schedule(product, panel)
        if not builder.is_in_parallel:
            schedule = in_parallel(product, body, schedule, self.parallel_microseconds)
        NestEmitter(product, body, schedule, builder, panel.bound).emit()

    def _packing(self, nest: Nest, scratch: SSAValue, places: Sequence[AffineExpr]) -> Nest:
        """The nest that writes a panel."""
        right = self.roles.right
        part = slice_body(Body(nest), [right], outputs=[right.type])
        rows = set(self.roles.rows)
        extents = tuple(1 if d in rows else n for d, n in enumerate(nest.extents))
        return replace(
            nest,
            extents=extents,
            is_reduction=(False,) * len(extents),
            inputs=part.inputs,
            outputs=(make_access(scratch, places, extents),),
            body=part.block,
            initial=(None,),
        )

    def _packing_schedule(self, packing: Nest, body: Body, panel: PanelNest) -> Schedule:
        """Along the rows of the operand if they have unit stride; else as for any copy."""
        inputs = list(body.inputs.values())
        if any(lane_stride(access, panel.column) is not LaneStride.UNIT for access in inputs):
            return plan_schedule(packing, body, self.vector_bits)
        order = [Loop(d) for d in (*panel.terms, *panel.counted)]
        return self._in_lanes(packing, [*order, Loop(panel.column, self.width)], panel)

    def _in_lanes(self, nest: Nest, order: Sequence[Loop], panel: PanelNest) -> Schedule:
        """The loops that are needed, with the columns of a panel in lanes; one is a scalar."""
        loops = tuple(loop for loop in order if loop.dimension in nest.loop_dimensions)
        if panel.column in nest.loop_dimensions:
            return Schedule(loops, panel.column, self.lanes)
        return Schedule(loops)

    def _product(self, nest: Nest, scratch: SSAValue, places: Sequence[AffineExpr]) -> Nest:
        """The contraction with the panel in the place of the right factor."""
        body = Body(nest)
        part = slice_body(body, body.yields, [self.roles.right], body.accumulators)
        return replace(
            nest,
            inputs=(*part.inputs, make_access(scratch, places, nest.extents)),
            body=part.block,
        )

    def _schedule(self, product: Nest, panel: PanelNest) -> Schedule:
        others = [d for d in self.roles.rows if d != self.row]
        others.sort(key=lambda d: output_stride(product, d), reverse=True)
        rows = Loop(self.row, self.tile.rows)
        panels = [*(Loop(d) for d in panel.counted), Loop(panel.column, self.width)]
        # If the rows do not stay in the L2 cache from panel to panel, they are the outer loop.
        order = [rows, *panels] if self.rows_are_large else [*panels, rows]
        loops = [
            *(Loop(d) for d in others),
            *order,
            *(Loop(d) for d in panel.terms),
        ]
        return self._in_lanes(product, loops, panel)


@dataclass(frozen=True)
class PanelNest:
    """The part of a contraction that works on one panel, inside the loops emitted so far."""

    nest: Nest
    column: int
    """The dimension that counts the columns of a panel."""
    panel: int
    """The dimension that counts the panels, or `column` if there is one."""
    terms: tuple[int, ...]
    """The dimensions that count the terms that a panel holds."""
    bound: dict[int, Index] = field(default_factory=dict[int, Index])
    """Where the loops around are, by dimension."""

    @property
    def counted(self) -> list[int]:
        """The dimension that counts the panels, if there are several."""
        return [self.panel] if self.panel != self.column else []

    def divided(self, dimension: int, size: int) -> Iterable[tuple[PanelNest, int]]:
        """
        The parts of a dimension, each with the dimension inside its pieces.

        That is a new last one, or `dimension` itself for a part of one piece.
        """
        for block in blocks(self.nest.extents[dimension], size):
            nest = restrict(self.nest, dimension, block.start, block.count)
            if block.count == block.size:
                yield replace(self, nest=nest), dimension
            else:
                nest = split(nest, dimension, block.size)
                yield replace(self, nest=nest), len(nest.extents) - 1


@contextmanager
def _loops_over(
    panel: PanelNest,
    dimensions: Sequence[int],
    builder: LoopBuilder,
    shared: int | None = None,
) -> Generator[PanelNest]:
    """
    Writes a loop over each dimension around what is written in the context; that over `shared`
    is parallel.
    """
    constants = builder.constants
    zero, one = constants.index(0), constants.index(1)
    opened = [
        builder.open_loop(
            zero, constants.index(panel.nest.extents[d]), one, (), f"d{d}", is_parallel=d == shared
        )
        for d in dimensions
    ]
    bound = {d: Index(loop.induction_variable) for d, loop in zip(dimensions, opened, strict=True)}
    nest = replace(panel.nest, enclosing=panel.nest.enclosing | frozenset(dimensions))
    yield replace(panel, nest=nest, bound=panel.bound | bound)
    for loop in reversed(opened):
        builder.close_loop(loop)
