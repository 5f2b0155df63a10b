"""Result types of asynchronous operations and transfers, and the legal users of contexts."""

from typing import Any, cast

import pytest
from small_programs import computation, shape, tuple_of, value
from violations import accepts
from xdsl.utils.exceptions import VerifyException

from xla_dialect.op import XlaOp
from xla_dialect.ops.asynchronous import (
    AllGatherDoneOp,
    AllGatherStartOp,
    AllReduceDoneOp,
    AllReduceStartOp,
    AsyncDoneOp,
    AsyncStartOp,
    AsyncUpdateOp,
    CollectivePermuteDoneOp,
    CollectivePermuteStartOp,
    CopyDoneOp,
    CopyStartOp,
)
from xla_dialect.ops.control_flow import DomainOp, OptBarrierOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.elementwise import AddOp, NegateOp
from xla_dialect.ops.transfers import (
    AddDependencyOp,
    AfterAllOp,
    InfeedOp,
    OutfeedOp,
    RecvDoneOp,
    RecvOp,
    SendDoneOp,
    SendOp,
    TransferStartOp,
)
from xla_dialect.ops.tuples import TupleOp
from xla_dialect.types import spell

CONTEXT = tuple_of(tuple_of("f32[2]"), "f32[2]", "s32[]")
CHANNEL = tuple_of("f32[2]", "u32[]", "token[]")
PAIR = tuple_of("f32[2]", "f32[2]")


def types(*results: Any) -> list[Any]:
    return [shape(result) if isinstance(result, str) else result for result in results]


def async_start(operands: list[Any], *results: Any) -> XlaOp:
    return AsyncStartOp(
        [value(operand) for operand in operands],
        regions=[computation(["f32[2]"], NegateOp)],
        result_types=types(*results) or None,
    )


def copy_start() -> XlaOp:
    return CopyStartOp(value("f32[2]"), result_types=[tuple_of("f32[2]", "f32[2]", "u32[]")])


def done(op_class: Any, context: Any, *results: Any) -> XlaOp:
    context = context if isinstance(context, XlaOp) else value(context)
    return op_class([context], result_types=types(*results) or None)


def all_gather_start(count: int, result: Any = None) -> XlaOp:
    return AllGatherStartOp(
        [value("f32[2]")] * count,
        dimension=0,
        replica_groups="{{0,1}}",
        result_types=None if result is None else [result],
    )


def all_reduce_start() -> XlaOp:
    region = computation(["f32[]"] * 2, AddOp)
    return AllReduceStartOp([value("f32[2]")] * 2, regions=[region], result_types=[PAIR])


def permute_start(*results: Any) -> XlaOp:
    return CollectivePermuteStartOp(
        [value("f32[2]")], source_target_pairs="{{0,1}}", result_types=types(*results) or None
    )


WIDE = tuple_of("f32[4]", "f32[4]")


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: async_start(["f32[2]"]), ["(f32[2])", "f32[2]", "s32[]"]),
        (lambda: async_start(["f32[2]"], CONTEXT), ["(f32[2])", "f32[2]", "s32[]"]),
        (
            lambda: async_start(["f32[2]"], tuple_of(tuple_of("f32[2]"), "f32[2]")),
            ["(f32[2])", "f32[2]"],
        ),
        (
            lambda: async_start(["f32[2]"], "f32[2]", "f32[2]", "u32[]", "u32[]"),
            ["(f32[2])", "f32[2]", "u32[]", "u32[]"],
        ),
        (lambda: done(AsyncUpdateOp, CONTEXT), [spell(CONTEXT)]),
        (lambda: done(AsyncDoneOp, CONTEXT), ["f32[2]"]),
        (
            lambda: AsyncDoneOp(
                [value("s32[]"), value("f32[2]"), value("s32[]")], result_types=types("f32[2]")
            ),
            ["f32[2]"],
        ),
        (copy_start, ["f32[2]", "f32[2]", "u32[]"]),
        (lambda: done(CopyDoneOp, copy_start()), ["f32[2]"]),
        (lambda: done(CopyDoneOp, OptBarrierOp(copy_start())), ["f32[2]"]),
        (lambda: all_gather_start(1), ["f32[2]", "f32[4]"]),
        (lambda: all_gather_start(2), ["(f32[2], f32[2])", "(f32[4], f32[4])"]),
        (
            lambda: all_gather_start(2, tuple_of(PAIR, WIDE, "u32[]")),
            ["(f32[2], f32[2])", "(f32[4], f32[4])", "u32[]"],
        ),
        (
            lambda: done(AllGatherDoneOp, all_gather_start(1, tuple_of("f32[2]", "f32[4]"))),
            ["f32[4]"],
        ),
        (all_reduce_start, ["f32[2]", "f32[2]"]),
        (lambda: done(AllReduceDoneOp, all_reduce_start()), [spell(PAIR)]),
        (permute_start, ["f32[2]", "f32[2]"]),
        (
            lambda: permute_start(tuple_of("f32[2]", "f32[2]", "u32[]", "u32[]")),
            ["f32[2]", "f32[2]", "u32[]", "u32[]"],
        ),
        (lambda: done(CollectivePermuteDoneOp, permute_start(PAIR)), ["f32[2]"]),
    ],
)
def test_results(build: Any, expected: list[str]):
    assert [spell(type_) for type_ in accepts(build).infer_types()] == expected


def infeed(token: Any, *results: Any) -> XlaOp:
    return InfeedOp(value(token), result_types=types(*results))


def outfeed(item: Any, token: Any, outfeed_shape: Any = None) -> XlaOp:
    return OutfeedOp([value(i) for i in item], value(token), outfeed_shape=outfeed_shape)


def send(operand: Any = "f32[2]", token: Any = "token[]", **properties: Any) -> XlaOp:
    return SendOp([value(operand)], value(token), result_types=[CHANNEL], **properties)


def send_leaves(*operands: Any) -> XlaOp:
    return SendOp([value(operand) for operand in operands], value("token[]"))


def recv(token: Any = "token[]", *results: Any, **properties: Any) -> XlaOp:
    return RecvOp(value(token), result_types=types(*results) or [CHANNEL], **properties)


def ended(start: XlaOp, op_class: Any, **properties: Any) -> XlaOp:
    """The start, once its context has a user."""
    op_class(list(start.results), **properties)
    return start


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: AfterAllOp([]), ["token[]"]),
        (lambda: AfterAllOp([value("token[]")] * 3), ["token[]"]),
        (lambda: AddDependencyOp(value("f32[2]"), value("token[]")), ["f32[2]"]),
        (lambda: AddDependencyOp(value("token[]"), value("token[]")), ["token[]"]),
        (lambda: infeed("token[]", tuple_of("f32[2]", "token[]")), ["f32[2]", "token[]"]),
        (lambda: infeed("token[]", tuple_of(PAIR, "token[]")), [spell(PAIR), "token[]"]),
        (lambda: infeed("token[]", "f32[2]", "s32[]", "token[]"), ["f32[2]", "s32[]", "token[]"]),
        (lambda: infeed("token[]", tuple_of(), "token[]"), ["()", "token[]"]),
        (lambda: infeed("token[]", "token[]"), ["token[]"]),
        (lambda: outfeed([PAIR], "token[]", PAIR), ["token[]"]),
        (lambda: outfeed(["f32[2]", "f32[2]"], "token[]", PAIR), ["token[]"]),
        (lambda: outfeed([], "token[]", tuple_of()), ["token[]"]),
        (lambda: ended(send(), SendDoneOp), ["f32[2]", "u32[]", "token[]"]),
        (lambda: ended(send(), TupleOp), ["f32[2]", "u32[]", "token[]"]),
        (lambda: ended(recv(), RecvDoneOp), ["f32[2]", "u32[]", "token[]"]),
        (
            lambda: ended(send_leaves("f32[2]", "s32[]"), SendDoneOp),
            ["(f32[2], s32[])", "u32[]", "token[]"],
        ),
        (lambda: ended(send_leaves(PAIR), SendDoneOp), [spell(PAIR), "u32[]", "token[]"]),
        (lambda: ended(send_leaves(), SendDoneOp), ["()", "u32[]", "token[]"]),
        (
            lambda: ended(recv("token[]", "f32[]", "s32[]", "u32[]", "token[]"), RecvDoneOp),
            ["(f32[], s32[])", "u32[]", "token[]"],
        ),
        (
            lambda: ended(recv("token[]", "u32[]", "token[]"), RecvDoneOp),
            ["()", "u32[]", "token[]"],
        ),
        (lambda: SendDoneOp([value(CHANNEL)]), ["token[]"]),
        (lambda: SendDoneOp([value("u32[]"), value("token[]")]), ["token[]"]),
        (lambda: RecvDoneOp([value(CHANNEL)]), ["f32[2]", "token[]"]),
        (lambda: RecvDoneOp([value(t) for t in CHANNEL.types]), ["f32[2]", "token[]"]),
        (lambda: DomainOp(value(CHANNEL)), [spell(CHANNEL)]),
        (
            lambda: CustomCallOp([], custom_call_target="f", result_types=types("f32[]", "s32[]")),
            ["f32[]", "s32[]"],
        ),
    ],
)
def test_results_of_transfers(build: Any, expected: list[str]):
    assert [spell(type_) for type_ in accepts(build).infer_types()] == expected


@pytest.mark.parametrize(
    "build",
    [
        send,
        lambda: ended(ended(send(), SendDoneOp), SendDoneOp),
        lambda: ended(send(channel_id=1), SendDoneOp, channel_id=2),
        lambda: ended(send(channel_id=1), SendDoneOp),
        lambda: ended(send(), SendDoneOp, is_host_transfer=True),
        recv,
        lambda: ended(recv(channel_id=3), RecvDoneOp, channel_id=4),
    ],
)
def test_a_context_has_one_user(build: Any):
    """Of a whole program, for a start is made before its done: docs/generated/ops.md#send-c2."""
    with pytest.raises(VerifyException, match=r"^\(C2\)"):
        cast(TransferStartOp, accepts(build)).verify_users()
