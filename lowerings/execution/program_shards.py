"""How a program that says how its arrays are split becomes that of one device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.execution.function_signature import signature_of
from lowerings.execution.signature import ArraySpec
from lowerings.ir.functions import functions_of
from lowerings.partitioning.annotations import says_how_split
from lowerings.partitioning.mesh_atoms import program_mesh
from lowerings.pipelines import PARTITIONING, PROPAGATION, TO_ONE_DEVICE
from xla_dialect.literals.arrays import Array
from xla_dialect.sharding.array_sharding import Sharding, Shards
from xla_dialect.sharding.attributes import parameter_shardings, returned_shardings
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.types import TokenType


@dataclass(frozen=True)
class ProgramShards:
    """What of the arrays that a program takes and returns each device has."""

    device_count: int
    parameters: tuple[Shards, ...]
    results: tuple[Shards, ...]

    @staticmethod
    def of(module: ModuleOp, entry: str) -> ProgramShards | None:
        """
        What the shardings of a function say, before it is partitioned; None where nothing is split.

        Raises XlaError where they make no sense.
        """
        found = program_mesh(module)
        if found is None:
            return None
        function = functions_of(module)[entry]
        signature, type_ = signature_of(function), function.function_type
        sides = (
            _shards(found.mesh, _of_arrays(shardings, types), specs)
            for shardings, types, specs in (
                (parameter_shardings(function), type_.inputs.data, signature.parameters),
                (returned_shardings(function), type_.outputs.data, signature.results),
            )
        )
        return ProgramShards(found.mesh.device_count, *sides)

    def cut(self, device: int, wholes: Sequence[Array]) -> list[Array]:
        """The parts of the arguments that a device has; behind an uneven one there are zeros."""
        return [
            _local(whole, shards, device)
            for whole, shards in zip(wholes, self.parameters, strict=True)
        ]

    def joined(
        self, parts: Sequence[Sequence[Array]], sizes: Sequence[Sequence[int]]
    ) -> tuple[Array, ...]:
        """The results of these sizes, of the parts of all devices."""
        wholes: list[Array] = []
        for number, (shards, shape) in enumerate(zip(self.results, sizes, strict=True)):
            whole = np.empty(tuple(shape), parts[0][number].dtype)
            for device in shards.places:
                place = shards.slices(device, shape)
                part = parts[device][number]
                whole[place] = part[tuple(slice(0, each.stop - each.start) for each in place)]
            wholes.append(whole)
        return tuple(wholes)


def _of_arrays(
    shardings: Sequence[Sharding | None], types: Sequence[Attribute]
) -> list[Sharding | None]:
    """Those of what is passed: tokens are not."""
    both = zip(shardings, types, strict=True)
    return [sharding for sharding, type_ in both if not isinstance(type_, TokenType)]


def _shards(
    mesh: Mesh, shardings: Sequence[Sharding | None], specs: Sequence[ArraySpec]
) -> tuple[Shards, ...]:
    return tuple(
        Shards.replicated(len(spec.shape), mesh.device_count)
        if sharding is None
        else Shards.of_mesh(mesh, sharding, len(spec.shape))
        for sharding, spec in zip(shardings, specs, strict=True)
    )


def _local(whole: Array, shards: Shards, device: int) -> Array:
    part = whole[shards.slices(device, whole.shape)]
    sizes = shards.local_sizes(whole.shape)
    if part.shape == sizes:
        return np.asarray(part, order="C")
    padded = np.zeros(sizes, whole.dtype)
    padded[tuple(map(slice, part.shape))] = part
    return padded


def partition(module: ModuleOp, entry: str, *, is_propagated: bool = False) -> ProgramShards | None:
    """
    Makes the program of one device of a module; what of its arrays each device has. None where
    nothing is split, and each device runs the module. `is_propagated`: the module says of all
    arrays how they are split. Raises XlaError for what cannot be partitioned.
    """
    if not says_how_split(module):
        return None
    manager = PassManager(make_context(), verify_each=False, verify_last=False)
    first = PARTITIONING.index(PROPAGATION) + 1 if is_propagated else 0
    border = PARTITIONING.index(TO_ONE_DEVICE)
    manager.run(module, parse_passes(",".join(PARTITIONING[first:border])))
    shards = ProgramShards.of(module, entry)
    manager.verify_last = True
    manager.run(module, parse_passes(",".join(PARTITIONING[border:])))
    return shards
