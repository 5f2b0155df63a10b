"""
How several devices share what a program takes and returns, as JAX's programs say it and
propagation spreads it; and what `jax.debug.inspect_array_sharding` asks for within such a program.

For an array that is inspected JAX leaves a custom call with the address of a function, for the
partitioner to call when it knows how devices share the array.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.ir.functions import functions_of
from lowerings.partitioning.annotations import hlo_sharding, target_of
from lowerings.partitioning.mesh_atoms import ValueShardings, program_mesh, rank_of
from lowerings.pipelines import PARTITIONING, PROPAGATION
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.custom_calls import replace_call
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.interfaces import INSPECTION, PARTITIONED, XLA_CLIENT
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.literals.arrays import Array
from xla_dialect.sharding.array_sharding import Sharding, Shards
from xla_dialect.sharding.attributes import (
    SHARDING,
    ShardingAttr,
    meshes_of,
    set_function_shardings,
)
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.types import extents, is_array
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import operations_in


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


Divisions = tuple[Sequence[ArrayDivision], Sequence[ArrayDivision]]
"""How devices share parameters and results."""


def serialized(division: ArrayDivision) -> bytes:
    """XLA's `OpSharding` for how devices share an array."""
    hlo, types = XLA_CLIENT.HloSharding, XLA_CLIENT.OpSharding.Type
    shards, terms = division.shards, division.terms
    if division.is_replicated:
        return hlo.replicate().to_proto().SerializeToString()
    term_count = len(set(terms.values()) or {0})
    if term_count == len(shards.places):
        return hlo.unreduced().to_proto().SerializeToString()
    order = sorted(shards.places, key=lambda each: (shards.places[each], terms.get(each, 0), each))
    devices = np.reshape(order, (*shards.counts, term_count, -1))
    found = hlo.subgroup_with_device_ordering(devices, [types.UNREDUCED, types.REPLICATED])
    return found.to_proto().SerializeToString()


_PLACE = PARTITIONING.index(PROPAGATION)


def spread(module: ModuleOp, devices: int, listeners: Sequence[bytes] = ()) -> Divisions:
    """
    Says of all arrays of a program how they are split, as XLA does; who asks for it is told, if
    there are `listeners`, and gone. Parameters are as the program says; parameters and results that
    cannot be cut into even parts are replicated.

    Raises PluginError for what those who are told raise, and XlaError.
    """
    manager = PassManager(make_context(), verify_each=False)
    manager.run(module, parse_passes(",".join(PARTITIONING[:_PLACE])))
    main = functions_of(module)[ENTRY_SYMBOL]
    given = main.arg_attrs
    manager.run(module, parse_passes(PROPAGATION))
    if _answer(module, main, devices, listeners):
        manager.run(module, parse_passes(PROPAGATION))
    parameters = _divisions(module, given, main.function_type.inputs.data, devices)
    results = _divisions(module, main.res_attrs, main.function_type.outputs.data, devices)
    set_function_shardings(main, _settled(given, parameters), _settled(main.res_attrs, results))
    return parameters, results


def said(module: ModuleOp, devices: int) -> Divisions:
    """How devices share what a program takes and returns, where nothing but itself says that."""
    main = functions_of(module)[ENTRY_SYMBOL]
    type_ = main.function_type
    return (
        _divisions(module, main.arg_attrs, type_.inputs.data, devices),
        _divisions(module, main.res_attrs, type_.outputs.data, devices),
    )


_Said = ArrayAttr[DictionaryAttr] | None
"""The attributes of the parameters or results of a function."""


def _rows(said: _Said, count: int) -> Sequence[Mapping[str, Attribute]]:
    return [each.data for each in said] if said else [dict[str, Attribute]()] * count


def _divisions(
    module: ModuleOp, said: _Said, types: Sequence[Attribute], devices: int
) -> list[ArrayDivision]:
    """What says nothing, or cannot be cut into even parts, is replicated."""
    meshes = meshes_of(module)
    divisions: list[ArrayDivision] = []
    for row, type_ in zip(_rows(said, len(types)), types, strict=True):
        sizes = extents(type_) if is_array(type_) else ()
        sharding, hlo = row.get(SHARDING), hlo_sharding(row)
        mesh = sharding.data.mesh_in(meshes) if isinstance(sharding, ShardingAttr) else None
        found = ArrayDivision.replicated(len(sizes), devices)
        if isinstance(sharding, ShardingAttr) and mesh is not None:
            divided = _on_mesh(mesh, sharding.data, len(sizes))
        else:
            divided = found if hlo is None else ArrayDivision(hlo.shards(len(sizes), devices))
        divisions.append(divided if divided.shards.is_even(sizes) else found)
    return divisions


def _on_mesh(mesh: Mesh, sharding: Sharding, rank: int) -> ArrayDivision:
    axes = sharding.unreduced
    terms = {device: mesh.coordinate(device, axes) for device in mesh.devices} if axes else {}
    return ArrayDivision(Shards.of_mesh(mesh, sharding, rank), terms)


def _settled(said: _Said, divisions: Sequence[ArrayDivision]) -> list[Sharding | None]:
    """What is said where that is how devices share arrays; nothing is left open."""
    found: list[Sharding | None] = []
    for row, division in zip(_rows(said, len(divisions)), divisions, strict=True):
        sharding = row.get(SHARDING)
        if not isinstance(sharding, ShardingAttr):
            found.append(None)
        elif division.is_replicated:
            found.append(Sharding.replicated_over(sharding.data.mesh, sharding.data.rank))
        else:
            found.append(sharding.data.settled())
    return found


_Function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class _Listener(ctypes.Structure):
    """The bytes that the custom call has: a function, and its first argument."""

    _fields_ = [("function", ctypes.c_void_p), ("data", ctypes.c_void_p)]


class _Arguments(ctypes.Structure):
    """What its second argument points to."""

    _fields_ = [
        ("sharding", ctypes.c_char_p),
        ("sharding_size", ctypes.c_size_t),
        ("error", ctypes.c_char_p),
        ("error_owner", ctypes.c_void_p),
        ("free_error", ctypes.c_void_p),
    ]


_MANUAL: bytes = XLA_CLIENT.HloSharding.manual().to_proto().SerializeToString()
"""The `OpSharding` of what is a device's own."""


def _answer(module: ModuleOp, main: FuncOp, devices: int, listeners: Sequence[bytes]) -> bool:
    """Takes away what asks how devices share arrays; whether there are operations in its place."""
    inspections = [op for op in operations_in(module) if target_of(op) == INSPECTION]
    calls = [op for op in operations_in(module) if target_of(op) == PARTITIONED]
    if not inspections and not calls:
        return False
    mesh = program_mesh(module)
    found = None if mesh is None else ValueShardings.of(main, mesh)
    for op in inspections:
        if listeners:
            number, *manual = _number_of(op).split()
            sharding = _MANUAL if manual else _sharding_of(op.operands[0], found, devices)
            _call(listeners[int(number)], sharding)
        erase(op)
    for op in calls:
        replace_call(op, module, found)
    return bool(calls)


def _number_of(op: Operation) -> str:
    number = op.attributes["xla.backend_config"]
    assert isinstance(number, StringAttr)
    return number.data.strip('"')


def _sharding_of(value: SSAValue, found: ValueShardings | None, devices: int) -> bytes:
    """XLA's `OpSharding` of an array."""
    rank = rank_of(value.type)
    if found is None:
        return serialized(ArrayDivision(Shards.replicated(rank, devices)))
    sharding = found.mesh.sharding(found.spread(value))
    return serialized(_on_mesh(found.mesh.mesh, sharding, rank))


def _call(listener: bytes, sharding: bytes) -> None:
    found = _Listener.from_buffer_copy(listener)
    arguments = _Arguments(sharding, len(sharding))
    place = ctypes.addressof(arguments)
    _Function(found.function)(found.data, place)
    if arguments.error:
        message = arguments.error.decode(errors="replace")
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(arguments.free_error)(place)
        raise PluginError(ErrorCode.INTERNAL, message)
