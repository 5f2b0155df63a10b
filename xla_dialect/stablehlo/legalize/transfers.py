"""Tokens and transfers: in StableHLO a transfer waits, in HLO it has two halves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.ops import transfers as xla
from xla_dialect.stablehlo.attributes import Inexpressible
from xla_dialect.stablehlo.conversion import Conversion, Legalize
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla, Tree, discardable
from xla_dialect.stablehlo.ops import transfers as stablehlo
from xla_dialect.types import TokenType, array, flatten
from xla_dialect.xdsl.operation_table import OperationTable

TransferStartT = TypeVar("TransferStartT", bound=xla.TransferStartOp)


def after_all_of_xla(op: xla.AfterAllOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.after_all` of the tokens, or `stablehlo.create_token` of nothing."""
    tokens = [value for value in op.operands if isinstance(value.type, TokenType)]
    operands = list(map(legalization.value, tokens))
    op_class = stablehlo.AfterAllOp if operands else stablehlo.CreateTokenOp
    return legalization.emit(op_class, operands, legalization.result_types(op)).results


# Transfers


def _keep_pairs(op: stablehlo.TransferOp) -> None:
    """Keeps source-target pairs as XLA does, with the frontend attributes."""
    pairs = op.pairs
    if pairs is None:
        return
    kept = op.attributes.get(_FRONTEND, DictionaryAttr({}))
    if not isinstance(kept, DictionaryAttr):
        raise VerifyException(f"{_FRONTEND} is {kept}, not a dictionary")
    entries = dict(kept.data) | {xla.PAIRS: StringAttr(str(pairs))}
    op.attributes[_FRONTEND] = DictionaryAttr(entries)


_FRONTEND = "mhlo.frontend_attributes"


def _begin(
    op: stablehlo.TransferOp,
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


def convert_send(op: stablehlo.SendOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.send`, of the parts of an item and a token, waits until it is done."""
    properties = op.xla_properties()
    _keep_pairs(op)
    data = [value.type for value in conversion.operands(op)[:-1]]
    context = _begin(op, conversion, xla.SendOp, data, properties)
    return conversion.emit(xla.SendDoneOp, context, conversion.result_types(op), properties)


def convert_recv(op: stablehlo.RecvOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.recv`, of the parts of an item and a token, waits until it is done."""
    properties, results = op.xla_properties(), conversion.result_types(op)
    _keep_pairs(op)
    context = _begin(op, conversion, xla.RecvOp, results[:-1], properties)
    return conversion.emit(xla.RecvDoneOp, context, results, properties)


def send_of_xla(op: xla.SendOp, legalization: FromXla) -> Sequence[Tree]:
    """`stablehlo.send`, with what is kept with its two halves."""
    operands, properties = legalization.operands(op), stablehlo.SendOp.properties_of(op)
    made = legalization.emit(stablehlo.SendOp, operands, [operands[-1].type], properties)
    for use in op.results[0].uses:
        if isinstance(use.operation, xla.SendDoneOp):
            made.attributes.update(discardable(use.operation.attributes))
            made.results[0].name_hint = use.operation.result.name_hint
    legalization.contexts[op] = made.results
    return [*operands[:-1], None, *made.results]


def send_done_of_xla(op: xla.SendDoneOp, legalization: FromXla) -> Sequence[SSAValue]:
    """Nothing: the token is that of the send."""
    return legalization.contexts[_start(op, xla.SendOp)]


def recv_of_xla(op: xla.RecvOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing: it is received at its done, so that the program sends before it waits."""
    return [*[None] * (len(flatten(op.result_types)) - 1), *legalization.operands(op)]


def recv_done_of_xla(op: xla.RecvDoneOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.recv`, with what is kept with its two halves."""
    start = _start(op, xla.RecvOp)
    operands, types = legalization.operands(start), legalization.result_types(op)
    properties = stablehlo.RecvOp.properties_of(start)
    made = legalization.emit(stablehlo.RecvOp, operands, types, properties)
    made.attributes.update(discardable(start.attributes))
    return made.results


def _start(op: xla.TransferDoneOp, start: type[TransferStartT]) -> TransferStartT:
    owner = op.context[0].owner
    if not isinstance(owner, start):
        raise Inexpressible("the context does not come from a start directly")
    return owner


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.SendOp, convert_send)
    .add(stablehlo.RecvOp, convert_recv)
)

FROM_XLA = (
    OperationTable[LegalizeFromXla]()
    .add(xla.AfterAllOp, after_all_of_xla)
    .add(xla.SendOp, send_of_xla)
    .add(xla.SendDoneOp, send_done_of_xla)
    .add(xla.RecvOp, recv_of_xla)
    .add(xla.RecvDoneOp, recv_done_of_xla)
)
