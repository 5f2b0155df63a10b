"""Collectives, and those whose start and done are two operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation

from xla_dialect.devices.replica_groups import ListedGroups, MeshGroups, ReplicaGroups
from xla_dialect.ops import asynchronous
from xla_dialect.ops import collectives as xla
from xla_dialect.ops.process_groups import GroupedOp, process_counts
from xla_dialect.sharding.attributes import meshes_of
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.stablehlo.conversion import sizes_of
from xla_dialect.stablehlo.correspondence import i64_text
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.mesh_groups import Chosen, MeshAxes, mesh_of
from xla_dialect.stablehlo.syntax import integers_text
from xla_dialect.stablehlo.writing.body import BodyWriter, Write
from xla_dialect.types import Array, array, flatten
from xla_dialect.xdsl.operation_table import OperationTable

DEVICE_TO_DEVICE = 1
"""The type of the channels of collectives."""


def channel_text(number: int, kind: int) -> str:
    """`#stablehlo.channel_handle<handle = 1, type = 1>`"""
    return f"#stablehlo.channel_handle<handle = {number}, type = {kind}>"


def _integer(value: Attribute | None) -> int | None:
    return cast("IntegerAttr[Any]", value).value.data if isinstance(value, IntegerAttr) else None


def channel(op: Operation) -> dict[str, str]:
    """The channel handle of a collective, if it has one."""
    number = _integer(op.properties.get("channel_id"))
    return {} if number is None else {"channel_handle": channel_text(number, DEVICE_TO_DEVICE)}


def groups_text(groups: ReplicaGroups, op: Operation) -> str:
    """The groups of a collective: those of a mesh by its axes, others as a matrix."""
    if not isinstance(groups, MeshGroups):
        return matrix_of_groups(groups)
    mesh = mesh_of(groups)
    return str(MeshAxes(Chosen(_name_of_mesh(mesh, op) or mesh, groups.chosen)))


def _name_of_mesh(mesh: Mesh, op: Operation) -> str | None:
    """The name that the module has for a mesh."""
    return next((name for name, known in meshes_of(_module(op)).items() if known == mesh), None)


def _module(op: Operation) -> ModuleOp:
    while (parent := op.parent_op()) is not None:
        op = parent
    return cast(ModuleOp, op)


def matrix_text(rows: Sequence[Sequence[int]], width: int) -> str:
    """`dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`, one number where all are equal."""
    numbers = {number for row in rows for number in row}
    if len(numbers) == 1:
        text = str(numbers.pop())
    else:
        text = f"[{', '.join(integers_text(row) for row in rows)}]" if numbers else ""
    return f"dense<{text}> : tensor<{len(rows)}x{width}xi64>"


def matrix_of_groups(groups: ReplicaGroups) -> str:
    """The groups as a matrix, the shorter ones filled up with -1."""
    rows = groups.expand()
    width = max(map(len, rows), default=0)
    return matrix_text([(*row, *[-1] * (width - len(row))) for row in rows], width)


def group_properties(op: GroupedOp) -> dict[str, str]:
    """Groups, channel, and whether ids are global."""
    found = {"replica_groups": groups_text(op.groups, op)} | channel(op)
    if _integer(op.properties.get("use_global_device_ids")):
        found["use_global_device_ids"] = "unit"
    return found


_DIMENSIONS: Mapping[type[GroupedOp], tuple[str, str | None]] = {
    xla.AllGatherOp: ("stablehlo.all_gather", "all_gather_dim"),
    asynchronous.AllGatherStartOp: ("stablehlo.all_gather", "all_gather_dim"),
    xla.AllReduceOp: ("stablehlo.all_reduce", None),
    asynchronous.AllReduceStartOp: ("stablehlo.all_reduce", None),
    xla.ReduceScatterOp: ("stablehlo.reduce_scatter", "scatter_dimension"),
}
"""The collectives that may count processes: name, and name of the dimension."""


def write_global(op: GroupedOp, body: BodyWriter) -> None:
    """A collective of `_DIMENSIONS`; `reduce_scatter` takes one array at a time."""
    name, dimension = _DIMENSIONS[type(op)]
    properties = group_properties(op)
    if dimension is not None:
        properties[dimension] = i64_text(_integer(op.properties["dimension"]) or 0)
    operands, types = body.leaves(op.operands), body.types(v.type for v in op.operands)
    if isinstance(op, asynchronous.AllGatherStartOp):
        results = body.types(_results_of_start(op))
    else:
        results = body.types(op.result_types)
    if isinstance(op, xla.ReduceScatterOp) and len(operands) > 1:
        names = [
            body.generic_value(name, [operand], [type_], properties, [result], op.regions)[0]
            for operand, type_, result in zip(operands, types, results, strict=True)
        ]
    else:
        names = body.generic_value(
            name,
            operands,
            types,
            properties,
            results,
            op.regions,
            op if op.attributes else None,
            [value.name_hint for value in op.results],
        )
    finish(op, operands, names, body)


def finish(op: Operation, operands: list[str], names: list[str], body: BodyWriter) -> None:
    """Binds the results of a collective, or the context of its start, to these names."""
    if isinstance(op, asynchronous.AllReduceStartOp):
        body.contexts[op] = tuple(names)
        body.bind(op.results, names)
    elif isinstance(op, asynchronous.AllGatherStartOp | asynchronous.CollectivePermuteStartOp):
        body.contexts[op] = tuple(names)
        body.bind_context(op, operands, names)
    else:
        body.bind(op.results, names)


def _results_of_start(op: Operation) -> list[Attribute]:
    """The types of the results of a start, from its context."""
    count = len(op.operands)
    return list(flatten(list(op.result_types))[count : 2 * count])


def write_all_to_all(op: xla.AllToAllOp, body: BodyWriter) -> None:
    """`stablehlo.all_to_all`, which cuts along a dimension."""
    if op.use_global_device_ids.value.data:
        raise Inexpressible("StableHLO exchanges between replicas or between partitions")
    groups = op.replica_groups.data
    dimension = _integer(op.properties.get("dimension"))
    operands, types = body.leaves(op.operands), body.types(v.type for v in op.operands)
    if dimension is None:
        _write_blocks(op, operands, body)
        return
    members = groups.size or _processes(op)
    names = [
        body.generic_value(
            "stablehlo.all_to_all",
            operands,
            types,
            _all_to_all(op, dimension, members),
            types,
            (),
            op if op.attributes else None,
            [value.name_hint for value in op.results],
        )[0]
    ]
    body.bind(op.results, names)


def _processes(op: Operation) -> int:
    """How many processes a collective without groups has together."""
    replicas, partitions = process_counts(_module(op))
    return partitions if _integer(op.properties.get("channel_id")) else replicas


def _all_to_all(op: xla.AllToAllOp, dimension: int, members: int) -> dict[str, str]:
    groups = op.replica_groups.data
    if groups.is_empty:  # StableHLO's verifier divides by their number.
        groups = ListedGroups((tuple(range(members)),))
    found = {"replica_groups": groups_text(groups, op)}
    for name in ("split_dimension", "concat_dimension"):
        found[name] = i64_text(dimension)
    return found | {"split_count": i64_text(members)} | channel(op)


def _write_blocks(op: xla.AllToAllOp, operands: list[str], body: BodyWriter) -> None:
    """Operand i is block i: they are stacked, exchanged, and cut out again."""
    type_ = cast(Array, op.operands[0].type)
    sizes, count = sizes_of(type_), len(operands)
    plain, one, whole = (
        body.type_text(array(type_.element_type, s)) for s in (sizes, (1, *sizes), (count, *sizes))
    )
    rows = [body.emit(f"stablehlo.reshape {name} : ({plain}) -> {one}") for name in operands]
    stacked = body.emit(
        f"stablehlo.concatenate {', '.join(rows)}, dim = 0 : "
        f"({', '.join([one] * count)}) -> {whole}"
    )
    (exchanged,) = body.generic_value(
        "stablehlo.all_to_all", [stacked], [whole], _all_to_all(op, 0, count), [whole]
    )
    rest = "".join(f", 0:{size}" for size in sizes)
    found: list[str] = []
    for i in range(count):
        row = body.emit(f"stablehlo.slice {exchanged} [{i}:{i + 1}{rest}] : ({whole}) -> {one}")
        found.append(body.emit(f"stablehlo.reshape {row} : ({one}) -> {plain}"))
    body.bind(op.results, found)


def write_permute(
    op: xla.CollectivePermuteOp | asynchronous.CollectivePermuteStartOp, body: BodyWriter
) -> None:
    """`stablehlo.collective_permute`, one for each operand."""
    if op.properties.get("slice_sizes") is not None:
        raise Inexpressible("StableHLO permutes whole arrays, not slices")
    pairs = op.source_target_pairs.data.pairs
    properties = {"source_target_pairs": matrix_text(pairs, 2)} | channel(op)
    _write_each(op, "stablehlo.collective_permute", properties, body)


def write_broadcast(op: xla.CollectiveBroadcastOp, body: BodyWriter) -> None:
    """`stablehlo.collective_broadcast`, one for each operand; with told roots one for all."""
    properties = group_properties(op)
    if "-1" in properties["replica_groups"]:
        raise Inexpressible("StableHLO has no groups of different sizes here")
    if not _integer(op.properties.get("has_dynamic_root")):
        _write_each(op, "stablehlo.collective_broadcast", properties, body)
        return
    operands, types = body.leaves(op.operands), body.types(v.type for v in op.operands)
    names = body.generic_value(
        "stablehlo.collective_broadcast",
        operands,
        types,
        properties | {"has_dynamic_root": "true"},
        types[:-1],
        (),
        op if op.attributes else None,
        [value.name_hint for value in op.results],
    )
    finish(op, operands, names, body)


def _write_each(op: Operation, name: str, properties: Mapping[str, str], body: BodyWriter) -> None:
    operands, types = body.leaves(op.operands), body.types(v.type for v in op.operands)
    hints = [value.name_hint for value in op.results]
    names = [
        body.generic_value(
            name, [operand], [type_], properties, [type_], (), op if op.attributes else None, hints
        )[0]
        for operand, type_ in zip(operands, types, strict=True)
    ]
    finish(op, operands, names, body)


def write_ragged_all_to_all(op: xla.RaggedAllToAllOp, body: BodyWriter) -> None:
    """The custom call that XLA reads as this operation; StableHLO has none."""
    config = f"{{replica_groups = {matrix_of_groups(op.replica_groups.data)}}}"
    number = _integer(op.properties.get("channel_id"))
    if number is not None:
        config = f"{{channel_id = {number} : i64, {config[1:]}"
    texts = {"api_version": "4 : i32", "backend_config": config}
    operands, types = body.leaves(op.operands), body.types(v.type for v in op.operands)
    results = body.types(op.result_types)
    body.define(
        op,
        f"stablehlo.custom_call @ragged_all_to_all({', '.join(operands)})"
        f"{body.attributes(op, texts)} : ({', '.join(types)}) -> {results[0]}",
        results,
    )


WRITERS = (
    OperationTable[Write]()
    .add(_DIMENSIONS, write_global)
    .add(xla.AllToAllOp, write_all_to_all)
    .add((xla.CollectivePermuteOp, asynchronous.CollectivePermuteStartOp), write_permute)
    .add(xla.CollectiveBroadcastOp, write_broadcast)
    .add(xla.RaggedAllToAllOp, write_ragged_all_to_all)
)
