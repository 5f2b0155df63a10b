"""
Sums of floats, in blocks, so that their error does not grow with their length.

The terms of a block are added in their order; the sums of blocks with compensation. Sums lie in
memory while they are added up where loops over their elements are inside of those over terms: how
much too large each is lies beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from xdsl.ir import SSAValue

from lowerings.dialects.schedule import Loop
from lowerings.ir.compensation import compensated
from lowerings.loops.builder import Index
from lowerings.loops.math_functions.numbers import Number
from lowerings.loops.memory import MemoryAccess

IN_ORDER = 16
"""So many terms of a sum are added one after the other, if nothing is computed for them."""
PRODUCTS_IN_ORDER = 512
"""
So many products, of all running values that take turns: a register tile of a contraction has two
dozen such values, to add which with compensation takes as long as eight terms of each.
"""


def block_of(iterations: int, inside: int, most: int) -> int | None:
    """
    How many iterations of a loop a block has, each of which adds `inside` terms; all blocks are
    equal if possible. None if all terms are few, as blocks of `most` are then.
    """
    if iterations * inside <= most:
        return None
    largest = max(1, most // inside)
    even = (size for size in range(largest, largest // 2, -1) if iterations % size == 0)
    return next(even, largest)


@dataclass(frozen=True)
class SumBlocks:
    """Which of the loops that add up runs over blocks."""

    level: int
    size: int
    """How many of its iterations a block has."""

    @staticmethod
    def of(
        extents: Sequence[int], loops: Sequence[Loop], first: int, most: int
    ) -> SumBlocks | None:
        """The blocks of loops, of which those from the first on add up; None if none is needed."""
        inside = 1
        for level in range(len(loops) - 1, first - 1, -1):
            extent, tile = extents[loops[level].dimension], loops[level].tile
            size = block_of(extent // tile, inside, most)
            if size is not None:
                return SumBlocks(level, size)
            inside *= ceil(extent / tile)
        return None


MOST_BYTES = 1 << 18
"""What it may take of the stack; larger sums are added without compensation."""

IN_TURN = 32
"""Up to so many times, sums are added to without it, which moves half of the memory of theirs."""


class Rounding(MemoryAccess):
    """Memory that holds by how much sums are too large."""

    def added(
        self, total: SSAValue, terms: SSAValue, position: Sequence[Index], lanes: int | None
    ) -> SSAValue:
        """An element of the sums, or a vector of so many, with terms added."""
        before = self.load(position, lanes)
        after = compensated(*(Number(self.builder, part) for part in (total, before, terms)))
        added, rest = (number.value for number in after)
        self.store(rest, position, lanes)
        return added
