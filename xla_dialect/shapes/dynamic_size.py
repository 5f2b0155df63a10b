"""Sizes of bounded dynamic dimensions, whose marks travel through shape arithmetic."""

from __future__ import annotations

from collections.abc import Sequence


class DynamicSize(int):
    """
    The upper bound of a dynamic dimension.

    It compares as the bound, for no constraint looks at the mark; what is computed from it is
    dynamic too. So a shape function carries marks from operands to results without naming them.
    """

    def __repr__(self) -> str:
        return f"<={int(self)}"

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


def is_dynamic(sizes: Sequence[int]) -> bool:
    """Whether one of the sizes is dynamic."""
    return any(isinstance(size, DynamicSize) for size in sizes)


def marked(size: int, *others: int) -> int:
    """The size, dynamic if it or one of the others is."""
    if isinstance(size, DynamicSize) or not any(isinstance(n, DynamicSize) for n in others):
        return size
    return DynamicSize(size)


def united(sizes: Sequence[int], *others: Sequence[int]) -> tuple[int, ...]:
    """The sizes; a dimension is dynamic where it is in one of the lists, which are equally long."""
    return tuple(marked(*column) for column in zip(sizes, *others, strict=True))
