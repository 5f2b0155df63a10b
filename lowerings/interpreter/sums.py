"""Which outputs of a structured operation are sums of floats."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, complex
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineMap


def sums_of(block: Block, maps: Sequence[AffineMap], parallel: Sequence[bool]) -> frozenset[int]:
    """
    The outputs of a body to which it adds one term at each step of the reduction loops.

    `maps` are those of all operands.
    """
    terminator = block.last_op
    if all(parallel) or not isinstance(terminator, YieldOp):
        return frozenset()
    first = len(block.args) - len(terminator.operands)
    return frozenset(
        output
        for output, result in enumerate(terminator.operands)
        if all(parallel[d] for d in maps[first + output].used_dims())
        and _adds(result, block.args[first + output])
    )


def _adds(result: SSAValue, total: SSAValue) -> bool:
    """Whether a result is the total and a term, or the total itself."""
    op, uses = result.owner, {use.operation for use in total.uses}
    if isinstance(op, arith.SelectOp) and op.rhs is total and op.lhs.has_one_use():
        uses.discard(op)
        result, op = op.lhs, op.lhs.owner
    if isinstance(op, arith.AddfOp):
        return uses == {op} and (op.lhs is total) != (op.rhs is total)
    if not isinstance(op, complex.CreateOp) or len(uses) != 2:
        return False
    return all(
        isinstance(added := part.owner, arith.AddfOp)
        and any(isinstance(term.owner, taken) and term.owner in uses for term in added.operands)
        for part, taken in ((op.real, complex.ReOp), (op.imaginary, complex.ImOp))
    )
