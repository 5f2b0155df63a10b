"""Tokens of StableHLO, and what moves data out of a program and into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xla_dialect.devices.replica_groups import SourceTargetPairs
from xla_dialect.ops import transfers as xla
from xla_dialect.stablehlo.collectives import take_channel, take_channel_type
from xla_dialect.stablehlo.conversion import Conversion, Row
from xla_dialect.stablehlo.correspondence import Special, one_to_one
from xla_dialect.stablehlo.source import SourceOp, matrix
from xla_dialect.stablehlo.syntax import form, same_type
from xla_dialect.types import TokenType, array, spell


def take_config(op: SourceOp, name: str) -> dict[str, Attribute]:
    """Takes the configuration of an infeed or outfeed, if there is any."""
    config = op.take(name)
    if config is not None and not isinstance(config, StringAttr):
        op.fail(f"{name} is {config}, not a string")
    return {} if config is None or not config.data else {name: config}


def convert_infeed(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.infeed`: the leaves of the item and a token; the layout is kept."""
    layout = op.take("layout")
    if layout is not None:
        count = (
            len(cast("ArrayAttr[Attribute]", layout).data) if isinstance(layout, ArrayAttr) else -1
        )
        if count != len(op.results) - 1:
            op.fail(f"layout is {layout}, expected one of each of {len(op.results) - 1} arrays")
        for part in cast("ArrayAttr[Attribute]", layout).data:
            entries = cast("ArrayAttr[Attribute]", part).data if isinstance(part, ArrayAttr) else ()
            if not isinstance(part, ArrayAttr) or not all(
                isinstance(entry, IntegerAttr) for entry in entries
            ):
                op.fail(f"layout {layout} has entries that are no lists of numbers")
        op.attributes["xla.layout"] = layout
    return conversion.emit(
        xla.InfeedOp,
        conversion.operands(op),
        conversion.result_types(op),
        take_config(op, "infeed_config"),
    )


def convert_outfeed(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.outfeed`: the leaves of the item and a token."""
    if not op.operands:
        op.fail("has 0 operands, expected a token at least")
    return conversion.emit(
        xla.OutfeedOp,
        conversion.operands(op),
        conversion.result_types(op),
        take_config(op, "outfeed_config"),
    )


def keep_pairs(op: SourceOp) -> None:
    """Keeps source-target pairs as XLA does, with the frontend attributes."""
    rows = matrix(op, "source_target_pairs")
    if rows is None:
        return
    if any(len(row) != 2 for row in rows):
        op.fail(f"source_target_pairs are {[list(row) for row in rows]}, not pairs")
    pairs = SourceTargetPairs(tuple((source, target) for source, target in rows))
    kept = op.attributes.get(_FRONTEND, DictionaryAttr({}))
    if not isinstance(kept, DictionaryAttr):
        op.fail(f"{_FRONTEND} is {kept}, not a dictionary")
    entries = dict(kept.data) | {xla.PAIRS: StringAttr(str(pairs))}
    op.attributes[_FRONTEND] = DictionaryAttr(entries)


_FRONTEND = "mhlo.frontend_attributes"


def begin(
    op: SourceOp,
    conversion: Conversion,
    start: type[xla.TransferStartOp],
    data: Sequence[Attribute],
    properties: Mapping[str, Attribute],
) -> Sequence[SSAValue]:
    """The context of a start, which has the frontend attributes too: they may hold the pairs."""
    types = [*data, array(xla.U32, ()), xla.TOKEN]
    context = conversion.emit(start, conversion.operands(op), types, properties)
    kept = op.attributes.get(_FRONTEND)
    if kept is not None:
        cast(Operation, context[0].owner).attributes[_FRONTEND] = kept
    return context


def take_transfer(op: SourceOp) -> dict[str, Attribute]:
    """Takes the channel of a send or recv, and whether the host is at its other end."""
    keep_pairs(op)
    kind, is_host = take_channel_type(op), op.flag("is_host_transfer")
    wanted = _HOST_CHANNELS[op.name] if is_host else _DEVICE_TO_DEVICE
    if kind != wanted:
        op.fail(f"the channel has type {kind}, expected {wanted}")
    return take_channel(op) | {"is_host_transfer": BoolAttr.from_bool(is_host)}


_DEVICE_TO_DEVICE = 1
_HOST_CHANNELS = {"stablehlo.send": 2, "stablehlo.recv": 3}
"""The channel type of a transfer to the host, and from it."""


def convert_send(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.send`, of the leaves of an item and a token, waits until it is done."""
    if not op.operands:
        op.fail("has 0 operands, expected a token at least")
    properties = take_transfer(op)
    data = [value.type for value in conversion.operands(op)[:-1]]
    context = begin(op, conversion, xla.SendOp, data, properties)
    return conversion.emit(xla.SendDoneOp, context, conversion.result_types(op), properties)


def convert_recv(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.recv`, of the leaves of an item and a token, waits until it is done."""
    if not op.results:
        op.fail("has 0 results, expected a token at least")
    properties = take_transfer(op)
    results = conversion.result_types(op)
    context = begin(op, conversion, xla.RecvOp, results[:-1], properties)
    return conversion.emit(xla.RecvDoneOp, context, results, properties)


_AFTER_ALL = one_to_one(xla.AfterAllOp)


def convert_after_all(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.after_all`: HLO takes arrays too."""
    for position, operand in enumerate(conversion.operands(op)):
        if not isinstance(operand.type, TokenType):
            op.fail(f"operand {position} is {spell(operand.type)}, not a token")
    return _AFTER_ALL(op, conversion)


ROWS: Mapping[str, Row] = {
    "stablehlo.after_all": Row(form(same_type), Special(_AFTER_ALL, convert_after_all)),
    "stablehlo.create_token": Row(form(same_type), one_to_one(xla.AfterAllOp), operands=0),
    "stablehlo.infeed": Row(None, convert_infeed, operands=1, results=None),
    "stablehlo.outfeed": Row(None, convert_outfeed),
    "stablehlo.send": Row(None, convert_send),
    "stablehlo.recv": Row(None, convert_recv, operands=1, results=None),
}
