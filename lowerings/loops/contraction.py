"""
Contractions: nests whose output elements are sums of products of two factors, one of which does
not depend on the row of the output, the other not on its column.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, memref
from xdsl.ir import Operation, SSAValue

from lowerings.dialects.schedule import Factor
from lowerings.loops.body import Body
from lowerings.loops.nest import Nest
from lowerings.loops.pair_product import PairProductOp


@dataclass(frozen=True)
class Contraction:
    """A sum of products of a left and a right factor, with its dimensions by their role."""

    left: SSAValue
    right: SSAValue
    batch: tuple[int, ...]
    """Dimensions that index both factors and the output."""
    rows: tuple[int, ...]
    """Dimensions that index the left factor and the output (m of a matrix product)."""
    columns: tuple[int, ...]
    """Dimensions that index the right factor and the output (n of a matrix product)."""
    summed: tuple[int, ...]
    """Reduction dimensions: they index both factors (k of a matrix product)."""

    def transposed(self) -> Contraction:
        """With the roles of the factors exchanged."""
        return Contraction(self.right, self.left, self.batch, self.columns, self.rows, self.summed)


def contraction_of(nest: Nest, body: Body) -> Contraction | None:
    """How a nest is a contraction; None if it is none."""
    combiner = body.combiner(0) if len(nest.outputs) == 1 else None
    if combiner is None or any(isinstance(op, memref.LoadOp) for op in body.ops):
        # Packing needs operands with indexing maps; loads in the body have none.
        return None
    factors = factors_of(body, *combiner)
    if factors is None:
        return None
    left, right = (body.mask.get(factor, 0) for factor in factors)
    out = body.mask[body.accumulators[0]]
    groups: dict[tuple[bool, bool, bool], list[int]] = {}
    for d in nest.loop_dimensions:
        where = bool(left >> d & 1), bool(right >> d & 1), bool(out >> d & 1)
        groups.setdefault(where, []).append(d)
    batch = tuple(groups.pop((True, True, True), ()))
    rows = tuple(groups.pop((True, False, True), ()))
    columns = tuple(groups.pop((False, True, True), ()))
    summed = tuple(groups.pop((True, True, False), ()))
    if groups or not summed:
        return None
    return Contraction(*factors, batch, rows, columns, summed)


def roles_of(nest: Nest, body: Body, factor: Factor) -> Contraction | None:
    """How a nest is a contraction whose right factor is `factor`; None if it is none."""
    roles = contraction_of(nest, body)
    return roles if roles is None or factor is Factor.RHS else roles.transposed()


def factors_of(body: Body, combiner: Operation, term: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """The factors of the product that a reduction adds up."""
    fused = body.fused_product(combiner, term)
    if fused is not None:
        return fused.lhs, fused.rhs
    product = term.owner
    if isinstance(combiner, arith.AddiOp) and isinstance(product, arith.MuliOp | PairProductOp):
        return product.lhs, product.rhs
    return None
