"""Several meshes of the same devices as one: shardings over any of them are said over its axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xla_dialect.analysis.manual_borders import (
    ManualBorder,
    all_shardings,
    located_border,
    set_manual_border,
)
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import (
    meshes_of,
    parameter_shardings,
    result_shardings,
    returned_shardings,
    set_function_shardings,
    set_meshes,
    set_result_shardings,
)
from xla_dialect.sharding.hlo_sharding import Devices, axes_of, common_mesh
from xla_dialect.sharding.mesh import AxisReference, Mesh, in_mesh_order, merged_axes
from xla_dialect.xdsl.traversal import operations_in


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
        _rewrite(module, lambda each: axes.get(each.mesh))
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


_Find = Callable[[Sharding], _Translation | None]


def _rewrite(module: ModuleOp, find: _Find) -> None:
    def said(old: Sharding | None) -> Sharding | None:
        translation = None if old is None else find(old)
        return old if old is None or translation is None else translation.sharding(old)

    operations = operations_in(module)
    borders = {op: border for op in operations if (border := located_border(op)) is not None}
    # First what may fail.
    made = {op: _border(border, find) for op, border in borders.items()}
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


def _border(border: ManualBorder, find: _Find) -> ManualBorder:
    found = [find(each) for each in border.shardings]
    first = next((each for each in found if each is not None), None)
    if first is None:
        return border
    shardings = [
        old if each is None else each.sharding(old)
        for each, old in zip(found, border.shardings, strict=True)
    ]
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
