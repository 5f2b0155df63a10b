"""
The devices of a program as an array with named axes: `#sdy.mesh<["x"=4, "y"=2]>`; these axes, and
parts of them: `"x"`, `"y":(1)2`.

Rules: docs/specification/shardings.md.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from xla_dialect.spelling import SpellingError, Tokens, shortened
from xla_dialect.violations import Violation, require

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
            first, last = other.pre_size, other.end_in(sizes)
            parts: list[AxisReference | None] = []
            for old in left:
                start, end = old.pre_size, old.end_in(sizes)
                parts.append(self.between(start, min(first, end), sizes))
                parts.append(self.between(max(last, start), end, sizes))
            left = [part for part in parts if part is not None]
        return left

    def split(self, size: int, sizes: Sizes) -> tuple[AxisReference, AxisReference | None]:
        """The major part of this size, which divides the whole, and what remains."""
        start, end = self.pre_size, self.end_in(sizes)
        first = self.between(start, start * size, sizes)
        assert first is not None
        return first, self.between(start * size, end, sizes)

    def check(self, sizes: Sizes) -> None:
        """There is such an axis in a mesh, or such a part of one; raises Violation."""
        require(self.name in sizes, "SH3", "unknown axis {!r}", self.name)
        if self.size is None:
            return
        whole, end = sizes[self.name], self.pre_size * self.size
        require(
            self.pre_size >= 1 and self.size >= 2,
            "SH3",
            "sub-axis {}: its pre-size is at least 1, its size at least 2",
            self,
        )
        require(
            whole % end == 0,
            "SH3",
            "sub-axis {}: {} times {} does not divide {}",
            self,
            self.pre_size,
            self.size,
            whole,
        )
        require(self.size != whole, "SH3", "sub-axis {} is all of the axis", self)


def size_of(axes: Iterable[AxisReference], sizes: Sizes) -> int:
    """How many parts the axes make together."""
    return math.prod(axis.size_in(sizes) for axis in axes)


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


def check_axes(lists: Iterable[Sequence[AxisReference]], sizes: Sizes) -> None:
    """Lists of axes can be used side by side; raises Violation."""
    used: list[AxisReference] = []
    for axes in lists:
        for axis in axes:
            axis.check(sizes)
            for other in used:
                require(axis != other, "SH4", "axis {} is used twice", axis)
                is_apart = not axis.overlaps(other, sizes)
                require(is_apart, "SH4", "axes {} and {} overlap", other, axis)
            used.append(axis)
        for first, second in pairwise(axes):
            require(
                first.merged(second, sizes) is None,
                "SH5",
                "sub-axes {} and {} are one",
                first,
                second,
            )


def check_order(name: str, axes: Sequence[AxisReference], sizes: Sizes) -> None:
    """Axes that are a set are in the order of the mesh; raises Violation."""
    if tuple(axes) != in_mesh_order(axes, sizes):
        raise Violation("SH6", f"{name} axes {spell_axes(axes)} are not in the order of the mesh")


@contextmanager
def spelled_at(start: int) -> Generator[None]:
    """Inside, what breaks a rule is an error of the text from an offset on."""
    try:
        yield
    except Violation as error:
        raise SpellingError(str(error), start) from None


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


@dataclass(frozen=True)
class AxisMove:
    """Axes that go from one dimension to another: `{"x"}: 0->1`."""

    axes: AxisList
    source: int
    target: int

    @classmethod
    def parse(cls, tokens: Tokens) -> AxisMove:
        """Reads what `str` writes; raises SpellingError."""
        axes = AxisList.parse(tokens)
        if not axes:
            tokens.fail_with("(SH14) no axes are moved")
        tokens.expect(":")
        source = tokens.number()
        tokens.expect("->")
        return AxisMove(axes, source, tokens.number())

    def __str__(self) -> str:
        return f"{self.axes}: {self.source}->{self.target}"


class AxisMoves(tuple[AxisMove, ...]):
    """`[{"x"}: 0->1, {"y"}: 2->3]`"""

    @classmethod
    def parse(cls, tokens: Tokens) -> AxisMoves:
        """Reads what `str` writes; raises SpellingError."""
        return AxisMoves(tokens.contents("sdy.all_to_all_param", AxisMove.parse))

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self))}]"


def axes_in(named: AxisList | AxisLists | AxisMoves) -> tuple[AxisReference, ...]:
    """All axes that a collective names."""
    match named:
        case AxisLists():
            return tuple(chain.from_iterable(named))
        case AxisMoves():
            return tuple(chain.from_iterable(move.axes for move in named))
        case _:
            return named


class ManualAxes(tuple[str, ...]):
    """The axes of whose parts a computation sees its own only: `{"x", "y"}`."""

    @classmethod
    def parse(cls, tokens: Tokens) -> ManualAxes:
        """Reads what `str` writes; raises SpellingError."""
        tokens.expect("{")
        return ManualAxes(tokens.items("}", tokens.quoted))

    def __str__(self) -> str:
        return spell_axes(map(AxisReference, self))


MAX_DEVICES = 1 << 20
"""No mesh or sharding has more."""


@dataclass(frozen=True)
class Iota:
    """The numbers from 0 in an array that is transposed, row by row: `[4,2]T(1,0)`."""

    dimensions: tuple[int, ...]
    permutation: tuple[int, ...]

    @staticmethod
    def parse(tokens: Tokens) -> Iota:
        """Reads the dimensions, and the permutation unless it is left out; raises SpellingError."""
        dimensions = tokens.numbers("[", "]")
        is_given = tokens.accept("T")
        order = tokens.numbers("(", ")") if is_given else tuple(range(len(dimensions)))
        return Iota(dimensions, order)

    def __str__(self) -> str:
        is_identity = list(self.permutation) == list(range(len(self.permutation)))
        transposed = "" if is_identity else f"T({','.join(map(str, self.permutation))})"
        return f"[{','.join(map(str, self.dimensions))}]{transposed}"

    def fault(self, count: int) -> str | None:
        """What is wrong with it as an order of so many ids; None if nothing."""
        if sorted(self.permutation) != list(range(len(self.dimensions))):
            rank = len(self.dimensions)
            return f"{list(self.permutation)} is no permutation of {rank} dimensions"
        if math.prod(self.dimensions) != count or not count:
            return f"{count} ids from dimensions {list(self.dimensions)}"
        return f"{count} ids are more than {MAX_DEVICES}" if count > MAX_DEVICES else None

    def ids(self) -> NDArray[np.int64]:
        """The numbers, in one row; there is no fault."""
        count = math.prod(self.dimensions)
        return np.arange(count).reshape(self.dimensions).transpose(self.permutation).flatten()


def parse_device_ids(tokens: Tokens) -> tuple[tuple[int, ...], Iota | None]:
    """
    Reads `=(0,2,1,3)` or `=([2,2]T(1,0))`; raises SpellingError.

    The ids, and the order that gives them; none of an order with a fault.
    """
    tokens.expect("=", "(")
    if not tokens.at("["):
        return tuple(tokens.items(")", tokens.number)), None
    iota = Iota.parse(tokens)
    tokens.expect(")")
    fault = iota.fault(math.prod(iota.dimensions))
    return () if fault else tuple(iota.ids().tolist()), iota


@dataclass(frozen=True)
class Mesh:
    """The axes with their sizes, in order, and the ids of the devices in row-major order."""

    axes: tuple[tuple[str, int], ...]
    device_ids: tuple[int, ...] = ()
    """None are listed where they are 0, 1, 2 and so on. One id and no axes: a maximal mesh."""

    @classmethod
    def parse(cls, tokens: Tokens) -> Mesh:
        """Reads `<["x"=2, "y"=4], device_ids=[...]>`; raises SpellingError."""
        tokens.expect("<")
        start = tokens.position
        axes = Mesh.parse_axes(tokens)
        ids: tuple[int, ...] = ()
        if tokens.accept(","):
            tokens.expect("device_ids", "=")
            ids = tokens.numbers("[", "]")
        tokens.expect(">")
        with spelled_at(start):
            return Mesh.checked(axes, ids)

    @staticmethod
    def checked(axes: tuple[tuple[str, int], ...], ids: tuple[int, ...]) -> Mesh:
        """The mesh, which lists no ids that are in order; raises Violation."""
        mesh = Mesh(axes, ids)
        mesh.check()
        return Mesh(axes) if axes and ids == tuple(range(len(ids))) else mesh

    @staticmethod
    def parse_axes(tokens: Tokens) -> tuple[tuple[str, int], ...]:
        """Reads `["x"=2, "y"=4]`, with quotes of either kind; raises SpellingError."""

        def sized() -> tuple[str, int]:
            name = tokens.quoted()
            tokens.expect("=")
            return name, tokens.number()

        tokens.expect("[")
        return tuple(tokens.items("]", sized))

    def check(self) -> None:
        """No axis is named twice, sizes and ids fit; raises Violation."""
        names = [name for name, _ in self.axes]
        for number, name in enumerate(names):
            self._require(name not in names[:number], ": axis {!r} is named twice", name)
        for name, size in self.axes:
            self._require(size >= 1, ": axis {!r} has size {}, it has to be at least 1", name, size)
        count, ids = self.device_count, self.device_ids
        self._require(count <= MAX_DEVICES, " has {} devices, not 1 to {}", count, MAX_DEVICES)
        if not self.is_maximal and ids:
            self._require(len(ids) == count, " has {} device ids for {} devices", len(ids), count)
            self._require(
                sorted(ids) == list(range(count)), ": its device ids are not 0 to {}", count - 1
            )

    def _require(self, holds: bool, found: str, *values: object) -> None:
        if not holds:
            mesh = shortened(str(self))
            raise Violation("SH1", f"mesh {mesh}{found.format(*values)}")

    def __str__(self) -> str:
        axes = ", ".join(f'"{name}"={size}' for name, size in self.axes)
        ids = f", device_ids=[{', '.join(map(str, self.device_ids))}]" if self.device_ids else ""
        return f"[{axes}]{ids}"

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the axes by their names, in order."""
        return dict(self.axes)

    @cached_property
    def device_count(self) -> int:
        """How many devices it has."""
        return math.prod(size for _, size in self.axes)

    @property
    def is_maximal(self) -> bool:
        """Whether it is one device among all of a program: nothing is split."""
        return not self.axes and len(self.device_ids) == 1

    @cached_property
    def devices(self) -> tuple[int, ...]:
        """The ids of the devices in row-major order of the axes."""
        return self.device_ids or tuple(range(self.device_count))

    @cached_property
    def whole_axes(self) -> tuple[AxisReference, ...]:
        """A reference to each axis, in order."""
        return tuple(AxisReference(name) for name, _ in self.axes)

    def size(self, axes: Iterable[AxisReference | str]) -> int:
        """How many parts these axes make together."""
        return size_of(map(_reference, axes), self.sizes)

    def size_along(self, axes: Iterable[AxisReference], others: Iterable[AxisReference]) -> int:
        """How many devices differ along the axes, but along none of the others."""
        others = tuple(others)
        return self.size(part for axis in axes for part in axis.without(others, self.sizes))

    def stride(self, axis: AxisReference | str) -> int:
        """How far positions that are neighbours along an axis, or a part of one, are apart."""
        axis = _reference(axis)
        position = list(self.sizes).index(axis.name)
        minor = math.prod(size for _, size in self.axes[position + 1 :])
        return minor * (self.sizes[axis.name] // axis.end_in(self.sizes))

    def offsets(self, axes: Sequence[AxisReference | str]) -> NDArray[np.int64]:
        """Positions from the first, in order of their parts: the first axis is the slowest."""
        found = np.zeros(1, np.int64)
        for axis in axes:
            steps = np.arange(self.size((axis,))) * self.stride(axis)
            found = (found[:, None] + steps).reshape(-1)
        return found

    def groups(self, axes: Sequence[AxisReference | str]) -> tuple[tuple[int, ...], ...]:
        """The devices that differ along these axes only, the first axis the slowest."""
        wanted = [_reference(axis) for axis in axes]
        others = [part for axis in self.whole_axes for part in axis.without(wanted, self.sizes)]
        starts, offsets = self.offsets(others), self.offsets(wanted)
        ids = np.array(self.devices)[starts[:, None] + offsets]
        return tuple(map(tuple, ids.tolist()))

    @cached_property
    def positions(self) -> dict[int, int]:
        """The row-major position of each device by its id."""
        return {device: position for position, device in enumerate(self.devices)}

    def coordinate(self, device: int, axes: Sequence[AxisReference | str]) -> int:
        """Which of the parts that these axes make belongs to a device."""
        position, number = self.positions[device], 0
        for axis in axes:
            size = self.size((axis,))
            number = number * size + position // self.stride(axis) % size
        return number


def _reference(axis: AxisReference | str) -> AxisReference:
    return AxisReference(axis) if isinstance(axis, str) else axis
