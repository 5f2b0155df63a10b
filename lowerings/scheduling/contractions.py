"""
Chooses how a contraction runs.

Best is a register tile, rows and vectors of running values, whose vectors lie along a column
dimension with unit stride. Columns without it, or too many for the caches, are first copied into
panels: a few panels, side by side in the operand, are packed at a time, then all rows pass by them.
Long sums may even be written apart. Where that does not pay, because there are few rows, or
columns, the vectors lie along a summed dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, gcd, prod

from xdsl.ir import Block, SSAValue

from lowerings.dialects.schedule import Factor, Loop, Pack, Schedule, ScheduleError
from lowerings.dialects.words import DotProductOp, JoinOp, PairProductOp
from lowerings.loops.body import Body, LaneAnalysis
from lowerings.loops.constants import element_bits
from lowerings.loops.contraction import (
    Contraction,
    PairedNest,
    contraction_of,
    paired_dimension,
    paired_terms,
    roles_of,
)
from lowerings.loops.memory import LaneStride, lane_stride
from lowerings.loops.nest import Access, Nest
from lowerings.loops.panels import Panels
from lowerings.scheduling.lanes import (
    block_side,
    lanes_for,
    loops_along_rows,
    output_stride,
    plan_order,
    walks_along_rows,
)


@dataclass(frozen=True)
class Tile:
    """The size of a register tile."""

    rows: int
    vectors: int


_MOST_ROWS = 8
"""Each row takes an address; more of them than this do not fit the general registers."""


def _register_tiles(registers: int) -> Iterable[Tile]:
    """The tiles that leave room for the operands of one step."""
    for rows in range(1, _MOST_ROWS + 1):
        for vectors in range(1, registers // 2):
            if rows * vectors + vectors + 1 < registers:
                yield Tile(rows, vectors)


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
    rows_are_large: bool = False
    """Whether the operand of the rows leaves the second-level cache from panel to panel."""
    row_cycles: float = 0.0
    """What it takes to compute an element of a row from what is loaded."""

    def cost(self, tile: Tile) -> float:
        """The estimated cycles, for one term of each sum."""
        full_rows, rest_rows = divmod(self.rows, tile.rows)
        full_vectors, rest_vectors = divmod(self.vectors, tile.vectors)
        cost, kinds = 0.0, 0
        for width, vector_count in ((tile.vectors, full_vectors), (rest_vectors, 1)):
            for height, row_count in ((tile.rows, full_rows), (rest_rows, 1)):
                if width and height and row_count and vector_count:
                    step = self.step_cycles(height, width, full_rows + (rest_rows > 0))
                    cost += row_count * vector_count * step
                    kinds += 1
        size = _RUNNING_VALUE_PENALTY * tile.rows * tile.vectors
        return cost * (1 + size + _DISTINCT_TILE_PENALTY * (kinds - 1))

    def step_cycles(self, rows: int, vectors: int, passes: int) -> float:
        """
        Estimated cycles of one step of a tile that `passes` tiles of rows follow one another at.

        There are two multiply-adds and two loads a cycle; a multiply-add takes four cycles, and
        each running value waits for its own last one.
        """
        far = 1 if not self.stays_near(vectors) else 1 / passes
        load = NEAR_LOAD_CYCLES + far * (FAR_LOAD_CYCLES - NEAR_LOAD_CYCLES)
        element = self.row_cycles + (_STREAMED_ELEMENT_CYCLES if self.rows_are_large else 0.0)
        return (
            max(rows * vectors / 2, (rows + vectors) / 2, 4.0, load * vectors)
            + 0.25
            + rows * element
        )

    def stays_near(self, vectors: int) -> bool:
        """Whether the columns of a tile fit the first-level cache, with the sets that they hit."""
        page = CACHE_SETS * LINE_BYTES
        rows_in_distinct_sets = page // gcd(max(self.term_bytes, LINE_BYTES), page)
        sets = min(CACHE_SETS, vectors * rows_in_distinct_sets)
        return self.terms * vectors <= sets * (CACHE_WAYS - 2)

    def best_tile(self, registers: int) -> Tile:
        """The register tile that takes the fewest cycles."""
        return min(
            (
                tile
                for tile in _register_tiles(registers)
                if tile.rows <= self.rows and tile.vectors <= self.vectors
            ),
            key=self.cost,
        )


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
_TERMS_WORTH_SCATTERING, _TERMS_WORTH_SCATTERING_DOTS = 32, 256
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

_PAIR_CYCLES = 0.75
"""What it takes to put two elements of a row together."""

_DOT_TILE = 4
"""Rows, and columns, that are multiplied at once with vectors along a summed dimension."""
_DOT_VECTORS = 8
"""Running vectors that hide the latency of a multiply-add."""


def plan_contraction(nest: Nest, body: Body, vector_bits: int) -> Schedule | None:
    """How a contraction runs; None for nests that are none, or for which no plan here fits."""
    contraction = contraction_of(nest, body)
    if contraction is None:
        return None
    if not vector_bits:
        return _scalar_plan(nest, contraction)
    both = (contraction, contraction.transposed())
    wide = _plan_in_columns(nest, body, both, vector_bits, _NARROW_LANES)
    if wide is not None:
        return wide
    dot = dot_plan(nest, body, contraction, vector_bits)
    terms = _TERMS_WORTH_SCATTERING if dot is None else _TERMS_WORTH_SCATTERING_DOTS
    scattered = _plan_scattered(nest, body, both, vector_bits, terms)
    return scattered or dot or _plan_in_columns(nest, body, both, vector_bits, 0)


@dataclass(frozen=True)
class PairedPlan:
    """A contraction that adds several terms of a dimension at a time."""

    dimension: int
    at_once: int
    nests: PairedNest
    order: Schedule
    """Of the nest that counts them."""


def plan_in_pairs(
    nest: Nest, body: Body, vector_bits: int, at_once: Iterable[int]
) -> PairedPlan | None:
    """
    How a contraction of numbers of at most 16 bits runs, several terms at a time: as many as the
    first of `at_once` that is possible.

    None for others, and where columns would be packed for too few rows.
    """
    contraction = contraction_of(nest, body)
    if contraction is None or not vector_bits:
        return None
    both = ((Factor.RHS, contraction), (Factor.LHS, contraction.transposed()))
    for terms, (factor, outside) in product(at_once, both):
        if extent_of(nest, outside.rows) < _ROWS_WORTH_PACKING_STRIDED:
            continue
        dimension = paired_dimension(nest, contraction, terms)
        paired = paired_terms(nest, body, contraction, dimension, terms, factor)
        if paired is None:
            continue
        pairs, words = paired.pairs, Body(paired.pairs)
        roles = roles_of(pairs, words, factor)
        if roles is None:
            continue
        for vector in columns_in_lanes(pairs, words, roles, LaneStride.UNIT):
            lanes = lanes_for(words, LaneAnalysis(words, vector), vector_bits)
            if pairs.extents[vector] > _NARROW_LANES * lanes:
                packed = packed_plan(pairs, words, roles, vector, vector_bits)
                return PairedPlan(dimension, terms, paired, packed)
    return None


def _plan_in_columns(
    nest: Nest, body: Body, both: Sequence[Contraction], vector_bits: int, share: float
) -> Schedule | None:
    """
    Vectors of the output along a column dimension with unit stride.

    `share`: how much of a vector has to be in use.
    """
    found = [
        (roles, vector)
        for roles in both
        for vector in columns_in_lanes(nest, body, roles, LaneStride.UNIT)
        if nest.extents[vector] > share * lanes_for(body, LaneAnalysis(body, vector), vector_bits)
    ]
    for roles, vector in found:
        if _has_unit_stride(_inputs_of(body, roles.right), vector):
            return direct_plan(nest, body, roles, vector, vector_bits)
    for roles, vector in found:
        if extent_of(nest, roles.rows) >= _ROWS_WORTH_PACKING_STRIDED:
            return packed_plan(nest, body, roles, vector, vector_bits)
    return None


def _plan_scattered(
    nest: Nest, body: Body, both: Sequence[Contraction], vector_bits: int, terms: int
) -> Schedule | None:
    """
    Vectors along columns that lie apart in the output, as little as possible, which sums of many
    terms make up for.
    """
    # Packing columns without unit stride costs more than computing few rows in short vectors.
    found = [
        (roles, vector)
        for roles in both
        if extent_of(nest, roles.rows) >= _ROWS_WORTH_PACKING
        and extent_of(nest, roles.summed) >= terms
        for vector in columns_in_lanes(nest, body, roles, LaneStride.STRIDED)
        if nest.extents[vector] >= lanes_for(body, LaneAnalysis(body, vector), vector_bits)
    ]
    if not found:
        return None
    roles, vector = min(found, key=lambda each: output_stride(nest, each[1]))
    return packed_plan(nest, body, roles, vector, vector_bits)


def columns_in_lanes(nest: Nest, body: Body, roles: Contraction, stride: LaneStride) -> list[int]:
    """The column dimensions that vectors of the output can lie along, longest first."""
    return sorted(
        (
            d
            for d in roles.columns
            if lane_stride(nest.outputs[0], d) is stride and LaneAnalysis(body, d).is_possible
        ),
        key=lambda d: -nest.extents[d],
    )


def _inputs_of(body: Body, factor: SSAValue) -> list[Access]:
    """The inputs that a factor is computed from."""
    _, needed = body.slice([factor])
    return [access for argument, access in body.inputs.items() if argument in needed]


def _has_unit_stride(accesses: Sequence[Access], dimension: int) -> bool:
    """Whether all accesses that depend on a dimension have unit stride along it."""
    return all(
        lane_stride(access, dimension) is LaneStride.UNIT
        for access in accesses
        if access.reaches(dimension)
    )


def extent_of(nest: Nest, dimensions: Sequence[int]) -> int:
    """The number of points in some dimensions."""
    return prod(nest.extents[d] for d in dimensions)


def copy_along_lanes(
    nest: Nest, body: Body, order: Schedule, factor: Factor, place: int
) -> Schedule:
    """
    The copy of a factor inside of so many steps of an order: along its vectors, term by term.

    Raises ScheduleError for what is no contraction.
    """
    roles = roles_of(nest, body, factor)
    if roles is None:
        raise ScheduleError("(SR9) a copy of a factor, of what is no contraction")
    reached = body.mask[roles.right]
    loops = {
        step.dimension: step
        for step in reversed(order.steps[place:])
        if isinstance(step, Loop) and reached >> step.dimension & 1
    }
    panels = loops.pop(order.vector, None) if order.vector is not None else None
    terms = [Loop(dimension) for dimension in sorted(loops)]
    if panels is None:
        return Schedule(tuple(terms))
    columns = Loop(panels.dimension, panels.tile)
    return Schedule((*terms, columns), order.vector, order.lanes)


def _lanes_along(nest: Nest, body: Body, vector: int, vector_bits: int) -> int:
    """The lanes of vectors along a dimension, of which there are iterations to fill them."""
    return min(lanes_for(body, LaneAnalysis(body, vector), vector_bits), nest.extents[vector])


def _row_dimension(nest: Nest, roles: Contraction, vector: int) -> int | None:
    """
    The row dimension that is tiled: the longest. Where vectors are scattered, the one whose numbers
    lie between theirs: a tile then writes whole lines of the cache.
    """
    output, rows = nest.outputs[0], list(roles.rows)
    if lane_stride(output, vector) is LaneStride.STRIDED:
        rows = [d for d in rows if lane_stride(output, d) is LaneStride.UNIT] or rows
    return max(rows, key=lambda d: nest.extents[d], default=None)


def _operand_bytes(nest: Nest, body: Body, factor: SSAValue) -> int:
    """The size of the largest operand of a factor; 0 of one that positions make."""
    sizes = (
        (element_bits(access.type.element_type) or 0) // 8 * extent_of(nest, _reached(nest, access))
        for access in _inputs_of(body, factor)
    )
    return max(sizes, default=0)


def _rows_are_large(nest: Nest, body: Body, roles: Contraction) -> bool:
    """Whether the operand of the rows leaves the second-level cache between two passes over it."""
    return _operand_bytes(nest, body, roles.left) > LARGE_OPERAND_BYTES


def _tile_for(
    nest: Nest,
    body: Body,
    roles: Contraction,
    vector: int,
    lanes: int,
    term_bytes: int,
    vector_bits: int,
) -> Tile:
    """The best register tile for the longest row dimension and `vector`."""
    row = _row_dimension(nest, roles, vector)
    problem = _TileProblem(
        rows=1 if row is None else nest.extents[row],
        vectors=ceil(nest.extents[vector] / lanes),
        terms=extent_of(nest, roles.summed),
        term_bytes=term_bytes,
        rows_are_large=_rows_are_large(nest, body, roles),
        row_cycles=_PAIR_CYCLES if body.has(PairProductOp) or body.has(DotProductOp) else 0.0,
    )
    return problem.best_tile(32 if vector_bits >= 512 else 16)


def direct_plan(
    nest: Nest, body: Body, roles: Contraction, vector: int, vector_bits: int
) -> Schedule:
    """
    A tile whose vectors are loaded unpacked, unless successive terms are far apart.

    A single row, which uses each number of a large operand once, has its sums in memory: so it can
    read the operand row by row.
    """
    extents, inputs = nest.extents, _inputs_of(body, roles.right)
    rows = extent_of(nest, roles.rows)
    size = _operand_bytes(nest, body, roles.right)
    if any(rows >= least and size > most for least, most in _UNPACKED_BYTES.items()):
        return packed_plan(nest, body, roles, vector, vector_bits)
    lanes = _lanes_along(nest, body, vector, vector_bits)
    term_bytes = max(_stride_bytes(access, roles.summed[-1]) for access in inputs)
    tile = _tile_for(nest, body, roles, vector, lanes, term_bytes, vector_bits)
    row = _row_dimension(nest, roles, vector)
    outer = [d for d in (*roles.batch, *roles.rows, *roles.columns) if d not in (row, vector)]
    outer.sort(key=lambda d: output_stride(nest, d), reverse=True)
    loops = [Loop(d) for d in outer]
    whole = Loop(vector, tile.vectors * lanes)
    if rows == 1 and extents[vector] > whole.tile and walks_along_rows(nest):
        along_rows = loops_along_rows(nest, roles.summed, whole, lanes)
        return Schedule((*loops, *along_rows), vector, lanes)
    loops.append(whole)
    if row is not None:
        loops.append(Loop(row, min(tile.rows, extents[row])))
    loops += [Loop(d) for d in roles.summed]
    return Schedule(tuple(loops), vector, lanes)


def _reached(nest: Nest, access: Access) -> list[int]:
    """The dimensions of a nest's own loops that an access depends on."""
    return [d for d in nest.loop_dimensions if access.reaches(d)]


def _stride_bytes(access: Access, dimension: int) -> int:
    """How far a step in a dimension moves an access; 0 where that is not constant."""
    if access.strides is None:
        return 0
    return abs(access.strides[dimension]) * (element_bits(access.type.element_type) or 0) // 8


def packed_plan(
    nest: Nest, body: Body, roles: Contraction, vector: int, vector_bits: int
) -> Schedule:
    """A tile whose vectors are copied into panels first."""
    row = _row_dimension(nest, roles, vector)
    assert row is not None
    extents, lanes = nest.extents, _lanes_along(nest, body, vector, vector_bits)
    bits = element_bits(roles.right.type) or 0
    # Within a panel, the vectors of one term and the next are neighbours.
    tile = _tile_for(nest, body, roles, vector, lanes, lanes * bits // 8, vector_bits)
    width = tile.vectors * lanes
    columns = min(max(1, _COLUMNS_AT_ONCE // width) * width, extents[vector])
    sizes = _term_blocks(nest, roles, max(1, 8 * _SCRATCH_BYTES // (columns * bits)))
    blocks = dict(zip(roles.summed, sizes, strict=True))
    around = _outermost_first(nest, [*roles.batch, *(d for d in roles.columns if d != vector)])
    divided = {vector: columns, **blocks}
    around += [Loop(d, size) for d, size in divided.items() if size < extents[d]]
    inside = _outermost_first(nest, [d for d in roles.rows if d != row])
    inside += [Loop(vector, width), Loop(row, tile.rows)]
    if _rows_are_large(nest, body, roles):
        # The rows do not stay in the L2 cache from panel to panel.
        inside[-2:] = reversed(inside[-2:])
    terms = [Loop(d) for d, size in blocks.items() if size != 1]
    part = {**blocks, vector: columns - columns % width or columns}
    copy = _copy_across(nest, roles, vector, vector_bits, part, width)
    if copy is None:
        # Putting words together is much code for each vector.
        widths = (width, lanes) if body.has(JoinOp) and width > lanes else (width,)
        copy = Schedule((*terms, *(Loop(vector, size) for size in widths)), vector, lanes)
    # The order of the factors in the body tells which one is packed.
    factor = Factor.RHS if contraction_of(nest, body) == roles else Factor.LHS
    return Schedule((*around, Pack(factor, copy), *inside, *terms), vector, lanes)


def _outermost_first(nest: Nest, dimensions: Iterable[int]) -> list[Loop]:
    ordered = sorted(dimensions, key=lambda d: output_stride(nest, d), reverse=True)
    return [Loop(dimension) for dimension in ordered]


def _copy_across(
    nest: Nest,
    roles: Contraction,
    vector: int,
    vector_bits: int,
    part: Mapping[int, int],
    width: int,
) -> Schedule | None:
    """
    The copy of a part of the right factor, of so many terms and columns, into panels of a width, as
    any copy is planned. None where rows of the operand have unit stride.
    """
    extents = tuple(part.get(d, n) for d, n in enumerate(nest.extents))
    around = frozenset((*roles.batch, *roles.columns)) - {vector}
    block = replace(nest, extents=extents, enclosing=around)
    panels = Panels(block, roles.right, vector, None, roles.summed)
    copying = panels.copying_nest(Block(arg_types=[panels.memory]).args[0])
    body = Body(copying)
    if all(lane_stride(access, vector) is LaneStride.UNIT for access in body.inputs.values()):
        return None
    order = plan_order(copying, body, vector_bits)
    if order.vector is not None and order.transposed is not None:
        # Blocks that leave no edges at the end of the operand either, if there are.
        own, across = order.vector, order.transposed
        side = block_side(order.lanes, nest.extents[own], nest.extents[across])
        order = replace(order.with_tile(own, side).with_tile(across, side), lanes=side)
    panel = [Loop(vector, width)] if part[vector] > width else []
    return replace(order, steps=(*panel, *order.steps))


def _term_blocks(nest: Nest, roles: Contraction, fitting: int) -> tuple[int, ...]:
    """How much of each summed dimension panels hold at a time, if so many terms fit."""
    sizes: list[int] = []
    for dimension in reversed(roles.summed):
        extent = max(1, nest.extents[dimension])
        pieces = ceil(extent / fitting)
        even = next((p for p in range(pieces, 2 * pieces) if extent % p == 0), pieces)
        sizes.append(ceil(extent / even))
        fitting = max(1, fitting // extent) if even == 1 else 1
    return tuple(reversed(sizes))


def dot_plan(nest: Nest, body: Body, contraction: Contraction, vector_bits: int) -> Schedule | None:
    """Vectors along a summed dimension, for several rows and columns at once."""
    inputs = list(body.inputs.values())
    candidates = [
        d
        for d in contraction.summed
        if _has_unit_stride(inputs, d) and LaneAnalysis(body, d).is_possible
    ]
    if not candidates:
        return None
    extents = nest.extents
    vector = max(candidates, key=lambda d: extents[d])
    lanes = lanes_for(body, LaneAnalysis(body, vector), vector_bits)
    if extents[vector] < lanes:
        return None
    tiled = _dot_tiles(nest, contraction)
    in_flight = max(1, _DOT_VECTORS // prod(loop.tile for loop in tiled))
    loops = [
        *tiled,
        *(Loop(d) for d in contraction.summed if d != vector),
        Loop(vector, lanes * min(in_flight, ceil(extents[vector] / lanes))),
    ]
    return Schedule(tuple(loops), vector, lanes)


def _scalar_plan(nest: Nest, contraction: Contraction) -> Schedule:
    """Without vectors: several rows and columns at once, each number of which is loaded once."""
    loops = (*_dot_tiles(nest, contraction), *map(Loop, contraction.summed))
    return Schedule(loops)


def _dot_tiles(nest: Nest, contraction: Contraction) -> list[Loop]:
    """Loops over what is not summed, the longest over rows and over columns innermost in tiles."""
    extents = nest.extents
    tiles: dict[int, int] = {}
    for group in (contraction.rows, contraction.columns):
        longest = max(group, key=lambda d: extents[d], default=None)
        if longest is not None:
            tiles[longest] = min(_DOT_TILE, extents[longest])
    kept = [d for d in nest.loop_dimensions if not nest.is_reduction[d]]
    kept.sort(key=lambda d: (d not in tiles, output_stride(nest, d)), reverse=True)
    return [Loop(d, tiles.get(d, 1)) for d in kept]
