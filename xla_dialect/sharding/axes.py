"""
Axes of a mesh, and parts of axes: `"x"`, `"y":(1)2`.

Rules: docs/specification/shardings.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xla_dialect.sharding.tokens import Tokens

Sizes = Mapping[str, int]
"""The sizes of the axes of a mesh by their names, in the order of the mesh."""


@dataclass(frozen=True, order=True)
class AxisReference:
    """
    A whole axis of a mesh, or the part `(pre_size)size` of it.

    An axis of size 8 that is split as 2x2x2 has the parts `(1)2`, `(2)2` and `(4)2` from major to
    minor, and also `(1)4` and `(2)4`: `pre_size` is the product of what is more major.
    """

    name: str
    pre_size: int = 1
    size: int | None = field(default=None, compare=True)
    """None for the whole axis."""

    @classmethod
    def parse(cls, tokens: Tokens) -> AxisReference:
        """Reads `"x"` or `"x":(1)2`, with quotes of either kind; raises SpellingError."""
        name = tokens.quoted()
        if not tokens.accept(":"):
            return AxisReference(name)
        tokens.expect("(")
        pre_size = tokens.number()
        tokens.expect(")")
        return AxisReference(name, pre_size, tokens.number())

    def __str__(self) -> str:
        return self.spelled('"')

    def spelled(self, quote: str) -> str:
        """The text with quotes of this kind."""
        part = "" if self.size is None else f":({self.pre_size}){self.size}"
        return f"{quote}{self.name}{quote}{part}"

    def size_in(self, sizes: Sizes) -> int:
        """How many parts it makes."""
        return sizes[self.name] if self.size is None else self.size

    def end_in(self, sizes: Sizes) -> int:
        """The product of the sizes up to the end of the part: the `pre_size` of what follows."""
        return self.pre_size * self.size_in(sizes)

    def overlaps(self, other: AxisReference, sizes: Sizes) -> bool:
        """Whether both have a part of an axis in common."""
        return (
            self.name == other.name
            and self.pre_size < other.end_in(sizes)
            and other.pre_size < self.end_in(sizes)
        )

    def contains(self, other: AxisReference, sizes: Sizes) -> bool:
        """Whether the other is this or a part of it."""
        return (
            self.name == other.name
            and self.pre_size <= other.pre_size
            and other.end_in(sizes) <= self.end_in(sizes)
        )

    def between(self, start: int, end: int, sizes: Sizes) -> AxisReference | None:
        """The part of the axis from one product of sizes to another; None where it is empty."""
        if start >= end:
            return None
        whole = start == 1 and end == sizes[self.name]
        return AxisReference(self.name) if whole else AxisReference(self.name, start, end // start)

    def merged(self, other: AxisReference, sizes: Sizes) -> AxisReference | None:
        """Both as one, where the other is the part that follows this one; else None."""
        if self.name != other.name or self.end_in(sizes) != other.pre_size:
            return None
        return self.between(self.pre_size, other.end_in(sizes), sizes)

    def without(self, others: Iterable[AxisReference], sizes: Sizes) -> list[AxisReference]:
        """What is left of it without the others: parts from major to minor."""
        left: list[AxisReference] = [self]
        for other in others:
            if other.name != self.name:
                continue
            left = [
                part
                for old in left
                for part in (
                    (old._prefix(other.pre_size, sizes), old._suffix(other.end_in(sizes), sizes))
                    if old.overlaps(other, sizes)
                    else (old,)
                )
                if part is not None
            ]
        return left

    def split(self, size: int, sizes: Sizes) -> tuple[AxisReference, AxisReference | None]:
        """The major part of this size, which divides the whole, and what remains."""
        start, end = self.pre_size, self.end_in(sizes)
        first = self.between(start, start * size, sizes)
        assert first is not None
        return first, self.between(start * size, end, sizes)

    def _prefix(self, end: int, sizes: Sizes) -> AxisReference | None:
        return self.between(self.pre_size, min(end, self.end_in(sizes)), sizes)

    def _suffix(self, start: int, sizes: Sizes) -> AxisReference | None:
        return self.between(max(start, self.pre_size), self.end_in(sizes), sizes)

    def fault(self, sizes: Sizes) -> str | None:
        """What is wrong with it in a mesh: no such axis, or no such part; None if nothing."""
        whole = sizes.get(self.name)
        if whole is None:
            return f"(SH3) unknown axis {self.name!r}"
        if self.size is None:
            return None
        if self.pre_size < 1 or self.size < 2:
            return f"(SH3) sub-axis {self}: its pre-size is at least 1, its size at least 2"
        if whole % (self.pre_size * self.size):
            product = f"{self.pre_size} times {self.size}"
            return f"(SH3) sub-axis {self}: {product} does not divide {whole}"
        if self.size == whole:
            return f"(SH3) sub-axis {self} is all of the axis"
        return None


def size_of(axes: Iterable[AxisReference], sizes: Sizes) -> int:
    """How many parts the axes make together."""
    product = 1
    for axis in axes:
        product *= axis.size_in(sizes)
    return product


def merged_axes(axes: Iterable[AxisReference], sizes: Sizes) -> tuple[AxisReference, ...]:
    """The axes, those parts that follow each other as one."""
    found: list[AxisReference] = []
    for axis in axes:
        both = found[-1].merged(axis, sizes) if found else None
        if both is None:
            found.append(axis)
        else:
            found[-1] = both
    return tuple(found)


def in_mesh_order(axes: Iterable[AxisReference], sizes: Sizes) -> tuple[AxisReference, ...]:
    """The axes in the order of the mesh, parts from major to minor, merged where they can be."""
    order = {name: number for number, name in enumerate(sizes)}
    return merged_axes(sorted(axes, key=lambda a: (order[a.name], a.pre_size)), sizes)


def axes_fault(lists: Iterable[Sequence[AxisReference]], sizes: Sizes) -> str | None:
    """What is wrong with lists of axes that are used side by side; None if nothing."""
    used: list[AxisReference] = []
    for axes in lists:
        for axis in axes:
            fault = axis.fault(sizes)
            if fault is not None:
                return fault
            for other in used:
                if axis.overlaps(other, sizes):
                    return (
                        f"(SH4) axis {axis} is used twice"
                        if axis == other
                        else f"(SH4) axes {other} and {axis} overlap"
                    )
            used.append(axis)
        for first, second in pairwise(axes):
            if first.merged(second, sizes) is not None:
                return f"(SH5) sub-axes {first} and {second} are one"
    return None


def order_fault(name: str, axes: Sequence[AxisReference], sizes: Sizes) -> str | None:
    """What is wrong with the order of axes that are a set; None if nothing."""
    if tuple(axes) == in_mesh_order(axes, sizes):
        return None
    return f"(SH6) {name} axes {spell_axes(axes)} are not in the order of the mesh"


def spell_axes(axes: Iterable[object]) -> str:
    """`{"x", "y":(1)2}`"""
    return f"{{{', '.join(map(str, axes))}}}"


class AxisList(tuple[AxisReference, ...]):
    """`{"x", "y":(1)2}`"""

    @classmethod
    def parse(cls, tokens: Tokens) -> AxisList:
        """Reads what `str` writes; raises SpellingError."""
        tokens.expect("{")
        return AxisList(tokens.items("}", lambda: AxisReference.parse(tokens)))

    def __str__(self) -> str:
        return spell_axes(self)


class AxisLists(tuple[AxisList, ...]):
    """Those of each dimension: `[{"x"}, {}]`."""

    @classmethod
    def parse(cls, tokens: Tokens) -> AxisLists:
        """Reads what `str` writes; raises SpellingError."""
        return AxisLists(tokens.contents("sdy.axis_ref_list", AxisList.parse))

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self))}]"


class ManualAxes(tuple[str, ...]):
    """The axes of whose parts a computation sees its own only: `{"x", "y"}`."""

    @classmethod
    def parse(cls, tokens: Tokens) -> ManualAxes:
        """Reads what `str` writes; raises SpellingError."""
        tokens.expect("{")
        return ManualAxes(tokens.items("}", tokens.quoted))

    def __str__(self) -> str:
        return spell_axes(map(AxisReference, self))
