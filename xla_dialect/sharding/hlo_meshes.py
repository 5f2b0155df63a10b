"""Shardings of HLO, which tile arrays by numbers of devices, as shardings over a mesh."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding
from xla_dialect.sharding.axes import AxisReference, merged_axes
from xla_dialect.sharding.hlo_sharding import REDUCTIONS, HloSharding, HloShardingKind
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.spelling import SpellingError, shortened

# Arrays of devices in terms of the axes of a mesh.
#
# Along each dimension of such an array the places of the devices in the mesh grow by steps that
# have the sizes of axes, and parts of axes: that is what tiles of HLO are, and meshes themselves.

Devices = NDArray[np.int64]
"""Ids, each once."""
_Digits = tuple[tuple[int, int], ...]
"""Sizes and strides of a run through places, the most major first."""


def common_mesh(arrays: Iterable[Devices], device_count: int) -> Mesh:
    """
    The mesh `axis_0`, `axis_1` and so on over whose axes all of these are, if there is one.

    Its devices are in order unless an array needs another one. What does not fit to the arrays
    before it is left out.
    """
    given = list(arrays)
    ordered = tuple(range(device_count))
    orders = [ordered] + [
        tuple(devices.flatten().tolist()) for devices in given if devices.size == device_count
    ]
    # The first order in which the most arrays are patterns; mostly that is the first of all.
    best: list[_Digits] = []
    order = ordered
    for each in dict.fromkeys(orders):
        places = _places(each)
        found = [digits for devices in given if (digits := _digits(devices, places)) is not None]
        if len(found) > len(best):
            best, order = found, each
        if len(best) == len(given):
            break
    cuts = {1, device_count}
    for digits in best:
        wanted = cuts | {n for size, stride in digits for n in (stride, stride * size)}
        if all(high % low == 0 for low, high in pairwise(sorted(wanted))):
            cuts = wanted
    sizes = [high // low for low, high in pairwise(sorted(cuts))][::-1]
    axes = tuple((f"axis_{d}", size) for d, size in enumerate(sizes))
    return Mesh(axes, () if order == ordered else order)


def axes_of(mesh: Mesh, devices: Devices) -> list[tuple[AxisReference, ...]] | None:
    """For each dimension of an array the axes of a mesh; None where there are none."""
    digits = _digits(devices, mesh.positions)
    if digits is None:
        return None
    parts: list[AxisReference] = []
    for size, stride in digits:
        product = 1
        for axis in mesh.whole_axes:
            part = _part(mesh, axis, stride, stride * size)
            if part is not None:
                parts.append(part)
                product *= mesh.size((part,))
        if product != size:
            return None
    found: list[tuple[AxisReference, ...]] = []
    for size in devices.shape:
        taken: list[AxisReference] = []
        while size > 1:
            if not parts:
                return None
            part = parts.pop(0)
            mine = mesh.size((part,))
            if size % mine:
                if mine % size:
                    return None
                part, rest = part.split(size, mesh.sizes)
                parts[:0] = [] if rest is None else [rest]
                mine = size
            size //= mine
            taken.append(part)
        found.append(merged_axes(taken, mesh.sizes))
    return found


def _places(order: Sequence[int]) -> dict[int, int]:
    return {device: place for place, device in enumerate(order)}


def _part(mesh: Mesh, axis: AxisReference, low: int, high: int) -> AxisReference | None:
    """The part of an axis with strides from `low` to below `high`; None where there is none."""
    stride = mesh.stride(axis)
    end = stride * mesh.size((axis,))
    low, high = max(low, stride), min(high, end)
    if low >= high or high % low or low % stride or end % high:
        return None
    return axis.between(end // high, end // low, mesh.sizes)


def _digits(devices: Devices, places: dict[int, int]) -> _Digits | None:
    """The pattern of the places of an array's devices; None where there is none."""
    if not all(device in places for device in devices.flat):
        return None
    mine = np.array([places[int(device)] for device in devices.flat], np.int64)
    rest = mine
    digits: list[tuple[int, int]] = []
    for size in reversed(devices.shape):
        # Inside of a dimension, too, the devices may be in several runs.
        while size > 1:
            stride = int(rest[1] - rest[0])
            steps = np.diff(rest[:size]) == stride
            run = size if steps.all() else int(np.argmin(steps)) + 1
            if stride < 1 or size % run:
                return None
            digits.insert(0, (run, stride))
            rest, size = rest[::run], size // run
    built = np.zeros(1, np.int64)
    for size, stride in digits:
        built = (built[:, None] + np.arange(size) * stride).reshape(-1)
    return tuple(digits) if np.array_equal(built, mine) else None


@dataclass(frozen=True)
class MeshesOfTiles:
    """The meshes over which shardings of HLO can be said."""

    common: Mesh
    """The one for all that are patterns of its devices."""

    @staticmethod
    def of(shardings: Iterable[HloSharding], device_count: int) -> MeshesOfTiles:
        """The mesh `axis_0`, `axis_1` and so on in which all of these are patterns, if any is."""
        tiles = [sharding.tiles.devices() for sharding in shardings if sharding.tiles is not None]
        return MeshesOfTiles(common_mesh(tiles, device_count))

    def fits(self, shardings: Iterable[HloSharding]) -> bool:
        """Whether all of these are patterns."""
        tiles = (each.tiles for each in shardings if each.tiles is not None)
        return all(axes_of(self.common, each.devices()) is not None for each in tiles)

    def sharding(
        self,
        sharding: HloSharding,
        rank: int,
        name: str,
        open_dimensions: Collection[int] = (),
    ) -> Sharding | None:
        """
        What a sharding says of an array of this rank; `name` is that of the common mesh.

        None where it says nothing, or that the array is a device's own. Raises SpellingError where
        it does not fit.
        """
        match sharding.kind:
            case HloShardingKind.REPLICATED:
                found = Sharding.replicated_over(name, rank)
            case HloShardingKind.MAXIMAL | HloShardingKind.NAMED_MAXIMAL:
                device, count = sharding.device or 0, self.common.device_count
                if device >= count > 1:
                    raise SpellingError(
                        f"sharding {shortened(sharding.text)} of a program of {count} devices"
                    )
                return Sharding(Mesh((), (device,)))
            case HloShardingKind.NAMED if sharding.named is not None:
                if sharding.reduction != REDUCTIONS[0]:
                    text = shortened(sharding.text)
                    raise SpellingError(f"sharding {text}: only sums are made of parts")
                return sharding.named
            case HloShardingKind.TILED:
                found = self._of_tiles(sharding, rank, name)
            case _:
                return None
        dimensions = (
            DimensionSharding(each.axes, d not in open_dimensions)
            for d, each in enumerate(found.dimensions)
        )
        return Sharding(found.mesh, tuple(dimensions))

    def manual_axes(self, sharding: HloSharding) -> list[str] | None:
        """
        The names of the axes along which an array is a device's own.

        None where they are no whole axes of the common mesh.
        """
        if sharding.kind is HloShardingKind.MANUAL:
            return list(self.common.sizes)
        if sharding.kind is HloShardingKind.NAMED:
            return [axis.name for axis in sharding.manual]
        if sharding.tiles is None:
            return []
        axes = axes_of(self.common, sharding.tiles.devices())
        rank = len(sharding.tiles.sizes) - len(sharding.subgroups)
        found = [
            axis
            for d, kind in enumerate(sharding.subgroups)
            if kind == HloShardingKind.MANUAL.value and axes is not None
            for axis in axes[rank + d]
        ]
        is_whole = axes is not None and all(axis.size is None for axis in found)
        return [axis.name for axis in found] if is_whole else None

    def _of_tiles(self, sharding: HloSharding, rank: int, name: str) -> Sharding:
        assert sharding.tiles is not None
        sizes = sharding.tiles.sizes
        if len(sizes) != rank + len(sharding.subgroups):
            raise SpellingError(
                f"sharding {shortened(sharding.text)} has {len(sizes) - len(sharding.subgroups)} "
                f"dimensions for an array of rank {rank}"
            )
        devices = sharding.tiles.devices()
        count = self.common.device_count
        if devices.size != count or devices.max() >= count:
            raise SpellingError(
                f"sharding {shortened(sharding.text)} is over {devices.size} devices up to "
                f"{devices.max()}, the program has {count}"
            )
        axes = axes_of(self.common, devices)
        if axes is None:
            mesh = Mesh(
                tuple((f"axis_{d}", size) for d, size in enumerate(sizes) if size > 1),
                tuple(devices.flatten().tolist()),
            )
            found = [(AxisReference(f"axis_{d}"),) if n > 1 else () for d, n in enumerate(sizes)]
            return Sharding.of_axes(mesh, found[:rank])
        return Sharding.of_axes(name, axes[:rank])
