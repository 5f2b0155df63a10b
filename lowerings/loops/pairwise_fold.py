"""Folds of terms in pairs, which wait for one another less than each for the one before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.ir import SSAValue


@dataclass
class PairwiseFold:
    """What folds terms that are written one by one: pairs, pairs of pairs, and so on."""

    combine: Callable[[SSAValue, SSAValue], SSAValue]
    _parts: list[tuple[int, SSAValue]] = field(default_factory=list[tuple[int, SSAValue]])
    """Folds of 2^k terms with their k, which descends."""

    def add(self, term: SSAValue) -> None:
        """Adds one term."""
        level = 0
        while self._parts and self._parts[-1][0] == level:
            term = self.combine(self._parts.pop()[1], term)
            level += 1
        self._parts.append((level, term))

    @property
    def is_empty(self) -> bool:
        """Whether there is no term."""
        return not self._parts

    def total(self) -> SSAValue:
        """The fold of all terms, of which there is at least one."""
        parts = [part for _, part in self._parts]
        result = parts.pop()
        while parts:
            result = self.combine(parts.pop(), result)
        return result
