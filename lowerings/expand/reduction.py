"""
Reductions that become others: two of one result, or one of a wider type.

Some find where the greatest or the least element of each row is, as `argmax` does.

Frameworks write the computation of such a reduction in many ways. So it is evaluated instead of
matched: one that only compares and selects is determined by its results for each order that its
arguments can have.

A reduction whose computation is one addition or one multiplication of narrow floats is done in f32,
and rounded once. One that adds complex numbers becomes two, of their real and imaginary parts: what
is known of sums of floats holds for them then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isnan, nan
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import ml_dtypes
from xdsl.dialects.builtin import ComplexType, DenseIntOrFPElementsAttr, f32, f64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lowerings.expand.building import build_before
from lowerings.rewriting.conversion import ConversionBuilder
from xla_dialect.analysis.computations import (
    Reducing,
    accumulates_in_f32,
    reducer_of,
    scatters_long_sums,
)
from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.literals.arrays import dense_to_numpy, numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.contraction import ConvolutionOp, DotOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.ops.elementwise import (
    AddOp,
    ComplexOp,
    ImagOp,
    NotOp,
    RealOp,
    SelectOp,
    SubtractOp,
)
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.reduction import ReduceOp, SelectAndScatterOp, only_operation
from xla_dialect.types import (
    PRED,
    Array,
    ElementClass,
    array,
    array_like,
    component_type,
    element_class,
)

if TYPE_CHECKING:
    from xla_dialect.builder import XlaBuilder, XlaValue


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
    (dimension,) = op.dimensions.get_values()
    places = build_before(op, op.operands, first_places, extremum, dimension)
    builder.replace(places)


@dataclass(frozen=True)
class Extremum:
    """The extremum whose first index a reduction finds."""

    is_maximum: bool
    """A maximum rather than a minimum; a NaN counts as either."""
    starts_beyond: bool
    """Whether no element is beyond the init value, and its place is the first of a row."""


def largest_integer(element_type: Attribute) -> int:
    """The largest number of an integer type."""
    return int(ml_dtypes.iinfo(numpy_dtype(element_type)).max)


def first_places(
    b: XlaBuilder,
    extremum: Extremum,
    dimension: int,
    x: XlaValue,
    places: XlaValue,
    start: XlaValue,
    first_place: XlaValue,
) -> Sequence[XlaValue]:
    """
    The extremum along a dimension, from `start` on, and the least of its `places`.

    `start` counts as an element at `first_place`, before all others.
    """
    computation = b.max if extremum.is_maximum else b.min
    best = b.reduce(x, start, computation, [dimension])
    sizes = x.shape
    others = [d for d in range(len(sizes)) if d != dimension]

    def is_best(value: XlaValue, best: XlaValue) -> XlaValue:
        equal = b.eq(value, best)
        if not element_class(x.element_type) & ElementClass.FLOAT:
            return equal
        # A NaN makes the extremum NaN, which equals no element.
        return b.or_(equal, b.ne(value, value))

    last = b.constant(largest_integer(places.element_type), places.element_type)
    found = b.select(is_best(x, b.broadcast_in_dim(best, sizes, others)), places, last)
    least = b.reduce(found, last, b.min, [dimension])
    if extremum.starts_beyond:
        # Then the first of a row of such elements has its place.
        return best, least
    rows = [sizes[d] for d in others]
    at_start = is_best(b.broadcast(start, rows), best)
    return best, b.min(least, b.select(at_start, first_place, last))


Taken: TypeAlias = Callable[[SSAValue], Operation]
"""Makes what is computed with of an operand."""


def expand_accumulation(op: Reducing, builder: ConversionBuilder) -> None:
    """A reduction of narrow floats is done in f32, one that adds complex numbers in parts."""
    if accumulates_in_f32(op):
        wide = _on(op, builder, f32, partial(_convert, to=f32))
        _finish(op, builder, ConvertOp, (wide,))
    elif _adds_up(op):
        element_type = _element_type(op)
        part = component_type(element_type)
        if part != element_type:
            parts = [_on(op, builder, part, taken) for taken in (_real, _imaginary)]
            _finish(op, builder, ComplexOp, parts)


def _adds_up(op: Reducing) -> bool:
    """Whether an operation adds up many elements."""
    if isinstance(op, ScatterOp):
        return scatters_long_sums(op)
    return not isinstance(op, SelectAndScatterOp) and only_operation(reducer_of(op)) is AddOp


def _element_type(op: Reducing) -> Attribute:
    """That of what is reduced, of which there is one array."""
    return cast(Array, op.results[0].type).element_type


def _on(op: Reducing, builder: ConversionBuilder, other: Attribute, taken: Taken) -> SSAValue:
    """The operation on operands of another element type, which `taken` makes of them."""
    element_type = _element_type(op)
    operands = [
        builder.insert(taken(operand)).results[0]
        if cast(Array, operand.type).element_type == element_type
        else operand
        for operand in op.operands
    ]
    regions = [_reducer(op, other)]
    if isinstance(op, SelectAndScatterOp):
        regions.insert(0, _selecting(op, other))
    return builder.insert(type(op).make(operands, op.properties, regions)).results[0]


def _reducer(op: Reducing, element_type: Attribute) -> Region:
    """The computation that reduces, on scalars of another element type."""
    old = reducer_of(op)
    first = cast(XlaOp, old.first_op)
    block = Block(arg_types=[array(element_type, ())] * 2)
    arguments = dict[SSAValue, SSAValue](zip(old.args, block.args, strict=True))
    operands = [arguments[operand] for operand in first.operands]
    combined = type(first).make(operands, first.properties)
    block.add_ops([combined, ReturnOp.make(combined.results, {})])
    return Region(block)


def _selecting(op: SelectAndScatterOp, element_type: Attribute) -> Region:
    """The computation that selects, on scalars of a wider type."""
    region = op.select.clone()
    block = region.block
    for old in tuple(block.args):
        wide = block.insert_arg(array(element_type, ()), len(block.args))
        narrow = ConvertOp.make([wide], {}, result_types=[old.type])
        first = block.first_op
        assert first is not None
        block.insert_op_before(narrow, first)
        old.replace_all_uses_with(narrow.result)
        block.erase_arg(old)
    return region


def _finish(
    op: Reducing, builder: ConversionBuilder, made_by: type[XlaOp], values: Sequence[SSAValue]
) -> None:
    result = made_by.make(values, {}, result_types=[op.results[0].type])
    builder.replace(builder.insert(result).results)


def _convert(value: SSAValue, to: Attribute) -> Operation:
    return ConvertOp.make([value], {}, result_types=[array_like(cast(Array, value.type), to)])


def _real(value: SSAValue) -> Operation:
    return RealOp.make([value], {})


def _imaginary(value: SSAValue) -> Operation:
    return ImagOp.make([value], {})


def expand_complex_products(op: DotOp | ConvolutionOp, builder: ConversionBuilder) -> None:
    """A dot or convolution of complex numbers is four of their parts."""
    result = cast(Array, op.result.type)
    types = [cast(Array, each).element_type for each in (*op.operand_types, result)]
    if not any(isinstance(type_, ComplexType) for type_ in types):
        return
    part = f64 if any(component_type(type_) == f64 for type_ in types) else f32
    parts = [
        [builder.insert(taken(wide)).results[0] for taken in (_real, _imaginary)]
        for wide in (
            builder.insert(_convert(operand, ComplexType(part))).results[0]
            for operand in op.operands
        )
    ]

    def of(left: int, right: int) -> SSAValue:
        operands = parts[0][left], parts[1][right]
        own = array_like(result, part)
        return builder.insert(type(op).make(operands, op.properties, result_types=[own])).results[0]

    real = builder.insert(SubtractOp.make((of(0, 0), of(1, 1)), {}))
    imaginary = builder.insert(AddOp.make((of(0, 1), of(1, 0)), {}))
    found = builder.insert(ComplexOp.make((real.result, imaginary.result), {}))
    rounded = ConvertOp.make(found.results, {}, result_types=[result])
    builder.replace(builder.insert(rounded).results)
