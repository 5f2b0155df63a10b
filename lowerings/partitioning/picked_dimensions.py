"""Relations of operations that pick elements, as the partitioner has them.

A rule of Shardy says of a dynamic slice that it needs all of a dimension of which it takes a part.
Devices can do with less: each has some of what is taken, or nothing, and the result is folded, as
that of a gather is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from xla_dialect.dimensions import (
    Dimension,
    DimensionRelations,
    Factor,
    FactorType,
    Traversal,
)
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.data_movement import DynamicSliceOp
from xla_dialect.ops.elementwise import (
    AndOp,
    CompareOp,
    MaximumOp,
    MinimumOp,
    NotOp,
    OrOp,
    SelectOp,
)
from xla_dialect.ops.reduction import ReduceOp


def picking_relations(
    op: XlaOp, relations: DimensionRelations, results: Sequence[Sequence[int]]
) -> DimensionRelations:
    """
    The relations of an operation, with those factors regular of which each device does its part.

    A dynamic slice is a reduction along what it picks from; a reduction that selects from several
    arrays at once is none, for no collective folds it.
    """
    if isinstance(op, DynamicSliceOp):
        return _of_dynamic_slice(relations, tuple(results[0]))
    if isinstance(op, ReduceOp) and selects(op):
        return _of_selection(relations)
    return relations


_SELECTING = (AndOp, CompareOp, MaximumOp, MinimumOp, NotOp, OrOp, ReturnOp, SelectOp)


def selects(op: ReduceOp) -> bool:
    """Whether a reduction of several arrays compares elements, and takes some of them."""
    return len(op.inputs) > 1 and all(
        isinstance(each, _SELECTING) for each in op.to_apply.block.ops
    )


@lru_cache(4096)
def _of_selection(relations: DimensionRelations) -> DimensionRelations:
    factors = tuple(
        replace(factor, type=FactorType.NEED_REPLICATION, along=Traversal.WHOLE)
        if factor.type is FactorType.REDUCTION
        else factor
        for factor in relations.factors
    )
    return replace(relations, factors=factors)


@lru_cache(4096)
def _of_dynamic_slice(relations: DimensionRelations, taken: tuple[int, ...]) -> DimensionRelations:
    factors = list(relations.factors)
    result: list[Dimension] = []
    for dimension, size in zip(relations.results[0], taken, strict=True):
        (number,) = dimension
        if factors[number].along is Traversal.INDEXED:
            factors[number] = replace(factors[number], type=FactorType.REDUCTION)
            dimension = (len(factors),)
            factors.append(Factor(size, FactorType.NEED_REPLICATION, Traversal.WHOLE))
        result.append(dimension)
    return replace(relations, factors=tuple(factors), results=(tuple(result),))
