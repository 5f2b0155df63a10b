"""Which part of an array each device has: shardings of Shardy over a mesh, and those of HLO.

<@mesh, [{"x"}, {"y", ?}, {}]>          over `#sdy.mesh<["x"=4, "y"=2]>`
{devices=[4,1,2]<=[8] last_tile_dim_replicate}
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xla_dialect.attributes import SpellingError, shortened


@dataclass(frozen=True)
class Mesh:
    """The axes of a mesh with their sizes, in order, and its devices in row-major order."""

    axes: tuple[tuple[str, int], ...]
    devices: tuple[int, ...]

    @staticmethod
    def read(text: str) -> Mesh:
        """Reads `#sdy.mesh<["x"=2, "y"=4], device_ids=[...]>`; raises SpellingError."""
        axes = tuple((name, int(size)) for name, size in _AXIS.findall(text))
        found = _DEVICE_IDS.search(text)
        count = _checked_count([size for _, size in axes], f"mesh {shortened(text)}")
        devices = (
            tuple(range(count))
            if found is None
            else tuple(int(number) for number in _NUMBER.findall(found.group(1)))
        )
        if len(devices) != count or len(set(devices)) != count:
            raise SpellingError(f"mesh {shortened(text)} has {count} places for its devices")
        return Mesh(axes, devices)

    def size(self, names: Sequence[str]) -> int:
        """How many parts these axes make together."""
        sizes = dict(self.axes)
        return math.prod(sizes[name] for name in names)

    def stride(self, name: str) -> int:
        """How far devices that are neighbours along an axis are apart."""
        position = [axis for axis, _ in self.axes].index(name)
        return math.prod(size for _, size in self.axes[position + 1 :])

    def groups(self, names: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """The devices that differ along these axes only, the first axis the slowest."""
        others = [name for name, _ in self.axes if name not in names]
        return tuple(
            tuple(self.devices[start + offset] for offset in self._offsets(names))
            for start in self._offsets(others)
        )

    def coordinate(self, device: int, names: Sequence[str]) -> int:
        """Which of the parts that these axes make belongs to a device."""
        position, sizes = self.devices.index(device), dict(self.axes)
        number = 0
        for name in names:
            number = number * sizes[name] + position // self.stride(name) % sizes[name]
        return number

    def _offsets(self, names: Sequence[str]) -> list[int]:
        sizes = dict(self.axes)
        places = itertools.product(*(range(sizes[name]) for name in names))
        return [
            sum(i * self.stride(name) for i, name in zip(place, names, strict=True))
            for place in places
        ]


MAX_DEVICES = 1 << 20
"""No mesh or sharding has more."""


def _checked_count(sizes: Sequence[int], what: str) -> int:
    """The product of sizes; raises SpellingError."""
    count = math.prod(sizes)
    if not 0 < count <= MAX_DEVICES:
        raise SpellingError(f"{what} has {count} devices, not 1 to {MAX_DEVICES}")
    return count


_NUMBER = re.compile(r"[0-9]{1,9}")
_AXIS = re.compile(r'"([^"]*)" *= *([0-9]{1,9})')
_DEVICE_IDS = re.compile(r"device_ids *= *\[([0-9, ]+)\]")
_SHARDING = re.compile(r"<@([\w.$-]+|\"[^\"]*\"), *\[(.*?)\](?:, *\w+ *=.*)?>$")
_DIMENSION = re.compile(r"\{([^{}]*)\}")
_NAMED = re.compile(r'"([^"]*)"(:\()?')
_PER_VALUE = re.compile(r"<@(?:[^<>\"]|\"[^\"]*\")*>")


def axis_names(text: str) -> list[str]:
    """The quoted names in a text."""
    return [name for name, _ in _NAMED.findall(text)]


@dataclass(frozen=True)
class Sharding:
    """For each dimension the axes that it is spread over; no entries where nothing is spread."""

    mesh: str
    dimensions: tuple[tuple[str, ...], ...]

    @staticmethod
    def read(text: str) -> Sharding:
        """Reads `<@mesh, [{"x"}, {"y", ?}, {}]>`; raises SpellingError."""
        found = _SHARDING.match(text.removeprefix("#sdy.sharding"))
        if found is None:
            raise SpellingError(f"sharding {text} is not supported")
        axes: list[tuple[str, ...]] = []
        for dimension in _DIMENSION.findall(found.group(2)):
            names = _NAMED.findall(dimension)
            if any(part for _, part in names):
                raise SpellingError(f"sharding {text}: parts of axes are not supported")
            axes.append(tuple(name for name, _ in names))
        return Sharding(found.group(1).strip('"'), tuple(axes))

    @staticmethod
    def read_all(text: str) -> list[Sharding]:
        """Reads `#sdy.sharding_per_value<[<@mesh, [...]>, ...]>`; raises SpellingError."""
        parts = _PER_VALUE.findall(text.removeprefix("#sdy.sharding_per_value<"))
        return [Sharding.read(part) for part in parts]

    def spread(self, dimension: int, manual: Collection[str]) -> list[str]:
        """The manual axes that a dimension is spread over."""
        axes = self.dimensions[dimension] if dimension < len(self.dimensions) else ()
        return [name for name in axes if name in manual]


@dataclass(frozen=True)
class Shards:
    """An array cut into equal parts along its dimensions, and who has which."""

    counts: tuple[int, ...]
    """How many parts there are along each dimension."""
    places: Mapping[int, tuple[int, ...]]
    """For each device the number of its part along each dimension."""

    @staticmethod
    def of_mesh(mesh: Mesh, sharding: Sharding, manual: Collection[str], rank: int) -> Shards:
        """The parts of a sharding over a mesh; raises SpellingError for unknown axes."""
        axes = [sharding.spread(d, manual) for d in range(rank)]
        known = dict(mesh.axes)
        for name in itertools.chain.from_iterable(axes):
            if name not in known:
                raise SpellingError(f"mesh @{sharding.mesh} has no axis {name!r}")
        return Shards(
            tuple(map(mesh.size, axes)),
            {d: tuple(mesh.coordinate(d, names) for names in axes) for d in mesh.devices},
        )

    @staticmethod
    def of_tiles(text: str, rank: int, device_count: int) -> Shards:
        """
        The parts of `{devices=[4,2]<=[8]}`, `{devices=[2,1]0,1}` or `{replicated}`.

        Raises SpellingError.
        """
        if text == "{replicated}":
            return Shards((1,) * rank, dict.fromkeys(range(device_count), (0,) * rank))
        found = _TILES.match(text)
        if found is None:
            raise SpellingError(f"sharding {text} is not supported")
        sizes, dimensions, order, listed = (
            tuple(map(int, _NUMBER.findall(part or ""))) for part in found.groups()
        )
        what = f"sharding {shortened(text)}"
        count = _checked_count(sizes, what)
        if dimensions and _checked_count(dimensions, what) == count:
            order = order or tuple(range(len(dimensions)))
            if sorted(order) != list(range(len(dimensions))):
                raise SpellingError(f"{what}: {list(order)} is no permutation")
            listed = np.arange(count).reshape(dimensions).transpose(order).flatten().tolist()
        if len(sizes) < rank or len(listed) != count:
            raise SpellingError(f"{what} for {rank} dimensions")
        tiles = np.array(listed).reshape(sizes)
        places = {
            int(device): tuple(map(int, index[:rank])) for index, device in np.ndenumerate(tiles)
        }
        return Shards(sizes[:rank], places)

    def local_sizes(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The sizes of a part; raises SpellingError where they are no whole numbers."""
        for dimension, (size, count) in enumerate(zip(sizes, self.counts, strict=True)):
            if size % count:
                raise SpellingError(f"size {size} of dimension {dimension} for {count} devices")
        return tuple(size // count for size, count in zip(sizes, self.counts, strict=True))

    def slices(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Where the part of a device is in an array of these sizes."""
        return tuple(
            slice(place * size, (place + 1) * size)
            for place, size in zip(self.places[device], self.local_sizes(sizes), strict=True)
        )


_TILES = re.compile(
    r"\{devices=\[([0-9,]+)\](?:<=\[([0-9,]+)\](?:T\(([0-9,]+)\))?|([0-9,]+))"
    r"(?: last_tile_dim\w*(?:=\{[a-z, ]*\})?)?\}$"
)
