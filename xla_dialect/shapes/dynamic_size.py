"""Sizes that are not known: of bounded dynamic dimensions, and of unbounded ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self


class DynamicSize(int):
    """
    The upper bound of a dynamic dimension.

    It compares as the bound, for no constraint looks at the mark; what is computed from it is
    dynamic too. So a shape function carries marks from operands to results without naming them.
    """

    def __repr__(self) -> str:
        return f"<={int(self)}"

    def __add__(self, value: int, /) -> int:
        return marked(int(self) + value, self)

    def __sub__(self, value: int, /) -> int:
        return marked(int(self) - value, self)

    def __rsub__(self, value: int, /) -> int:
        return marked(value - int(self), self)

    def __mul__(self, value: int, /) -> int:
        return marked(int(self) * value, self)

    def __floordiv__(self, value: int, /) -> int:
        return marked(int(self) // value, self)

    def __neg__(self) -> int:
        return DynamicSize(-int(self))

    __radd__ = __add__
    __rmul__ = __mul__


class UnknownSize(int):
    """
    The size of a dimension of which nothing is known: MLIR's `?`, by its number.

    What is computed from it is unknown too, but for its product with 0. It equals itself only:
    whether a size may be another one says `compatible`, whether it may be in some range `bounded`.
    `UNKNOWN` is the only one.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "?"

    def _same(self, value: int, /) -> Self:
        return self

    def __mul__(self, value: int, /) -> int:
        return self if value else 0

    def __neg__(self) -> Self:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = _same
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _same
    __rmul__ = __mul__


UNKNOWN = UnknownSize(-(1 << 63))
"""It equals xDSL's `DYNAMIC_INDEX`."""


def is_unknown(size: int) -> bool:
    """Whether nothing is known of a size."""
    return isinstance(size, UnknownSize)


def compatible_sizes(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether arrays of these sizes may have one shape: as many, and each pair compatible."""
    return len(a) == len(b) and all(map(compatible, a, b))


def compatible(a: int, b: int) -> bool:
    """Whether two sizes may be equal: they are, or one of them is unknown."""
    return a == b or is_unknown(a) or is_unknown(b)


def bounded(least: int, size: int, most: int | None = None) -> bool:
    """Whether a size may be at least, and at most, another one; what is unknown may."""
    if is_unknown(size):
        return True
    return (is_unknown(least) or least <= size) and (
        most is None or is_unknown(most) or size <= most
    )


def divisible(size: int, parts: int) -> bool:
    """Whether a size may be a multiple of a positive one."""
    return is_unknown(size) or is_unknown(parts) or size % parts == 0


def is_dynamic(sizes: Sequence[int]) -> bool:
    """Whether one of the sizes is dynamic."""
    return any(isinstance(size, DynamicSize) for size in sizes)


def marked(size: int, *others: int) -> int:
    """The size, dynamic if it or one of the others is; one that is unknown stays so."""
    if is_unknown(size) or not is_dynamic((size, *others)):
        return size
    return DynamicSize(size)


def united(sizes: Sequence[int], *others: Sequence[int]) -> tuple[int, ...]:
    """
    The sizes of dimensions that are equal in all of the lists, which are equally long.

    A dimension is dynamic where it is in one of them, and unknown where it is in all. Raises
    Violation for two known sizes that differ, which one that is unknown does not tell.
    """
    return tuple(map(_united, zip(sizes, *others, strict=True)))


def _united(column: Sequence[int]) -> int:
    known = [size for size in column if not is_unknown(size)]
    if len(known) == len(column):
        return marked(*column)
    if any(size != known[0] for size in known):
        # What runs programs asks for sizes too, and has no use for xDSL.
        from xla_dialect.violations import Violation  # noqa: PLC0415

        raise Violation("Size", f"sizes {known} are those of one dimension")
    return marked(*known) if known else UNKNOWN
