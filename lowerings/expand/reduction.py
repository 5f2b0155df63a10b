"""
Which reductions find where the greatest or the least element of each row is, as `argmax` does.

Frameworks write the computation of such a reduction in many ways. So it is evaluated instead of
matched: one that only compares and selects is determined by its results for each order that its
arguments can have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeAlias, cast

import ml_dtypes
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, SSAValue

from lowerings.expand.building import build_before, loaded
from lowerings.expand.extremum import Extremum, largest_integer
from lowerings.rewriting.conversion import ConversionBuilder
from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.literals.arrays import dense_to_numpy, numpy_dtype
from xla_dialect.ops import elementwise
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.ops.elementwise import NotOp, SelectOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.types import PRED, Array, ElementClass, array, element_class


@dataclass(frozen=True)
class _Argument:
    """An argument of the computation, represented by its rank among the values or the places."""

    rank: float
    is_place: bool
    is_accumulated: bool
    """Whether it belongs to the accumulator rather than to the element."""


_Tried: TypeAlias = "_Argument | bool"
"""A value in the evaluation of a computation: an argument, or a truth value."""

_COMPARISONS: Mapping[ComparisonDirection, Callable[[float, float], bool]] = {
    ComparisonDirection.EQ: eq,
    ComparisonDirection.NE: ne,
    ComparisonDirection.LT: lt,
    ComparisonDirection.LE: le,
    ComparisonDirection.GT: gt,
    ComparisonDirection.GE: ge,
}

_LOGIC: Mapping[type[Operation], Callable[[bool, bool], bool]] = {
    elementwise.AndOp: lambda a, b: a and b,
    elementwise.OrOp: lambda a, b: a or b,
    elementwise.XorOp: ne,
}

LEAST_LENGTH = 16
"""Shorter rows, and columns, are found faster one element after the other, many rows at once."""

_ORDERED = ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0))
_UNORDERED = ((nan, 0.0), (0.0, nan), (nan, nan))
"""The orders that the accumulated value and the element can have."""

_Better: TypeAlias = Callable[[float, float], float]


def extremum_of(op: ReduceOp) -> Extremum | None:
    """
    The extremum of each row of the first operand whose first index is the second result of a
    reduction; None for other reductions.

    Rows are elements that lie side by side, so many that reading them twice in vectors pays. The
    second operand counts the places along the only dimension that is reduced, from an init
    value of 0 or below. The first result is unused, as which of equal elements it is would differ.
    """
    if len(op.inputs) != 2 or op.results[0].first_use is not None:
        return None
    dimensions = op.dimensions.get_values()
    if len(dimensions) != 1 or not _counts(op.inputs[1], dimensions[0]):
        return None
    sizes = cast(Array, op.inputs[0].type).get_shape()
    if dimensions[0] != len(sizes) - 1 or sizes[-1] < LEAST_LENGTH:
        return None
    first = _scalar(op.init_values[1])
    if first is None or first > 0:
        return None
    elements = element_class(cast(Array, op.inputs[0].type).element_type)
    if not elements & (ElementClass.INTEGER | ElementClass.FLOAT | ElementClass.PRED):
        return None
    orders = (*_ORDERED, *_UNORDERED) if elements & ElementClass.FLOAT else _ORDERED
    for is_maximum, better in ((True, max), (False, min)):
        if all(_finds(op.to_apply.block, order, better) for order in orders):
            worst = _worst(op.inputs[0], is_maximum)
            return Extremum(is_maximum, first == 0 and _scalar(op.init_values[0]) == worst)
    return None


def _worst(value: SSAValue, is_maximum: bool) -> float:
    """A bound of all elements of an array, below or above."""
    element_type = cast(Array, value.type).element_type
    if element_class(element_type) & ElementClass.FLOAT:
        return -inf if is_maximum else inf
    if element_type == PRED:
        return 0 if is_maximum else 1
    limits = ml_dtypes.iinfo(numpy_dtype(element_type))
    return int(limits.min) if is_maximum else int(limits.max)


def _counts(value: SSAValue, dimension: int) -> bool:
    """Whether each element is its position in a dimension; narrow integers start again."""
    owner = value.owner
    while isinstance(owner, BroadcastOp):
        dimensions = owner.dimensions.get_values()
        if dimension not in dimensions:
            return False
        dimension = dimensions.index(dimension)
        owner = owner.operand.owner
    if not isinstance(owner, IotaOp) or owner.iota_dimension.value.data != dimension:
        return False
    type_ = cast(Array, owner.result.type)
    if not element_class(type_.element_type) & ElementClass.INTEGER:
        return False
    return type_.get_shape()[dimension] <= largest_integer(type_.element_type)


def _scalar(value: SSAValue) -> float | None:
    """The number that a constant of rank 0 is; None for anything else."""
    owner = value.owner
    literal = owner.value if isinstance(owner, ConstantOp) else None
    if not isinstance(literal, DenseIntOrFPElementsAttr):
        return None
    array = dense_to_numpy(cast("DenseIntOrFPElementsAttr[Any]", literal))
    if array.ndim:
        return None
    return int(array) if array.dtype.kind in "biu" else float(array)


def _finds(block: Block, order: tuple[float, float], better: _Better) -> bool:
    """Whether the computation takes the better of two values, and the place of the first such."""
    tried = _try(block, (order[0], 0.0, order[1], 1.0))
    if tried is None:
        return False
    value, place = tried
    if value.is_place or not place.is_place:
        return False
    mine, theirs = order
    if isnan(mine) or isnan(theirs):
        return isnan(value.rank) and place.is_accumulated == isnan(mine)
    best = better(mine, theirs)
    return value.rank == best and place.is_accumulated == (mine == best)


def _try(block: Block, ranks: tuple[float, ...]) -> tuple[_Argument, _Argument] | None:
    """The arguments that the computation returns, None if it does anything but choosing two."""
    known: dict[SSAValue, _Tried] = {
        argument: _Argument(rank, is_place=number % 2 == 1, is_accumulated=number < 2)
        for number, (argument, rank) in enumerate(zip(block.args, ranks, strict=True))
    }
    *operations, last = block.ops
    for op in operations:
        found = _evaluate(op, [known[operand] for operand in op.operands if operand in known])
        if found is None:
            return None
        known[op.results[0]] = found
    value, place = (known.get(operand) for operand in last.operands)
    if isinstance(value, _Argument) and isinstance(place, _Argument):
        return value, place
    return None


def _evaluate(op: Operation, operands: list[_Tried]) -> _Tried | None:
    match op, operands:
        case ConstantOp(), []:
            number = _scalar(op.result) if op.result.type == array(PRED, ()) else None
            return None if number is None else bool(number)
        case elementwise.CompareOp(), [_Argument() as lhs, _Argument() as rhs]:
            if lhs.is_place != rhs.is_place or op.order == ComparisonType.TOTALORDER:
                return None
            return _COMPARISONS[op.direction.data](lhs.rank, rhs.rank)
        case SelectOp(), [bool(condition), on_true, on_false]:
            return on_true if condition else on_false
        case NotOp(), [bool(truth)]:
            return not truth
        case _, [bool(lhs), bool(rhs)] if type(op) in _LOGIC:
            return _LOGIC[type(op)](lhs, rhs)
        case _:
            return None


def expand_arg_extremum(op: ReduceOp, builder: ConversionBuilder) -> None:
    """A reduction that finds the first place of an extremum; other reductions stay."""
    extremum = extremum_of(op)
    if extremum is None:
        return
    builder_class, expansion = loaded("lowerings.expand.arg_extremum:first_places")
    (dimension,) = op.dimensions.get_values()

    def build(b: Any, *operands: Any) -> Sequence[Any]:
        return expansion(b, extremum, dimension, *operands)

    builder.replace(build_before(op, op.operands, build, builder_class))
