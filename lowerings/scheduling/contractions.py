"""
Chooses how a contraction runs.

Best is a register tile, rows and vectors of running values, whose vectors lie along a column
dimension with unit stride. Columns without it, or too many for the caches, are first copied into
panels: a few panels, side by side in the operand, are packed at a time, then all rows pass by them.
Long sums may even be written apart. Where that does not pay, because there are few rows, or
columns, the vectors lie along a summed dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import ceil, gcd, prod

from xdsl.ir import Block, SSAValue

from lowerings.dialects.schedule import Factor, Loop, Schedule, ScheduleError
from lowerings.dialects.words import DotProductOp, JoinOp, PairProductOp
from lowerings.loops.access import Access
from lowerings.loops.constants import element_bits
from lowerings.loops.contraction import (
    Contraction,
    contraction_of,
    paired_dimension,
    paired_terms,
    roles_of,
)
from lowerings.loops.lane_analysis import LaneAnalysis
from lowerings.loops.memory import LaneStride, lane_stride
from lowerings.loops.nest import Nest
from lowerings.loops.panels import Panels
from lowerings.scheduling.lanes import (
    along_reduced_rows,
    block_side,
    bytes_of,
    outermost_first,
    plan_order,
    walks_along_rows,
)

_MOST_ROWS = 8
"""Each row takes an address; more of them than this do not fit the general registers."""

CACHE_SETS, CACHE_WAYS, LINE_BYTES = 64, 12, 64
"""The geometry of an L1 data cache of 48 KB."""

NEAR_LOAD_CYCLES, FAR_LOAD_CYCLES = 0.5, 2.0
"""Of a vector from the first-level cache, and from the one behind it."""

_STREAMED_ELEMENT_CYCLES = 0.1
"""What one element of a row adds that has to come from beyond the second-level cache."""

_DISTINCT_TILE_PENALTY = 0.08
"""
What another size of tile at an edge must save: it is as much code as the main one, and takes about
10 ms to compile.
"""
_RUNNING_VALUE_PENALTY = 0.002
"""What each running value of a tile must save, by which its code grows."""


@dataclass(frozen=True)
class _TileProblem:
    """What has to be tiled: `rows` by `vectors` running values, each a sum of `terms`."""

    rows: int
    vectors: int
    terms: int
    term_bytes: int
    """How far apart in memory the vectors of one column are from term to term."""
    element_cycles: float
    """What it takes to have an element of a row in a register, beside its load."""

    def cost(self, tile: tuple[int, int]) -> float:
        """The estimated cycles of a tile of rows and vectors, for one term of each sum."""
        rows, vectors = tile
        full_rows, rest_rows = divmod(self.rows, rows)
        full_vectors, rest_vectors = divmod(self.vectors, vectors)
        cost, kinds = 0.0, 0
        for width, across in ((vectors, full_vectors), (rest_vectors, 1)):
            for height, down in ((rows, full_rows), (rest_rows, 1)):
                if width and height and down and across:
                    step = self.step_cycles(height, width, full_rows + (rest_rows > 0))
                    cost += down * across * step
                    kinds += 1
        size = _RUNNING_VALUE_PENALTY * rows * vectors
        return cost * (1 + size + _DISTINCT_TILE_PENALTY * (kinds - 1))

    def step_cycles(self, rows: int, vectors: int, passes: int) -> float:
        """
        Estimated cycles of one step of a tile that `passes` tiles of rows follow one another at.

        There are two multiply-adds and two loads a cycle; a multiply-add takes four cycles, and
        each running value waits for its own last one.
        """
        far = 1 if not self.stays_near(vectors) else 1 / passes
        load = NEAR_LOAD_CYCLES + far * (FAR_LOAD_CYCLES - NEAR_LOAD_CYCLES)
        return (
            max(rows * vectors / 2, (rows + vectors) / 2, 4.0, load * vectors)
            + 0.25
            + rows * self.element_cycles
        )

    def stays_near(self, vectors: int) -> bool:
        """Whether the columns of a tile fit the first-level cache, with the sets that they hit."""
        page = CACHE_SETS * LINE_BYTES
        rows_in_distinct_sets = page // gcd(max(self.term_bytes, LINE_BYTES), page)
        sets = min(CACHE_SETS, vectors * rows_in_distinct_sets)
        return self.terms * vectors <= sets * (CACHE_WAYS - 2)

    def best_tile(self, registers: int) -> tuple[int, int]:
        """The rows and vectors of the quickest tile with room for the operands of one step."""
        sizes = product(
            range(1, min(_MOST_ROWS, self.rows) + 1),
            range(1, min(registers // 2 - 1, self.vectors) + 1),
        )
        return min((n for n in sizes if prod(n) + n[1] + 1 < registers), key=self.cost)


_ROWS_WORTH_PACKING_STRIDED = 8
"""Rows from which columns without unit stride are packed."""
_ROWS_WORTH_PACKING = 32
"""Rows from which columns are packed although their vectors could be loaded as they are."""
_UNPACKED_BYTES = {128: 1 << 14, 64: 1 << 19, _ROWS_WORTH_PACKING: 3 << 19}
"""
For numbers of rows from which columns with unit stride are packed: the size of an operand that is
not. Vectors that cross a line of the cache, as all of an array may, take twice as long; in panels
there are none.
"""
_NARROW_LANES = 0.5
"""The share of a vector from which it pays to have one along a short dimension."""
_TERMS_WORTH_SINGLE_STORES, _TERMS_WORTH_SINGLE_STORES_DOTS = 32, 256
"""
Terms from which a sum may be written lane by lane: instead of sums in short vectors, and of sums
with vectors along their terms.
"""
LARGE_OPERAND_BYTES = 3 << 19
"""An operand of rows of this size leaves the second-level cache between two uses."""
_COLUMNS_AT_ONCE = 128
"""Columns that are packed at a time: long enough pieces of the operand's rows to stream."""
_SCRATCH_BYTES = 1 << 18
"""What the panels may take of the second-level cache, and of the stack."""
_MOST_ROWS_AND_SIDE = 1 << 11
"""
The side of a block that is transposed into a panel, times the rows that use each element of it: one
of 16 by 16 compiles for longer than the loops of the contraction, and saves little for many rows.
"""

_PAIR_CYCLES = 0.75
"""What it takes to put two elements of a row together."""

_DOT_TILE = 4
"""Rows, and columns, that are multiplied at once with vectors along a summed dimension."""
_DOT_VECTORS = 8
"""Running vectors that hide the latency of a multiply-add."""


def contraction_plans(nest: Nest, vector_bits: int) -> Iterator[Schedule]:
    """How a contraction may run, the best first; none for other nests, or where no plan fits."""
    contraction = contraction_of(nest)
    if contraction is None:
        return
    if not vector_bits:
        yield _in_tiles(nest, contraction, contraction.summed)
        return
    both = (contraction, contraction.transposed())
    unit = [
        each for roles in both for each in _columns_of(nest, roles, LaneStride.UNIT, vector_bits)
    ]
    yield from _plans_in_columns(unit, _NARROW_LANES)
    dot = _dot_plan(nest, contraction, vector_bits)
    terms = _TERMS_WORTH_SINGLE_STORES if dot is None else _TERMS_WORTH_SINGLE_STORES_DOTS
    # Packing columns without unit stride costs more than computing few rows in short vectors.
    apart = [
        each
        for roles in both
        if nest.points(roles.rows) >= _ROWS_WORTH_PACKING and nest.points(roles.summed) >= terms
        for each in _columns_of(nest, roles, LaneStride.STRIDED, vector_bits)
        if each.extent >= each.most_lanes
    ]
    if apart:
        # As little apart in the output as possible, which sums of many terms make up for.
        yield min(apart, key=lambda each: nest.output_stride(each.vector)).packed()
    if dot is not None:
        yield dot
    yield from _plans_in_columns(unit, 0)


def plan_in_pairs(
    nest: Nest, vector_bits: int, at_once: Iterable[int]
) -> tuple[Sequence[Nest], Schedule] | None:
    """
    How a contraction of numbers of at most 16 bits runs, several terms at a time: as many as the
    first of `at_once` that is possible; with the nests of these and of what is left over.

    None for others, and where columns would be packed for too few rows.
    """
    contraction = contraction_of(nest)
    if contraction is None or not vector_bits:
        return None
    both = ((Factor.RHS, contraction), (Factor.LHS, contraction.transposed()))
    for terms, (factor, outside) in product(at_once, both):
        if nest.points(outside.rows) < _ROWS_WORTH_PACKING_STRIDED:
            continue
        dimension = paired_dimension(nest, contraction, terms)
        parts = paired_terms(nest, contraction, dimension, terms, factor)
        roles = roles_of(parts[0], factor) if parts else None
        if roles is None:
            continue
        for each in _columns_of(parts[0], roles, LaneStride.UNIT, vector_bits):
            if each.extent > _NARROW_LANES * each.most_lanes:
                return parts, each.packed().pair(dimension, at_once=terms)
    return None


def _plans_in_columns(found: Sequence[_Columns], share: float) -> Iterator[Schedule]:
    """
    Vectors of the output along a column dimension with unit stride.

    `share`: how much of a vector has to be in use.
    """
    found = [each for each in found if each.extent > share * each.most_lanes]
    yield from (each.direct() for each in found if _has_unit_stride(each.inputs, each.vector))
    yield from (each.packed() for each in found if each.rows >= _ROWS_WORTH_PACKING_STRIDED)


def _columns_of(
    nest: Nest, roles: Contraction, stride: LaneStride, vector_bits: int
) -> Iterator[_Columns]:
    """The column dimensions that vectors of the output can lie along, longest first."""
    for d in sorted(roles.columns, key=lambda d: -nest.extents[d]):
        if lane_stride(nest.outputs[0], d) is stride and LaneAnalysis(nest, d).is_possible:
            yield _Columns(nest, roles, d, vector_bits)


def _inputs_of(nest: Nest, factor: SSAValue) -> list[Access]:
    """The inputs that a factor is computed from."""
    _, needed = nest.slice([factor])
    return [access for argument, access in nest.read.items() if argument in needed]


def _operand_bytes(nest: Nest, inputs: Iterable[Access]) -> int:
    """The size of the largest operand of a factor; 0 of one that positions make."""
    return max((bytes_of(nest, access) for access in inputs), default=0)


def _has_unit_stride(accesses: Iterable[Access], dimension: int) -> bool:
    """Whether all accesses that depend on a dimension have unit stride along it."""
    reached = (access for access in accesses if access.reaches(dimension))
    return all(lane_stride(access, dimension) is LaneStride.UNIT for access in reached)


def copy_along_lanes(nest: Nest, order: Schedule, factor: Factor, place: int) -> Schedule:
    """
    The copy of a factor inside of so many steps of an order: along its vectors, term by term.

    Raises ScheduleError for what is no contraction.
    """
    roles = roles_of(nest, factor)
    if roles is None:
        raise ScheduleError("(SR9) a copy of a factor, of what is no contraction")
    reached = nest.mask[roles.right]
    loops = {
        step.dimension: step
        for step in reversed(order.steps[place:])
        if isinstance(step, Loop) and reached >> step.dimension & 1
    }
    terms = [Loop(dimension) for dimension in sorted(loops.keys() - {order.vector})]
    if order.vector not in loops:
        return Schedule(tuple(terms))
    columns = Loop(order.vector, loops[order.vector].tile)
    return Schedule((*terms, columns), order.vector, order.lanes)


@dataclass(frozen=True)
class _Columns:
    """A contraction in vectors along one of its column dimensions."""

    nest: Nest
    roles: Contraction
    vector: int
    vector_bits: int

    @property
    def extent(self) -> int:
        """The columns along the vectors."""
        return self.nest.extents[self.vector]

    @property
    def rows(self) -> int:
        """The rows, in all dimensions."""
        return self.nest.points(self.roles.rows)

    @cached_property
    def most_lanes(self) -> int:
        """The lanes of a register."""
        return LaneAnalysis(self.nest, self.vector).lanes(self.vector_bits)

    @property
    def lanes(self) -> int:
        """Those that there are iterations to fill."""
        return min(self.most_lanes, self.extent)

    @cached_property
    def inputs(self) -> Sequence[Access]:
        """What the vectors are computed from."""
        return _inputs_of(self.nest, self.roles.right)

    @cached_property
    def rows_are_large(self) -> bool:
        """Whether the operand of rows leaves the second-level cache between two passes over it."""
        inputs = _inputs_of(self.nest, self.roles.left)
        return _operand_bytes(self.nest, inputs) > LARGE_OPERAND_BYTES

    @cached_property
    def row(self) -> int | None:
        """
        The row dimension that is tiled: the longest. Where their lanes are apart, the one whose
        numbers lie between theirs: a tile then writes whole lines of the cache.
        """
        output, rows = self.nest.outputs[0], self.roles.rows
        if lane_stride(output, self.vector) is LaneStride.STRIDED:
            near = tuple(d for d in rows if lane_stride(output, d) is LaneStride.UNIT)
            rows = near or rows
        return max(rows, key=lambda d: self.nest.extents[d], default=None)

    def _tile(self, term_bytes: int) -> tuple[int, int]:
        """The best register tile, rows and vectors."""
        nest, row = self.nest, self.row
        is_joined = nest.has(PairProductOp) or nest.has(DotProductOp)
        problem = _TileProblem(
            rows=1 if row is None else nest.extents[row],
            vectors=ceil(self.extent / self.lanes),
            terms=nest.points(self.roles.summed),
            term_bytes=term_bytes,
            element_cycles=_PAIR_CYCLES * is_joined
            + _STREAMED_ELEMENT_CYCLES * self.rows_are_large,
        )
        return problem.best_tile(32 if self.vector_bits >= 512 else 16)

    def direct(self) -> Schedule:
        """
        A tile whose vectors are loaded unpacked, unless successive terms are far apart.

        A single row, which uses each number of a large operand once, has its sums in memory: so it
        can read the operand row by row.
        """
        nest, roles, row, vector = self.nest, self.roles, self.row, self.vector
        size = _operand_bytes(nest, self.inputs)
        distance = max(_stride_bytes(a, roles.summed[-1]) for a in self.inputs)
        rows, vectors = self._tile(distance)
        # A single panel is in memory already.
        is_panel = distance * 8 == self.extent * (element_bits(roles.right.type) or 0)
        if not (is_panel and self.extent <= vectors * self.lanes) and any(
            self.rows >= least and size > most for least, most in _UNPACKED_BYTES.items()
        ):
            return self.packed()
        inside = (vector,) if row is None else (vector, row)
        outer = outermost_first(nest, (*roles.batch, *roles.rows, *roles.columns), inside)
        if self.rows == 1 and self.extent > vectors * self.lanes and walks_along_rows(nest):
            return along_reduced_rows(nest, outer, roles.summed, vector, self.lanes, vectors)
        order = Schedule.over(*outer, *inside, *roles.summed).vectorize(vector, self.lanes)
        order = order.unroll(vector, vectors)
        return order if row is None else order.unroll(row, rows)

    def packed(self) -> Schedule:
        """A tile whose vectors are copied into panels first."""
        nest, roles, row, vector, lanes = self.nest, self.roles, self.row, self.vector, self.lanes
        assert row is not None
        bits = element_bits(roles.right.type) or 0
        # Within a panel, the vectors of one term and the next are neighbours.
        rows, vectors = self._tile(lanes * bits // 8)
        width = vectors * lanes
        columns = min(max(1, _COLUMNS_AT_ONCE // width) * width, self.extent)
        blocks = _term_blocks(nest, roles, max(1, 8 * _SCRATCH_BYTES // (columns * bits)))
        around = outermost_first(nest, (*roles.batch, *roles.columns), (vector,))
        divided = {vector: columns, **blocks}
        tiles = [Loop(d, size) for d, size in divided.items() if size < nest.extents[d]]
        # Large rows do not stay in the L2 cache from panel to panel.
        tiled = (row, vector) if self.rows_are_large else (vector, row)
        terms = [d for d, size in blocks.items() if size != 1]
        part = {**blocks, vector: columns - columns % width or columns}
        copy = self._copy_across(part, width)
        if copy is None:
            # Putting words together is much code for each vector.
            widths = (width, lanes) if nest.has(JoinOp) and width > lanes else (width,)
            panels = tuple(Loop(vector, size) for size in widths)
            copy = Schedule((*map(Loop, terms), *panels), vector, lanes)
        # The order of the factors in the body tells which one is packed.
        factor = Factor.RHS if contraction_of(nest) == roles else Factor.LHS
        inside = (*outermost_first(nest, roles.rows, (row,)), *tiled, *terms)
        order = Schedule((*map(Loop, around), *tiles, *map(Loop, inside)))
        order = order.pack(factor, copy, len(around) + len(tiles)).vectorize(vector, lanes)
        return order.unroll(vector, vectors).unroll(row, rows)

    def _copy_across(self, part: Mapping[int, int], width: int) -> Schedule | None:
        """
        The copy of a part of the right factor, of so many terms and columns, into panels of a
        width, as any copy is planned. None where rows of the operand have unit stride.
        """
        nest, vector = self.nest, self.vector
        extents = tuple(part.get(d, n) for d, n in enumerate(nest.extents))
        around = frozenset((*self.roles.batch, *self.roles.columns)) - {vector}
        block = replace(nest, extents=extents, enclosing=around)
        panels = Panels(block, self.roles.right, vector, None, self.roles.summed)
        copying = panels.copying_nest(Block(arg_types=[panels.memory]).args[0])
        if all(lane_stride(a, vector) is LaneStride.UNIT for a in copying.read.values()):
            return None
        order = plan_order(copying, self.vector_bits)
        if order.vector is not None and order.transposed is not None:
            # Blocks that leave no edges at the end of the operand either, if there are.
            own, across = order.vector, order.transposed
            side = block_side(order.lanes, nest.extents[own], nest.extents[across])
            # No smaller than 128 bits: then no shuffle goes beyond.
            least = max(4, 128 // (element_bits(self.roles.right.type) or 64))
            while side > least and side * self.rows > _MOST_ROWS_AND_SIDE:
                side //= 2
            order = replace(order.with_tile(own, side).with_tile(across, side), lanes=side)
        panel = [Loop(vector, width)] if part[vector] > width else []
        return replace(order, steps=(*panel, *order.steps))


def _stride_bytes(access: Access, dimension: int) -> int:
    """How far a step in a dimension moves an access; 0 where that is not constant."""
    if access.strides is None:
        return 0
    return abs(access.strides[dimension]) * (element_bits(access.type.element_type) or 0) // 8


def _term_blocks(nest: Nest, roles: Contraction, fitting: int) -> Mapping[int, int]:
    """How much of each summed dimension panels hold at a time, if so many terms fit."""
    sizes: dict[int, int] = {}
    for dimension in reversed(roles.summed):
        extent = max(1, nest.extents[dimension])
        pieces = ceil(extent / fitting)
        even = next((p for p in range(pieces, 2 * pieces) if extent % p == 0), pieces)
        sizes[dimension] = ceil(extent / even)
        fitting = max(1, fitting // extent) if even == 1 else 1
    return {dimension: sizes[dimension] for dimension in roles.summed}


def _dot_plan(nest: Nest, contraction: Contraction, vector_bits: int) -> Schedule | None:
    """Vectors along a summed dimension, for several rows and columns at once."""
    inputs, extents = list(nest.read.values()), nest.extents
    candidates = [
        d
        for d in contraction.summed
        if _has_unit_stride(inputs, d) and LaneAnalysis(nest, d).is_possible
    ]
    vector = max(candidates, key=lambda d: extents[d], default=None)
    lanes = 0 if vector is None else LaneAnalysis(nest, vector).lanes(vector_bits)
    if vector is None or extents[vector] < lanes:
        return None
    summed = (*(d for d in contraction.summed if d != vector), vector)
    order = _in_tiles(nest, contraction, summed)
    in_flight = max(1, _DOT_VECTORS // prod(loop.tile for loop in order.loops))
    vectors = min(in_flight, ceil(extents[vector] / lanes))
    return order.vectorize(vector, lanes).unroll(vector, vectors)


def _in_tiles(nest: Nest, contraction: Contraction, summed: Sequence[int]) -> Schedule:
    """Several rows and columns at once, each number of which is loaded once."""
    longest = {
        max(group, key=lambda d: nest.extents[d])
        for group in (contraction.rows, contraction.columns)
        if group
    }
    kept = [d for d in nest.loop_dimensions if not nest.is_reduction[d]]
    kept.sort(key=lambda d: (d not in longest, nest.output_stride(d)), reverse=True)
    order = Schedule.over(*kept, *summed)
    for dimension in longest:
        order = order.unroll(dimension, min(_DOT_TILE, nest.extents[dimension]))
    return order
