"""Tokens, and data that leaves or enters a program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import (
    BaseAttr,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)

from xla_dialect.attributes import FALSE, FLAG, INTEGER
from xla_dialect.constraints import flat_results, with_elements
from xla_dialect.devices.replica_groups import SourceTargetPairs
from xla_dialect.dimensions import RelationsBuilder
from xla_dialect.op import PureOp, Types, XlaOp
from xla_dialect.ops.asynchronous import as_one, verify_start
from xla_dialect.types import (
    U32,
    ElementClass,
    TokenType,
    array,
    compatible,
    flatten,
    is_array,
    spell,
    spell_all,
    tuple_elements,
    without_layout,
)
from xla_dialect.violations import Violation, require

TOKEN = TokenType()


def require_token(type_: Attribute, label: str) -> None:
    """The operand that orders an operation is a token."""
    require(type_ == TOKEN, label, "the token is {}", spell(type_))


def require_awaited(type_: Attribute, name: str, label: str) -> None:
    """The operand is a token, an array, or a tuple of these."""
    for leaf in flatten((type_,)):
        if leaf != TOKEN:
            with_elements(leaf, ElementClass.ANY, name, label)


def require_flat(type_: Attribute, name: str, label: str) -> None:
    """The type is an array, or a tuple of arrays."""
    elements = tuple_elements(type_)
    require(
        all(map(is_array, (type_,) if elements is None else elements)),
        label,
        "{} is {}, not an array or a tuple of arrays",
        name,
        spell(type_),
    )


@irdl_op_definition
class AfterAllOp(PureOp):
    """
    A token after all the operands; without operands a fresh one.

    (C1) operands are tokens, arrays or tuples of these: what is computed before.
    """

    name = "xla.after_all"
    UNRELATED: ClassVar = "tokens have no dimensions"
    tokens = var_operand_def()

    @staticmethod
    def infer(tokens: tuple[Attribute, ...]) -> Types:
        """`token[]`."""
        for i, value in enumerate(tokens):
            require_awaited(value, f"operand {i}", "C1")
        return (TOKEN,)


@irdl_op_definition
class AddDependencyOp(PureOp):
    """
    The operand, not before another value.

    (C1) the operand is an array, a token or a tuple of these. (C2) so is what it waits for.
    """

    name = "xla.add_dependency"
    HANDS_ON: ClassVar = True
    operand = operand_def()
    token = operand_def()

    @staticmethod
    def infer(operand: Attribute, token: Attribute) -> Types:
        """The type of the operand."""
        require_awaited(operand, "operand", "C1")
        require_awaited(token, "the token", "C2")
        return (operand,)

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        """The operand passes through; the token has nothing to do with it."""
        relations.add_each(relations.results[0])


@irdl_op_definition
class InfeedOp(XlaOp):
    """
    The next item of the infeed, and a token. An empty tuple reads nothing.

    (C1) the item is an array or a tuple of arrays. (C2) its layout is that of the data. (C3) the
    operand is a token.
    """

    name = "xla.infeed"
    UNRELATED: ClassVar = "values come from elsewhere, or go there"
    token = operand_def()
    infeed_config = opt_prop_def(StringAttr)
    outputs = var_result_def()

    @staticmethod
    def infer(token: Attribute, *, declared: Types) -> Types:
        """The declared types: the item (or its elements one by one), and a token."""
        require_token(token, "C3")
        results = flat_results(declared)
        if not results or results[-1] != TOKEN:
            raise Violation("Result", f"declared {spell_all(declared)}, not an item and a token")
        for type_ in results[:-1]:
            if len(results) == 2:
                require_flat(type_, "the item", "C1")
            elif not is_array(type_):
                raise Violation("C1", f"an element of the item is {spell(type_)}")
        return results


@irdl_op_definition
class OutfeedOp(XlaOp):
    """
    Writes an item to the outfeed; a tuple may be given by its elements.

    (C1) the item is an array or a tuple of arrays. (C2) the last operand is a token. (C3)
    `outfeed_shape`, if present, is the type of the item.
    """

    name = "xla.outfeed"
    UNRELATED: ClassVar = "values come from elsewhere, or go there"
    item = var_operand_def()
    token = operand_def()
    outfeed_shape = opt_prop_def(BaseAttr(TypeAttribute))
    outfeed_config = opt_prop_def(StringAttr)
    result = result_def()

    @staticmethod
    def infer(
        item: tuple[Attribute, ...], token: Attribute, *, outfeed_shape: Attribute | None
    ) -> Types:
        """`token[]`."""
        require_token(token, "C2")
        for type_ in item:
            if len(item) == 1:
                require_flat(type_, "the item", "C1")
            elif not is_array(type_):
                raise Violation("C1", f"an element of the item is {spell(type_)}")
        if outfeed_shape is not None:
            elements = tuple_elements(outfeed_shape)
            same = len(item) == 1 and compatible(item[0], outfeed_shape)
            require(
                same
                or (
                    elements is not None
                    and len(elements) == len(item)
                    and all(map(compatible, elements, item))
                ),
                "C3",
                "outfeed_shape is {}, the item {}",
                spell(outfeed_shape),
                spell_all(item),
            )
        return (TOKEN,)


PAIRS: Final = "_xla_send_recv_source_target_pairs"
"""The frontend attribute with the pairs of source and target, `{{0,1},{1,2}}`."""
KEPT_IN: Final = ("xla.frontend_attributes", "mhlo.frontend_attributes")
"""Where readers keep frontend attributes: of HLO text, and of StableHLO."""
_PAIRS_ENTRY = re.compile(
    rf'[{{,]\s*{PAIRS}\s*=\s*(?:"([^"]*)"|(\{{[^"{{}}]*\}}|\{{[^"]*?\}}\s*\}}))'
)


class TransferOp(XlaOp):
    """
    One half of a transfer over a channel; a host transfer goes to or comes from the host.

    With source-target pairs among its frontend attributes all processes execute it: the source of
    each pair sends to its target, one that is no source sends nothing, and one that is no target
    receives zeros. As in `collective_permute`, ids count partitions where there is a channel (but
    0 is none) and replicas where there is not. (XLA, RecvThunk; StableHLO, RFC of 2025-04-21.)
    """

    UNRELATED: ClassVar = "values come from elsewhere, or go there"

    channel_id = opt_prop_def(INTEGER)
    is_host_transfer = prop_def(FLAG, default_value=FALSE)

    @property
    def channel(self) -> int | None:
        """The number of the channel, if it has one."""
        return None if self.channel_id is None else self.channel_id.value.data

    @property
    def with_host(self) -> bool:
        """Whether the other side is the host."""
        return bool(self.is_host_transfer.value.data)

    @property
    def pairs_text(self) -> str | None:
        """The source-target pairs as they are written, if there are any."""
        for name in KEPT_IN:
            kept = self.attributes.get(name)
            if isinstance(kept, DictionaryAttr):
                entry = kept.data.get(PAIRS)
                if entry is not None:
                    return entry.data if isinstance(entry, StringAttr) else str(entry)
            elif isinstance(kept, StringAttr):
                found = _PAIRS_ENTRY.search(kept.data)
                if found is not None:
                    return found[1] if found[2] is None else found[2]
        return None

    @property
    def source_target_pairs(self) -> SourceTargetPairs | None:
        """The pairs of source and target, if given; raises SpellingError for anything else."""
        text = self.pairs_text
        return None if text is None else SourceTargetPairs.parse(text)


class TransferStartOp(TransferOp):
    """Begins a transfer: its context has one user, the done of the same channel (C2)."""

    DONE: ClassVar[type[TransferOp]]

    def verify_users(self) -> None:
        """(C2), which holds once the program is complete; raises Violation."""
        users = {use.operation for result in self.results for use in result.uses}
        require(len(users) == 1, "C2", "the context has {} users, not one", len(users))
        for user in users:
            require(
                not isinstance(user, self.DONE)
                or (user.channel, user.with_host) == (self.channel, self.with_host),
                "C2",
                "channel_id or is_host_transfer differ from those of {}",
                user.name,
            )


class TransferDoneOp(TransferOp):
    """Waits for the end of a transfer."""

    STARTS: ClassVar[tuple[type[XlaOp], ...]]

    context = var_operand_def()

    def verify_context(self) -> None:
        """Checks types, and that the context is one of the right kind (C3)."""
        verify_start(self, self.context, self.STARTS, "C3")


def transferred(context: tuple[Attribute, ...], label: str) -> Attribute:
    """
    The type of what goes through a transfer with this context, `(T, u32[], token[])`.

    That is an array or a tuple of arrays, whose elements may be given one by one.
    """
    parts = flat_results(context)
    require(
        parts[-2:] == (array(U32, ()), TOKEN) and _are_data(parts[:-2]),
        label,
        "the operand is {}, not (data, u32[], token[])",
        spell_all(context),
    )
    return as_one(parts[:-2])


def _are_data(types: Sequence[Attribute]) -> bool:
    """Whether these are an array or a tuple of arrays, or the elements of such a tuple."""
    elements = tuple_elements(types[0]) if len(types) == 1 else None
    return all(map(is_array, types if elements is None else elements))


@irdl_op_definition
class SendDoneOp(TransferDoneOp):
    """
    Waits for the end of a `send`.

    (C2) see `send`. (C3) the operand is the context of a `send`; it may come through a loop.
    """

    name = "xla.send_done"
    result = result_def()

    @staticmethod
    def infer(context: tuple[Attribute, ...]) -> Types:
        """`token[]`."""
        transferred(context, "C3")
        return (TOKEN,)


@irdl_op_definition
class RecvDoneOp(TransferDoneOp):
    """
    Waits for the end of a `recv`, and returns what came, and a token.

    (C2) see `recv`. (C3) the operand is the context of a `recv`; it may come through a loop.
    """

    name = "xla.recv_done"
    outputs = var_result_def()

    @staticmethod
    def infer(context: tuple[Attribute, ...]) -> Types:
        """The data and `token[]`."""
        return (transferred(context, "C3"), TOKEN)


@irdl_op_definition
class SendOp(TransferStartOp):
    """
    Begins to send the operand to the `recv` with the same channel; that comes before.

    The context is `(data, request id, token[])`. A tuple may be given by its elements.

    (C1) a channel has one sender and one receiver in a module. (C2) the context has one user; if
    that is a `send_done`, channel and is_host_transfer agree. (C3) the operands are an array or a
    tuple of arrays, and a token.
    """

    name = "xla.send"
    operand = var_operand_def()
    token = operand_def()
    outputs = var_result_def()
    DONE: ClassVar = SendDoneOp

    @staticmethod
    def infer(operand: tuple[Attribute, ...], token: Attribute) -> Types:
        """The operand, `u32[]` and `token[]`."""
        require_token(token, "C3")
        require(
            _are_data(operand),
            "C3",
            "the operand is {}, not an array or a tuple of arrays",
            spell_all(operand),
        )
        data = [without_layout(t) if is_array(t) else t for t in operand]
        return (as_one(data), array(U32, ()), TOKEN)


@irdl_op_definition
class RecvOp(TransferStartOp):
    """
    Gets ready to receive what the `send` with the same channel sends.

    The context is `(data, request id, token[])`; data may be a tuple, or its elements.

    (C1) a channel has one sender and one receiver in a module. (C2) the context has one user; if
    that is a `recv_done`, channel and is_host_transfer agree. (C3) the operand is a token. (C4) the
    data has the type of what is sent.
    """

    name = "xla.recv"
    token = operand_def()
    outputs = var_result_def()
    DONE: ClassVar = RecvDoneOp

    @staticmethod
    def infer(token: Attribute, *, declared: Types) -> Types:
        """The declared data, `u32[]` and `token[]`."""
        require_token(token, "C3")
        return (transferred(declared, "Result"), array(U32, ()), TOKEN)


SendDoneOp.STARTS = (SendOp,)
RecvDoneOp.STARTS = (RecvOp,)
