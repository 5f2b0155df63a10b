"""
The relations of operations as the partitioner has them: which parts make the results.

Parts of a result are folded over devices by sums and the like; terms of sums pass linear
operations; and what sharding rules say of dimensions is refined where devices can do with less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import cast

import numpy as np
from xdsl.ir import Attribute, Block, Region

from lowerings.partitioning.xla_populate_sharding_rules import rule_of
from xla_dialect.analysis.computations import neutral_element
from xla_dialect.dimensions import (
    Dimension,
    DimensionRelations,
    Factor,
    FactorType,
    Traversal,
)
from xla_dialect.literals import arrays
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops import data_movement as movement
from xla_dialect.ops import elementwise
from xla_dialect.ops.contraction import ConvolutionOp, DotOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.data_movement import DynamicSliceOp
from xla_dialect.ops.elementwise import (
    AddOp,
    AndOp,
    CompareOp,
    ImagOp,
    MaximumOp,
    MinimumOp,
    NegateOp,
    NotOp,
    OrOp,
    RealOp,
    SelectOp,
    SubtractOp,
)
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.ops.reduction import ReduceOp, only_operation
from xla_dialect.shapes.size_arithmetic import Sizes
from xla_dialect.sharding.sharding_rule import ShardingRule
from xla_dialect.types import PRED, Array, ElementClass, array, element_class, is_array
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.traversal import operands_of

FOLDS: Mapping[str, type[elementwise.ElementwiseBinaryOp]] = {
    operation.name.removeprefix("xla."): operation
    for operation in (
        elementwise.AddOp,
        elementwise.MultiplyOp,
        elementwise.MaximumOp,
        elementwise.MinimumOp,
        elementwise.AndOp,
        elementwise.OrOp,
        elementwise.XorOp,
    )
}
"""The operations that partial results can be folded by, by name."""


def fold_of(op: XlaOp) -> str | None:
    """The name of the fold of an operation's partial results; None where there is none."""
    match op:
        case CustomCallOp() if not op.results or not is_array(op.result_types[0]):
            return None
        case DotOp() | ConvolutionOp() | GatherOp() | DynamicSliceOp() | CustomCallOp():
            return "or" if _element_type(op) == PRED else "add"
        case ReduceOp() if len(op.inputs) == 1:
            return computation_fold(op.to_apply.block, _element_type(op))
        case ScatterOp() if len(op.inputs) == 1:
            return computation_fold(op.to_apply.block, _element_type(op))
        case _:
            return None


def _element_type(op: XlaOp) -> Attribute:
    return cast(Array, op.result_types[0]).element_type


def computation_fold(computation: Block, element_type: Attribute) -> str | None:
    """The name of the fold that a computation of two scalars is; None for another one."""
    operation = only_operation(computation)
    name = None if operation is None else operation.name.removeprefix("xla.")
    if name is None or name not in FOLDS or neutral_number(name, element_type) is None:
        return None
    return name


def neutral_number(fold: str, element_type: Attribute) -> arrays.Array | None:
    """What changes nothing in a fold, of rank 0; None where it is not known."""
    if fold == "add" and element_class(element_type) & (ElementClass.COMPLEX | ElementClass.FLOAT):
        # -0.0 where there is one: -0.0 + x is x for every x.
        return np.negative(np.zeros((), numpy_dtype(element_type)))
    number = neutral_element(computation(fold, element_type).block, element_type)
    return None if number is None else np.asarray(number).astype(numpy_dtype(element_type))


def computation(fold: str, element_type: Attribute) -> Region:
    """The computation of two scalars that a fold consists of."""
    scalar = array(element_type, ())
    block = Block(arg_types=[scalar, scalar])
    combined = FOLDS[fold].make(tuple(block.args), {}, result_types=[scalar])
    block.add_ops([combined, create(ReturnOp, operands=combined.results)])
    return Region(block)


_ONE = frozenset({0})
_TWO = frozenset({0, 1})

_LINEAR: dict[type[XlaOp], frozenset[int]] = {
    AddOp: _TWO,
    ConvertOp: _ONE,
    ImagOp: _ONE,
    NegateOp: _ONE,
    RealOp: _ONE,
    SelectOp: frozenset({1, 2}),
    SubtractOp: _TWO,
    movement.BroadcastOp: _ONE,
    movement.CopyOp: _ONE,
    movement.DynamicSliceOp: _ONE,
    movement.DynamicUpdateSliceOp: _TWO,
    movement.PadOp: _TWO,
    movement.ReshapeOp: _ONE,
    movement.ReverseOp: _ONE,
    movement.SliceOp: _ONE,
    movement.TransposeOp: _ONE,
}
_FRACTIONS = ElementClass.FLOAT | ElementClass.COMPLEX


def linear_operands(op: XlaOp) -> frozenset[int]:
    """The operands that the result is linear in, all together; none for other operations."""
    if isinstance(op, movement.ConcatenateOp):
        return frozenset(range(len(op.operands)))
    if isinstance(op, ConvertOp):
        types = (cast(Array, value.type) for value in (*operands_of(op), op.result))
        # Sums of integers wrap around where their type ends.
        if not all(element_class(each.element_type) & _FRACTIONS for each in types):
            return frozenset()
    return _LINEAR.get(type(op), frozenset())


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
