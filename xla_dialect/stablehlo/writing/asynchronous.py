"""Asynchronous operations: what a start begins is written there, and its done prints nothing.

StableHLO has `async_start` for a few collectives and slices only, so all of them become the plain
operation. Only `recv` is written at its done, so that the program sends before it waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.ir import Operation

from xla_dialect.ops import asynchronous as xla
from xla_dialect.stablehlo.writing.body import BodyWriter, Tree, Write, grown, leaves_of
from xla_dialect.stablehlo.writing.errors import Inexpressible


def write_start(op: Operation, body: BodyWriter) -> None:
    """The computation, in place."""
    operands = body.leaves(op.operands)
    names = body.inline(cast(xla.AsyncStartOp, op).calls.block, operands)
    body.contexts[op] = tuple(names)
    body.bind_context(op, operands, names)


def write_update(op: Operation, body: BodyWriter) -> None:
    """Nothing: the context is the operand."""
    for operand, result in zip(op.operands, op.results, strict=True):
        body.trees[result] = body.tree(operand)


def write_copy_start(op: Operation, body: BodyWriter) -> None:
    """Nothing: a copy is its operand."""
    name = body.operand(op.operands[0])
    body.contexts[op] = (name,)
    body.bind_context(op, [name], [name])


def write_done(op: Operation, body: BodyWriter) -> None:
    """Nothing: the results are there."""
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
    """What the start of a done has left for it; None where it is not known."""
    owner = op.operands[0].owner
    while isinstance(owner, xla.AsyncUpdateOp):
        owner = owner.operands[0].owner
    return body.contexts.get(owner) if isinstance(owner, Operation) else None


WRITERS: Mapping[type[Operation], Write] = {
    xla.AsyncStartOp: write_start,
    xla.AsyncUpdateOp: write_update,
    xla.CopyStartOp: write_copy_start,
    **dict.fromkeys(
        (
            xla.AsyncDoneOp,
            xla.CopyDoneOp,
            xla.AllGatherDoneOp,
            xla.AllReduceDoneOp,
            xla.CollectivePermuteDoneOp,
        ),
        write_done,
    ),
}
