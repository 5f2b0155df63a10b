"""The pass `xla-import-shardings`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lowerings.partitioning.annotations import (
    HLO_SHARDINGS,
    SHARDY_ENTRY,
    all_entries,
    hlo_sharding,
    is_annotation,
    is_of_shardy,
    is_partitioned,
    target_of,
)
from lowerings.partitioning.mesh_atoms import rank_of
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from xla_dialect.analysis.manual_borders import (
    ManualBorder,
    all_shardings,
    located_border,
    set_manual_border,
)
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.ops.collectives import process_counts
from xla_dialect.ops.custom_calls import (
    FULL_TO_SHARD,
    SHARD_TO_FULL,
    SHARDING_CONSTRAINT,
    CustomCallOp,
)
from xla_dialect.ops.transfers import KEPT_IN
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding, Shardings
from xla_dialect.sharding.attributes import (
    SHARDING,
    SHARDING_RULE,
    ShardingAttr,
    ShardingPerValueAttr,
    ShardingRuleAttr,
    meshes_in_text,
    meshes_of,
    parameter_shardings,
    result_shardings,
    returned_shardings,
    set_function_shardings,
    set_meshes,
    set_result_shardings,
)
from xla_dialect.sharding.hlo_sharding import (
    Devices,
    HloSharding,
    HloShardingKind,
    MeshesOfTiles,
    axes_of,
    common_mesh,
)
from xla_dialect.sharding.mesh import AxisReference, Mesh, in_mesh_order, merged_axes
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


_OPAQUE = ("xla.backend_config", "mhlo.backend_config", "backend_config")
_OPEN = re.compile(r"unspecified_dims=\[([0-9, ]*)\]")


def is_gspmd_border(op: Operation) -> bool:
    """Whether it is one of the two calls."""
    return target_of(op) in (FULL_TO_SHARD, SHARD_TO_FULL)


def open_dimensions(op: Operation) -> Collection[int]:
    """The dimensions of which an annotation says nothing: `unspecified_dims=[0,1]`."""
    texts = (op.attributes.get(name) for name in _OPAQUE)
    found = (_OPEN.search(text.data) for text in texts if isinstance(text, StringAttr))
    return [
        int(number)
        for match in found
        if match is not None
        for number in match.group(1).split(",")
        if number.strip()
    ]


def import_border(op: Operation, tiles: MeshesOfTiles, name: str) -> None:
    """Makes such a call one of Shardy's; raises XlaError where its annotations are missing."""
    assert isinstance(op, CustomCallOp)
    is_cut = op.custom_call_target.data == FULL_TO_SHARD
    mine, given = hlo_sharding(op.attributes), _annotation_of(op.inputs[0])
    whole, part = (given, mine) if is_cut else (mine, given)
    rank = rank_of(op.inputs[0].type)
    sharding = None if whole is None else tiles.sharding(whole, rank, name, open_dimensions(op))
    if sharding is None:
        raise _fault(op, "nothing says how the whole array is spread over devices")
    # What is annotated by nobody is manual along all devices.
    manual = list(tiles.common.sizes) if part is None else tiles.manual_axes(part)
    if manual is None:
        raise _fault(op, "what is manual is no axis of a mesh with the other shardings")
    for each in HLO_SHARDINGS:
        op.attributes.pop(each, None)
    # An array is whole along what is free, as far as the border says.
    shardings = [_along(sharding, manual.__contains__)]
    set_manual_border(op, ManualBorder(is_cut, shardings, manual))


def _along(sharding: Sharding, is_manual: Callable[[str], bool]) -> Sharding:
    """With manual axes in front, as Shardy wants them; raises nothing."""
    dimensions = tuple(
        DimensionSharding(
            tuple(sorted(each.axes, key=lambda axis: not is_manual(axis.name))), each.is_closed
        )
        for each in sharding.dimensions
    )
    return Sharding(sharding.mesh, dimensions)


def _annotation_of(value: SSAValue) -> HloSharding | None:
    """What an operation says of its result, or a function of its parameter."""
    owner = value.owner
    if isinstance(owner, Block):
        function = owner.parent_op()
        index = cast(BlockArgument, value).index
        if not isinstance(function, FuncOp) or function.arg_attrs is None:
            return None
        return hlo_sharding(function.arg_attrs.data[index].data)
    found = hlo_sharding(owner.attributes)
    if found is None and target_of(owner) == SHARDING_CONSTRAINT:
        return _annotation_of(operands_of(owner)[0])
    return found


def _fault(op: CustomCallOp, message: str) -> XlaError:
    return XlaError(f"{described(op)}: {op.custom_call_target.data}: {message}")


def unite_meshes(module: ModuleOp) -> bool:
    """
    Says all shardings of a module over one mesh; whether there were several.

    Nothing is changed where they are over other numbers of devices, or no mesh has axes for all.
    """
    meshes = meshes_of(module)
    spellings: dict[str | Mesh, Mesh] = {}
    for sharding in all_shardings(module):
        mesh = sharding.mesh_in(meshes)
        if mesh is not None and mesh.axes:
            spellings[sharding.mesh] = mesh
    found = dict.fromkeys(spellings.values())
    if len(spellings) < 2 or len({mesh.device_count for mesh in found}) > 1:
        return False
    common = _common(found)
    if common is None:
        return False
    named_so = (name for name, mesh in meshes.items() if mesh == common)
    target = next(named_so, unused_name(meshes))
    axes = {each: _Translation(mesh, common, target) for each, mesh in spellings.items()}
    try:
        _rewrite(module, axes)
    except _NoWholeAxes:
        return False
    set_meshes(module, {**meshes, target: common})
    return True


class _NoWholeAxes(Exception):
    """A manual axis is a part of an axis of the common mesh."""


class _Translation:
    """From the axes of one mesh to those of another with the same devices."""

    def __init__(self, mesh: Mesh, common: Mesh, name: str):
        self.mesh = mesh
        self.common = common
        self.name = name

    def axes(self, axis: AxisReference) -> tuple[AxisReference, ...]:
        """What an axis, or a part of one, is."""
        whole = self.mesh.sizes[axis.name]
        shape: list[int] = []
        place = 0
        for name, size in self.mesh.axes:
            if name == axis.name:
                part = axis.size_in(self.mesh.sizes)
                place = len(shape) + 1
                shape += [axis.pre_size, part, whole // (axis.pre_size * part)]
            else:
                shape.append(size)
        found = axes_of(self.common, _devices(self.mesh).reshape(shape))
        assert found is not None
        return found[place]

    def all(self, axes: Iterable[AxisReference]) -> tuple[AxisReference, ...]:
        """Of axes in their order."""
        return merged_axes((new for axis in axes for new in self.axes(axis)), self.common.sizes)

    def sharding(self, old: Sharding) -> Sharding:
        """The same sharding."""
        dimensions = (replace(each, axes=self.all(each.axes)) for each in old.dimensions)
        lists = (
            in_mesh_order(self.all(each), self.common.sizes)
            for each in (old.replicated, old.unreduced)
        )
        return Sharding(self.name, tuple(dimensions), *lists)

    def manual(self, names: Iterable[str]) -> list[str]:
        """Whole axes for whole axes."""
        found = [each for name in names for each in self.axes(AxisReference(name))]
        if any(axis.size is not None for axis in found):
            raise _NoWholeAxes
        return [axis.name for axis in found]


_Axes = Mapping[str | Mesh, _Translation]


def _rewrite(module: ModuleOp, axes: _Axes) -> None:
    def said(old: Sharding | None) -> Sharding | None:
        return old if old is None else _said(old, axes)

    operations = operations_in(module)
    borders = {op: border for op in operations if (border := located_border(op)) is not None}
    # First what may fail.
    made = {op: _border(border, axes) for op, border in borders.items()}
    for op in operations:
        if isinstance(op, FuncOp):
            given, returned = parameter_shardings(op), returned_shardings(op)
            set_function_shardings(op, list(map(said, given)), list(map(said, returned)))
            continue
        found = result_shardings(op)
        if found is not None:
            set_result_shardings(op, [said(each) or each for each in found])
        if op in made:
            set_manual_border(op, made[op])


def _said(old: Sharding, axes: _Axes) -> Sharding:
    translation = axes.get(old.mesh)
    return old if translation is None else translation.sharding(old)


def _border(border: ManualBorder, axes: _Axes) -> ManualBorder:
    found = (axes.get(each.mesh) for each in border.shardings)
    first = next((each for each in found if each is not None), None)
    if first is None:
        return border
    shardings = [_said(each, axes) for each in border.shardings]
    return ManualBorder(border.is_cut, shardings, first.manual(border.manual_axes))


def _devices(mesh: Mesh) -> Devices:
    return np.array(mesh.devices, np.int64).reshape([size for _, size in mesh.axes])


def _common(meshes: Iterable[Mesh]) -> Mesh | None:
    """The mesh over whose axes all of these are: one of them, or a finer one."""
    given = list(meshes)
    arrays = [_devices(mesh) for mesh in given]
    finer = common_mesh(arrays, arrays[0].size)
    for mesh in (*given, finer):
        found = [axes_of(mesh, devices) for devices in arrays]
        is_whole = mesh is finer or all(
            axis.size is None for axes in found for each in axes or () for axis in each
        )
        if None not in found and is_whole:
            return mesh
    return None


def unused_name(meshes: Mapping[str, Mesh]) -> str:
    """A name for one more mesh."""
    names = ("mesh", *(f"mesh_{number}" for number in range(len(meshes) + 1)))
    return next(name for name in names if name not in meshes)
