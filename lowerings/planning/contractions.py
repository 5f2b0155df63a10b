"""
Chooses how a contraction runs.

Best is a register tile whose vectors lie along a column dimension with unit stride. Columns
without it, or too many for the caches, are packed into panels first; long sums may even be written
apart. Where that does not pay, because there are few rows, or columns, the vectors lie along a
summed dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, prod
from typing import TypeAlias

from xdsl.ir import SSAValue

from lowerings.loops.body import Body, LaneAnalysis
from lowerings.loops.constants import element_bits
from lowerings.loops.contraction import Contraction, contraction_of, roles_of
from lowerings.loops.dot_product import DotProductOp
from lowerings.loops.memory import LaneStride, lane_stride
from lowerings.loops.nest import Access, Nest
from lowerings.loops.pair_product import PairProductOp
from lowerings.loops.paired_terms import PairedNest, paired_dimension, paired_terms
from lowerings.planning.lanes import (
    lanes_for,
    loops_along_rows,
    output_stride,
    walks_along_rows,
)
from lowerings.planning.packed_contraction import PackedContraction
from lowerings.planning.register_tiles import Tile, TileProblem
from lowerings.schedules.schedule import Factor, Loop, LoopOrder

ContractionPlan: TypeAlias = "LoopOrder | PackedContraction"

ROWS_WORTH_PACKING_STRIDED = 8
"""Rows from which columns without unit stride are packed."""
ROWS_WORTH_PACKING = 32
"""Rows from which columns are packed although their vectors could be loaded as they are."""
UNPACKED_BYTES = {128: 1 << 14, 64: 1 << 19, ROWS_WORTH_PACKING: 3 << 19}
"""
For numbers of rows from which columns with unit stride are packed: the size of an operand that is
not. Vectors that cross a line of the cache, as all of an array may, take twice as long; in panels
there are none.
"""
NARROW_LANES = 0.5
"""The share of a vector from which it pays to have one along a short dimension."""
TERMS_WORTH_SCATTERING = 256
"""Terms from which a sum may be written lane by lane."""
LARGE_OPERAND_BYTES = 3 << 19
"""An operand of rows of this size leaves the second-level cache between two uses."""
COLUMNS_AT_ONCE = 128
"""Columns that are packed at a time: long enough pieces of the operand's rows to stream."""
SCRATCH_BYTES = 1 << 18
"""What the panels may take of the second-level cache, and of the stack."""

PAIR_CYCLES = 0.75
"""What it takes to put two elements of a row together."""

DOT_TILE = 4
"""Rows, and columns, that are multiplied at once with vectors along a summed dimension."""
DOT_VECTORS = 8
"""Running vectors that hide the latency of a multiply-add."""


def plan_contraction(nest: Nest, body: Body, vector_bits: int) -> ContractionPlan | None:
    """How a contraction runs; None for nests that are none, or for which no plan here fits."""
    contraction = contraction_of(nest, body)
    if contraction is None:
        return None
    if not vector_bits:
        return scalar_plan(nest, contraction)
    both = (contraction, contraction.transposed())
    wide = plan_in_columns(nest, body, both, vector_bits, NARROW_LANES)
    if wide is not None:
        return wide
    scattered = plan_scattered(nest, body, both, vector_bits)
    if scattered is not None:
        return scattered
    dot = dot_plan(nest, body, contraction, vector_bits)
    return dot or plan_in_columns(nest, body, both, vector_bits, 0)


@dataclass(frozen=True)
class PairedPlan:
    """A contraction that adds pairs of terms of a dimension."""

    dimension: int
    at_once: int
    nests: PairedNest
    pairs: PackedContraction


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
        if extent_of(nest, outside.rows) < ROWS_WORTH_PACKING_STRIDED:
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
            if pairs.extents[vector] > NARROW_LANES * lanes:
                packed = packed_plan(pairs, words, roles, vector, vector_bits)
                return PairedPlan(dimension, terms, paired, packed)
    return None


def plan_in_columns(
    nest: Nest, body: Body, both: Sequence[Contraction], vector_bits: int, share: float
) -> ContractionPlan | None:
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
        if has_unit_stride(inputs_of(body, roles.right), vector):
            return direct_plan(nest, body, roles, vector, vector_bits)
    for roles, vector in found:
        if extent_of(nest, roles.rows) >= ROWS_WORTH_PACKING_STRIDED:
            return packed_plan(nest, body, roles, vector, vector_bits)
    return None


def plan_scattered(
    nest: Nest, body: Body, both: Sequence[Contraction], vector_bits: int
) -> PackedContraction | None:
    """Vectors along columns that lie apart in the output, which long sums make up for."""
    for roles in both:
        # Packing columns without unit stride costs more than computing few rows in short vectors.
        if extent_of(nest, roles.rows) < ROWS_WORTH_PACKING:
            continue
        if extent_of(nest, roles.summed) < TERMS_WORTH_SCATTERING:
            continue
        for vector in columns_in_lanes(nest, body, roles, LaneStride.STRIDED):
            if nest.extents[vector] >= lanes_for(body, LaneAnalysis(body, vector), vector_bits):
                return packed_plan(nest, body, roles, vector, vector_bits)
    return None


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


def inputs_of(body: Body, factor: SSAValue) -> list[Access]:
    """The inputs that a factor is computed from."""
    needed = {factor}
    for op in reversed(body.ops):
        if needed.intersection(op.results):
            needed.update(op.operands)
    return [access for argument, access in body.inputs.items() if argument in needed]


def has_unit_stride(accesses: Sequence[Access], dimension: int) -> bool:
    """Whether all accesses that depend on a dimension have unit stride along it."""
    return all(
        lane_stride(access, dimension) is LaneStride.UNIT
        for access in accesses
        if access.reaches(dimension)
    )


def extent_of(nest: Nest, dimensions: Sequence[int]) -> int:
    """The number of points in some dimensions."""
    return prod(nest.extents[d] for d in dimensions)


def row_dimension(nest: Nest, roles: Contraction) -> int | None:
    """The row dimension that is tiled: the longest."""
    return max(roles.rows, key=lambda d: nest.extents[d], default=None)


def operand_bytes(nest: Nest, body: Body, factor: SSAValue) -> int:
    """The size of the largest operand of a factor; 0 of one that positions make."""
    sizes = (
        (element_bits(access.type.element_type) or 0) // 8 * extent_of(nest, reached(nest, access))
        for access in inputs_of(body, factor)
    )
    return max(sizes, default=0)


def rows_are_large(nest: Nest, body: Body, roles: Contraction) -> bool:
    """Whether the operand of the rows leaves the second-level cache between two passes over it."""
    return operand_bytes(nest, body, roles.left) > LARGE_OPERAND_BYTES


def tile_for(
    nest: Nest,
    body: Body,
    roles: Contraction,
    vector: int,
    lanes: int,
    term_bytes: int,
    vector_bits: int,
) -> Tile:
    """The best register tile for the longest row dimension and `vector`."""
    row = row_dimension(nest, roles)
    problem = TileProblem(
        rows=1 if row is None else nest.extents[row],
        vectors=ceil(nest.extents[vector] / lanes),
        terms=extent_of(nest, roles.summed),
        term_bytes=term_bytes,
        rows_are_large=rows_are_large(nest, body, roles),
        row_cycles=PAIR_CYCLES if body.has(PairProductOp) or body.has(DotProductOp) else 0.0,
    )
    return problem.best_tile(32 if vector_bits >= 512 else 16)


def direct_plan(
    nest: Nest, body: Body, roles: Contraction, vector: int, vector_bits: int
) -> ContractionPlan:
    """
    A tile whose vectors are loaded unpacked, unless successive terms are far apart.

    A single row, which uses each number of a large operand once, has its sums in memory: so it can
    read the operand row by row.
    """
    extents, inputs = nest.extents, inputs_of(body, roles.right)
    rows = extent_of(nest, roles.rows)
    size = operand_bytes(nest, body, roles.right)
    if any(rows >= least and size > most for least, most in UNPACKED_BYTES.items()):
        return packed_plan(nest, body, roles, vector, vector_bits)
    lanes = lanes_for(body, LaneAnalysis(body, vector), vector_bits)
    term_bytes = max(stride_bytes(access, roles.summed[-1]) for access in inputs)
    tile = tile_for(nest, body, roles, vector, lanes, term_bytes, vector_bits)
    row = row_dimension(nest, roles)
    outer = [d for d in (*roles.batch, *roles.rows, *roles.columns) if d not in (row, vector)]
    outer.sort(key=lambda d: output_stride(nest, d), reverse=True)
    loops = [Loop(d) for d in outer]
    whole = Loop(vector, tile.vectors * lanes)
    if rows == 1 and extents[vector] > whole.tile and walks_along_rows(nest):
        along_rows = loops_along_rows(nest, roles.summed, whole, lanes)
        return LoopOrder((*loops, *along_rows), vector, lanes)
    loops.append(whole)
    if row is not None:
        loops.append(Loop(row, min(tile.rows, extents[row])))
    loops += [Loop(d) for d in roles.summed]
    return LoopOrder(tuple(loops), vector, lanes)


def reached(nest: Nest, access: Access) -> list[int]:
    """The dimensions of a nest's own loops that an access depends on."""
    return [d for d in nest.loop_dimensions if access.reaches(d)]


def stride_bytes(access: Access, dimension: int) -> int:
    """How far a step in a dimension moves an access; 0 where that is not constant."""
    if access.strides is None:
        return 0
    return abs(access.strides[dimension]) * (element_bits(access.type.element_type) or 0) // 8


def packed_plan(
    nest: Nest, body: Body, roles: Contraction, vector: int, vector_bits: int
) -> PackedContraction:
    """A tile whose vectors are copied into panels first."""
    row = row_dimension(nest, roles)
    assert row is not None
    lanes = lanes_for(body, LaneAnalysis(body, vector), vector_bits)
    bits = element_bits(roles.right.type) or 0
    # Within a panel, the vectors of one term and the next are neighbours.
    tile = tile_for(nest, body, roles, vector, lanes, lanes * bits // 8, vector_bits)
    width = tile.vectors * lanes
    panels = max(1, COLUMNS_AT_ONCE // width)
    columns = min(panels * width, nest.extents[vector])
    blocks = term_blocks(nest, roles, max(1, SCRATCH_BYTES // (columns * bits // 8)))
    large = rows_are_large(nest, body, roles)
    # The order of the factors in the body tells which one is packed.
    contraction = contraction_of(nest, body)
    factor = Factor.RHS if contraction == roles else Factor.LHS
    return PackedContraction(
        nest, roles, factor, vector, row, tile, lanes, panels, blocks, vector_bits, large
    )


def term_blocks(nest: Nest, roles: Contraction, fitting: int) -> tuple[int, ...]:
    """How much of each summed dimension panels hold at a time, if so many terms fit."""
    sizes: list[int] = []
    for dimension in reversed(roles.summed):
        extent = max(1, nest.extents[dimension])
        pieces = ceil(extent / fitting)
        even = next((p for p in range(pieces, 2 * pieces) if extent % p == 0), pieces)
        sizes.append(ceil(extent / even))
        fitting = max(1, fitting // extent) if even == 1 else 1
    return tuple(reversed(sizes))


def dot_plan(
    nest: Nest, body: Body, contraction: Contraction, vector_bits: int
) -> LoopOrder | None:
    """Vectors along a summed dimension, for several rows and columns at once."""
    inputs = list(body.inputs.values())
    candidates = [
        d
        for d in contraction.summed
        if has_unit_stride(inputs, d) and LaneAnalysis(body, d).is_possible
    ]
    if not candidates:
        return None
    extents = nest.extents
    vector = max(candidates, key=lambda d: extents[d])
    lanes = lanes_for(body, LaneAnalysis(body, vector), vector_bits)
    if extents[vector] < lanes:
        return None
    tiled = dot_tiles(nest, contraction)
    in_flight = max(1, DOT_VECTORS // prod(loop.tile for loop in tiled))
    loops = [
        *tiled,
        *(Loop(d) for d in contraction.summed if d != vector),
        Loop(vector, lanes * min(in_flight, ceil(extents[vector] / lanes))),
    ]
    return LoopOrder(tuple(loops), vector, lanes)


def scalar_plan(nest: Nest, contraction: Contraction) -> LoopOrder:
    """Without vectors: several rows and columns at once, each number of which is loaded once."""
    loops = (*dot_tiles(nest, contraction), *map(Loop, contraction.summed))
    return LoopOrder(loops)


def dot_tiles(nest: Nest, contraction: Contraction) -> list[Loop]:
    """Loops over what is not summed, the longest over rows and over columns innermost in tiles."""
    extents = nest.extents
    tiles: dict[int, int] = {}
    for group in (contraction.rows, contraction.columns):
        longest = max(group, key=lambda d: extents[d], default=None)
        if longest is not None:
            tiles[longest] = min(DOT_TILE, extents[longest])
    kept = [d for d in nest.loop_dimensions if not nest.is_reduction[d]]
    kept.sort(key=lambda d: (d not in tiles, output_stride(nest, d)), reverse=True)
    return [Loop(d, tiles.get(d, 1)) for d in kept]
