"""Register tiles: how many rows and vectors of running values a contraction works on at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd


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
"""The geometry of an L1 data cache of 48 KB."""

NEAR_LOAD_CYCLES, FAR_LOAD_CYCLES = 0.5, 2.0
"""Of a vector from the first-level cache, and from the one behind it."""

STREAMED_ELEMENT_CYCLES = 0.1
"""What one element of a row adds that has to come from beyond the second-level cache."""

DISTINCT_TILE_PENALTY = 0.08
"""
What another size of tile at an edge must save: it is as much code as the main one, and takes about
10 ms to compile.
"""
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
        element = self.row_cycles + (STREAMED_ELEMENT_CYCLES if self.rows_are_large else 0.0)
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
                for tile in register_tiles(registers)
                if tile.rows <= self.rows and tile.vectors <= self.vectors
            ),
            key=self.cost,
        )
