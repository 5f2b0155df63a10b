"""Sorts: lines along the last dimension, by digits of integer keys or by merging."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.counted_loops import shared_loop
from lowerings.xla_to_linalg.lines import Lines
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.sorting.merge_sort import MergeSort, merge_passes
from lowerings.xla_to_linalg.sorting.radix_sort import Digit, RadixSort, digits_of
from lowerings.xla_to_linalg.sorting.sort_order import SortOrder
from lowerings.xla_to_linalg.structured import (
    array_type,
    constant,
    empty,
    pointwise,
    projection,
    sizes_of,
)
from xla_dialect.ops.sorting import SortOp
from xla_dialect.types import Array, array, is_array

MERGE_COST, MOVE_COST, COUNT_COST = 10, 3, 1
"""Relative times: of a merge and of a move by a digit, per element; and per value of a digit."""


NANOSECONDS = 0.5
"""The time for a cost of 1."""


def radix_cost(digits: Sequence[Digit], length: int) -> float:
    """The cost of sorting a line of a length by digits."""
    return sum(MOVE_COST * length + COUNT_COST * (1 << digit.bits) for digit in digits)


def merge_cost(length: int) -> float:
    """The cost of sorting a line of a length by merging."""
    return MERGE_COST * length * merge_passes(length)


def is_radix_faster(digits: Sequence[Digit], length: int) -> bool:
    """Whether digits sort lines of a length faster than merging."""
    return radix_cost(digits, length) < merge_cost(length)


def moved_last(builder: ConversionBuilder, value: SSAValue, dimension: int) -> SSAValue:
    """The transpose in which a dimension is the last."""
    rank = len(sizes_of(value))
    order = (*range(dimension), *range(dimension + 1, rank), dimension)
    return _transposed(builder, value, order)


def moved_back(builder: ConversionBuilder, value: SSAValue, dimension: int) -> SSAValue:
    rank = len(sizes_of(value))
    return _transposed(builder, value, (*range(dimension), rank - 1, *range(dimension, rank - 1)))


def _transposed(builder: ConversionBuilder, value: SSAValue, order: tuple[int, ...]) -> SSAValue:
    if order == tuple(range(len(order))):
        return value
    sizes = sizes_of(value)
    type_ = array(array_type(value).element_type, [sizes[d] for d in order])
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    source = projection(len(order), inverse)
    return pointwise(builder, ((value, source),), type_, first_element)


def first_element(_s: ScalarBuilder, elements: Values) -> Values:
    """The body that copies."""
    return (elements[0],)


def convert_sort(op: SortOp, builder: ConversionBuilder) -> str | None:
    """A loop over the lines, each of which is sorted."""
    if not all(is_array(t) for t in op.result_types):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    dimension = op.dimension.value.data
    length = sizes_of(op.inputs[0])[dimension]
    if length < 2:
        builder.replace(op.inputs)
        return None
    moved = [moved_last(builder, value, dimension) for value in op.inputs]
    sizes = sizes_of(moved[0])
    rows = prod(sizes[:-1])
    flat = [reshape(value, (rows, length), builder.op) for value in moved]
    found = [
        reshape(value, sizes, builder.op) for value in sorted_lines(builder, flat, SortOrder.of(op))
    ]
    builder.replace([moved_back(builder, value, dimension) for value in found])
    return None


def sorted_lines(builder: ConversionBuilder, values: Values, order: SortOrder) -> Values:
    """The rows of tensors of rank 2, at least one, each sorted in the same way."""
    rows, length = sizes_of(values[0])
    digits = tuple(digits_of(order.keys or ()))
    use_radix = order.keys is not None and is_radix_faster(digits, length)
    count = len(values)
    radix, merge = RadixSort(digits, length), MergeSort(order.before, length)
    scratch: list[Array] = [_line_type(value) for value in values]
    if use_radix:
        scratch.append(radix.counts_type)
    cost = radix_cost(digits, length) if use_radix else merge_cost(length)
    results = [empty(builder, array_type(value)) for value in values]

    def turn(inner: ConversionBuilder, row: SSAValue, carried: Values) -> Values:
        source = Lines(tuple(values), (row,))
        target, scratch = source.of(carried[:count]), Lines(tuple(carried[count : 2 * count]))
        if not use_radix:
            target, scratch = merge.sort(inner, source, target, scratch)
            return [*target.tensors, *scratch.tensors]
        target, scratch, counts = radix.sort(
            inner, (source, target, scratch), carried[-1], constant(inner, length, INDEX)
        )
        return [*target.tensors, *scratch.tensors, counts]

    return shared_loop(builder, rows, 1, cost * NANOSECONDS, results, scratch, turn)


def _line_type(value: SSAValue) -> Array:
    type_ = array_type(value)
    return TensorType(type_.element_type, type_.get_shape()[1:])
