"""The pass `xla-import-shardings`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from lowerings.partitioning.op_rules import rank_of
from lowerings.rewriting.change import ReportingPass
from xla_dialect.attributes import SpellingError
from xla_dialect.diagnostics import XlaError, described
from xla_dialect.ops.process_groups import process_counts
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import (
    SHARDING,
    ShardingAttr,
    ShardingPerValueAttr,
    Shardings,
    meshes_of,
    set_meshes,
)
from xla_dialect.sharding.hlo_meshes import MeshesOfTiles
from xla_dialect.sharding.hlo_sharding import HloSharding, HloShardingAttr, HloShardingKind
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.xdsl.traversal import operations_in

_OF_HLO = ("xla.sharding", "mhlo.sharding")
_FRONTEND = ("xla.frontend_attributes", "mhlo.frontend_attributes")
_MESHES, _SHARDING = "xla.sdy.meshes", "xla.sdy.sharding"
"""What Shardy says in HLO text, as entries of the frontend attributes."""
_NAMED_MESH = re.compile(r"([\w.$-]+) = (#sdy\.mesh<[^>]*>)")

_Entries = dict[str, Attribute]


class XlaImportShardingsPass(ReportingPass):
    """
    Reads the shardings of HLO, `sharding={devices=[2,1]<=[2]}`, as those over the axes of a mesh.

    Those of Shardy that HLO text carries as frontend attributes are taken where there are both.
    Tiles give a mesh with the axes `axis_0`, `axis_1` and so on, one for the whole module where
    possible; devices in an order of their own a mesh that lists them. What says nothing, or that an
    array is a device's own, stays as it is.

    ```
    func.func @main(%x: tensor<8x4xf32> {xla.sharding = #xla.hlo_sharding<{devices=[4,1]<=[4]}>})
    // becomes
    func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #xla.sharding<@mesh, [{"axis_0"}, {}]>})
    ```
    """

    name = "xla-import-shardings"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through functions and operations; raises XlaError where a sharding does not fit."""
        meshes = meshes_of(op) | _take_meshes(op)
        found = [
            leaf
            for entries in _all_entries(op)
            if (sharding := _hlo_sharding(entries)) is not None and not _of_shardy(entries)
            for leaf in sharding.leaves
        ]
        name, tiles = _tiles(op, found, meshes)
        import_ = _Import(tiles, name)
        for inner in operations_in(op):
            try:
                if isinstance(inner, FuncOp):
                    import_.function(inner)
                else:
                    import_.operation(inner)
            except SpellingError as error:
                raise XlaError(f"{described(inner)}: {error}") from None
        if import_.uses_tiles:
            meshes[import_.name] = import_.tiles.common
        set_meshes(op, meshes)
        return True


@dataclass(eq=False)
class _Import:
    """What is the same for all of a module."""

    tiles: MeshesOfTiles
    name: str
    """Of the mesh of tiles."""
    uses_tiles: bool = False

    def function(self, function: FuncOp) -> None:
        """Its parameters and results."""
        types = function.function_type
        function.arg_attrs = self._values(function.arg_attrs, types.inputs.data)
        function.res_attrs = self._values(function.res_attrs, types.outputs.data)

    def _values(
        self, old: ArrayAttr[DictionaryAttr] | None, types: Sequence[Attribute]
    ) -> ArrayAttr[DictionaryAttr] | None:
        if old is None:
            return None
        found: list[DictionaryAttr] = []
        for entry, type_ in zip(old.data, types, strict=True):
            entries = dict(entry.data)
            shardings = self._take(entries, [type_])
            if shardings is not None:
                entries[SHARDING] = ShardingAttr(shardings[0])
            found.append(DictionaryAttr(entries))
        return ArrayAttr(found)

    def operation(self, op: Operation) -> None:
        """Its results."""
        if SHARDING not in op.attributes:
            shardings = self._take(op.attributes, op.result_types)
            if shardings is not None:
                op.attributes[SHARDING] = ShardingPerValueAttr(Shardings(shardings))

    def _take(self, entries: _Entries, types: Sequence[Attribute]) -> Sequence[Sharding] | None:
        """Takes what is said of values; None where nothing is, or nothing that can be said."""
        said = _take_of_shardy(entries)
        if said is not None:
            for name in _OF_HLO:
                entries.pop(name, None)
            return said
        sharding = _hlo_sharding(entries)
        if sharding is None or len(sharding.leaves) != len(types) or not types:
            return None
        found = [
            self.tiles.sharding(leaf, rank_of(type_), self.name)
            for leaf, type_ in zip(sharding.leaves, types, strict=True)
        ]
        known = [each for each in found if each is not None]
        if len(known) != len(found):
            return None
        self.uses_tiles |= any(each.mesh == self.name for each in known)
        for name in _OF_HLO:
            entries.pop(name, None)
        return known


def _all_entries(module: ModuleOp) -> Iterator[Mapping[str, Attribute]]:
    for op in operations_in(module):
        if isinstance(op, FuncOp):
            for side in (op.arg_attrs, op.res_attrs):
                yield from (entry.data for entry in (() if side is None else side.data))
        else:
            yield op.attributes


def _hlo_sharding(entries: Mapping[str, Attribute]) -> HloSharding | None:
    for name in _OF_HLO:
        found = entries.get(name)
        if isinstance(found, HloShardingAttr):
            return found.data
    return None


def _of_shardy(entries: Mapping[str, Attribute]) -> bool:
    return SHARDING in entries or any(
        isinstance(found, DictionaryAttr) and _SHARDING in found.data
        for found in map(entries.get, _FRONTEND)
    )


def _take_of_shardy(entries: _Entries) -> Sequence[Sharding] | None:
    """Takes the sharding among frontend attributes; raises SpellingError."""
    text = _take_entry(entries, _SHARDING)
    if text is None:
        return None
    if text.startswith("#sdy.sharding_per_value"):
        return Sharding.read_all(text)
    return [Sharding.read(text)]


def _take_entry(entries: _Entries, key: str) -> str | None:
    """Takes a string of the frontend attributes, which escapes quotes."""
    for name in _FRONTEND:
        found = entries.get(name)
        value = found.data.get(key) if isinstance(found, DictionaryAttr) else None
        if isinstance(found, DictionaryAttr) and isinstance(value, StringAttr):
            rest = {k: v for k, v in found.data.items() if k != key}
            entries.pop(name)
            if rest:
                entries[name] = DictionaryAttr(rest)
            return value.data.replace("\\", "")
    return None


def _take_meshes(module: ModuleOp) -> dict[str, Mesh]:
    """Takes the meshes that frontend attributes of a module list."""
    text = _take_entry(module.attributes, _MESHES)
    if text is None:
        value = module.attributes.get(_FRONTEND[0])
        if not isinstance(value, StringAttr) or _MESHES not in value.data:
            return {}
        text = value.data.replace("\\", "")
        if len(_OTHER_ENTRY.findall(text)) == 1:
            module.attributes.pop(_FRONTEND[0])
    try:
        return {name: Mesh.read(mesh) for name, mesh in _NAMED_MESH.findall(text)}
    except SpellingError as error:
        raise XlaError(f"{_MESHES}: {error}") from None


_OTHER_ENTRY = re.compile(r"[\w.]+=(?=[\"{])")
"""The names of entries."""


def _tiles(
    module: ModuleOp, found: Sequence[HloSharding], meshes: Mapping[str, Mesh]
) -> tuple[str, MeshesOfTiles]:
    """The mesh for tiles with its name: one that there is, if its devices are in order."""
    counts = [
        leaf.tiles.devices().size
        for leaf in found
        if leaf.kind is HloShardingKind.TILED and leaf.tiles is not None
    ]
    count = max([process_counts(module)[1], *counts])
    for name, mesh in meshes.items():
        if mesh.device_count == count and not mesh.device_ids:
            return name, MeshesOfTiles(mesh)
    names = ("mesh", *(f"mesh_{number}" for number in range(len(meshes) + 1)))
    return next(name for name in names if name not in meshes), MeshesOfTiles.of(found, count)
