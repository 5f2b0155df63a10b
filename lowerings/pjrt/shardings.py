"""Where the parts of an array lie that several devices share: Shardy's annotations, as slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lowerings.pjrt.interfaces import SDY, XLA_CLIENT


@dataclass(frozen=True)
class Sharding:
    """How an array is cut: into how many parts in each dimension, and which part a device has."""

    counts: tuple[int, ...]
    """Parts in each dimension; none for an array that all devices have whole."""
    places: tuple[tuple[int, ...], ...]
    """For each device, in the order of the program's, the number of its part in each dimension."""

    @staticmethod
    def replicated(rank: int, devices: int) -> Sharding:
        """All devices have all of it."""
        return Sharding((1,) * rank, ((0,) * rank,) * devices)

    @staticmethod
    def of_attribute(attribute: Any, mesh: Any, rank: int, devices: int) -> Sharding:
        """That of a `sdy.sharding` in jaxlib's form, on a mesh in the same form."""
        if attribute is None:
            return Sharding.replicated(rank, devices)
        sizes = {axis.name: int(axis.size) for axis in map(SDY.MeshAxisAttr, mesh.axes)}
        order = list(mesh.device_ids) or list(range(math.prod(sizes.values())))
        each_dimension = map(SDY.DimensionShardingAttr, attribute.dimension_shardings)
        dimensions = [_axes(each.axes, sizes) for each in each_dimension]
        counts = tuple(math.prod(size for _, _, size in axes) for axes in dimensions)
        places: list[tuple[int, ...]] = [(0,) * rank] * devices
        for position, device in enumerate(order):
            along = _coordinates(position, sizes)
            places[device] = tuple(_part(axes, along, sizes) for axes in dimensions)
        return Sharding(counts, tuple(places))

    @property
    def is_replicated(self) -> bool:
        """Whether all devices have all of it."""
        return all(count == 1 for count in self.counts)

    def part_sizes(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The sizes of what one device has, of an array of these sizes."""
        return tuple(-(-size // n) for size, n in zip(sizes, self.counts, strict=True))

    def slices(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Where the part of a device lies in the array."""
        return tuple(
            slice(place * part, (place + 1) * part)
            for place, part in zip(self.places[device], self.part_sizes(sizes), strict=True)
        )

    def serialized(self) -> bytes:
        """XLA's `OpSharding` for it."""
        found = XLA_CLIENT.OpSharding()
        types = XLA_CLIENT.OpSharding.Type
        if self.is_replicated:
            found.type = types.REPLICATED
            return found.SerializeToString()
        owners: dict[tuple[int, ...], list[int]] = {}
        for device, place in enumerate(self.places):
            owners.setdefault(place, []).append(device)
        copies = len(self.places) // math.prod(self.counts)
        found.type = types.OTHER
        found.tile_assignment_dimensions = [*self.counts, *([copies] if copies > 1 else [])]
        found.tile_assignment_devices = [n for place in sorted(owners) for n in owners[place]]
        found.replicate_on_last_tile_dim = copies > 1
        return found.SerializeToString()


def _axes(axes: Any, sizes: dict[str, int]) -> list[tuple[str, int, int]]:
    """The axes of a dimension, the major first: name, the size before a part of one, its size."""
    found: list[tuple[str, int, int]] = []
    for axis in map(SDY.AxisRefAttr, axes):
        part = axis.sub_axis_info
        before, size = (1, sizes[axis.name]) if part is None else (part.pre_size, part.size)
        found.append((axis.name, before, size))
    return found


def _coordinates(position: int, sizes: dict[str, int]) -> dict[str, int]:
    """The place along each axis of a device, given its position in the mesh."""
    found: dict[str, int] = {}
    for name, size in reversed(sizes.items()):
        position, found[name] = divmod(position, size)
    return found


def _part(axes: list[tuple[str, int, int]], along: dict[str, int], sizes: dict[str, int]) -> int:
    """The number of a part in one dimension."""
    number = 0
    for name, before, size in axes:
        after = sizes[name] // (before * size)
        number = number * size + along[name] // after % size
    return number


def shardings_of(
    module: Any, attributes: Any, ranks: Sequence[int], devices: int
) -> list[Sharding]:
    """
    Those that the arguments or results of a function of a module say; what says nothing is
    replicated. `attributes` are the function's, as jaxlib has them; None where it has none.
    """
    meshes = {
        op.attributes["sym_name"].value: SDY.MeshAttr(op.attributes["mesh"])
        for op in module.body.operations
        if op.operation.name == "sdy.mesh"
    }
    found: list[Sharding] = []
    for number, rank in enumerate(ranks):
        named = {} if attributes is None else _named(attributes[number])
        attribute = named.get("sdy.sharding")
        mesh = None
        if attribute is not None:
            attribute = SDY.TensorShardingAttr(attribute)
            name = attribute.mesh_or_ref
            mesh = SDY.MeshAttr(name) if SDY.MeshAttr.isinstance(name) else meshes[name.value]
        found.append(Sharding.of_attribute(attribute, mesh, rank, devices))
    return found


def _named(dictionary: Any) -> dict[str, Any]:
    return {each.name: each.attr for each in dictionary}
