"""Where the parts of an array lie that several devices share, as JAX's programs say it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lowerings.pjrt.hlo_form import bring_to_hlo_form
from lowerings.pjrt.interfaces import (
    IR,
    PASS_MANAGER,
    SDY,
    SHARDING,
    XLA_CLIENT,
    attributes_of,
)
from xla_dialect.literals.arrays import Array
from xla_dialect.sharding.array_sharding import Shards
from xla_dialect.sharding.hlo_sharding import HloSharding

HLO_SHARDING = "mhlo.sharding"


@dataclass(frozen=True)
class ArrayDivision:
    """How devices share an array: each has a part, and of that a term where it is *unreduced*."""

    shards: Shards
    terms: Mapping[int, int] = field(default_factory=dict[int, int])
    """For each device the number of its term; the sum over all is the array. None: it is whole."""

    @staticmethod
    def replicated(rank: int, devices: int) -> ArrayDivision:
        """All devices have all of the array."""
        return ArrayDivision(Shards.replicated(rank, devices))

    @property
    def is_replicated(self) -> bool:
        """Whether all devices have all of the array."""
        return not self.terms and all(count == 1 for count in self.shards.counts)

    def is_even(self, sizes: Sequence[int]) -> bool:
        """Whether all parts of an array of these sizes are alike."""
        return self.shards.is_even(sizes)

    def joined(self, parts: Sequence[Array], sizes: Sequence[int]) -> Array:
        """The array that devices have parts of."""
        if self.is_replicated:
            return parts[0]
        whole = np.zeros(tuple(sizes), parts[0].dtype)
        seen: set[tuple[tuple[int, ...], int]] = set()
        for device, part in enumerate(parts):
            place, term = self.shards.places[device], self.terms.get(device, 0)
            if (place, term) not in seen:
                seen.add((place, term))
                block = self.shards.slices(device, sizes)
                whole[block] = part if term == 0 else whole[block] + part
        return whole

    def part(self, device: int, whole: Array) -> Array:
        """What a device has of an array: as a term the whole value, or zeros."""
        block = whole[self.shards.slices(device, whole.shape)]
        return np.zeros_like(block) if self.terms.get(device, 0) else block


def serialized(division: ArrayDivision) -> bytes:
    """XLA's `OpSharding` for how devices share an array."""
    found = XLA_CLIENT.OpSharding()
    types = XLA_CLIENT.OpSharding.Type
    shards, terms = division.shards, division.terms
    if division.is_replicated:
        found.type = types.REPLICATED
        return found.SerializeToString()
    devices = len(shards.places)
    parts, term_count = math.prod(shards.counts), len(set(terms.values()) or {0})
    copies = devices // (parts * term_count)
    if term_count == devices:
        found.type = types.UNREDUCED
        return found.SerializeToString()
    found.type = types.OTHER
    order = sorted(shards.places, key=lambda each: (shards.places[each], terms.get(each, 0), each))
    others = [
        (n, kind)
        for n, kind in ((term_count, types.UNREDUCED), (copies, types.REPLICATED))
        if n > 1
    ]
    found.tile_assignment_dimensions = [*shards.counts, *(n for n, _ in others)]
    found.tile_assignment_devices = order
    if terms:
        found.last_tile_dims = [kind for _, kind in others]
    else:
        found.replicate_on_last_tile_dim = copies > 1
    return found.SerializeToString()


def _on_mesh(sharding: Any, mesh: Any, rank: int, devices: int) -> ArrayDivision:
    """The division by a `sdy.sharding` on a mesh, both as jaxlib has them."""
    sizes = {axis.name: int(axis.size) for axis in map(SDY.MeshAxisAttr, mesh.axes)}
    order = list(mesh.device_ids) or range(math.prod(sizes.values()))
    each_dimension = map(SDY.DimensionShardingAttr, sharding.dimension_shardings)
    dimensions = [_axes(each.axes, sizes) for each in each_dimension]
    unreduced = _axes(sharding.unreduced_axes, sizes)
    counts = tuple(math.prod(size for _, _, size in axes) for axes in dimensions)
    places: dict[int, tuple[int, ...]] = dict.fromkeys(range(devices), (0,) * rank)
    terms: dict[int, int] = {}
    for position, device in enumerate(order):
        along = _coordinates(position, sizes)
        places[device] = tuple(_part(axes, along, sizes) for axes in dimensions)
        if unreduced:
            terms[device] = _part(unreduced, along, sizes)
    return ArrayDivision(Shards(counts, places), terms)


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
    module itself where these find a fault in it. How far shardings spread depends on the form of a
    program, so it is brought to the one that XLA propagates them in.
    """
    text = module.operation.get_asm()
    copy = IR.Module.parse(text, module.context)

    def run(passes: str) -> None:
        PASS_MANAGER.parse(f"builtin.module({passes})").run(copy.operation)

    try:
        with module.context:
            if "stablehlo.composite" in text:
                run("func.func(stablehlo-legalize-composite-to-call)")
            bring_to_hlo_form(copy)
            run("sdy-propagation-pipeline")
    except IR.MLIRError:
        return module
    return copy


def divisions_of(
    module: Any, attributes: Any, shapes: Sequence[Sequence[int]], devices: int
) -> list[ArrayDivision]:
    """
    The divisions of the parameters or results of a function of a module: what says nothing, or
    cannot be cut into even parts, is replicated. `attributes` are those of `attributes_of`.
    """
    meshes = {
        op.attributes["sym_name"].value: SDY.MeshAttr(op.attributes["mesh"])
        for op in mesh_operations(module)
    }
    found: list[ArrayDivision] = []
    for number, sizes in enumerate(shapes):
        rank = len(sizes)
        named = {} if attributes is None else _named(attributes[number])
        if SHARDING in named:
            sharding = SDY.TensorShardingAttr(named[SHARDING])
            name = sharding.mesh_or_ref
            mesh = SDY.MeshAttr(name) if SDY.MeshAttr.isinstance(name) else meshes[name.value]
            found.append(_on_mesh(sharding, mesh, rank, devices))
        elif HLO_SHARDING in named:
            hlo = HloSharding.read(named[HLO_SHARDING].value)
            found.append(ArrayDivision(hlo.shards(rank, devices)))
        else:
            found.append(ArrayDivision.replicated(rank, devices))
        if not found[-1].is_even(sizes):
            found[-1] = ArrayDivision.replicated(rank, devices)
    return found


def say(
    module: Any, function: Any, side: str, found: Any, divisions: Sequence[ArrayDivision]
) -> None:
    """
    Writes into a function of jaxlib how devices share its parameters or results, as `found`, the
    same function behind propagation, has it; nothing is left open.
    """
    meshes = [op.attributes["sym_name"] for op in mesh_operations(module)]
    if not meshes and attributes_of(found, side) is not None:
        function.attributes[side] = attributes_of(found, side)
    if not meshes or not divisions:
        return
    whole = IR.FlatSymbolRefAttr.get(meshes[0].value)
    said, own = attributes_of(found, side), attributes_of(function, side)
    rows: list[Any] = []
    for number, division in enumerate(divisions):
        row = {} if own is None else _named(own[number])
        sharding = None if said is None else _named(said[number]).get(SHARDING)
        if sharding is None or division.is_replicated:
            dimensions = [SDY.DimensionShardingAttr.get([], True)] * len(division.shards.counts)
            row[SHARDING] = SDY.TensorShardingAttr.get(whole, dimensions)
        else:
            row[SHARDING] = _closed(SDY.TensorShardingAttr(sharding))
        rows.append(IR.DictAttr.get(row))
    function.attributes[side] = IR.ArrayAttr.get(rows)


def _closed(sharding: Any) -> Any:
    """A sharding to which nothing is added."""
    dimensions = [
        SDY.DimensionShardingAttr.get(SDY.DimensionShardingAttr(each).axes, True)
        for each in sharding.dimension_shardings
    ]
    unreduced = sharding.unreduced_axes
    return SDY.TensorShardingAttr.get(sharding.mesh_or_ref, dimensions, [], unreduced)


def mesh_operations(module: Any) -> list[Any]:
    """The meshes of a module; there are none where shardings are GSPMD's."""
    return [op for op in module.body.operations if op.operation.name == "sdy.mesh"]


def _named(dictionary: Any) -> dict[str, Any]:
    return {each.name: each.attr for each in dictionary}
