"""Collective permutes in place: slices of inputs that go into outputs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeVar

from xdsl.ir import Attribute

from xla_dialect.rules.constraints import as_array, require_same_elements
from xla_dialect.types import S32, flatten, is_scalar, sizes_of, spell, spell_all
from xla_dialect.violations import require

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class PermutedSlices:
    """What the operands are, tuples taken apart: inputs, outputs, offsets into both."""

    ranks: tuple[int, ...]
    """Of each input, and of its output."""
    copies: int
    """How many slices of each input go to the target of one source."""

    @staticmethod
    def of(operands: Sequence[Attribute]) -> PermutedSlices:
        """
        Reads it off the types of the operands.

        Raises Violation (C3) for other buffers than pairs of arrays of one element type and rank,
        (C4) for other offsets than one s32 for each dimension, or several times as many.
        """
        leaves = flatten(operands)
        buffers = list(takewhile(lambda type_: not is_scalar(type_), leaves))
        arrays = [as_array(type_, f"buffer {i}", "C3") for i, type_ in enumerate(buffers)]
        count = len(arrays) // 2
        require(
            0 < len(arrays) == 2 * count,
            "C3",
            "with slice_sizes there are inputs and as many outputs, found {}",
            spell_all(operands),
        )
        ranks = tuple(len(sizes_of(array)) for array in arrays)
        for i in range(count):
            require_same_elements(arrays[i], arrays[count + i], f"input and output {i}", "C3")
        require(
            ranks[:count] == ranks[count:],
            "C3",
            "inputs have ranks {}, outputs {}",
            list(ranks[:count]),
            list(ranks[count:]),
        )
        offsets = leaves[len(arrays) :]
        for offset in offsets:
            require(is_scalar(offset, S32), "C4", "an offset is {}, not s32[]", spell(offset))
        copies, rest = divmod(len(offsets), sum(ranks))
        require(
            copies > 0 and not rest, "C4", "{} offsets for {} dimensions", len(offsets), sum(ranks)
        )
        return PermutedSlices(ranks[:count], copies)

    def slice_sizes(self, text: str, operands: Sequence[Attribute]) -> Sequence[Sequence[int]]:
        """
        The sizes of the slices, those of an input together: `{{2,2},{3,3}}`.

        Raises Violation (C5) where they are not one list for each slice, which fits its arrays.
        """
        lists = re.findall(r"\{([^{}]*)\}", text)
        found = [tuple(map(int, re.findall("-?[0-9]{1,19}", numbers))) for numbers in lists]
        leaves = flatten(operands)
        pairs = [
            (as_array(leaves[i], "", "C3"), as_array(leaves[self.count + i], "", "C3"))
            for i in range(self.count)
            for _ in range(self.copies)
        ]
        require(
            len(found) == len(pairs),
            "C5",
            "slice_sizes are {} for {} slices",
            text,
            len(pairs),
        )
        for sizes, pair in zip(found, pairs, strict=True):
            whole = tuple(map(min, *map(sizes_of, pair)))
            require(
                len(sizes) == len(whole)
                and all(0 <= n <= m for n, m in zip(sizes, whole, strict=True)),
                "C5",
                "slices of sizes {} of {} into {}",
                list(sizes),
                *map(spell, pair),
            )
        return found

    @property
    def count(self) -> int:
        """How many inputs there are, and how many outputs."""
        return len(self.ranks)

    def offsets(self, leaves: Sequence[_Value], buffer: int, copy: int, side: int) -> list[_Value]:
        """The offsets of a slice into an input (`side` 0) or output (1), among all leaves."""
        before = sum(self.ranks[:buffer])
        start = (side * sum(self.ranks) + before) * self.copies + copy * self.ranks[buffer]
        start += 2 * self.count
        return list(leaves[start : start + self.ranks[buffer]])
