"""What custom calls compute: functions of the caller of the reference, and of libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Block, SSAValue

from xla_dialect import types
from xla_dialect.analysis.computations import lacks_tokens, top_k_properties, with_tokens
from xla_dialect.analysis.manual_borders import manual_border
from xla_dialect.devices.process_grid import Process
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.ops import custom_calls as ops
from xla_dialect.ops.custom_calls import (
    FULL_TO_SHARD,
    GLOBAL_TO_LOCAL,
    LOCAL_TO_GLOBAL,
    SHARD_TO_FULL,
    CustomCallOp,
)
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.ops.transfers import KEPT_IN
from xla_dialect.runtime.custom_calls import (
    CustomCallFunction,
    call_function,
    call_on_arrays,
    function_for,
    on_copies,
)
from xla_dialect.sharding.array_sharding import Sharding, Shards
from xla_dialect.sharding.attributes import (
    meshes_in_text,
    meshes_of,
)
from xla_dialect.sharding.hlo_sharding import HloShardingAttr
from xla_dialect.sharding.mesh import AxisReference, Mesh
from xla_dialect.spelling import SpellingError
from xla_dialect.violations import described

# Custom calls with which JAX goes from whole arrays to the parts of devices, and back.
#
# Without a partitioner every partition holds whole arrays. So a part is cut out of the whole by
# the number of the partition, and a whole is put together from what all partitions bring. Shardy
# and its predecessor have a pair of targets each; devices are partitions.


@dataclass(frozen=True)
class ShardingCalls:
    """What these calls compute in one process of a program."""

    process: Process
    module: ModuleOp

    def function(self, target: str) -> Callable[..., object] | None:
        """The function of a target, which raises XlaError; None for any other."""
        function = {
            GLOBAL_TO_LOCAL: self.cut_by_axes,
            LOCAL_TO_GLOBAL: self.join_by_axes,
            FULL_TO_SHARD: self.cut_by_tiles,
            SHARD_TO_FULL: self.join_by_tiles,
        }.get(target)
        return None if function is None else _with_target(target, function)

    def cut_by_axes(self, op: CustomCallOp, *wholes: Array) -> object:
        """Shardy: the part of every operand."""
        return self._cut(op, wholes, self._parts_by_axes(op, op.operand_types))

    def join_by_axes(self, op: CustomCallOp, *local: Array) -> object:
        """Shardy: the whole of every operand."""
        leaves = types.flatten(op.result_types)
        return self._join(op, local, self._parts_by_axes(op, leaves))

    def cut_by_tiles(self, op: CustomCallOp, whole: Array) -> object:
        """GSPMD: the operand is an annotation that says how it is spread."""
        return self._cut(op, [whole], [self._tiles(op.inputs[0], whole.ndim)])

    def join_by_tiles(self, op: CustomCallOp, local: Array) -> object:
        """GSPMD: the call says how its result is spread."""
        return self._join(op, [local], [self._tiles(op.outputs[0], local.ndim)])

    def _cut(self, op: CustomCallOp, wholes: Sequence[Array], parts: Sequence[Shards]) -> object:
        for whole, each in zip(wholes, parts, strict=True):
            _check_even(each, whole.shape)
        found = [
            np.asarray(whole[each.slices(self._device(each), whole.shape)], order="C")
            for whole, each in zip(wholes, parts, strict=True)
        ]
        return _as_results(op, found)

    def _join(self, op: CustomCallOp, local: Sequence[Array], parts: Sequence[Shards]) -> object:
        declared = [cast("types.Array", t) for t in types.flatten(op.result_types)]
        if len(declared) != len(local):
            raise XlaError(f"has {len(local)} operands and {len(declared)} results")
        grid, (replica, _) = self.process.grid, self.process.place
        for each, type_ in zip(parts, declared, strict=True):
            self._device(each)
            _check_even(each, types.extents(type_))
        members = tuple((replica, number) for number in range(grid.partitions))
        wholes: list[Array] = []
        for type_, part, each in zip(declared, local, parts, strict=True):
            sizes = types.extents(type_)
            if part.shape != each.local_sizes(sizes):
                raise XlaError(f"a part of {types.spell(type_)} has sizes {list(part.shape)}")
            wholes.append(np.empty(sizes, part.dtype))
        key = op if self.process.same_program else None
        begun = self.process.exchange(
            (op.name, key), members, [local] * len(members), described(op)
        )
        begun.take(
            [
                [_target(whole, each, device) for whole, each in zip(wholes, parts, strict=True)]
                for device, _ in enumerate(members)
            ]
        )
        return _as_results(op, wholes)

    def _device(self, parts: Shards) -> int:
        count = self.process.grid.partitions
        if sorted(parts.places) != list(range(count)):
            raise XlaError(
                f"arrays are spread over {len(parts.places)} devices, the program runs on {count} "
                "partitions (--partitions)"
            )
        return self.process.place[1]

    def _parts_by_axes(self, op: CustomCallOp, declared: Sequence[Attribute]) -> list[Shards]:
        border = manual_border(op)
        assert border is not None
        if len(border.shardings) != len(declared):
            raise XlaError(f"has {len(border.shardings)} shardings for {len(declared)} arrays")
        manual = list(map(AxisReference, border.manual_axes))
        return [
            Shards.of_mesh(self._mesh(s), s, len(types.extents(cast(Any, type_))), manual)
            for s, type_ in zip(border.shardings, declared, strict=True)
        ]

    def _mesh(self, sharding: Sharding) -> Mesh:
        meshes = meshes_of(self.module)
        if not meshes:
            head = _text(self.module.attributes.get(KEPT_IN[0]))
            meshes = meshes_in_text(head)
        mesh = sharding.mesh_in(meshes)
        if mesh is None:
            raise XlaError(f"there is no mesh @{sharding.mesh}")
        return mesh

    def _tiles(self, value: SSAValue, rank: int) -> Shards:
        """The parts of a value by the sharding at the operation that has it as its result."""
        attributes: Mapping[str, Attribute] = getattr(value.owner, "attributes", {})
        found = attributes.get("xla.sharding", attributes.get("mhlo.sharding"))
        if not isinstance(found, HloShardingAttr):
            raise XlaError("nothing says how the whole array is spread over devices")
        return found.data.shards(rank, self.process.grid.partitions)


def _target(whole: Array, parts: Shards, device: int) -> Array:
    """Where the part of a device belongs: of those that have the same part, the first counts."""
    place = parts.places[device]
    inside = whole[parts.slices(device, whole.shape)]
    first = min(other for other, found in parts.places.items() if found == place)
    return inside if first == device else np.empty(inside.shape, inside.dtype)


def _check_even(parts: Shards, sizes: Sequence[int]) -> None:
    """A computation that sees a device's part has one size of it for all devices."""
    for dimension, (size, count) in enumerate(zip(sizes, parts.counts, strict=True)):
        if size % count:
            raise XlaError(f"size {size} of dimension {dimension} for {count} devices")


def _with_target(target: str, function: Callable[..., object]) -> Callable[..., object]:
    """A function whose errors name the target."""

    def call(op: CustomCallOp, *operands: Array) -> object:
        try:
            return function(op, *operands)
        except (XlaError, SpellingError) as error:
            raise XlaError(f"{target}: {error}") from error

    return call


def _as_results(op: CustomCallOp, found: Sequence[Array]) -> object:
    return found[0] if len(found) == 1 and types.is_array(op.result_types[0]) else tuple(found)


def _text(value: Attribute | None) -> str:
    """A string as it was before it was quoted."""
    return value.data.replace("\\", "") if isinstance(value, StringAttr) else ""


@register_impls
@dataclass
class CustomCallFunctions(InterpreterFunctions):
    """Calls of registered functions."""

    registry: Mapping[str, CustomCallFunction] = field(
        default_factory=dict[str, CustomCallFunction]
    )
    """The functions of the caller by their target."""
    library: Mapping[str, CustomCallFunction] = field(default_factory=dict[str, CustomCallFunction])
    """Those of libraries."""
    process: Process = field(default_factory=Process)

    @impl(ops.CustomCallOp)
    def run_custom_call(
        self, interpreter: Interpreter, op: ops.CustomCallOp, args: PythonValues
    ) -> PythonValues:
        """The results of the function for this target."""
        target = op.custom_call_target.data
        registered = self.registry.get(target)
        properties = top_k_properties(op) if registered is None else None
        if properties is not None:
            found = interpreter.run_op(
                TopkOp.make(Block(arg_types=op.operand_types).args, properties), args
            )
            return found if len(op.results) == len(found) else (found,)
        if registered is not None:
            function = on_copies(registered)
        else:
            sharding = ShardingCalls(self.process, interpreter.module)
            function = sharding.function(target) or function_for(
                target, self.registry, self.library
            )
        if lacks_tokens(op):
            return call_on_arrays(with_tokens(op), function, args)
        return call_function(op, function, args)
