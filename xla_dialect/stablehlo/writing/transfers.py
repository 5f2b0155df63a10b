"""Tokens, and what moves data out of a program and into it."""

from __future__ import annotations

from typing import TypeVar, cast

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Operation

from xla_dialect.layout import LayoutAttr
from xla_dialect.ops import transfers as xla
from xla_dialect.stablehlo.attribute_text import attribute_text, string_text
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.writing.body import BodyWriter, Write, leaves_of
from xla_dialect.stablehlo.writing.collectives import channel_text
from xla_dialect.stablehlo.writing.type_text import TOKEN
from xla_dialect.types import Array, TokenType, flatten
from xla_dialect.xdsl.operation_table import OperationTable

TransferStartT = TypeVar("TransferStartT", bound=xla.TransferStartOp)

_DEVICE_TO_DEVICE = 1
_TO_HOST = 2
_FROM_HOST = 3


def write_after_all(op: Operation, body: BodyWriter) -> None:
    """`stablehlo.after_all` of the tokens, or `stablehlo.create_token` of nothing."""
    operands = body.leaves([value for value in op.operands if isinstance(value.type, TokenType)])
    name = "after_all" if operands else "create_token"
    shown = f" {', '.join(operands)}" if operands else ""
    body.define(op, f"stablehlo.{name}{shown}{body.attributes(op)} : {TOKEN}", [TOKEN])


def write_infeed(op: Operation, body: BodyWriter) -> None:
    """`stablehlo.infeed`: the leaves of the item, and a token."""
    leaves = flatten(list(op.result_types))
    kept = op.attributes.get("xla.layout")
    layouts = [_minor_to_major(type_) for type_ in leaves[:-1]]
    layout = attribute_text(kept) if kept is not None else f"[{', '.join(layouts)}]"
    properties = _config(op, "infeed_config") | {"layout": layout}
    body.generic(
        op,
        "stablehlo.infeed",
        body.leaves(op.operands),
        [TOKEN],
        properties,
        body.types(leaves),
    )


def _minor_to_major(type_: Attribute) -> str:
    rank = len(cast(Array, type_).shape) if isinstance(type_, TensorType) else 0
    encoding = cast(Array, type_).encoding if isinstance(type_, TensorType) else None
    given = encoding.data.minor_to_major if isinstance(encoding, LayoutAttr) else ()
    return f"[{', '.join(map(str, given or reversed(range(rank))))}]"


def _config(op: Operation, name: str) -> dict[str, str]:
    config = op.properties.get(name)
    return {name: string_text(config.data)} if isinstance(config, StringAttr) else {}


def write_outfeed(op: Operation, body: BodyWriter) -> None:
    """`stablehlo.outfeed` of the leaves of the item."""
    body.generic(
        op,
        "stablehlo.outfeed",
        body.leaves(op.operands),
        body.types(value.type for value in op.operands),
        _config(op, "outfeed_config"),
        [TOKEN],
    )


def _transfer(op: xla.TransferOp, host_channel: int) -> dict[str, str]:
    kind = host_channel if op.with_host else _DEVICE_TO_DEVICE
    found = {"channel_handle": channel_text(op.channel or 0, kind)}
    return found | ({"is_host_transfer": "true"} if op.with_host else {})


def write_send(op: xla.SendOp, body: BodyWriter) -> None:
    """`stablehlo.send`, which waits."""
    operands, types = body.leaves(op.operands), body.types(v.type for v in op.operands)
    users = (use.operation for use in op.results[0].uses)
    done = next((user for user in users if isinstance(user, xla.SendDoneOp)), op)
    names = body.generic_value(
        "stablehlo.send", operands, types, _transfer(op, _TO_HOST), [TOKEN], (), _keeping(op, done)
    )
    body.contexts[op] = tuple(names)
    body.bind(op.results, [*operands[:-1], None, names[0]])


def _keeping(start: Operation, done: Operation) -> Operation:
    """
    The half of a transfer whose discardable attributes are written. From HLO text both have them,
    from StableHLO the start has frontend attributes only.
    """
    return max(start, done, key=lambda half: len(half.attributes))


def write_recv(op: Operation, body: BodyWriter) -> None:
    """Nothing: it is written at its done."""
    names = body.leaves(op.operands)
    body.contexts[op] = tuple(names)
    data = flatten(op.result_types)[:-2]
    body.bind(op.results, [*[None] * len(data), None, names[0]])


def _start(op: xla.TransferDoneOp, start: type[TransferStartT]) -> TransferStartT:
    owner = op.context[0].owner
    if not isinstance(owner, start):
        raise Inexpressible("the context does not come from a start directly")
    return owner


def write_send_done(op: xla.SendDoneOp, body: BodyWriter) -> None:
    """Nothing: the token is that of the send."""
    body.bind(op.results, leaves_of(body.contexts[_start(op, xla.SendOp)]))


def write_recv_done(op: xla.RecvDoneOp, body: BodyWriter) -> None:
    """`stablehlo.recv`, which waits; with what is kept with one of its halves."""
    start = _start(op, xla.RecvOp)
    names = body.generic_value(
        "stablehlo.recv",
        body.leaves(start.operands),
        [TOKEN],
        _transfer(op, _FROM_HOST),
        body.types(op.result_types),
        (),
        _keeping(start, op),
        [value.name_hint for value in op.results],
    )
    body.bind(op.results, names)


WRITERS = (
    OperationTable[Write]()
    .add(xla.AfterAllOp, write_after_all)
    .add(xla.InfeedOp, write_infeed)
    .add(xla.OutfeedOp, write_outfeed)
    .add(xla.SendOp, write_send)
    .add(xla.SendDoneOp, write_send_done)
    .add(xla.RecvOp, write_recv)
    .add(xla.RecvDoneOp, write_recv_done)
)
