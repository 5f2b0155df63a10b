"""The result types of collectives."""

from collections.abc import Sequence
from typing import Any

import pytest
from small_programs import computation, shape, value
from violations import accepts

from xla_dialect.op import XlaOp
from xla_dialect.ops.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    PartitionIdOp,
    RaggedAllToAllOp,
    ReduceScatterOp,
    ReplicaIdOp,
)
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.types import spell

PAIRS = "{{0,1},{2,3}}"
Types = str | Sequence[str] | None


def values(operands: Any) -> list[Any]:
    return [value(o) for o in (operands if isinstance(operands, list) else [operands])]


def declared(result: Types) -> list[Any] | None:
    if result is None:
        return None
    return [shape(text) for text in ([result] if isinstance(result, str) else result)]


def adding(name: str = "f32") -> Any:
    return computation([f"{name}[]"] * 2, AddOp)


def gather(operands: Any, groups: str = PAIRS, result: Types = None, **properties: Any) -> XlaOp:
    properties = {"dimension": 0, "replica_groups": groups} | properties
    return AllGatherOp(values(operands), result_types=declared(result), **properties)


def reduce(operands: Any, groups: str = PAIRS, region: Any = None, **properties: Any) -> XlaOp:
    region = adding() if region is None else region
    return AllReduceOp(values(operands), replica_groups=groups, regions=[region], **properties)


def scatter(
    operands: Any, groups: str = PAIRS, result: Types = None, region: Any = None, **properties: Any
) -> XlaOp:
    properties = {"dimension": 0, "replica_groups": groups} | properties
    region = adding() if region is None else region
    return ReduceScatterOp(
        values(operands), result_types=declared(result), regions=[region], **properties
    )


def exchange(operands: Any, groups: str = PAIRS, **properties: Any) -> XlaOp:
    return AllToAllOp(values(operands), replica_groups=groups, **properties)


def permute(operands: Any, pairs: str = "{{0,1}}", **properties: Any) -> XlaOp:
    return CollectivePermuteOp(values(operands), source_target_pairs=pairs, **properties)


def broadcast(operands: Any, groups: str = PAIRS, **properties: Any) -> XlaOp:
    return CollectiveBroadcastOp(values(operands), replica_groups=groups, **properties)


def ragged(
    source: Any = "f32[3,2]",
    target: Any = "f32[4,2]",
    plan: Sequence[str] = ("s32[2]",) * 4,
    groups: str = PAIRS,
) -> XlaOp:
    operands = [value(source), value(target), *map(value, plan)]
    return RaggedAllToAllOp(*operands, replica_groups=groups)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: gather("f32[2,3]"), ["f32[4,3]"]),
        (lambda: gather("f32[2,3]", dimension=1), ["f32[2,6]"]),
        (lambda: gather("f32[2]", "{}", "f32[6]"), ["f32[6]"]),
        (lambda: gather("f32[2]", result="f32[8]", channel_id=1), ["f32[8]"]),
        (lambda: gather("f32[2]", channel_id=1, use_global_device_ids=True), ["f32[4]"]),
        (lambda: gather(["f32[2]", "s32[3,1]"]), ["f32[4]", "s32[6,1]"]),
        (lambda: gather("f32[0]", "{}", "f32[0]"), ["f32[0]"]),
        (lambda: gather("f32[<=2]"), ["f32[<=4]"]),
        (lambda: gather("pred[2]", "[1,4]<=[4]"), ["pred[8]"]),
        (lambda: reduce("f32[2]"), ["f32[2]"]),
        (lambda: reduce("f32[2]", "{{0},{1,2,3}}"), ["f32[2]"]),
        (lambda: reduce(["f32[2]", "f32[]"]), ["f32[2]", "f32[]"]),
        (lambda: scatter("f32[6]"), ["f32[3]"]),
        (lambda: scatter("f32[6]", "{}", "f32[2]"), ["f32[2]"]),
        (lambda: scatter("f32[3,4]", dimension=1), ["f32[3,2]"]),
        (lambda: scatter("f32[8]", result="f32[2]", channel_id=1), ["f32[2]"]),
        (lambda: scatter("f32[0]"), ["f32[0]"]),
        (lambda: exchange("f32[4]", dimension=0), ["f32[4]"]),
        (lambda: exchange("f32[5]", "{}", dimension=0), ["f32[5]"]),
        (lambda: exchange(["f32[3]", "f32[3]"]), ["f32[3]", "f32[3]"]),
        (lambda: permute("f32[2]"), ["f32[2]"]),
        (lambda: permute(["f32[2]", "s32[]"], "{}"), ["f32[2]", "s32[]"]),
        (
            lambda: permute(["f32[2]", "f32[5]", "s32[]", "s32[]"], slice_sizes="{{1}}"),
            ["f32[5]"],
        ),
        (lambda: broadcast("f32[2]", "{{2,1}}"), ["f32[2]"]),
        (lambda: broadcast(["f32[2]", "s32[1]"], has_dynamic_root=True), ["f32[2]"]),
        (lambda: ragged(plan=["s64[2,3]"] * 4), ["f32[4,2]"]),
        (ReplicaIdOp, ["u32[]"]),
        (PartitionIdOp, ["u32[]"]),
    ],
)
def test_results(build: Any, expected: list[str]):
    assert [spell(type_) for type_ in accepts(build).infer_types()] == expected
