"""Analyses of the computations (regions on scalars) of reductions, scatters and sorts."""

from __future__ import annotations

from xdsl.ir import Block

from xla_dialect.op import XlaOp


def only_operation(computation: Block) -> type[XlaOp] | None:
    """The operation of both parameters that a computation of two parameters consists of."""
    op, last = computation.first_op, computation.last_op
    if (
        not isinstance(op, XlaOp)
        or last is None
        or len(computation.args) != 2
        or set(op.operands) != set(computation.args)
        or op.next_op is not last
        or tuple(last.operands) != tuple(op.results)
    ):
        return None
    return type(op)
