"""Shardings of HLO, which tile arrays by numbers of devices, as shardings over a mesh."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding
from xla_dialect.sharding.axes import AxisReference
from xla_dialect.sharding.device_arrays import axes_of, common_mesh
from xla_dialect.sharding.hlo_sharding import REDUCTIONS, HloSharding, HloShardingKind
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.spelling import SpellingError, shortened


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
