"""Sizes at run time of reshapes of arrays with dynamic dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xla_dialect.diagnostics import XlaError
from xla_dialect.shapes import size_arithmetic
from xla_dialect.shapes.size_arithmetic import DynamicSize


@dataclass(frozen=True)
class ReshapeGroup:
    """A reassociation group: dimensions of an operand and of a result with equal element counts."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    bounds: tuple[int, ...]
    """The sizes of the dimensions of the result, dynamic ones as `DynamicSize`."""

    @property
    def open(self) -> int | None:
        """The one dynamic dimension of the result here, which takes what is left; None if none."""
        found = [d for d, n in zip(self.after, self.bounds, strict=True) if _is_dynamic(n)]
        return found[0] if len(found) == 1 else None

    @property
    def rest(self) -> int:
        """The product of the static sizes of the result."""
        return math.prod(int(n) for n in self.bounds if not _is_dynamic(n))

    def resolved(self, count: int) -> tuple[int, ...]:
        """
        The sizes at run time of the dimensions of the result, which have `count` elements.

        Raises XlaError where they do not follow: one dimension at most may be dynamic, unless all
        dimensions are as large as they can be.
        """
        if count == math.prod(map(int, self.bounds)):
            return tuple(map(int, self.bounds))
        if self.open is None or count % self.rest:
            raise XlaError(f"{count} {self.unresolved}")
        return tuple(count // self.rest if _is_dynamic(n) else n for n in self.bounds)

    @property
    def unresolved(self) -> str:
        """What is wrong with a number of elements that `resolved` refuses."""
        return f"elements do not tell the sizes of {list(self.bounds)}"


def _is_dynamic(size: int) -> bool:
    return isinstance(size, DynamicSize)


def reshape_groups(before: Sequence[int], after: Sequence[int]) -> list[ReshapeGroup]:
    """
    The groups of a reshape, in which sizes at run time follow one by one from those of the operand.

    There is one group only where a static dimension of the result would be made of dynamic ones.
    """
    groups = size_arithmetic.reshape_groups(list(map(int, before)), list(map(int, after)))
    if any(
        any(_is_dynamic(before[d]) for d in mine) and not any(_is_dynamic(after[d]) for d in theirs)
        for mine, theirs in groups
    ):
        groups = [(list(range(len(before))), list(range(len(after))))]
    return [
        ReshapeGroup(tuple(mine), tuple(theirs), tuple(after[d] for d in theirs))
        for mine, theirs in groups
    ]


def reshaped_sizes(
    sizes: Sequence[int], before: Sequence[int], after: Sequence[int]
) -> tuple[int, ...]:
    """
    The sizes at run time of a reshape of an array that has these sizes.

    `before` and `after` are the types' sizes. Raises XlaError where they do not follow.
    """
    found = [int(n) for n in after]
    for group in reshape_groups(before, after):
        count = math.prod(sizes[d] for d in group.before)
        for d, size in zip(group.after, group.resolved(count), strict=True):
            found[d] = size
    return tuple(found)
