"""
Contractions: sums of products, with every output element computed from a row of one operand
and a column of the other. They run as register tiles.

A tile of `rows` by `vectors` running values stays in registers while the loop over the summed
dimensions goes on; each step loads `vectors` vectors of one operand and, one after the other,
`rows` single elements of the other, which are broadcast.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, gcd, prod

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from lowerings.loops.body import Body, Forms, element_bits
from lowerings.loops.memory import LaneStride, lane_stride
from lowerings.loops.nest import Nest
from lowerings.loops.planning import lanes_for, output_stride
from lowerings.loops.schedule import Loop, Schedule


@dataclass(frozen=True)
class Contraction:
    """The dimensions of a sum of products by what they belong to. `left` has no `columns`."""

    batch: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    summed: tuple[int, ...]

    def transposed(self) -> Contraction:
        """With the roles of the operands exchanged."""
        return Contraction(self.batch, self.columns, self.rows, self.summed)


def contraction_of(nest: Nest, body: Body) -> Contraction | None:
    """How a nest is a contraction; None if it is none."""
    if len(nest.outputs) != 1:
        return None
    combiner = body.combiner(0)
    if combiner is None:
        return None
    factors = factors_of(body, *combiner)
    if factors is None:
        return None
    left, right = (body.mask.get(factor, 0) for factor in factors)
    out = body.mask[body.accumulators[0]]
    groups: dict[tuple[bool, bool, bool], list[int]] = {}
    for d, extent in enumerate(nest.extents):
        if extent != 1:
            where = bool(left >> d & 1), bool(right >> d & 1), bool(out >> d & 1)
            groups.setdefault(where, []).append(d)
    batch = tuple(groups.pop((True, True, True), ()))
    rows = tuple(groups.pop((True, False, True), ()))
    columns = tuple(groups.pop((False, True, True), ()))
    summed = tuple(groups.pop((True, True, False), ()))
    return None if groups or not summed else Contraction(batch, rows, columns, summed)


def factors_of(body: Body, combiner: Operation, term: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """The factors of the product that a reduction adds up."""
    fused = body.fused_factors(combiner, term)
    if fused is not None:
        return fused
    product = term.owner
    if isinstance(combiner, arith.AddiOp) and isinstance(product, arith.MuliOp):
        return product.lhs, product.rhs
    return None


@dataclass(frozen=True)
class Tile:
    """The size of a register tile."""

    rows: int
    vectors: int


MOST_ROWS = 8
"""Each row takes an address; more of them than this do not fit the general registers."""


def register_tiles(registers: int) -> Iterable[Tile]:
    """The tiles that leave room for the operands of one step."""
    for rows in range(1, MOST_ROWS + 1):
        for vectors in range(1, registers // 2):
            if rows * vectors + vectors + 1 < registers:
                yield Tile(rows, vectors)


CACHE_SETS, CACHE_WAYS, LINE_BYTES = 64, 12, 64
"""Of a first-level data cache of 48 KB."""

NEAR_LOAD_CYCLES, FAR_LOAD_CYCLES = 0.5, 2.2
"""Of a vector from the first-level cache, and from the one behind it."""

DISTINCT_TILE_PENALTY = 0.02
"""What another size of tile at an edge must save: it is as much code as the main one."""
RUNNING_VALUE_PENALTY = 0.002
"""What each running value of a tile must save, by which its code grows."""


@dataclass(frozen=True)
class TileProblem:
    """What has to be tiled: `rows` by `vectors` running values, each a sum of `terms`."""

    rows: int
    vectors: int
    terms: int
    term_bytes: int
    """How far apart in memory the vectors of one column are from term to term."""

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
        size = RUNNING_VALUE_PENALTY * tile.rows * tile.vectors
        return cost * (1 + size + DISTINCT_TILE_PENALTY * (kinds - 1))

    def step_cycles(self, rows: int, vectors: int, passes: int) -> float:
        """
        Estimated cycles of one step of a tile that `passes` tiles of rows follow one another at.

        There are two multiply-adds and two loads a cycle; a multiply-add takes four cycles, and
        each running value waits for its own last one.
        """
        far = 1 if not self.stays_near(vectors) else 1 / passes
        load = NEAR_LOAD_CYCLES + far * (FAR_LOAD_CYCLES - NEAR_LOAD_CYCLES)
        return max(rows * vectors / 2, (rows + vectors) / 2, 4.0, load * vectors) + 0.25

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
                for tile in register_tiles(registers)
                if tile.rows <= self.rows and tile.vectors <= self.vectors
            ),
            key=self.cost,
        )


def plan_contraction(nest: Nest, body: Body, vector_bits: int) -> Schedule | None:
    """The schedule of a nest that is a contraction; None for others."""
    contraction = contraction_of(nest, body)
    if contraction is None or vector_bits == 0:
        return None
    for roles in (contraction, contraction.transposed()):
        vector = column_in_lanes(nest, body, roles)
        if vector is not None:
            return tiled_schedule(nest, body, roles, vector, vector_bits)
    return None


def column_in_lanes(nest: Nest, body: Body, roles: Contraction) -> int | None:
    """The column dimension along which the output and all that depends on it have unit stride."""
    for dimension in roles.columns:
        strides = {
            lane_stride(access, dimension) for access in nest.accesses if access.reaches(dimension)
        }
        if strides == {LaneStride.UNIT} and Forms(body, dimension).is_possible:
            return dimension
    return None


def tiled_schedule(
    nest: Nest, body: Body, roles: Contraction, vector: int, vector_bits: int
) -> Schedule:
    """Register tiles along the largest dimension of the rows and along `vector`."""
    extents = nest.extents
    lanes = lanes_for(body, Forms(body, vector), vector_bits)
    row = max(roles.rows, key=lambda d: extents[d], default=None)
    row_count = 1 if row is None else extents[row]
    registers = 32 if vector_bits >= 512 else 16
    problem = TileProblem(
        rows=row_count,
        vectors=ceil(extents[vector] / lanes),
        terms=prod(extents[d] for d in roles.summed),
        term_bytes=largest_term_bytes(nest, vector, roles.summed[-1]),
    )
    tile = problem.best_tile(registers)
    outer = [d for d in (*roles.batch, *roles.rows, *roles.columns) if d not in (row, vector)]
    outer.sort(key=lambda d: output_stride(nest, d), reverse=True)
    loops = [Loop(d) for d in outer]
    loops.append(Loop(vector, tile.vectors * lanes))
    if row is not None:
        loops.append(Loop(row, tile.rows))
    loops += [Loop(d) for d in roles.summed]
    return Schedule(tuple(loops), vector, lanes)


def largest_term_bytes(nest: Nest, column: int, summed: int) -> int:
    """How far a step in a summed dimension moves the operands that vectors are loaded from."""
    return max(
        abs(access.strides[summed]) * (element_bits(access.type.element_type) or 0) // 8
        for access in nest.accesses
        if access.strides is not None and access.reaches(column)
    )
