"""Sizes that are not known: of bounded dynamic dimensions, and of unbounded ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, Self, cast


class DynamicSize(int):
    """
    The upper bound of a dynamic dimension.

    It compares as the bound, for no constraint looks at the mark; what is computed from it is
    dynamic too. So a shape function carries marks from operands to results without naming them.
    """

    def __repr__(self) -> str:
        return f"<={int(self)}"

    def __eq__(self, value: object, /) -> bool:
        return isinstance(value, UnknownSize) or int.__eq__(self, cast(int, value))

    __hash__ = int.__hash__

    def __add__(self, value: int, /) -> int:
        return DynamicSize(int(self) + int(value))

    def __sub__(self, value: int, /) -> int:
        return DynamicSize(int(self) - int(value))

    def __rsub__(self, value: int, /) -> int:
        return DynamicSize(int(value) - int(self))

    def __mul__(self, value: int, /) -> int:
        return DynamicSize(int(self) * int(value))

    def __floordiv__(self, value: int, /) -> int:
        return DynamicSize(int(self) // int(value))

    def __neg__(self) -> int:
        return DynamicSize(-int(self))

    __radd__ = __add__
    __rmul__ = __mul__


class UnknownSize(int):
    """
    The size of a dimension of which nothing is known: it cannot be wrong yet.

    Constraints say what has to hold, so every comparison holds; what is computed from it is unknown
    too, but for its product with 0. `UNKNOWN` is the only one.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "?"

    def __hash__(self) -> int:
        return hash(UnknownSize)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, value: object, /) -> bool:
        return isinstance(value, int)

    def __ne__(self, value: object, /) -> bool:
        return not isinstance(value, int)

    def _holds(self, value: int, /) -> bool:
        return True

    def _same(self, value: int, /) -> Self:
        return self

    def __mul__(self, value: int, /) -> int:
        return self if value else 0

    def __neg__(self) -> Self:
        return self

    def __index__(self) -> NoReturn:
        raise TypeError("the size of a dimension is not known")

    __lt__ = __le__ = __gt__ = __ge__ = _holds
    __add__ = __radd__ = __sub__ = __rsub__ = _same
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _same
    __rmul__ = __mul__


UNKNOWN = UnknownSize()


def is_unknown(size: int) -> bool:
    """Whether nothing is known of a size."""
    return isinstance(size, UnknownSize)


def is_dynamic(sizes: Sequence[int]) -> bool:
    """Whether one of the sizes is dynamic."""
    return any(isinstance(size, DynamicSize) for size in sizes)


def marked(size: int, *others: int) -> int:
    """The size, dynamic if it or one of the others is."""
    if isinstance(size, DynamicSize) or not any(isinstance(n, DynamicSize) for n in others):
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
