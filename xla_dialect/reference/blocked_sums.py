"""
Sums of floats in blocks, as (RC4) has them: terms are added in their order within a block of
`BLOCK`, and the sums of blocks in pairs, pairs of pairs, and so on. So a sum of n terms is off by
at most `(BLOCK + log2(n)) u Σ|x|`, with the unit roundoff u of the type.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from xla_dialect.literals.arrays import Array

BLOCK = 16
"""So many terms are added one after the other."""


@dataclass
class BlockedSum:
    """A sum of arrays that come one by one, or what it is of none."""

    nothing: Array
    _block: Array | None = None
    _count: int = 0
    """How many terms the block has."""
    _pairs: list[tuple[int, Array]] = field(default_factory=list[tuple[int, Array]])
    """Sums of 2^k blocks with their k, which descends."""

    def add(self, term: Array) -> None:
        """Adds one term."""
        self._block = term if self._block is None else self._block + term
        self._count += 1
        if self._count == BLOCK:
            self.add_blocks(self._block)
            self._block, self._count = None, 0

    def add_blocks(self, total: Array, level: int = 0) -> None:
        """Adds what `2 ** level` whole blocks amount to; no block has been begun."""
        while self._pairs and self._pairs[-1][0] == level:
            total = self._pairs.pop()[1] + total
            level += 1
        self._pairs.append((level, total))

    def total(self) -> Array:
        """The sum of all terms so far."""
        parts = [pair for _, pair in self._pairs]
        if self._block is not None:
            parts.append(self._block)
        result = parts.pop() if parts else self.nothing
        while parts:
            result = parts.pop() + result
        return result


def blocked_sum(x: Array) -> Array:
    """The sum over axis 0, which has at least one position, with the bits of `BlockedSum`."""
    whole = len(x) // BLOCK
    blocks = x[: whole * BLOCK].reshape((whole, BLOCK, *x.shape[1:]))
    sums = [_in_order(blocks.swapaxes(0, 1))] if whole else []
    if len(x) > whole * BLOCK:
        sums.append(_in_order(x[whole * BLOCK :])[None])
    total = np.concatenate(sums)
    while len(total) > 1:
        odd = total[len(total) & ~1 :]
        total = np.concatenate((total[: len(total) & ~1 : 2] + total[1::2], odd))
    return total[0]


def _in_order(x: Array) -> Array:
    total = x[0]
    for term in x[1:]:
        total = total + term
    return total
