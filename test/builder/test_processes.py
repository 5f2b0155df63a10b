"""Collectives, transfers and tokens: what the builder adds to the operations."""

from typing import Any

import numpy as np
import pytest
from built_programs import build, f32, reparsed
from xdsl.dialects.builtin import ModuleOp

from xla_dialect.builder import BuildError, ChannelHandle, XlaBuilder, XlaValue
from xla_dialect.devices.process_grid import Host
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.transfers import AfterAllOp, InfeedOp, OutfeedOp
from xla_dialect.reference import run_programs, run_replicated
from xla_dialect.reference.interpreter import Program
from xla_dialect.types import spell


def on_replicas(body: Any, *per_replica: list[np.ndarray]) -> list[Any]:
    """The results of every replica; each list has the arguments of one."""
    module = reparsed(build(body, *per_replica[0]))
    results = run_replicated(module, per_replica, replicas=len(per_replica))
    return [found[0] if len(found) == 1 else found for found in results]


def test_all_reduce_of_a_tuple() -> None:
    def body(b: XlaBuilder, x: XlaValue, y: XlaValue) -> Any:
        return b.all_reduce(b.tuple([x, y]), b.add)

    for found in on_replicas(body, [f32([1]), f32([2, 3])], [f32([10]), f32([20, 30])]):
        np.testing.assert_array_equal(found[0], f32([11]))
        np.testing.assert_array_equal(found[1], f32([22, 33]))


def test_the_form_of_the_operand_is_that_of_the_result() -> None:
    b = XlaBuilder("forms")
    x, y = b.constant(0, "f32[4]"), b.constant(0, "f32[8]")
    assert spell(b.all_gather(b.tuple([x, y]), 0, 2).type) == "(f32[8], f32[16])"
    assert [v.shape for v in b.all_gather([x, y], -1, 2)] == [(8,), (16,)]
    assert b.all_gather(x, 0, 2).shape == (8,)
    assert spell(b.reduce_scatter(b.tuple([x, y]), b.add, 0, 4).type) == "(f32[1], f32[2])"
    assert [v.shape for v in b.reduce_scatter([x], b.add, 0, 4)] == [(1,)]
    assert spell(b.cross_replica_sum(b.tuple([x, y])).type) == "(f32[4], f32[8])"
    assert [v.shape for v in b.collective_permute([x, y], [])] == [(4,), (8,)]


def test_cross_replica_sum() -> None:
    found = on_replicas(lambda b, x: b.cross_replica_sum(x), [f32([1, 2])], [f32([3, 4])])
    for sums in found:
        np.testing.assert_array_equal(sums, f32([4, 6]))


def test_groups_as_hlo_spells_them() -> None:
    module = build(lambda b, x: b.all_reduce(x, b.add, "[2,2]<=[4]"), "f32[2]")
    assert "[2,2]<=[4]" in str(reparsed(module))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b, x: b.all_gather(x, 2, 2), r"all_gather: \(C2\)"),
        (lambda b, x: b.all_gather(x, 0, 0), r"all_gather: \(C3\) shard_count is 0"),
        (lambda b, x: b.all_gather(x, 0, 3, [[0, 1]]), r"all_gather: \(C3\)"),
        (lambda b, x: b.all_gather([], 0, 2), r"all_gather: \(C1\)"),
        (lambda b, x: b.all_gather(b.tuple([]), 0, 2), r"all_gather: \(C1\)"),
        (lambda b, x: b.all_gather(x, 0, 2, [[0, 0]]), r"\(RG1\)"),
        (lambda b, x: b.all_gather(x, 0, 2, "[2,2]<="), "replica groups"),
        (lambda b, x: b.all_reduce(b.tuple([x, b.tuple([])]), b.add), r"all_reduce: \(C1\)"),
        (lambda b, x: b.all_reduce([x, x > 0], b.add), r"all_reduce: \(C3\)"),
        (lambda b, x: b.all_reduce(x, lambda a, c: a > c), r"all_reduce: \(RC2\)"),
        (lambda b, x: b.reduce_scatter(x, b.add, 0, 3), r"reduce_scatter: \(C5\) size 4 for 3"),
        (lambda b, x: b.reduce_scatter(x, b.add, 0, 0), r"reduce_scatter: \(C3\)"),
        (lambda b, x: b.reduce_scatter(x, b.add, 5, 2), r"reduce_scatter: \(C2\)"),
        (lambda b, x: b.cross_replica_sum(x > 0), r"cross_replica_sum: \(C1\)"),
        (lambda b, x: b.all_to_all(x, 0, 2, 2), r"all_to_all: \(C2\)"),
        (lambda b, x: b.all_to_all(x, 0, 1, 3), r"all_to_all: \(C3\)"),
        (lambda b, x: b.all_to_all(x, 0, 1, 2, [[0, 1, 2]]), r"all_to_all: \(C4\)"),
        (lambda b, x: b.collective_permute(x, [(0, 1), (2, 1)]), r"collective_permute: \(C1\)"),
        (lambda b, x: b.custom_call("", [x], "f32[]"), r"custom_call: \(C1\)"),
        (lambda b, x: b.custom_call("f", [x], "f32[]", api_version="4"), "'4' is none of API_"),
        (lambda b, x: b.send(b.tuple([x]), 1), "not an array"),
        (lambda b, x: b.recv("(f32[])", 1), "not the type of an array"),
        (lambda b, x: b.send_with_token(x, x, 1), r"send: \(C3\)"),
        (lambda b, x: b.infeed("(f32[], (f32[]))"), r"infeed: \(C1\)"),
        (lambda b, x: b.outfeed(x, "f32[2]"), r"outfeed: \(C3\)"),
        (lambda b, x: b.after_all([b.parameter(1, "opaque[]", "o")]), r"after_all: \(C1\)"),
        (lambda b, x: b.copy_done(x), r"copy_done: \(C1\)"),
        (lambda b, x: b.copy_done(b.async_start(b.neg, [x])), r"copy_done: \(C1\)"),
    ],
)
def test_rules(call: Any, message: str) -> None:
    b = XlaBuilder("e")
    with pytest.raises(BuildError, match=message) as caught:
        call(b, b.parameter(0, "f32[4,8]", "x"))
    assert caught.value.file == __file__


def order_of(module: ModuleOp) -> list[tuple[str, ...]]:
    """For every operation with a token, the kinds of operations that made its tokens, and its own."""
    found: list[tuple[str, ...]] = []
    for op in module.walk():
        if isinstance(op, InfeedOp | OutfeedOp):
            found.append((getattr(op.token.owner, "name", ""), op.name))
    return found


def test_calls_without_tokens_follow_each_other() -> None:
    def body(b: XlaBuilder) -> Any:
        first = b.infeed("f32[2]")
        second = b.infeed("f32[2]")
        b.outfeed(second)
        b.outfeed(first)
        return ()

    module = build(body)
    assert [pair[0] for pair in order_of(module)] == [
        AfterAllOp.name, InfeedOp.name, InfeedOp.name, OutfeedOp.name,
    ]  # fmt: skip
    host = Host.of(infeed=[f32([1, 2]), f32([3, 4])])
    run_replicated(module, hosts=[host])
    np.testing.assert_array_equal(host.outfeed, [f32([3, 4]), f32([1, 2])])


def test_every_computation_has_an_order_of_its_own() -> None:
    def body(b: XlaBuilder) -> Any:
        b.infeed("f32[]")
        b.while_(lambda x: x < 0, lambda x: b.infeed("f32[]"), b.constant(0.0))
        return b.infeed("f32[]")

    assert [pair[0] for pair in order_of(build(body))] == [
        AfterAllOp.name, AfterAllOp.name, InfeedOp.name,
    ]  # fmt: skip


def exchange(first: ChannelHandle, second: ChannelHandle, *, first_sends: bool) -> Any:
    """Two programs that send each other their argument; both may wait first."""

    def body(sends_first: bool, mine: ChannelHandle, theirs: ChannelHandle) -> ModuleOp:
        b = XlaBuilder("side")
        x = b.parameter(0, "f32[2]")
        if sends_first:
            b.send(x, mine)
            return b.build(b.recv("f32[2]", theirs))
        received = b.recv("f32[2]", theirs)
        b.send(x, mine)
        return b.build(received)

    left = Program(body(first_sends, first, second), [f32([1, 2])])
    right = Program(body(False, second, first), [f32([3, 4])])
    return run_programs([[left], [right]])


def test_handles_pair_sends_with_receives() -> None:
    handles = ChannelHandle.new(), ChannelHandle.new()
    assert handles[0] != handles[1]
    (left,), (right,) = exchange(*handles, first_sends=True)
    np.testing.assert_array_equal(left, f32([3, 4]))
    np.testing.assert_array_equal(right, f32([1, 2]))


def test_sends_that_wait_for_each_other() -> None:
    """Each receives before it sends: a deadlock."""
    with pytest.raises(XlaError, match="waits forever"):
        exchange(ChannelHandle.new(), ChannelHandle.new(), first_sends=False)


def test_custom_calls_keep_their_configuration() -> None:
    b = XlaBuilder("inner")
    computation = b.build_computation(b.neg(b.parameter(0, "f32[2]")))
    module = build(
        lambda b, x: b.custom_call(
            "target",
            [x],
            "(f32[2], s32[])",
            has_side_effect=True,
            backend_config="{}",
            api_version="API_VERSION_TYPED_FFI",
            called_computations=[computation],
        ),
        "f32[2]",
    )
    text = str(reparsed(module))
    assert 'custom_call_target = "target"' in text
    assert "custom_call_has_side_effect = true" in text
    assert "API_VERSION_TYPED_FFI" in text
    assert 'xla.backend_config = "{}"' in text
    assert "xla.negate" in text
