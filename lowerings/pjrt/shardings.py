"""Where the parts of an array lie that several devices share, as JAX's programs say it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lowerings.pjrt.interfaces import IR, PASS_MANAGER, SDY, XLA_CLIENT
from xla_dialect.sharding.hlo_sharding import HloSharding
from xla_dialect.sharding.shards import Shards


def is_replicated(shards: Shards) -> bool:
    """Whether all devices have all of the array."""
    return all(count == 1 for count in shards.counts)


def serialized(shards: Shards) -> bytes:
    """XLA's `OpSharding` for parts of an array."""
    found = XLA_CLIENT.OpSharding()
    types = XLA_CLIENT.OpSharding.Type
    if is_replicated(shards):
        found.type = types.REPLICATED
        return found.SerializeToString()
    owners: dict[tuple[int, ...], list[int]] = {}
    for device in sorted(shards.places):
        owners.setdefault(shards.places[device], []).append(device)
    copies = len(shards.places) // math.prod(shards.counts)
    found.type = types.OTHER
    found.tile_assignment_dimensions = [*shards.counts, *([copies] if copies > 1 else [])]
    found.tile_assignment_devices = [n for place in sorted(owners) for n in owners[place]]
    found.replicate_on_last_tile_dim = copies > 1
    return found.SerializeToString()


def _on_mesh(sharding: Any, mesh: Any, rank: int, devices: int) -> Shards:
    """The parts by a `sdy.sharding` on a mesh, both as jaxlib has them."""
    sizes = {axis.name: int(axis.size) for axis in map(SDY.MeshAxisAttr, mesh.axes)}
    order = list(mesh.device_ids) or range(math.prod(sizes.values()))
    each_dimension = map(SDY.DimensionShardingAttr, sharding.dimension_shardings)
    dimensions = [_axes(each.axes, sizes) for each in each_dimension]
    counts = tuple(math.prod(size for _, _, size in axes) for axes in dimensions)
    places: dict[int, tuple[int, ...]] = dict.fromkeys(range(devices), (0,) * rank)
    for position, device in enumerate(order):
        along = _coordinates(position, sizes)
        places[device] = tuple(_part(axes, along, sizes) for axes in dimensions)
    return Shards(counts, places)


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


def propagated(module: Any) -> Any:
    """
    A copy of a module with shardings for what says nothing of its own, by Shardy's rules; the
    module itself where these find a fault in it.
    """
    copy = IR.Module.parse(module.operation.get_asm(), module.context)
    try:
        with module.context:
            PASS_MANAGER.parse("builtin.module(sdy-propagation-pipeline)").run(copy.operation)
    except IR.MLIRError:
        return module
    return copy


def shards_of(
    module: Any, attributes: Any, shapes: Sequence[Sequence[int]], devices: int
) -> list[Shards]:
    """
    The parts of the arguments or results of a function of a module: what says nothing, or cannot
    be cut into even parts, is replicated. `attributes` are the function's, as jaxlib has them; None
    where it has none.
    """
    meshes = {
        op.attributes["sym_name"].value: SDY.MeshAttr(op.attributes["mesh"])
        for op in module.body.operations
        if op.operation.name == "sdy.mesh"
    }
    found: list[Shards] = []
    for number, sizes in enumerate(shapes):
        rank = len(sizes)
        named = {} if attributes is None else _named(attributes[number])
        if "sdy.sharding" in named:
            sharding = SDY.TensorShardingAttr(named["sdy.sharding"])
            name = sharding.mesh_or_ref
            mesh = SDY.MeshAttr(name) if SDY.MeshAttr.isinstance(name) else meshes[name.value]
            found.append(_on_mesh(sharding, mesh, rank, devices))
        elif "mhlo.sharding" in named:
            found.append(HloSharding.read(named["mhlo.sharding"].value).shards(rank, devices))
        else:
            found.append(Shards.replicated(rank, devices))
        if not found[-1].is_even(sizes):
            found[-1] = Shards.replicated(rank, devices)
    return found


def _named(dictionary: Any) -> dict[str, Any]:
    return {each.name: each.attr for each in dictionary}
