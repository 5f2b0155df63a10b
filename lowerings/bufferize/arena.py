"""
Offsets in one arena for buffers, so that those with overlapping live ranges do not overlap: static
memory planning (offline dynamic storage allocation).

Minimising the arena is NP-hard. Several simple plans are made, the smallest is taken: sweeps in the
order of time, which put each buffer into the first or the best fitting gap, and for small programs
a placement of the largest buffers first. Buffers of equal size are placed optimally by a sweep
(interval colouring); in general first fit takes at most `1 + log2(n)` times the most bytes that are
live at once, `n` being the ratio of the largest size to the smallest (J. M. Robson, "Worst case
fragmentation of first fit and best fit storage allocation strategies", 1977).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

__all__ = ["ALIGNMENT", "Lifetime", "Plan", "aligned", "max_live_bytes", "plan_arena"]

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector. Sizes are rounded up to it."""

LARGEST_FIRST_LIMIT = 512
"""Placing the largest first takes quadratic time; programs with more buffers do without."""

_ENDLESS = 1 << 62


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A buffer that is needed from position `first` to `last`, both included."""

    first: int
    last: int
    size: int
    """Bytes."""


@dataclass(frozen=True)
class Plan:
    """Where each buffer goes, and how large the arena has to be, in bytes."""

    offsets: tuple[int, ...]
    size: int


def aligned(size: int) -> int:
    """The size, in bytes, that a buffer takes in the arena."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def max_live_bytes(lifetimes: Sequence[Lifetime]) -> int:
    """The most bytes, rounded up for each buffer, that are live at one position."""
    changes: list[tuple[int, int]] = []
    for lifetime in lifetimes:
        changes.append((lifetime.first, aligned(lifetime.size)))
        changes.append((lifetime.last + 1, -aligned(lifetime.size)))
    live = most = 0
    for _, change in sorted(changes):
        live += change
        most = max(most, live)
    return most


def plan_arena(lifetimes: Sequence[Lifetime]) -> Plan:
    """Offsets for buffers such that no two that are live at the same position overlap."""
    order = sorted(
        (index for index, lifetime in enumerate(lifetimes) if lifetime.size > 0),
        key=lambda index: (lifetimes[index].first, -lifetimes[index].size),
    )
    bound = max_live_bytes(lifetimes)
    best = _sweep(lifetimes, order, best_fit=True)
    if best.size > bound:
        best = min(best, _sweep(lifetimes, order, best_fit=False), key=lambda plan: plan.size)
    if best.size > bound and len(order) <= LARGEST_FIRST_LIMIT:
        best = min(best, _largest_first(lifetimes, order), key=lambda plan: plan.size)
    return best


def _sweep(lifetimes: Sequence[Lifetime], order: Sequence[int], *, best_fit: bool) -> Plan:
    """Goes through time; gives back what has ended, and finds a gap for what begins."""
    offsets = [0] * len(lifetimes)
    ending: list[tuple[int, int]] = []
    gaps = _Gaps()
    for index in order:
        lifetime = lifetimes[index]
        while ending and ending[0][0] < lifetime.first:
            _, ended = heappop(ending)
            gaps.give_back(offsets[ended], aligned(lifetimes[ended].size))
        offsets[index] = gaps.take(aligned(lifetime.size), best_fit)
        heappush(ending, (lifetime.last, index))
    return _plan_of(lifetimes, offsets)


def _largest_first(lifetimes: Sequence[Lifetime], order: Sequence[int]) -> Plan:
    """Gives each buffer, from the largest to the smallest, its lowest possible place."""
    offsets = [0] * len(lifetimes)
    placed: list[tuple[int, int, int, int]] = []
    """Offset, end, and lifetime of what has its place, by offset."""
    for index in sorted(order, key=lambda index: -lifetimes[index].size):
        lifetime = lifetimes[index]
        size, offset = aligned(lifetime.size), 0
        for start, end, first, last in placed:
            if first <= lifetime.last and lifetime.first <= last:
                if offset + size <= start:
                    break
                offset = max(offset, end)
        offsets[index] = offset
        insort(placed, (offset, offset + size, lifetime.first, lifetime.last))
    return _plan_of(lifetimes, offsets)


def _plan_of(lifetimes: Sequence[Lifetime], offsets: Sequence[int]) -> Plan:
    ends = [
        offset + aligned(lifetime.size) for offset, lifetime in zip(offsets, lifetimes, strict=True)
    ]
    return Plan(tuple(offsets), max(ends, default=0))


class _Gaps:
    """The free parts of an arena without an end, by offset; neighbouring ones are merged."""

    def __init__(self) -> None:
        self._gaps: list[tuple[int, int]] = [(0, _ENDLESS)]
        """Start and end of each."""

    def take(self, size: int, best_fit: bool) -> int:
        """The offset of a place of this size, taken from the first or the smallest gap it fits."""
        chosen = self._best_fit(size) if best_fit else self._first_fit(size)
        start, end = self._gaps[chosen]
        if start + size == end:
            del self._gaps[chosen]
        else:
            self._gaps[chosen] = (start + size, end)
        return start

    def _first_fit(self, size: int) -> int:
        return next(i for i, (start, end) in enumerate(self._gaps) if end - start >= size)

    def _best_fit(self, size: int) -> int:
        fitting = (
            (end - start, i) for i, (start, end) in enumerate(self._gaps) if end - start >= size
        )
        return min(fitting)[1]

    def give_back(self, offset: int, size: int) -> None:
        """Makes a place free again."""
        start, end = offset, offset + size
        index = bisect_left(self._gaps, (start, end))
        if self._gaps[index][0] == end:
            end = self._gaps.pop(index)[1]
        if index and self._gaps[index - 1][1] == start:
            index -= 1
            start = self._gaps.pop(index)[0]
        self._gaps.insert(index, (start, end))
