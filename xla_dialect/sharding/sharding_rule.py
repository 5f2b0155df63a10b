"""
Which dimensions of an operation are split together: `([i, k], [k, j])->([i, j]) {i=8, ..}`.

Rules: docs/specification/shardings.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from xla_dialect.spelling import SpellingError, Tokens
from xla_dialect.violations import require

Dimension: TypeAlias = tuple[int, ...]
"""The factors of a dimension, most major first."""
Dimensions: TypeAlias = tuple[Dimension, ...]
"""Those of an array."""


@dataclass(frozen=True)
class ShardingRule:
    """
    The factors of an operation, and for each operand and result those of its dimensions.

    Splitting a *reduction* factor makes partial results; one that *needs replication* is needed as
    a whole; along a *permutation* elements of neighbours are needed; a *blocked* one does not carry
    shardings from one array to another.
    """

    sizes: tuple[int, ...]
    operands: tuple[Dimensions, ...]
    results: tuple[Dimensions, ...]
    reduction: tuple[int, ...] = ()
    need_replication: tuple[int, ...] = ()
    permutation: tuple[int, ...] = ()
    blocked_propagation: tuple[int, ...] = ()
    is_custom: bool = False
    """Whether a user gave it."""

    @classmethod
    def parse(cls, tokens: Tokens) -> ShardingRule:
        """Reads what `str` writes, in angle brackets; raises SpellingError."""
        tokens.expect("<")
        letters = _Letters()
        operands = _parse_arrays(tokens, letters)
        tokens.expect("->")
        results = _parse_arrays(tokens, letters)
        sizes: dict[int, int] = {}
        if tokens.accept("{"):

            def sized() -> None:
                if not tokens.at(factor_name(len(sizes))):
                    tokens.fail(f"(SH25) the size of factor {factor_name(len(sizes))}")
                factor = letters.known(tokens)
                tokens.expect("=")
                sizes[factor] = tokens.number()

            tokens.items("}", sized)
        lists: dict[str, tuple[int, ...]] = {}
        left = SECTIONS
        is_custom = False
        while not tokens.accept(">"):
            if tokens.accept(","):
                tokens.expect("custom", ">")
                is_custom = True
                break
            name = tokens.peek()
            if name not in left:
                tokens.fail(f"one of {', '.join(SECTIONS)}, each once and in this order")
            left = left[left.index(name) + 1 :]
            tokens.expect(name, "=", "{")
            lists[name] = tuple(tokens.items("}", lambda: letters.known(tokens)))
        for factor in range(letters.count):
            if factor not in sizes:
                raise SpellingError(f"(SH25) factor {factor_name(factor)} has no size")
        every = tuple(sizes[factor] for factor in range(letters.count))
        return ShardingRule(every, operands, results, **lists, is_custom=is_custom)

    def __str__(self) -> str:
        names = [factor_name(number) for number in range(len(self.sizes))]

        def spelled(arrays: Sequence[Dimensions]) -> str:
            lists = (
                ", ".join("".join(names[n] for n in dimension) for dimension in dimensions)
                for dimensions in arrays
            )
            return ", ".join(f"[{one}]" for one in lists)

        parts = [f"({spelled(self.operands)})->({spelled(self.results)})"]
        if names:
            sizes = (f"{name}={size}" for name, size in zip(names, self.sizes, strict=True))
            parts.append(f"{{{', '.join(sizes)}}}")
        for section in SECTIONS:
            found: tuple[int, ...] = getattr(self, section)
            if found:
                parts.append(f"{section}={{{', '.join(names[n] for n in found)}}}")
        return " ".join(parts) + (", custom" if self.is_custom else "")

    def check(self, operands: Sequence[Sequence[int]], results: Sequence[Sequence[int]]) -> None:
        """It is a rule for arrays of these sizes; raises Violation."""
        for what, rules, arrays in (
            ("operand", self.operands, operands),
            ("result", self.results, results),
        ):
            count = len(arrays)
            require(len(rules) == count, "SH22", f"is for {len(rules)} {what}s, there are {count}")
            for number, (dimensions, sizes) in enumerate(zip(rules, arrays, strict=True)):
                place = f"{what} {number}"
                require(
                    len(dimensions) == len(sizes),
                    "SH22",
                    f"gives {place} rank {len(dimensions)}, it has {len(sizes)}",
                )
                self._check_array(dimensions, place)
        self._check_factors()

    def _check_array(self, dimensions: Dimensions, place: str) -> None:
        used: set[int] = set()
        for dimension in dimensions:
            for factor in dimension:
                name = factor_name(factor)
                require(
                    factor not in used,
                    "SH23",
                    "has factor {} twice in the dimensions of {}",
                    name,
                    place,
                )
                is_alone = self.sizes[factor] != 1 or len(dimension) == 1
                require(
                    is_alone,
                    "SH24",
                    "has factor {} of size 1 beside others in a dimension of {}",
                    name,
                    place,
                )
                used.add(factor)

    def _check_factors(self) -> None:
        used = set(chain.from_iterable(chain.from_iterable((*self.operands, *self.results))))
        for factor in range(len(self.sizes)):
            require(
                factor in used, "SH25", "has factor {}, which no dimension has", factor_name(factor)
            )
        kinds: dict[int, str] = {}
        for section in SECTIONS:
            factors: tuple[int, ...] = getattr(self, section)
            require(
                list(factors) == sorted(set(factors)), "SH26", "{}: factors do not ascend", section
            )
            for factor in factors if section != "blocked_propagation" else ():
                require(
                    factor not in kinds,
                    "SH26",
                    f"has factor {factor_name(factor)} in {kinds.get(factor)} and {section}",
                )
                kinds[factor] = section
        of_results = set(chain.from_iterable(chain.from_iterable(self.results)))
        for factor in self.reduction:
            require(
                factor not in of_results,
                "SH27",
                "reduction: a result has factor {}",
                factor_name(factor),
            )


SECTIONS = ("reduction", "need_replication", "permutation", "blocked_propagation")
"""The kinds of factors that a rule lists, in this order."""
_FIRST, _LAST = ord("i"), ord("z")
_LETTER = re.compile(r"z_[1-9][0-9]{0,5}|[i-z]")


def factor_name(factor: int) -> str:
    """`i` to `z`, then `z_1`, `z_2`, and so on."""
    last = _LAST - _FIRST
    return chr(_FIRST + factor) if factor <= last else f"z_{factor - last}"


class _Letters:
    """The factors by their names: each is used before the next one."""

    def __init__(self) -> None:
        self.count = 0

    def dimension(self, tokens: Tokens) -> Dimension:
        """`i`, `ij`"""
        position = tokens.position
        text = tokens.word()
        names = _LETTER.findall(text)
        if "".join(names) != text:
            raise SpellingError(f"expected factors i to z, or z_1 and so on: {text}", position)
        factors = tuple(map(_number, names))
        self.count = max(self.count, *(factor + 1 for factor in factors))
        return factors

    def known(self, tokens: Tokens) -> int:
        """`i`, which a dimension has."""
        position = tokens.position
        name = tokens.word()
        if _LETTER.fullmatch(name) is None or _number(name) >= self.count:
            raise SpellingError(f"(SH25) no dimension has a factor {name}", position)
        return _number(name)


def _number(name: str) -> int:
    return _LAST - _FIRST + int(name[2:]) if len(name) > 1 else ord(name) - _FIRST


def _parse_arrays(tokens: Tokens, letters: _Letters) -> tuple[Dimensions, ...]:
    """`([i, k], [kj])`"""

    def array() -> Dimensions:
        tokens.expect("[")
        return tuple(tokens.items("]", lambda: letters.dimension(tokens)))

    tokens.expect("(")
    return tuple(tokens.items(")", array))
