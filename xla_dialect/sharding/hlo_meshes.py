"""
Shardings of HLO as shardings over a mesh.

Tiles are numbered by devices: along each dimension of them the device's number grows by steps that
have the sizes of axes, `axis_0` the most major. What is no such pattern gets a mesh that lists the
devices in the order of its tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from xla_dialect.attributes import SpellingError, shortened
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.axes import AxisReference, merged_axes
from xla_dialect.sharding.hlo_sharding import HloSharding, HloShardingKind
from xla_dialect.sharding.mesh import Mesh

_Digits = tuple[tuple[int, int], ...]
"""Sizes and strides of a run through devices, the most major first."""


@dataclass(frozen=True)
class MeshesOfTiles:
    """The meshes over which shardings of HLO can be said."""

    common: Mesh
    """The one for all that are patterns; the devices are in order."""

    @staticmethod
    def of(shardings: Iterable[HloSharding], device_count: int) -> MeshesOfTiles:
        """The mesh `axis_0`, `axis_1` and so on in which all of these are patterns, if any is."""
        cuts = {1, device_count}
        for sharding in shardings:
            digits = _digits(sharding)
            if digits is None:
                continue
            wanted = cuts | {n for size, stride in digits for n in (stride, stride * size)}
            if all(high % low == 0 for low, high in pairwise(sorted(wanted))):
                cuts = wanted
        sizes = [high // low for low, high in pairwise(sorted(cuts))][::-1]
        return MeshesOfTiles(Mesh(tuple((f"axis_{d}", size) for d, size in enumerate(sizes))))

    def sharding(self, sharding: HloSharding, rank: int, name: str) -> Sharding | None:
        """
        What a sharding says of an array of this rank; `name` is that of the common mesh.

        None where it says nothing, or that the array is a device's own. Raises SpellingError where
        it does not fit.
        """
        match sharding.kind:
            case HloShardingKind.REPLICATED:
                return Sharding.replicated_over(name, rank)
            case HloShardingKind.MAXIMAL | HloShardingKind.NAMED_MAXIMAL:
                return Sharding(Mesh((), (sharding.device or 0,)))
            case HloShardingKind.NAMED if sharding.named is not None:
                return sharding.named
            case HloShardingKind.TILED:
                return self._of_tiles(sharding, rank, name)
            case _:
                return None

    def _of_tiles(self, sharding: HloSharding, rank: int, name: str) -> Sharding:
        assert sharding.tiles is not None
        sizes = sharding.tiles.sizes
        if len(sizes) != rank + len(sharding.subgroups):
            raise SpellingError(
                f"sharding {shortened(sharding.text)} has {len(sizes) - len(sharding.subgroups)} "
                f"dimensions for an array of rank {rank}"
            )
        digits = _digits(sharding)
        axes = None if digits is None else self._axes(digits, sizes)
        if axes is None:
            mesh = Mesh(
                tuple((f"axis_{d}", size) for d, size in enumerate(sizes) if size > 1),
                tuple(sharding.tiles.devices().flatten().tolist()),
            )
            found = [(AxisReference(f"axis_{d}"),) if n > 1 else () for d, n in enumerate(sizes)]
            return Sharding.of_axes(mesh, found[:rank])
        return Sharding.of_axes(name, axes[:rank])

    def _axes(
        self, digits: _Digits, sizes: Sequence[int]
    ) -> list[tuple[AxisReference, ...]] | None:
        """For each dimension of the tiles its axes; None where they do not divide these."""
        common = self.common
        parts: list[AxisReference] = []
        for size, stride in digits:
            product = 1
            for axis in common.whole_axes:
                part = _part(common, axis, stride, stride * size)
                if part is not None:
                    parts.append(part)
                    product *= common.size((part,))
            if product != size:
                return None
        found: list[tuple[AxisReference, ...]] = []
        for size in sizes:
            taken: list[AxisReference] = []
            while size > 1:
                if not parts:
                    return None
                part = parts.pop(0)
                mine = common.size((part,))
                if size % mine:
                    if mine % size:
                        return None
                    part, rest = part.split(size, common.sizes)
                    parts[:0] = [] if rest is None else [rest]
                    mine = size
                size //= mine
                taken.append(part)
            found.append(merged_axes(taken, common.sizes))
        return found


def _part(mesh: Mesh, axis: AxisReference, low: int, high: int) -> AxisReference | None:
    """The part of an axis with strides from `low` to below `high`; None where there is none."""
    stride = mesh.stride(axis)
    end = stride * mesh.size((axis,))
    low, high = max(low, stride), min(high, end)
    if low >= high or high % low or low % stride or end % high:
        return None
    return axis.between(end // high, end // low, mesh.sizes)


def _digits(sharding: HloSharding) -> _Digits | None:
    """The pattern of the devices of tiles; None where there is none. Raises SpellingError."""
    if sharding.kind is not HloShardingKind.TILED or sharding.tiles is None:
        return None
    devices = sharding.tiles.devices()
    digits: list[tuple[int, int]] = []
    rest: NDArray[np.int64] = devices.flatten()
    for size in reversed(devices.shape):
        # Inside of a dimension of the tiles, too, the devices may be in several runs.
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
    return tuple(digits) if np.array_equal(built, devices.flatten()) else None
