"""Square blocks, read along one dimension and used along another: transposed in registers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from lowerings.loops.builder import LoopBuilder
from lowerings.loops.memory import shuffled

LARGEST_BLOCK = 16
"""Rows and lanes of the largest block: its vectors, read and transposed, fit the register file."""


def transpose_block(rows: Sequence[SSAValue], builder: LoopBuilder) -> list[SSAValue]:
    """
    The columns of a square block given by its rows, each a vector; a power of two of them.

    One exchange for each bit of the row number: what rows with the bit set hold in lanes without
    it changes places with what the row without the bit holds in lanes with it.
    """
    result = list(rows)
    count = len(rows)
    bit = 1
    while bit < count:
        first = [lane if not lane & bit else count + lane - bit for lane in range(count)]
        second = [lane + bit if not lane & bit else count + lane for lane in range(count)]
        for row in range(count):
            if not row & bit:
                pair = result[row], result[row | bit]
                result[row] = shuffled(pair, first, builder)
                result[row | bit] = shuffled(pair, second, builder)
        bit *= 2
    return result
