"""What the sharding rule of a custom call says of the parts that it can be computed in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from lowerings.partitioning.op_rules import rule_of
from xla_dialect.dimensions import DimensionRelations, Factor, FactorType, Traversal
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.shapes.size_arithmetic import Sizes
from xla_dialect.sharding.sharding_rule import ShardingRule

_WHOLE = FactorType.NEED_REPLICATION, Traversal.WHOLE
"""Along what is not said to be independent, a function that nobody knows gets all there is."""


def custom_call_relations(
    op: CustomCallOp, operands: Sequence[Sizes], results: Sequence[Sizes]
) -> DimensionRelations | None:
    """
    The relations of a custom call by its rule; None without one.

    Parts of a factor are independent if all results have it, and an operand: a result without it
    would be a part of what was asked for. Raises XlaError for a rule that does not fit.
    """
    rule = rule_of(op)
    return None if rule is None else _relations(rule, tuple(operands), tuple(results))


@lru_cache(4096)
def _relations(
    rule: ShardingRule, operands: tuple[Sizes, ...], results: tuple[Sizes, ...]
) -> DimensionRelations:
    arrays = (*zip(rule.operands, operands, strict=True), *zip(rule.results, results, strict=True))
    misfits = {
        factor
        for dimensions, sizes in arrays
        for dimension, size in zip(dimensions, sizes, strict=True)
        if prod(rule.sizes[f] for f in dimension) != size
        for factor in dimension
    }
    taken = _factors_of(rule.operands)
    given = [_factors_of([dimensions]) for dimensions in rule.results]
    factors: list[Factor] = []
    for factor, size in enumerate(rule.sizes):
        kind = _WHOLE
        if factor in misfits | {*rule.need_replication, *rule.permutation} or factor not in taken:
            pass
        elif factor in rule.reduction:
            if not any(factor in each for each in given):
                kind = FactorType.REDUCTION, None
        elif all(factor in each for each in given):
            kind = FactorType.PASS_THROUGH, None
        factors.append(Factor(size, *kind))
    return DimensionRelations(tuple(factors), rule.operands, rule.results)


def _factors_of(arrays: Sequence[Sequence[Sequence[int]]]) -> set[int]:
    return {factor for dimensions in arrays for dimension in dimensions for factor in dimension}
