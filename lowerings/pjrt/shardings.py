"""
How several devices share what a program takes and returns, as JAX's programs say it and Shardy's
rules propagate it; and what `jax.debug.inspect_array_sharding` asks for within such a program.

Shardings are propagated in modules of jaxlib as XLA has them then, behind their way to HLO: calls
are inlined there, a broadcast that repeats nothing is a reshape, what a loop does not change is
used in it from outside, and operations are in an order of their own. For an array that is inspected
JAX leaves a custom call with the address of a function, for the partitioner to call when it knows
how devices share the array.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.interfaces import (
    HLO_SHARDING,
    IR,
    PARAMETERS,
    PASS_MANAGER,
    RESULTS,
    SDY,
    SHARDING,
    TOKEN_TYPE,
    XLA_CLIENT,
    attributes_of,
    main_function,
    operations,
)
from xla_dialect.literals.arrays import Array
from xla_dialect.sharding.array_sharding import Shards
from xla_dialect.sharding.hlo_sharding import HloSharding


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


_TARGET = "InspectSharding"
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


def tell_shardings(module: Any, devices: int) -> None:
    """Calls the functions that a module names, which has been propagated; raises PluginError."""
    for op in _inspections(module):
        listener = _Listener.from_buffer_copy(op.attributes["backend_config"].value_bytes)
        sharding = _sharding_of(module, op, devices)
        arguments = _Arguments(sharding, len(sharding))
        place = ctypes.addressof(arguments)
        _Function(listener.function)(listener.data, place)
        if arguments.error:
            message = arguments.error.decode(errors="replace")
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(arguments.free_error)(place)
            raise PluginError(ErrorCode.INTERNAL, message)


def forget_inspections(module: Any) -> None:
    """Takes the custom calls out of a module: they compute nothing."""
    for op in _inspections(module):
        op.erase()


def _inspections(module: Any) -> list[Any]:
    def is_inspection(op: Any) -> bool:
        name = "stablehlo.custom_call"
        return op.name == name and op.attributes["call_target_name"].value == _TARGET

    return operations(module, is_inspection)


def _sharding_of(module: Any, op: Any, devices: int) -> bytes:
    """XLA's `OpSharding` of an array that is inspected."""
    parent = op.parent
    while parent is not None and parent.name != "sdy.manual_computation":
        parent = parent.parent
    if parent is not None:
        manual = XLA_CLIENT.OpSharding()
        manual.type = XLA_CLIENT.OpSharding.Type.MANUAL
        return manual.SerializeToString()
    said: dict[str, Any] = {}
    if SHARDING in op.attributes:
        said[SHARDING] = SDY.TensorShardingPerValueAttr(op.attributes[SHARDING]).shardings[0]
    shape = list(IR.RankedTensorType(op.operands[0].type).shape)
    (division,) = divisions_of(module, [IR.DictAttr.get(said)], [shape], devices)
    return serialized(division)


def divided(
    module: Any, devices: int, is_kept: bool
) -> tuple[Sequence[ArrayDivision], Sequence[ArrayDivision]]:
    """
    How devices share the parameters, which is as they say, and the results, as Shardy's rules
    propagate it; what is found out of these is written into the module, and told who asks.
    """
    given, found = main_function(module), _propagated(module)
    if not is_kept:
        tell_shardings(found, devices)
    forget_inspections(module)
    last = main_function(found)
    sides: list[Sequence[ArrayDivision]] = []
    for side, types, where, function in (
        (PARAMETERS, given.type.inputs, module, given),
        (RESULTS, given.type.results, found, last),
    ):
        shapes = [_sizes(each) for each in types]
        sides.append(divisions_of(where, attributes_of(function, side), shapes, devices))
        say(module, given, side, function, sides[-1])
    return sides[0], sides[1]


def _propagated(module: Any) -> Any:
    if not mesh_operations(module) and HLO_SHARDING in (text := module.operation.get_asm()):
        # Other programs that are found on disk do without xDSL.
        from lowerings.pjrt.gspmd_shardings import propagated_by_our_passes  # noqa: PLC0415

        return propagated_by_our_passes(text, module.context, _spelled)
    return propagated(module)


def _spelled(shards: Shards) -> str:
    """How devices share an array, as HLO writes it."""
    found = XLA_CLIENT.OpSharding()
    found.ParseFromString(serialized(ArrayDivision(shards)))
    return str(XLA_CLIENT.HloSharding.from_proto(found))


def _sizes(type_: Any) -> list[int]:
    return list(IR.RankedTensorType(type_).shape) if str(type_) != TOKEN_TYPE else []


def bring_to_hlo_form(module: Any) -> None:
    """Changes what clients call."""
    main = main_function(module)
    _inline_calls(module, main)
    for broadcast in operations(main, lambda op: op.name == "stablehlo.broadcast_in_dim"):
        _make_reshape(broadcast)
    for loop in operations(main, lambda op: op.name == "stablehlo.while"):
        _use_from_outside(loop)
    _order(main.entry_block)


def _make_reshape(broadcast: Any) -> None:
    """Replaces a broadcast that repeats nothing."""
    (operand,), (result,) = broadcast.operands, broadcast.results
    sizes = [IR.RankedTensorType(each.type).shape for each in (operand, result)]
    if prod(sizes[0]) != prod(sizes[1]):
        return
    own = broadcast.attributes
    kept = {SHARDING: own[SHARDING]} if SHARDING in own else {}
    with IR.InsertionPoint(broadcast):
        new = IR.Operation.create(
            "stablehlo.reshape", results=[result.type], operands=[operand], attributes=kept
        )
    result.replace_all_uses_with(new.result)
    broadcast.erase()


def _use_from_outside(loop: Any) -> None:
    """Lets a loop use what no turn changes as it comes in, and what follows, too."""
    condition, body = (region.blocks[0] for region in loop.regions)
    *_, end = body.operations
    for number, value in enumerate(loop.operands):
        if end.operands[number] == body.arguments[number]:
            for block in (condition, body):
                block.arguments[number].replace_all_uses_with(value)
            end.operands[number] = body.arguments[number]
            loop.results[number].replace_all_uses_with(value)


def _order(block: Any) -> None:
    """
    Puts operations in the post-order of HLO: operands in their order before what uses them, from
    what nobody uses on, the end last.
    """
    own = [op.operation for op in block.operations]
    places = {op: place for place, op in enumerate(own)}
    *others, end = own
    roots = [*(op for op in others if not _is_used(op)), end]
    ordered: list[Any] = []
    seen: set[Any] = set()
    stack = [(op, False) for op in reversed(roots)]
    while stack:
        op, is_done = stack.pop()
        if is_done:
            ordered.append(op)
        elif op not in seen:
            seen.add(op)
            stack.append((op, True))
            stack += [(each, False) for each in reversed(_operands(op)) if each in places]
    for op in ordered[:-1]:
        op.move_before(end)
        for region in op.regions:
            for inner in region.blocks:
                _order(inner)


def _is_used(op: Any) -> bool:
    return any(True for result in op.results for _ in result.uses)


def _operands(op: Any) -> list[Any]:
    """The operations whose results an operation, or what is in it, uses."""
    return [
        value.owner
        for each in operations(op, lambda _: True)
        for value in each.operands
        if not isinstance(value.owner, IR.Block)
    ]


def _inline_calls(module: Any, main: Any) -> None:
    functions = {
        op.attributes["sym_name"].value: op
        for op in module.body.operations
        if op.operation.name == "func.func"
    }
    waiting = operations(main, _is_call)
    while waiting:
        call = waiting.pop()
        waiting += _inline(call, functions[call.attributes["callee"].value].entry_block)


def _inline(call: Any, body: Any) -> list[Any]:
    """Inlines one call; returns the calls that are in its place."""
    values = dict(zip(body.arguments, call.operands, strict=True))
    found: list[Any] = []

    def rename(op: Any) -> Any:
        for number, value in enumerate(op.operands):
            if value in values:
                op.operands[number] = values[value]
        return IR.WalkResult.ADVANCE

    *copied, end = body.operations
    with IR.InsertionPoint(call):
        for op in copied:
            copy = op.operation.clone()
            copy.walk(rename)
            values.update(zip(op.operation.results, copy.results, strict=True))
            found += operations(copy, _is_call)
    for result, value in zip(call.results, end.operands, strict=True):
        result.replace_all_uses_with(values[value])
    call.erase()
    return found


def _is_call(op: Any) -> bool:
    return op.name == "func.call"
