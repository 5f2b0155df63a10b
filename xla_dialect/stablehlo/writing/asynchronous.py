"""Asynchronous operations: what a start begins is written there, and its done prints nothing.

StableHLO has `async_start` for collectives; computations that are one of them stay asynchronous.
Only `recv` is written at its done, so that the program sends before it waits.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xla_dialect.ops import asynchronous as xla
from xla_dialect.ops.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    ReduceScatterOp,
)
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.writing.body import BodyWriter, Tree, Write, grown, leaves_of
from xla_dialect.xdsl.operation_table import OperationTable


def write_start(op: xla.AsyncStartOp, body: BodyWriter) -> None:
    """The computation, in place, or `stablehlo.async_start`; nothing while it lacks operands."""
    if op.is_open:
        _write_bound(op, op, body)
        return
    operands = body.leaves(op.operands)
    if _stays(op):
        _write_async(op, operands, body)
        return
    names = body.inline(op.calls.block, operands)
    body.contexts[op] = tuple(names)
    body.bind_context(op, operands, names)


def _write_bound(
    start: xla.AsyncStartOp,
    op: xla.AsyncStartOp | xla.AsyncUpdateOp | xla.AsyncDoneOp,
    body: BodyWriter,
) -> None:
    """The computation, in place, if `op` binds the last operand that it lacks."""
    operands = xla.operands_bound(op)
    if start not in body.contexts and len(operands) == len(start.calls.block.args):
        body.contexts[start] = tuple(body.inline(start.calls.block, body.leaves(operands)))


_ASYNCHRONOUS = (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    ReduceScatterOp,
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


def _write_async(op: Operation, operands: list[str], body: BodyWriter) -> None:
    returned = body.returned(op.regions[0].block)
    types = ", ".join(body.types(value.type for value in returned))
    (name,) = body.generic_value(
        "stablehlo.async_start",
        operands,
        body.types(value.type for value in op.operands),
        {},
        [f"!stablehlo.future<{types}>"],
        op.regions,
        op,
        [value.name_hint for value in op.results],
    )
    body.futures[op] = name


def write_update(op: xla.AsyncUpdateOp, body: BodyWriter) -> None:
    """Nothing: the context is the operand."""
    start = xla.open_start(op)
    if start is not None:
        _write_bound(start, op, body)
        return
    for operand, result in zip(op.operands, op.results, strict=True):
        body.trees[result] = body.tree(operand)


def write_copy_start(op: Operation, body: BodyWriter) -> None:
    """Nothing: a copy is its operand."""
    name = body.operand(op.operands[0])
    body.contexts[op] = (name,)
    body.bind_context(op, [name], [name])


def write_done(op: Operation, body: BodyWriter) -> None:
    """Nothing, as the results are there; or `stablehlo.async_done`."""
    if isinstance(op, xla.AsyncDoneOp) and (begun := xla.open_start(op)) is not None:
        _write_bound(begun, op, body)
    start = op.operands[0].owner
    future = body.futures.get(start) if isinstance(start, Operation) else None
    if future is not None:
        results = body.types(op.result_types)
        types = [f"!stablehlo.future<{', '.join(results)}>"]
        body.generic(op, "stablehlo.async_done", [future], types, {}, results)
        return
    tree = context_of(op, body)
    if tree is None:
        value = body.tree(op.operands[0])
        if not isinstance(value, tuple) or len(value) < 2 or len(op.operands) != 1:
            raise Inexpressible("the context does not come from a start directly")
        tree = value[1]
    leaves: list[Tree] = [*leaves_of(tree)]
    rest = iter(leaves)
    for result in op.results:
        body.trees[result] = grown(result.type, rest)


def context_of(op: Operation, body: BodyWriter) -> Tree:
    """The results in the context of a done; None where its start is not known."""
    owner = op.operands[0].owner
    while isinstance(owner, xla.AsyncUpdateOp):
        owner = owner.operands[0].owner
    return body.contexts.get(owner) if isinstance(owner, Operation) else None


WRITERS = (
    OperationTable[Write]()
    .add(xla.AsyncStartOp, write_start)
    .add(xla.AsyncUpdateOp, write_update)
    .add(xla.CopyStartOp, write_copy_start)
    .add(
        (
            xla.AsyncDoneOp,
            xla.CopyDoneOp,
            xla.AllGatherDoneOp,
            xla.AllReduceDoneOp,
            xla.CollectivePermuteDoneOp,
        ),
        write_done,
    )
)
