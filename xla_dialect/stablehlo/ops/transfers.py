"""Tokens, and what moves data out of a program and into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Region
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import FALSE, FLAG, TRUE
from xla_dialect.devices.replica_groups import SourceTargetPairs
from xla_dialect.layouts.type_layouts import layout_of
from xla_dialect.op import XlaOp
from xla_dialect.ops import transfers as xla
from xla_dialect.stablehlo.attributes import ChannelHandleAttr
from xla_dialect.stablehlo.op import Codec, PureOp, StableHloOp, flag, integers_of, just_as
from xla_dialect.stablehlo.ops.collectives import DEVICE_TO_DEVICE
from xla_dialect.stablehlo.ops.reduction import pairs_of
from xla_dialect.types import TokenType, array, flatten, is_array, spell
from xla_dialect.violations import check
from xla_dialect.xdsl.definition import op_definition


class TokenOp(PureOp):
    """An operation that gives a token."""

    SAME: ClassVar = xla.AfterAllOp


@op_definition
class AfterAllOp(TokenOp):
    """A token after all others."""

    name = "stablehlo.after_all"
    inputs = var_operand_def()
    assembly_format = "operands attr-dict `:` custom<SameType>(type(operands), type(results))"

    def xla_operand_types(
        self, types: Sequence[Attribute], regions: Sequence[Region]
    ) -> Sequence[Attribute]:
        """The same types; raises VerifyException for one that is no token, as HLO takes them."""
        for position, type_ in enumerate(types):
            if not isinstance(type_, TokenType):
                raise VerifyException(f"operand {position} is {spell(type_)}, not a token")
        return types


@op_definition
class CreateTokenOp(TokenOp):
    """A token after nothing."""

    name = "stablehlo.create_token"
    assembly_format = "attr-dict `:` type($result)"


def _configuration(name: str) -> Codec:
    """The configuration of a queue, which there is none of where it is empty."""
    return Codec(
        name,
        lambda op, value: None if value is None or not value.data else value,
        lambda op, value: value,
    )


def _kept_layout(op: StableHloOp, layout: ArrayAttr[Attribute] | None) -> Attribute | None:
    """The layout, one of each part; raises VerifyException for anything else."""
    if layout is None:
        return None
    parts, count = layout.data, len(op.results) - 1
    check(len(parts) == count, "layout is {}, expected one of each of {} arrays", layout, count)
    are_lists = all(isinstance(part, ArrayAttr) for part in parts)
    are_numbers = are_lists and None not in map(integers_of, parts)
    check(are_numbers, "layout {} has entries that are no lists of numbers", layout)
    return layout


def _layout_of(op: XlaOp, kept: Attribute | None) -> Attribute:
    """The layout of each part; by default that of its type."""
    return kept or ArrayAttr(map(_minor_to_major, flatten(op.result_types)[:-1]))


@just_as(xla.InfeedOp)
class InfeedOp(StableHloOp):
    """The parts of the next item of the infeed, and a token."""

    CODECS: ClassVar = {
        "infeed_config": _configuration("infeed_config"),
        "layout": Codec("xla.layout", _kept_layout, _layout_of, is_kept=True),
    }
    SIZED_RESULTS: ClassVar = slice(None)
    infeed_config = opt_prop_def(StringAttr)
    layout = opt_prop_def(ArrayAttr)
    outputs = var_result_def()
    next_token = result_def()


def _minor_to_major(type_: Attribute) -> Attribute:
    """The order of the dimensions of an array, the last one first by default."""
    order = layout_of(type_).minor_to_major if is_array(type_) else ()
    return ArrayAttr([IntegerAttr(d, i64) for d in order])


@just_as(xla.OutfeedOp)
class OutfeedOp(StableHloOp):
    """Writes an item to the outfeed."""

    CODECS: ClassVar = {"outfeed_config": _configuration("outfeed_config")}
    inputs = var_operand_def()
    token = operand_def()
    outfeed_config = opt_prop_def(StringAttr)


def _host_flag(op: TransferOp, value: Attribute | None) -> Attribute:
    return value or FALSE


def _transfer(host_channel: int) -> Mapping[str, Codec]:
    """The properties of a transfer, whose channel has a type of its own with the host."""

    def number(op: TransferOp, handle: ChannelHandleAttr) -> Attribute | None:
        op.pairs  # noqa: B018
        kind = handle.type.value.data
        wanted = host_channel if op.is_host_transfer == TRUE else DEVICE_TO_DEVICE
        check(kind == wanted, "the channel has type {}, expected {}", kind, wanted)
        return handle.handle if handle.handle.value.data else None

    def handle(op: xla.TransferOp, number: Attribute | None) -> Attribute:
        kind = host_channel if op.with_host else DEVICE_TO_DEVICE
        return ChannelHandleAttr.of(op.channel or 0, kind)

    nothing = Codec("source_target_pairs", lambda op, value: None, lambda op, value: None)
    host = Codec("is_host_transfer", _host_flag, flag("").write)
    channel = Codec("channel_id", number, handle)
    return {"channel_handle": channel, "is_host_transfer": host, "source_target_pairs": nothing}


class TransferOp(StableHloOp):
    """A transfer over a channel, which it waits for: to or from another device, or the host."""

    channel_handle = prop_def(ChannelHandleAttr)
    is_host_transfer = opt_prop_def(FLAG)
    source_target_pairs = opt_prop_def(DenseIntOrFPElementsAttr)

    @property
    def pairs(self) -> SourceTargetPairs | None:
        """The pairs of source and target, if they are given; raises VerifyException."""
        if self.source_target_pairs is None:
            return None
        return SourceTargetPairs(tuple(pairs_of("source_target_pairs", self.source_target_pairs)))


@op_definition
class SendOp(TransferOp):
    """Sends the parts of an item."""

    name = "stablehlo.send"
    CODECS: ClassVar = _transfer(2)
    inputs = var_operand_def()
    token = operand_def()
    result = result_def()

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """A token, by the rules of the two halves; raises Violation."""
        properties = self.xla_properties()
        context = xla.SendOp.types_of(operands, properties, (), ())
        return xla.SendDoneOp.types_of(context, properties, (), declared)


@op_definition
class RecvOp(TransferOp):
    """Receives the parts of an item."""

    name = "stablehlo.recv"
    CODECS: ClassVar = _transfer(3)
    SIZED_RESULTS: ClassVar = slice(None)
    token = operand_def()
    outputs = var_result_def()
    next_token = result_def()

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """The declared parts, by the rules of the two halves; raises Violation."""
        properties = self.xla_properties()
        parts = [*declared[:-1], array(xla.U32, ()), xla.TOKEN]
        context = xla.RecvOp.types_of(operands, properties, (), parts)
        return xla.RecvDoneOp.types_of(context, properties, (), declared)
