"""Which part of an array each device has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.axes import AxisReference
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.spelling import SpellingError


@dataclass(frozen=True)
class Shards:
    """
    An array cut into parts along its dimensions, and who has which.

    Where sizes are uneven, all parts but the last ones have the same size, rounded up: the last
    ones have less, or nothing. A local array has the full size, and padding behind.
    """

    counts: tuple[int, ...]
    """How many parts there are along each dimension."""
    places: Mapping[int, tuple[int, ...]]
    """For each device the number of its part along each dimension."""

    @staticmethod
    def of_mesh(
        mesh: Mesh, sharding: Sharding, rank: int, manual: Iterable[AxisReference] | None = None
    ) -> Shards:
        """
        The parts of a sharding over a mesh; raises SpellingError where it does not fit the rank.

        `manual`: only these axes split the array. A maximal sharding: one device has all of it.
        """
        fault = sharding.fault(mesh, rank)
        if fault is not None:
            raise SpellingError(f"sharding <{sharding}>: {fault}")
        if mesh.is_maximal:
            return Shards((1,) * rank, dict.fromkeys(mesh.devices, (0,) * rank))
        chosen = None if manual is None else tuple(manual)
        axes = [
            tuple(
                axis
                for axis in each
                if chosen is None or any(one.contains(axis, mesh.sizes) for one in chosen)
            )
            for each in sharding.axes
        ]
        return Shards(
            tuple(map(mesh.size, axes)),
            {d: tuple(mesh.coordinate(d, names) for names in axes) for d in mesh.devices},
        )

    @staticmethod
    def replicated(rank: int, device_count: int) -> Shards:
        """All devices have all of an array of this rank."""
        return Shards((1,) * rank, dict.fromkeys(range(device_count), (0,) * rank))

    def is_even(self, sizes: Sequence[int]) -> bool:
        """Whether all parts of an array of these sizes are alike."""
        return not any(size % n for size, n in zip(sizes, self.counts, strict=True))

    def local_sizes(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The sizes of the arrays that devices have, rounded up where parts are uneven."""
        return tuple(-(-size // n) for size, n in zip(sizes, self.counts, strict=True))

    def slices(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Where the part of a device is in an array of these sizes: less than its local array."""
        found: list[slice] = []
        local = self.local_sizes(sizes)
        for place, size, whole in zip(self.places[device], local, sizes, strict=True):
            start = min(place * size, whole)
            found.append(slice(start, min(start + size, whole)))
        return tuple(found)

    def padding(self, device: int, sizes: Sequence[int]) -> tuple[int, ...]:
        """How many elements of its local array, at the end of each dimension, are none."""
        return tuple(
            size - (part.stop - part.start)
            for size, part in zip(self.local_sizes(sizes), self.slices(device, sizes), strict=True)
        )
