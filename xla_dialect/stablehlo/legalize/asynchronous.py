"""Asynchronous operations: what a start begins is there, and its done is nothing.

StableHLO has `async_start` for collectives; computations that are one of them stay asynchronous.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Operation, SSAValue, TypeAttribute

from xla_dialect.ops import asynchronous as xla
from xla_dialect.ops import collectives
from xla_dialect.ops.open_contexts import as_one
from xla_dialect.stablehlo.attributes import FutureType
from xla_dialect.stablehlo.conversion import Conversion, Legalize
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.legalize.collectives import permute_of_xla
from xla_dialect.stablehlo.legalize.from_xla import (
    FromXla,
    LegalizeFromXla,
    Tree,
    flat,
)
from xla_dialect.stablehlo.ops import asynchronous as stablehlo
from xla_dialect.stablehlo.ops.collectives import AllGatherOp, AllReduceOp
from xla_dialect.types import S32, array, flatten
from xla_dialect.xdsl.operation_table import OperationTable


def convert_start(op: stablehlo.AsyncStartOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.async_start`; the context is `((operands), results, s32[])`."""
    types = [conversion.type(type_, op) for type_ in op.contents]
    op.verify_()
    operands = conversion.operands(op)
    inputs = TupleType(tuple(cast(TypeAttribute, value.type) for value in operands))
    parts = (inputs, cast(TypeAttribute, as_one(types)), array(S32, ()))
    regions = conversion.regions(op)
    return conversion.emit(xla.AsyncStartOp, operands, [TupleType(parts)], regions=regions)


def convert_done(op: stablehlo.AsyncDoneOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.async_done`."""
    op.verify_()
    return conversion.emit(xla.AsyncDoneOp, conversion.operands(op), conversion.result_types(op))


# Starts


def start_of_xla(op: xla.AsyncStartOp, legalization: FromXla) -> Sequence[Tree]:
    """The computation, in place, or `stablehlo.async_start`; nothing while it lacks operands."""
    if op.is_open:
        return _bound(op, op, legalization)
    operands = legalization.operands(op)
    if not _stays(op):
        return _begun(op, operands, legalization.inline(op.calls.block, operands), legalization)
    region = legalization.region(op.calls)
    end = region.block.last_op
    assert end is not None
    future = FutureType(ArrayAttr(end.operand_types))
    start = legalization.emit(stablehlo.AsyncStartOp, operands, [future], regions=[region])
    legalization.futures[op] = start.results[0]
    return [None] * len(flatten(op.result_types))


_ASYNCHRONOUS = (
    collectives.AllGatherOp,
    collectives.AllReduceOp,
    collectives.AllToAllOp,
    collectives.CollectiveBroadcastOp,
    collectives.CollectivePermuteOp,
    collectives.ReduceScatterOp,
)
"""Computations that `stablehlo.async_start` may run and that XLA translates."""


def _stays(op: xla.AsyncStartOp) -> bool:
    """Whether a computation is one of `_ASYNCHRONOUS`, and every use of it is an `async-done`."""
    first, last = op.calls.block.first_op, op.calls.block.last_op
    return (
        isinstance(first, _ASYNCHRONOUS)
        and last is not None
        and first.next_op is last
        and len(first.operands) == len(first.results) == 1
        and list(last.operands) == list(first.results)
        and list(first.operands) == list(op.calls.block.args)
        and all(isinstance(u.operation, xla.AsyncDoneOp) for r in op.results for u in r.uses)
    )


def _begun(
    op: Operation,
    operands: Sequence[SSAValue],
    results: Sequence[SSAValue],
    legalization: FromXla,
) -> Sequence[Tree]:
    """The context of a start: its operands, its results, and what StableHLO has not."""
    legalization.contexts[op] = results
    missing = len(flatten(op.result_types)) - len(operands) - len(results)
    return [*operands, *results, *[None] * missing]


def _bound(
    start: xla.AsyncStartOp,
    op: xla.AsyncStartOp | xla.AsyncUpdateOp | xla.AsyncDoneOp,
    legalization: FromXla,
) -> Sequence[Tree]:
    """
    A context that is not complete, which nothing takes but what goes on with it.

    The computation is in the place of the operation that binds the last operand that it lacks.
    """
    operands = xla.operands_bound(op)
    block = start.calls.block
    if start not in legalization.contexts and len(operands) == len(block.args):
        legalization.contexts[start] = legalization.inline(block, legalization.leaves(operands))
    return [None] * len(flatten(op.result_types))


def copy_start_of_xla(op: xla.CopyStartOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing: a copy is its operand."""
    operands = [legalization.value(op.operand)]
    return _begun(op, operands, operands, legalization)


def all_gather_start_of_xla(op: xla.AllGatherStartOp, legalization: FromXla) -> Sequence[Tree]:
    """`stablehlo.all_gather`."""
    operands = legalization.operands(op)
    types = legalization.result_types(op)[len(operands) : 2 * len(operands)]
    properties = AllGatherOp.properties_of(op)
    made = legalization.emit(AllGatherOp, operands, types, properties)
    return _begun(op, operands, made.results, legalization)


def all_reduce_start_of_xla(op: xla.AllReduceStartOp, legalization: FromXla) -> Sequence[Tree]:
    """`stablehlo.all_reduce`; the context is its results."""
    return legalization.same(op, AllReduceOp)


def permute_start_of_xla(op: xla.CollectivePermuteStartOp, legalization: FromXla) -> Sequence[Tree]:
    """`stablehlo.collective_permute`, one for each operand."""
    results = permute_of_xla(op, legalization)
    return _begun(op, legalization.operands(op), results, legalization)


# What follows a start


def update_of_xla(op: xla.AsyncUpdateOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing: the context is the operand."""
    start = xla.open_start(op)
    return _context(op, legalization) if start is None else _bound(start, op, legalization)


def _context(op: Operation, legalization: FromXla) -> Sequence[Tree]:
    return [leaf for value in op.operands for leaf in flat(legalization.tree(value))]


def done_of_xla(op: xla.DoneOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing, as the results are there; or `stablehlo.async_done`."""
    if isinstance(op, xla.AsyncDoneOp) and (begun := xla.open_start(op)) is not None:
        _bound(begun, op, legalization)
    start = op.operands[0].owner
    while isinstance(start, xla.AsyncUpdateOp):
        start = start.operands[0].owner
    future = legalization.futures.get(cast(Operation, start))
    if future is not None:
        types = legalization.result_types(op)
        return legalization.emit(stablehlo.AsyncDoneOp, [future], types).results
    results = legalization.contexts.get(cast(Operation, start))
    if results is not None:
        return results
    tree = legalization.tree(op.operands[0])
    if not isinstance(tree, tuple) or len(tree) < 2 or len(op.operands) != 1:
        raise Inexpressible("the context does not come from a start directly")
    return flat(tree[1])


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.AsyncStartOp, convert_start)
    .add(stablehlo.AsyncDoneOp, convert_done)
)

FROM_XLA = (
    OperationTable[LegalizeFromXla]()
    .add(xla.AsyncStartOp, start_of_xla)
    .add(xla.AsyncUpdateOp, update_of_xla)
    .add(xla.CopyStartOp, copy_start_of_xla)
    .add(xla.AllGatherStartOp, all_gather_start_of_xla)
    .add(xla.AllReduceStartOp, all_reduce_start_of_xla)
    .add(xla.AllReduceDoneOp, _context)
    .add(xla.CollectivePermuteStartOp, permute_start_of_xla)
    .add(
        (xla.AsyncDoneOp, xla.CopyDoneOp, xla.AllGatherDoneOp, xla.CollectivePermuteDoneOp),
        done_of_xla,
    )
)
