"""Tokens, and what moves data out of a program and into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
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
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import FLAG
from xla_dialect.devices.replica_groups import SourceTargetPairs
from xla_dialect.layouts.type_layouts import layout_of
from xla_dialect.op import XlaOp
from xla_dialect.ops import transfers as xla
from xla_dialect.stablehlo.attributes import ChannelHandleAttr
from xla_dialect.stablehlo.op import StableHloOp, integers_of, just_as
from xla_dialect.stablehlo.ops.collectives import DEVICE_TO_DEVICE
from xla_dialect.stablehlo.ops.reduction import pairs_of
from xla_dialect.types import TokenType, array, flatten, is_array, spell
from xla_dialect.violations import check
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.directives import SameType


class TokenOp(StableHloOp):
    """An operation that gives a token."""

    SAME: ClassVar = xla.AfterAllOp
    result = result_def()
    traits = traits_def(Pure())


@op_definition
class AfterAllOp(TokenOp):
    """A token after all others."""

    name = "stablehlo.after_all"
    inputs = var_operand_def()
    custom_directives = (SameType,)
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


class FeedOp(StableHloOp):
    """An operation on a queue, which has a configuration unless that is empty."""

    def xla_properties(self) -> dict[str, Attribute]:
        """The configuration."""
        return {
            name: value
            for name, value in self.properties.items()
            if isinstance(value, StringAttr) and value.data
        }

    @classmethod
    def properties_of(cls, op: XlaOp) -> dict[str, Attribute]:
        """The configuration."""
        own = cls.get_irdl_definition().properties
        return {name: value for name, value in op.properties.items() if name in own}


@just_as(xla.InfeedOp)
class InfeedOp(FeedOp):
    """The parts of the next item of the infeed, and a token."""

    name = "stablehlo.infeed"
    SIZED_RESULTS: ClassVar = slice(None)
    infeed_config = opt_prop_def(StringAttr)
    layout = opt_prop_def(ArrayAttr)
    outputs = var_result_def()
    next_token = result_def()

    def xla_attributes(self) -> dict[str, Attribute]:
        """The layout, one of each part; raises VerifyException for anything else."""
        layout = self.layout
        if layout is None:
            return {}
        parts, count = layout.data, len(self.results) - 1
        check(len(parts) == count, "layout is {}, expected one of each of {} arrays", layout, count)
        are_lists = [isinstance(part, ArrayAttr) for part in parts]
        if not all(are_lists) or any(integers_of(part) is None for part in parts):
            raise VerifyException(f"layout {layout} has entries that are no lists of numbers")
        return {_LAYOUT: layout}

    def xla_properties(self) -> dict[str, Attribute]:
        """The configuration; checks the layout, which is discardable in `xla`."""
        self.xla_attributes()
        return super().xla_properties()

    @classmethod
    def properties_of(cls, op: XlaOp) -> dict[str, Attribute]:
        """The configuration, and the layout of each part."""
        parts = flatten(op.result_types)[:-1]
        layouts = ArrayAttr([_minor_to_major(type_) for type_ in parts])
        return super().properties_of(op) | {"layout": op.attributes.get(_LAYOUT, layouts)}


_LAYOUT = "xla.layout"
"""The attribute of an `xla.infeed` with the layout that StableHLO says."""


def _minor_to_major(type_: Attribute) -> Attribute:
    """The order of the dimensions of an array, the last one first by default."""
    order = layout_of(type_).minor_to_major if is_array(type_) else ()
    return ArrayAttr([IntegerAttr(d, i64) for d in order])


@just_as(xla.OutfeedOp)
class OutfeedOp(FeedOp):
    """Writes an item to the outfeed."""

    name = "stablehlo.outfeed"
    inputs = var_operand_def()
    token = operand_def()
    outfeed_config = opt_prop_def(StringAttr)


class TransferOp(StableHloOp):
    """A transfer over a channel, which it waits for: to or from another device, or the host."""

    HOST_CHANNEL: ClassVar[int]
    """The type of the channels whose other end is the host."""

    channel_handle = prop_def(ChannelHandleAttr)
    is_host_transfer = opt_prop_def(FLAG)
    source_target_pairs = opt_prop_def(DenseIntOrFPElementsAttr)

    @property
    def pairs(self) -> SourceTargetPairs | None:
        """The pairs of source and target, if they are given; raises VerifyException."""
        if self.source_target_pairs is None:
            return None
        return SourceTargetPairs(tuple(pairs_of("source_target_pairs", self.source_target_pairs)))

    def xla_properties(self) -> dict[str, Attribute]:
        """Those of both halves in `xla`."""
        self.pairs  # noqa: B018
        is_host = self.is_host_transfer is not None and bool(self.is_host_transfer.value.data)
        kind, wanted = self.channel_handle.field("type"), DEVICE_TO_DEVICE
        if is_host:
            wanted = self.HOST_CHANNEL
        check(kind == wanted, "the channel has type {}, expected {}", kind, wanted)
        number = self.channel_handle.field("handle")
        channel: dict[str, Attribute] = {"channel_id": IntegerAttr(number, i64)} if number else {}
        return channel | {"is_host_transfer": BoolAttr.from_bool(is_host)}

    @classmethod
    def properties_of(cls, op: XlaOp) -> dict[str, Attribute]:
        """Those of a transfer that one half in `xla` begins or ends."""
        assert isinstance(op, xla.TransferOp)
        kind = cls.HOST_CHANNEL if op.with_host else DEVICE_TO_DEVICE
        found: dict[str, Attribute] = {
            "channel_handle": ChannelHandleAttr.of(op.channel or 0, kind)
        }
        return found | ({"is_host_transfer": op.is_host_transfer} if op.with_host else {})


@op_definition
class SendOp(TransferOp):
    """Sends the parts of an item."""

    name = "stablehlo.send"
    HOST_CHANNEL: ClassVar = 2
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
    HOST_CHANNEL: ClassVar = 3
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
