"""Runs a program whole and in parts: arguments are cut, results joined, by their shardings."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from lowerings.partitioning.mesh_atoms import MeshAtoms, program_mesh
from lowerings.partitioning.partition_warning import PartitionWarning
from lowerings.partitioning.xla_import_shardings import XlaImportShardingsPass
from lowerings.partitioning.xla_insert_reshards import XlaInsertReshardsPass
from lowerings.partitioning.xla_partition import XlaPartitionPass
from lowerings.partitioning.xla_propagate_shardings import XlaPropagateShardingsPass
from lowerings.partitioning.xla_reshard_to_collectives import XlaReshardToCollectivesPass
from lowerings.partitioning.xla_split_updates import XlaSplitUpdatesPass
from lowerings.simplify.xla_simplify import XlaSimplifyPass
from xla_dialect.reference.interpreter import run, run_replicated
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import parameter_shardings, returned_shardings
from xla_dialect.types import Array
from xla_dialect.verification import verify

Arrays = Sequence[Any]
Run = Callable[[ModuleOp, Sequence[Arrays]], Sequence[Arrays]]
"""From a program and the arguments of each device to the results of each."""


def main_of(module: ModuleOp) -> FuncOp:
    """The function @main."""
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def array_types(types: Sequence[Attribute]) -> list[Array]:
    """Types that are those of arrays."""
    return [cast(Array, type_) for type_ in types]


def on_the_reference(module: ModuleOp, arguments: Sequence[Arrays]) -> Sequence[Arrays]:
    """Runs a program on the reference, a process for each device."""
    return run_replicated(module, arguments, partitions=len(arguments))


def cut(whole: Any, sharding: Sharding | None, mesh: MeshAtoms) -> list[Any]:
    """The parts of an array by device, or of its terms; padding is what must not matter."""
    found: list[Any] = []
    spread = mesh.spread(sharding, whole.ndim)
    blocks = [mesh.blocks(atoms) for atoms in spread.dimensions]
    unreduced = tuple(sorted(spread.unreduced))
    terms, places = _terms(whole, mesh.parts(unreduced)), mesh.blocks(unreduced)
    for device in range(mesh.mesh.device_count):
        part = terms[places[device]]
        for d, atoms in enumerate(spread.dimensions):
            size = -(-whole.shape[d] // mesh.parts(atoms))
            start = blocks[d][device] * size
            part = np.take(part, range(start, min(start + size, whole.shape[d])), d)
            missing = [(0, size - part.shape[e] if e == d else 0) for e in range(whole.ndim)]
            rubbish = np.nan if np.issubdtype(whole.dtype, np.inexact) else 1
            part = np.pad(part, missing, constant_values=rubbish)
        found.append(part.astype(whole.dtype))
    return found


def _terms(whole: Any, count: int) -> list[Any]:
    """Small integers, whose sum the array is."""
    rng = np.random.default_rng(count)
    others = [rng.integers(-4, 5, whole.shape).astype(whole.dtype) for _ in range(count - 1)]
    return [whole - sum(others), *others] if others else [whole]


def joined(parts: Arrays, sizes: Sequence[int], sharding: Sharding | None, mesh: MeshAtoms) -> Any:
    """The array that parts make, or their sums; devices with the same part have the same bits."""
    spread = mesh.spread(sharding, len(sizes))
    counts = [mesh.parts(atoms) for atoms in spread.dimensions]
    blocks = [-(-n // k) for n, k in zip(sizes, counts, strict=True)]
    padded = [n * k for n, k in zip(blocks, counts, strict=True)]
    whole = np.zeros(padded, parts[0].dtype)
    seen: dict[tuple[int, ...], dict[int, Any]] = {}
    places = [mesh.blocks(atoms) for atoms in spread.dimensions]
    terms = mesh.blocks(tuple(sorted(spread.unreduced)))
    for device, part in enumerate(parts):
        assert part.shape == tuple(blocks)
        place = tuple(p[device] for p in places)
        index = tuple(slice(q * n, (q + 1) * n) for q, n in zip(place, blocks, strict=True))
        inside = tuple(
            slice(0, max(0, min(n, size - q * n)))
            for q, n, size in zip(place, blocks, sizes, strict=True)
        )
        known = seen.setdefault(place, {})
        same = known.setdefault(terms[device], part)
        assert same[inside].tobytes() == part[inside].tobytes()
        whole[index] = sum(known.values()) if len(known) > 1 else part
    return whole[tuple(slice(0, n) for n in sizes)]


Partitioned = tuple[ModuleOp, MeshAtoms, list[Any], list[Any]]
"""The program of one device, the mesh, and the shardings of parameters and results."""


def partition_into(module: ModuleOp) -> Partitioned:
    """A program, split as its shardings say."""
    module = module.clone()
    ctx = Context()
    XlaImportShardingsPass().apply(ctx, module)
    XlaSimplifyPass(0).apply(ctx, module)
    XlaPropagateShardingsPass().apply(ctx, module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartitionWarning)
        XlaInsertReshardsPass().apply(ctx, module)
    verify(module)
    XlaSplitUpdatesPass().apply(ctx, module)
    verify(module)
    XlaReshardToCollectivesPass().apply(ctx, module)
    verify(module)
    mesh = program_mesh(module)
    assert mesh is not None
    main = main_of(module)
    shardings = parameter_shardings(main), returned_shardings(main)
    XlaPartitionPass().apply(ctx, module)
    verify(module)
    return module, mesh, *shardings


def run_in_parts(module: ModuleOp, arguments: Arrays, execute: Run = on_the_reference) -> list[Any]:
    """The results of a program with shardings, computed in parts."""
    return run_partitioned(module, partition_into(module), arguments, execute)


def run_partitioned(
    module: ModuleOp, partitioned: Partitioned, arguments: Arrays, execute: Run
) -> list[Any]:
    """The results of a program that has been split."""
    types = array_types(main_of(module).function_type.outputs.data)
    local, mesh, given, returned = partitioned
    parts = [cut(a, s, mesh) for a, s in zip(arguments, given, strict=True)]
    count = mesh.mesh.device_count
    results = execute(local, [[part[device] for part in parts] for device in range(count)])
    return [
        joined([np.asarray(results[d][i]) for d in range(count)], type_.get_shape(), s, mesh)
        for i, (type_, s) in enumerate(zip(types, returned, strict=True))
    ]


def whole_results(module: ModuleOp, arguments: Arrays) -> list[Any]:
    """What the reference makes of the whole program."""
    return [np.asarray(value) for value in run(module, arguments)]
