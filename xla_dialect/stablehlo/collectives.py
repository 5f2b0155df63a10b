"""Collectives of StableHLO."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue

from xla_dialect.devices.replica_groups import (
    ListedGroups,
    MeshGroups,
    ReplicaGroups,
    ReplicaGroupsAttr,
    SourceTargetPairs,
    SourceTargetPairsAttr,
)
from xla_dialect.op import XlaOp
from xla_dialect.ops import collectives as xla
from xla_dialect.ops.data_movement import ReshapeOp, TransposeOp
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.size_arithmetic import divisible
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.stablehlo.attributes import Fields
from xla_dialect.stablehlo.conversion import Conversion, Convert, Row, dimension_list, sizes_of
from xla_dialect.stablehlo.correspondence import one_to_one
from xla_dialect.stablehlo.legalize.reduction import promoted
from xla_dialect.stablehlo.mesh_groups import Chosen, MeshAxes
from xla_dialect.stablehlo.ops.reduction import accumulators_of
from xla_dialect.stablehlo.source import SourceOp, integers_of, matrix
from xla_dialect.stablehlo.syntax import form, same_type
from xla_dialect.types import Array, array, fits, spell

_FILLER = -1
"""What fills up the rows of groups that are shorter than others."""


def take_rows(op: SourceOp, name: str) -> tuple[tuple[int, ...], ...]:
    """Takes a matrix of integers, `dense<[[0, 1], [2, -1]]>`, without its filler."""
    rows = matrix(op, name)
    if rows is None:
        op.fail(f"{name} is missing")
    return tuple(tuple(n for n in row if n != _FILLER) for row in rows)


def take_listed_groups(op: SourceOp) -> dict[str, Attribute]:
    """Takes groups that are a matrix, and the channel, as properties of the `xla` dialect."""
    groups = ReplicaGroupsAttr(ListedGroups(take_rows(op, "replica_groups")))
    return {"replica_groups": groups} | take_channel(op)


def take_groups(op: SourceOp, conversion: Conversion) -> dict[str, Attribute]:
    """Takes groups, listed or of a mesh, and the channel, as properties of the `xla` dialect."""
    value = op.properties.get("replica_groups", op.attributes.get("replica_groups"))
    if not isinstance(value, MeshAxes):
        return take_listed_groups(op)
    op.take("replica_groups")
    groups = _mesh_groups(op, value.data, conversion)
    return {"replica_groups": ReplicaGroupsAttr(groups)} | take_channel(op)


def _mesh_groups(op: SourceOp, chosen: Chosen, conversion: Conversion) -> ReplicaGroups:
    mesh = chosen.mesh
    if isinstance(mesh, str):
        mesh = _named_mesh(op, mesh, conversion)
    numbers = [size for _, size in mesh.axes]
    numbers += [
        n for axis in chosen.axes if axis.size is not None for n in (axis.pre_size, axis.size)
    ]
    if min(numbers, default=1) < 1:
        op.fail(f"replica_groups: sizes {numbers} of the axes of a mesh are not all positive")
    groups = MeshGroups(mesh.axes, chosen.axes, mesh.device_ids)
    fault = groups.fault()
    if fault is not None:
        op.fail(f"replica_groups: {fault}")
    if all(_NAME_IN_HLO.fullmatch(name) for name, _ in mesh.axes):
        return groups
    return ListedGroups(groups.expand())


_NAME_IN_HLO = re.compile(r"[\w.$-]+", re.ASCII)
"""Names of axes that HLO text can spell. Groups of other axes are listed."""


def _named_mesh(op: SourceOp, name: str, conversion: Conversion) -> Mesh:
    mesh = conversion.meshes.get(name)
    if mesh is None:
        op.fail(f"replica_groups: there is no mesh @{name}")
    return mesh


def take_channel(op: SourceOp) -> dict[str, Attribute]:
    """Takes a channel handle; number 0 stands for none."""
    handle = op.take("channel_handle")
    if handle is None:
        return {}
    if not isinstance(handle, Fields):
        op.fail(f"channel_handle is {handle}, not #stablehlo.channel_handle<...>")
    number = dict(handle.data).get("handle")
    if not isinstance(number, IntegerAttr):
        op.fail("channel_handle has no handle")
    found = cast("IntegerAttr[Any]", number)
    return {"channel_id": found} if found.value.data else {}


def take_channel_type(op: SourceOp) -> int:
    """The type of the channel, which has to be given; the handle stays."""
    handle = op.properties.get("channel_handle", op.attributes.get("channel_handle"))
    kind = dict(handle.data).get("type") if isinstance(handle, Fields) else None
    if not isinstance(kind, IntegerAttr):
        op.fail("channel_handle is missing, or has no type")
    return cast("IntegerAttr[Any]", kind).value.data


def take_global(op: SourceOp) -> dict[str, Attribute]:
    """Takes `use_global_device_ids`, which is there or not."""
    flag = op.take("use_global_device_ids") is not None
    return {"use_global_device_ids": BoolAttr.from_bool(flag)}


def global_collective(op_class: type[XlaOp], dimension: str | None = None) -> Convert:
    """The conversion of a collective that may count processes; `dimension`: its name, if any."""

    def convert(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        properties = take_groups(op, conversion) | take_global(op)
        if dimension is not None:
            properties["dimension"] = IntegerAttr(op.integer(dimension), i64)
        regions, operands = conversion.regions(op), conversion.operands(op)
        accumulator = accumulators_of(regions[0], 1) if regions else ()
        if accumulator:
            operands = promoted(conversion, operands, [*accumulator] * len(operands))
        return conversion.emit(op_class, operands, conversion.result_types(op), properties, regions)

    return convert


def convert_all_to_all(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.all_to_all`, every operand by itself; see `rejoined`."""
    properties = take_groups(op, conversion)
    groups = cast(ReplicaGroupsAttr, properties["replica_groups"]).data
    split, concat = op.integer("split_dimension"), op.integer("concat_dimension")
    count = op.integer("split_count")
    if len(op.operands) != len(op.results):
        op.fail(f"has {len(op.operands)} operands and {len(op.results)} results")
    found = {len(group) for group in groups.expand()}
    if any(size != count for size in found):
        op.fail(f"split_count {count} for groups of {sorted(found)}")
    results: list[SSAValue] = []
    for operand, declared in zip(conversion.operands(op), conversion.result_types(op), strict=True):
        sizes = sizes_of(operand.type)
        if not 0 <= split < len(sizes) or not 0 <= concat < len(sizes):
            op.fail(f"(C2) dimensions {split} and {concat} of rank {len(sizes)}")
        if count < 1 or not divisible(sizes[split], count):
            op.fail(f"(C3) size {sizes[split]} for {count} blocks")
        expected = list(sizes)
        expected[split] //= count
        expected[concat] *= count
        found = array(cast(Array, operand.type).element_type, expected)
        if not fits(found, declared):
            op.fail(f"(Result) declared {spell(declared)}, expected sizes {expected}")
        (received,) = conversion.emit(
            xla.AllToAllOp,
            [operand],
            [operand.type],
            {"dimension": IntegerAttr(split, i64)} | properties,
        )
        if split != concat:
            received = _rejoin(conversion, received, (split, concat, count), found)
        results.append(received)
    return results


def _rejoin(
    conversion: Conversion, received: SSAValue, cut: tuple[int, int, int], declared: Attribute
) -> SSAValue:
    type_ = cast(Array, received.type)
    apart, order, _ = shapes.rejoined(sizes_of(type_), *cut)
    types = [array(type_.element_type, apart)]
    (blocks,) = conversion.emit(ReshapeOp, [received], types)
    types = [array(type_.element_type, shapes.permuted(apart, order))]
    (moved,) = conversion.emit(TransposeOp, [blocks], types, {"dimensions": dimension_list(order)})
    return conversion.emit(ReshapeOp, [moved], [declared])[0]


def take_roots(op: SourceOp) -> bool:
    """Takes `has_dynamic_root`: whether the last operand says the root of each other one."""
    told = op.flag("has_dynamic_root")
    if len(op.results) != len(op.operands) - told:
        op.fail(f"(C5) has {len(op.operands)} operands and {len(op.results)} results")
    return told


def convert_collective_broadcast(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.collective_broadcast`; its groups are not filled up."""
    rows = op.properties.get("replica_groups")
    if rows is not None and _FILLER in (integers_of(rows) or ()):
        op.fail(f"replica_groups {rows} have a negative id")
    return conversion.emit(
        xla.CollectiveBroadcastOp,
        conversion.operands(op),
        conversion.result_types(op),
        {"has_dynamic_root": BoolAttr.from_bool(take_roots(op))} | take_groups(op, conversion),
    )


def convert_collective_permute(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.collective_permute`."""
    rows = matrix(op, "source_target_pairs")
    if rows is None:
        op.fail("source_target_pairs is missing")
    if any(len(row) != 2 or min(row) < 0 for row in rows):
        op.fail(f"source_target_pairs are {[list(row) for row in rows]}, not pairs")
    pairs = SourceTargetPairs(tuple((source, target) for source, target in rows))
    return conversion.emit(
        xla.CollectivePermuteOp,
        conversion.operands(op),
        conversion.result_types(op),
        {"source_target_pairs": SourceTargetPairsAttr(pairs)} | take_channel(op),
    )


ROWS: Mapping[str, Row] = {
    "stablehlo.all_gather": Row(
        None, global_collective(xla.AllGatherOp, "all_gather_dim"), results=None
    ),
    "stablehlo.all_reduce": Row(None, global_collective(xla.AllReduceOp), results=None, regions=1),
    "stablehlo.reduce_scatter": Row(
        None,
        global_collective(xla.ReduceScatterOp, "scatter_dimension"),
        operands=1,
        regions=1,
    ),
    "stablehlo.all_to_all": Row(None, convert_all_to_all, results=None),
    "stablehlo.collective_broadcast": Row(None, convert_collective_broadcast, results=None),
    "stablehlo.collective_permute": Row(None, convert_collective_permute, operands=1),
    "stablehlo.partition_id": Row(form(same_type), one_to_one(xla.PartitionIdOp), operands=0),
    "stablehlo.replica_id": Row(form(same_type), one_to_one(xla.ReplicaIdOp), operands=0),
}
