"""The pass `xla-import-shardings`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from lowerings.partitioning.annotations import (
    HLO_SHARDINGS,
    SHARDY_ENTRY,
    all_entries,
    hlo_sharding,
    is_of_shardy,
    is_partitioned,
)
from lowerings.partitioning.gspmd_borders import import_border, is_gspmd_border, open_dimensions
from lowerings.partitioning.one_mesh import unite_meshes, unused_name
from lowerings.partitioning.op_rules import rank_of
from lowerings.partitioning.resharding import is_annotation
from lowerings.rewriting.change import ReportingPass
from lowerings.rewriting.levels import UNLOWERED
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.ops.collectives import process_counts
from xla_dialect.ops.transfers import KEPT_IN
from xla_dialect.sharding.array_sharding import Sharding, Shardings
from xla_dialect.sharding.attributes import (
    SHARDING,
    SHARDING_RULE,
    ShardingAttr,
    ShardingPerValueAttr,
    ShardingRuleAttr,
    meshes_in_text,
    meshes_of,
    set_meshes,
)
from xla_dialect.sharding.hlo_sharding import HloSharding, HloShardingKind, MeshesOfTiles
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.sharding.sharding_rule import Dimensions, ShardingRule
from xla_dialect.spelling import SpellingError
from xla_dialect.types import extents, is_array
from xla_dialect.violations import described
from xla_dialect.xdsl.linking import erase, replace_uses
from xla_dialect.xdsl.traversal import operands_of, operations_in

_MESHES = "xla.sdy.meshes"
"""What Shardy says of meshes in HLO text, as an entry of the frontend attributes."""
_RULE = "xla.sdy.sharding_rule"
"""What it says of a custom call, as an entry of the frontend attributes."""
_BATCH = "num_batch_dims"
"""What JAX says of calls of LAPACK: so many dimensions of all arrays are those of a batch."""

_Entries = dict[str, Attribute]


class XlaImportShardingsPass(ReportingPass):
    """
    Reads the shardings of HLO, `sharding={devices=[2,1]<=[2]}`, as those over the axes of a mesh.

    Those of Shardy that HLO text carries as frontend attributes are taken where there are both.
    Tiles give a mesh with the axes `axis_0`, `axis_1` and so on, one for the whole module where
    possible; devices in an order of their own a mesh that lists them. The borders of manual
    computations, `SPMDFullToShardShape` and back, become those of Shardy. Several meshes of the
    same devices become one. What says nothing, or that an array is a device's own, stays as it is;
    so does a program that XLA has partitioned, whose parameters still say of what they are parts.

    ```
    func.func @main(%x: tensor<8x4xf32> {xla.sharding = #xla.hlo_sharding<{devices=[4,1]<=[4]}>})
    // becomes
    func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {}]>})
    ```
    """

    name = "xla-import-shardings"
    takes = UNLOWERED

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through functions and operations; raises XlaError where a sharding does not fit."""
        if is_partitioned(op):
            return False
        changed = _forget_inside_of_operations(op)
        meshes = meshes_of(op) | _take_meshes(op)
        operations = [each for each in operations_in(op) if _says_something(each)]
        if operations:
            self._import(op, operations, meshes)
        return unite_meshes(op) or changed or bool(operations)

    def _import(
        self, op: ModuleOp, operations: Sequence[Operation], meshes: dict[str, Mesh]
    ) -> None:
        found = [
            leaf
            for entries in all_entries(operations)
            if (sharding := hlo_sharding(entries)) is not None and not is_of_shardy(entries)
            for leaf in sharding.leaves
        ]
        name, tiles = _tiles(op, found, meshes)
        import_ = _Import(tiles, name)
        for inner in operations:
            if is_gspmd_border(inner):
                _located(inner, lambda border: import_border(border, tiles, name))
                import_.uses_tiles = True
        for inner in operations:
            _located(inner, import_.any)
        if import_.uses_tiles:
            meshes[import_.name] = import_.tiles.common
        set_meshes(op, meshes)


_NAMES = frozenset((*HLO_SHARDINGS, *KEPT_IN))


def _says_something(op: Operation) -> bool:
    """Whether HLO, or Shardy in the words of HLO, says something of how values are split."""
    if not isinstance(op, FuncOp):
        return not _NAMES.isdisjoint(op.attributes) or is_gspmd_border(op)
    return any(not _NAMES.isdisjoint(entries) for entries in all_entries([op]))


def _forget_inside_of_operations(module: ModuleOp) -> bool:
    """
    Takes away what is said in the computations of operations, such as that of a reduction.

    They are on elements, or on what every device has of an array, which nothing splits. Returns
    whether there was something.
    """
    changed = False
    for op in operations_in(module):
        if not op.attributes:
            continue
        outer = op.parent_op()
        if not isinstance(outer, XlaOp) or outer.forwards_values():
            continue
        for name in (SHARDING, *HLO_SHARDINGS):
            changed |= op.attributes.pop(name, None) is not None
        if is_annotation(op):
            for result in op.results:
                replace_uses(result, op.operands[0])
            erase(op)
            changed = True
    return changed


def _located(op: Operation, change: Callable[[Operation], None]) -> None:
    """Changes an operation; raises XlaError, with its place, for shardings that do not fit."""
    try:
        change(op)
    except SpellingError as error:
        raise XlaError(f"{described(op)}: {error}") from None


@dataclass(eq=False)
class _Import:
    """What is the same for all of a module."""

    tiles: MeshesOfTiles
    name: str
    """Of the mesh of tiles."""
    uses_tiles: bool = False

    def any(self, op: Operation) -> None:
        """A function or another operation."""
        if isinstance(op, FuncOp):
            self.function(op)
        else:
            self.operation(op)

    def function(self, function: FuncOp) -> None:
        """Its parameters and results."""
        types = function.function_type
        function.arg_attrs = self._values("parameter", function.arg_attrs, types.inputs.data)
        function.res_attrs = self._values("result", function.res_attrs, types.outputs.data)

    def _values(
        self, what: str, old: ArrayAttr[DictionaryAttr] | None, types: Sequence[Attribute]
    ) -> ArrayAttr[DictionaryAttr] | None:
        if old is None:
            return None
        found: list[DictionaryAttr] = []
        for number, (entry, type_) in enumerate(zip(old.data, types, strict=True)):
            entries = dict(entry.data)
            try:
                shardings = self._take(entries, [type_])
            except SpellingError as error:
                raise SpellingError(f"{what} {number}: {error}") from None
            if shardings is not None:
                entries[SHARDING] = ShardingAttr(shardings[0])
            found.append(DictionaryAttr(entries))
        return ArrayAttr(found)

    def operation(self, op: Operation) -> None:
        """Its results, and its sharding rule."""
        rule = _take_rule(op)
        if rule is not None:
            op.attributes.setdefault(SHARDING_RULE, ShardingRuleAttr(rule))
        if SHARDING not in op.attributes:
            shardings = self._take(op.attributes, op.result_types, open_dimensions(op))
            if shardings is not None:
                op.attributes[SHARDING] = ShardingPerValueAttr(Shardings(shardings))

    def _take(
        self, entries: _Entries, types: Sequence[Attribute], open_: Collection[int] = ()
    ) -> Sequence[Sharding] | None:
        """Takes what is said of values; None where nothing is, or nothing that can be said."""
        said = _take_of_shardy(entries)
        if said is not None:
            for name in HLO_SHARDINGS:
                entries.pop(name, None)
            return said
        sharding = hlo_sharding(entries)
        if sharding is None or len(sharding.leaves) != len(types) or not types:
            return None
        found = [
            self.tiles.sharding(leaf, rank_of(type_), self.name, open_)
            for leaf, type_ in zip(sharding.leaves, types, strict=True)
        ]
        known = [each for each in found if each is not None]
        if len(known) != len(found):
            return None
        self.uses_tiles |= any(each.mesh == self.name for each in known)
        for name in HLO_SHARDINGS:
            entries.pop(name, None)
        return known


def _take_rule(op: Operation) -> ShardingRule | None:
    """Takes what frontend attributes say of the parts of an operation; raises SpellingError."""
    text, batch = (_take_entry(op.attributes, key) for key in (_RULE, _BATCH))
    if text is not None:
        return ShardingRuleAttr.read(text)
    return _batch_rule(op, int(batch)) if batch is not None and batch.isdecimal() else None


def _batch_rule(op: Operation, count: int) -> ShardingRule:
    """The rule of an operation that does the same for each element of so many dimensions."""
    values = (*operands_of(op), *op.results)
    arrays = [extents(value.type) if is_array(value.type) else () for value in values]
    sizes = list(max(arrays, key=len, default=())[:count])
    batch, found = tuple(sizes), list[Dimensions]()
    for array in arrays:
        shared = count if array[:count] == batch else 0
        own = range(len(sizes), len(sizes) + len(array) - shared)
        sizes += array[shared:]
        found.append(tuple((factor,) for factor in (*range(shared), *own)))
    operands = len(values) - len(op.results)
    rules = tuple(found[:operands]), tuple(found[operands:])
    return ShardingRule(tuple(sizes), *rules, is_custom=True)


def _take_of_shardy(entries: _Entries) -> Sequence[Sharding] | None:
    """Takes the sharding among frontend attributes; raises SpellingError."""
    text = _take_entry(entries, SHARDY_ENTRY)
    if text is None:
        return None
    if text.startswith("#sdy.sharding_per_value"):
        return ShardingPerValueAttr.read(text)
    return [ShardingAttr.read(text)]


def _take_entry(entries: _Entries, key: str) -> str | None:
    """Takes a string of the frontend attributes, which escapes quotes."""
    for name in KEPT_IN:
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
        value = module.attributes.get(KEPT_IN[0])
        if not isinstance(value, StringAttr) or _MESHES not in value.data:
            return {}
        text = value.data.replace("\\", "")
        if len(_OTHER_ENTRY.findall(text)) == 1:
            module.attributes.pop(KEPT_IN[0])
    try:
        return meshes_in_text(text)
    except SpellingError as error:
        raise XlaError(f"{_MESHES}: {error}") from None


_OTHER_ENTRY = re.compile(r"[\w.]+=(?=[\"{])")
"""The names of entries."""


def _tiles(
    module: ModuleOp, found: Sequence[HloSharding], meshes: Mapping[str, Mesh]
) -> tuple[str, MeshesOfTiles]:
    """The mesh for tiles with its name: one that there is, if all tiles are over its axes."""
    counts = [
        leaf.tiles.devices().size
        for leaf in found
        if leaf.kind is HloShardingKind.TILED and leaf.tiles is not None
    ]
    count = max([process_counts(module)[1], *counts])
    for name, mesh in meshes.items():
        named = MeshesOfTiles(mesh)
        if mesh.device_count == count and named.fits(found):
            return name, named
    made = MeshesOfTiles.of(found, count)
    return unused_name(meshes), made
