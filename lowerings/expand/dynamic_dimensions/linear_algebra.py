"""What is made of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from lowerings.expand.dynamic_dimensions.regular import with_sizes
from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized
from xla_dialect.builder import XlaValue
from xla_dialect.op import decode
from xla_dialect.ops.linear_algebra import CholeskyOp, TriangularSolveOp
from xla_dialect.xdsl.operation_table import OperationTable


def _square(rules: Rules, a: Sized, size: XlaValue | None) -> XlaValue:
    """The matrices, continued by those of the identity."""
    if size is None:
        return a.data
    b, (*_, rows, columns) = rules.b, range(a.data.rank)
    sizes = f"s32[{','.join(map(str, a.data.shape))}]"
    diagonal = b.eq(b.iota(sizes, rows), b.iota(sizes, columns))
    one, zero = (b.broadcast(b.constant(n, a.data.element_type), a.data.shape) for n in (1, 0))
    inside = rules.inside(a.data.shape, {rows: size, columns: size})
    return b.select(inside, a.data, b.select(diagonal, one, zero))


def cholesky(rules: Rules, op: CholeskyOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """The factor of a matrix that the identity continues is the factor, continued so."""
    (a,) = operands
    size = rules.counts.get((0, a.data.rank - 1))
    return with_sizes(rules, rules.again(_square(rules, a, size)))


def triangular_solve(
    rules: Rules, op: TriangularSolveOp, operands: Sequence[Sized]
) -> Sequence[Sized]:
    """What is not there of either side are equations of their own, of which 0 is the solution."""
    a, right = operands
    rank = a.data.rank
    solved = rank - (2 if decode(op.left_side) else 1)
    size = rules.counts.get((0, rank - 1))
    data = right.data if size is None else rules.filled(right.data, {solved: size})
    return with_sizes(rules, rules.again(_square(rules, a, size), data))


RULES = OperationTable[Rule]().add(CholeskyOp, cholesky).add(TriangularSolveOp, triangular_solve)
