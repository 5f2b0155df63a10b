"""The rules of collectives, each broken alone, and their result types."""

from collections.abc import Sequence
from typing import Any

import pytest
from small_programs import computation, shape, tuple_of, value
from violations import accepts, assert_violates, cases

from xla_dialect.op import XlaOp
from xla_dialect.ops.asynchronous import (
    AllGatherStartOp,
    AllReduceStartOp,
    CollectivePermuteStartOp,
)
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
from xla_dialect.ops.elementwise_binary import AddOp
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


def wrong_reducer() -> Any:
    return computation(["f32[]"], lambda a: a)


def wrong_result() -> Any:
    return computation(["f32[]"] * 2, lambda a, b: [a, b])


@pytest.mark.parametrize(
    ("name", "label", "build"),
    [
        *cases(
            "all_gather",
            ("C1", lambda: gather(tuple_of("f32[2]"))),
            ("C1", lambda: gather([])),
            ("C2", lambda: gather("f32[2]", dimension=1)),
            ("C2", lambda: gather("f32[2]", dimension=-1)),
            ("C2", lambda: gather("f32[]")),
            ("C2", lambda: gather(["f32[2,3]", "f32[2]"], dimension=1)),
            ("C3", lambda: gather("f32[2]", result="f32[6]")),
            ("C3", lambda: gather("f32[2]", result="f32[5]")),
            ("C3", lambda: gather("f32[2]", "{}")),
            ("C3", lambda: gather("f32[2]", "{}", "f32[0]")),
            ("C3", lambda: gather("f32[2]", result="f32[6]", channel_id=1)),
            ("C3", lambda: gather(["f32[2]", "f32[3]"], "{}", ["f32[4]", "f32[9]"])),
            ("C4", lambda: gather("f32[2]", "{{0},{1,2}}")),
            ("RG1", lambda: gather("f32[2]", "{{0,0},{1,2}}")),
            ("RG1", lambda: gather("f32[2]", "{{},{0}}")),
            ("RG1", lambda: gather("f32[2]", "[2,2]<=[3]")),
            ("RG5", lambda: gather("f32[2]", channel_id=0)),
            ("RG5", lambda: gather("f32[2]", use_global_device_ids=True)),
            (
                "RG5",
                lambda: gather("f32[2]", "{}", "f32[4]", channel_id=1, use_global_device_ids=True),
            ),
            ("Result", lambda: gather("f32[2,3]", result="f32[4,4]")),
            ("Result", lambda: gather("f32[0]", "{}", "f32[5]")),
        ),
        *cases(
            "all_reduce",
            ("C1", lambda: reduce([])),
            ("C1", lambda: reduce(tuple_of("f32[2]"))),
            ("C1", lambda: reduce("token[]")),
            ("RG1", lambda: reduce("f32[2]", "{{0,1},{1}}")),
            ("C3", lambda: reduce(["f32[2]", "s32[2]"])),
            ("RC1", lambda: reduce("s32[2]")),
            ("RC1", lambda: reduce("f32[2]", region=wrong_reducer())),
            ("RC2", lambda: reduce("f32[2]", region=wrong_result())),
            ("RG5", lambda: reduce("f32[2]", channel_id=-1)),
        ),
        *cases(
            "reduce_scatter",
            ("C1", lambda: scatter([])),
            ("C1", lambda: scatter(tuple_of())),
            ("C3", lambda: scatter(["f32[2]", "s32[2]"])),
            ("RC1", lambda: scatter("f64[2]")),
            ("RC2", lambda: scatter("f32[2]", region=wrong_result())),
            ("C2", lambda: scatter("f32[2]", dimension=1)),
            ("C3", lambda: scatter("f32[6]", result="f32[2]")),
            ("C3", lambda: scatter("f32[6]", "{}")),
            ("C3", lambda: scatter("f32[6]", "{}", "f32[4]")),
            ("C4", lambda: scatter("f32[6]", "{{0},{1,2}}")),
            ("C5", lambda: scatter("f32[5]")),
            ("RG1", lambda: scatter("f32[2]", "{{0,2}}")),
        ),
        *cases(
            "all_to_all",
            ("C1", lambda: exchange(tuple_of("f32[2]"), dimension=0)),
            ("C1", lambda: exchange(["f32[2]", "f32[2]"], dimension=0)),
            ("C1", lambda: exchange(["f32[2]", "f32[3]"])),
            ("C1", lambda: exchange(["f32[2]", "s32[2]"])),
            ("C1", lambda: exchange([])),
            ("C2", lambda: exchange("f32[2]", dimension=1)),
            ("C3", lambda: exchange("f32[3]", dimension=0)),
            ("C4", lambda: exchange("f32[2]", "{{0},{1,2}}", dimension=0)),
            ("C4", lambda: exchange(["f32[2]"] * 3)),
            ("RG1", lambda: exchange("f32[2]", "{{0,3}}", dimension=0)),
        ),
        *cases(
            "collective_permute",
            ("C1", lambda: permute("f32[2]", "{{0,1},{0,2}}")),
            ("C1", lambda: permute("f32[2]", "{{0,1},{2,1}}")),
            ("C3", lambda: permute(tuple_of("f32[2]"))),
            ("C3", lambda: permute([])),
            ("C3", lambda: permute("f32[2]", slice_sizes="{{1}}")),
            ("RG5", lambda: permute("f32[2]", channel_id=0)),
        ),
        *cases(
            "collective_broadcast",
            ("C1", lambda: broadcast("token[]")),
            ("C2", lambda: broadcast("f32[2]", "{{0,1},{1}}")),
            ("C2", lambda: broadcast("f32[2]", "{{}}")),
            ("C2", lambda: broadcast("f32[2]", "[2,2]<=[3]")),
            ("C3", lambda: broadcast("f32[2]", has_dynamic_root=True)),
            ("C3", lambda: broadcast(["f32[2]", "s32[2]"], has_dynamic_root=True)),
        ),
        *cases(
            "ragged_all_to_all",
            ("C1", lambda: ragged("s32[3,2]")),
            ("C1", lambda: ragged("f32[3,1]")),
            ("C1", lambda: ragged("f32[]", "f32[]")),
            ("C1", lambda: ragged(tuple_of())),
            ("C2", lambda: ragged(plan=["s32[]"] * 4)),
            ("C2", lambda: ragged(plan=["f32[2]"] * 4)),
            ("C2", lambda: ragged(plan=["s32[2]"] * 3 + ["s64[2]"])),
            ("C3", lambda: ragged(plan=["s32[3]"] * 4)),
            ("C3", lambda: ragged(groups="{{0},{1,2}}")),
            ("RG1", lambda: ragged(groups="{{1,2}}")),
        ),
    ],
)
def test_constraint(name: str, label: str, build: Any):
    assert_violates(name, label, build)


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


@pytest.mark.parametrize(
    ("name", "label", "build"),
    [
        *cases(
            "all_gather_start",
            ("C2", lambda: AllGatherStartOp(values("f32[2]"), dimension=1)),
            ("C3", lambda: AllGatherStartOp(values("f32[2]"), dimension=0)),
        ),
        *cases(
            "all_reduce_start",
            ("RC1", lambda: AllReduceStartOp(values("s32[2]"), regions=[adding()])),
        ),
        *cases(
            "collective_permute_start",
            (
                "C1",
                lambda: CollectivePermuteStartOp(
                    values("f32[2]"), source_target_pairs="{{0,0},{1,0}}"
                ),
            ),
        ),
    ],
)
def test_starts_have_the_rules_of_the_whole(name: str, label: str, build: Any):
    assert_violates(name, label, build)
