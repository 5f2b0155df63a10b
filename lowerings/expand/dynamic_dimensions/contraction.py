"""Sums of products, to which what is not there adds zeros, and what is made of matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import Float8E8M0FNUType

from lowerings.expand.dynamic_dimensions.reduction import placements
from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized
from xla_dialect.builder import XlaValue
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops.contraction import ConvolutionOp, DotOp
from xla_dialect.ops.linear_algebra import CholeskyOp, FftOp, TriangularSolveOp
from xla_dialect.shapes.size_arithmetic import without

Ints = tuple[int, ...]


def _shared(rules: Rules, lhs: Sized, mine: int, rhs: Sized, theirs: int) -> XlaValue | None:
    """The size that two dimensions both have; None if neither is dynamic."""
    found = [x.sizes[d] for x, d in ((lhs, mine), (rhs, theirs)) if d in x.sizes]
    return rules.smallest(found) if found else None


def _factor(rules: Rules, x: Sized, counts: Mapping[int, XlaValue]) -> XlaValue:
    """The array with zeros for what is not there; of a type that has a zero."""
    data = x.data
    if counts and isinstance(data.element_type, Float8E8M0FNUType):
        data = rules.b.convert_element_type(data, "f32")
    return rules.filled(data, counts)


def dot(rules: Rules, op: DotOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Batch dimensions have the size that both have; what remains of each keeps its own."""
    lhs, rhs = operands
    batch, contracting = (
        list(zip(cast(Ints, decode(mine)), cast(Ints, decode(theirs)), strict=True))
        for mine, theirs in (
            (op.lhs_batch_dims, op.rhs_batch_dims),
            (op.lhs_contracting_dims, op.rhs_contracting_dims),
        )
    )
    missing: tuple[dict[int, XlaValue], dict[int, XlaValue]] = ({}, {})
    for mine, theirs in contracting:
        count = _shared(rules, lhs, mine, rhs, theirs)
        if count is not None:
            missing[0][mine] = missing[1][theirs] = count
    factors = (_factor(rules, x, counts) for x, counts in zip(operands, missing, strict=True))
    (result,) = rules.again(*factors)
    found = [_shared(rules, lhs, mine, rhs, theirs) for mine, theirs in batch]
    for side, x in enumerate(operands):
        taken = [pair[side] for pair in (*batch, *contracting)]
        found += [x.sizes.get(d) for d in without(range(x.data.rank), taken)]
    return [Sized(result, {d: count for d, count in enumerate(found) if count is not None})]


def convolution(rules: Rules, op: ConvolutionOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """What is not there is padding; the window fits as often as it does into what is there."""
    (lhs, rhs), labels = operands, op.dim_labels.data
    (batch, feature, *base), (output, inputs, *_) = labels.lhs_order(), labels.rhs_order()
    missing = {d: lhs.sizes[d] for d in base if d in lhs.sizes}
    of_kernel: dict[int, XlaValue] = {}
    count = _shared(rules, lhs, feature, rhs, inputs)
    if count is not None:
        missing[feature] = of_kernel[inputs] = count
    (result,) = rules.again(_factor(rules, lhs, missing), _factor(rules, rhs, of_kernel))
    found = [lhs.sizes.get(batch), rhs.sizes.get(output)]
    for d, dimension in zip(base, op.window.data.dimensions, strict=True):
        size = lhs.sizes.get(d)
        found.append(None if size is None else placements(rules, dimension, size))
    places = zip(labels.result_order(), found, strict=True)
    return [Sized(result, {d: count for d, count in places if count is not None})]


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
    rank = a.data.rank
    size = _shared(rules, a, rank - 2, a, rank - 1)
    (result,) = rules.again(_square(rules, a, size))
    counts = dict(a.sizes)
    if size is not None:
        counts[rank - 2] = counts[rank - 1] = size
    return [Sized(result, counts)]


def triangular_solve(
    rules: Rules, op: TriangularSolveOp, operands: Sequence[Sized]
) -> Sequence[Sized]:
    """What is not there of either side are equations of their own, of which 0 is the solution."""
    a, right = operands
    rank = a.data.rank
    solved = rank - (2 if decode(op.left_side) else 1)
    sides = ((a, rank - 2), (a, rank - 1), (right, solved))
    found = [x.sizes[d] for x, d in sides if d in x.sizes]
    size = rules.smallest(found) if found else None
    counts = dict(right.sizes)
    for d in range(rank - 2):
        count = _shared(rules, a, d, right, d)
        if count is not None:
            counts[d] = count
    data = right.data
    if size is not None:
        counts[solved] = size
        data = rules.filled(data, {solved: size})
    (result,) = rules.again(_square(rules, a, size), data)
    return [Sized(result, counts)]


def fft(rules: Rules, op: FftOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Line by line."""
    (result,) = rules.again(operands[0].data)
    return [Sized(result, operands[0].sizes)]


RULES: Mapping[type[XlaOp], Rule] = {
    CholeskyOp: cholesky,
    ConvolutionOp: convolution,
    DotOp: dot,
    FftOp: fft,
    TriangularSolveOp: triangular_solve,
}
