"""What sorting computes; always stable.

A comparator that compares one function of both places by `<` or `>`, or several functions in
lexicographic order, becomes keys for numpy. Any other is asked for many pairs at once by a merge
sort.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Block, Region, SSAValue

from xla_dialect.analysis.computations import SortKey, needed_operations, sort_keys
from xla_dialect.attributes import ComparisonType
from xla_dialect.literals.arrays import Array
from xla_dialect.ops import sorting as ops
from xla_dialect.reference.control_flow import (
    ArrayFunction,
    is_elementwise,
    on_arrays,
)
from xla_dialect.reference.elementwise import total_order_key
from xla_dialect.reference.registration import registration
from xla_dialect.reference.rounding import widened


def evaluated(
    interpreter: Interpreter, value: SSAValue, block: Block, values: Sequence[Array]
) -> Array:
    """A key for all elements at once: both places of operand k are `values[k]`."""
    known: dict[SSAValue, Array] = {
        argument: values[argument.index // 2] for argument in block.args
    }
    needed = needed_operations(value, block)
    for op in block.ops:
        if op in needed:
            inputs = tuple(_looked_up(interpreter, known, operand) for operand in op.operands)
            known.update(zip(op.results, interpreter.run_op(op, inputs), strict=True))
    return _looked_up(interpreter, known, value)


def _looked_up(interpreter: Interpreter, known: dict[SSAValue, Array], value: SSAValue) -> Array:
    return known[value] if value in known else interpreter.get_values((value,))[0]


def ordered_integers(x: Array, order: ComparisonType, is_descending: bool) -> Array:
    """Integers that order ascending as the elements should; numpy sorts those stably and fast."""
    if order == ComparisonType.TOTALORDER:
        keys = total_order_key(x)
    elif order == ComparisonType.FLOAT:
        keys = total_order_key(np.where(x == 0, x.dtype.type(0), x))  # -0 equals +0
    else:
        wide = widened(x)
        keys = wide.astype(np.uint8) if wide.dtype == np.bool_ else wide
    return np.invert(keys) if is_descending else keys


def merge_sorted_order(function: ArrayFunction, values: Sequence[Array]) -> Array:
    """
    Per line the stable order by a comparator: `[lines, n]` arrays to the `[lines, n]` order.

    Whatever the comparator says, the result is a permutation.
    """
    lines, length = values[0].shape
    order: Array = np.tile(np.arange(int(length)), (int(lines), 1))
    width = 1
    while width < length:
        source = _merged_runs(function, values, width)
        order = np.take_along_axis(order, source, axis=1)
        values = [np.take_along_axis(value, source, axis=1) for value in values]
        width *= 2
    return order


def _merged_runs(function: ArrayFunction, values: Sequence[Array], width: int) -> Array:
    """Where the elements come from when every two neighbouring sorted runs are merged."""
    lines, length = map(int, values[0].shape)
    index = np.arange(length)
    start = index - index % (2 * width)
    # Runs on the left that have one on the right; only the last of those can be short.
    is_left = (index - start < width) & (start + width < length)
    is_right = index - start >= width
    left, right_start = index[is_left], start[is_left] + width
    low = np.zeros((lines, left.size), np.int64)
    high = np.broadcast_to(np.minimum(width, length - right_start), low.shape)
    elements = [value[:, left] for value in values]
    while np.any(low < high):
        middle = (low + high) // 2
        place = np.minimum(right_start + middle, length - 1)
        others = [np.take_along_axis(value, place, axis=1) for value in values]
        pairs = (side for pair in zip(others, elements, strict=True) for side in pair)
        comes_before = function(*pairs)[0] & (low < high)
        low, high = np.where(comes_before, middle + 1, low), np.where(comes_before, high, middle)
    # An inconsistent comparator may give decreasing counts, but every index must occur once.
    runs = low.reshape((lines, -1, width))
    passed = np.maximum.accumulate(runs, axis=2).reshape(low.shape)
    source = np.full((lines, length), -1)
    source[:, ~is_left & ~is_right] = index[~is_left & ~is_right]
    np.put_along_axis(source, left + passed, np.broadcast_to(left, low.shape), axis=1)
    source[source < 0] = np.broadcast_to(
        index[is_right], (lines, int(np.count_nonzero(is_right)))
    ).reshape(-1)
    return source


def sort(
    inputs: tuple[Array, ...], *, dimension: int, to_apply: Region, interpreter: Interpreter
) -> tuple[Array, ...]:
    """Every line in the order of the comparator."""
    keys = sort_keys(to_apply) if is_elementwise(to_apply) else None
    if inputs[0].size == 0:
        return inputs
    if keys is None:
        function = on_arrays(interpreter, to_apply, "to_apply")
        moved = [np.moveaxis(x, dimension, -1) for x in inputs]
        flat = [x.reshape((-1, x.shape[-1])) for x in moved]
        order = merge_sorted_order(function, flat).reshape(moved[0].shape)
        order = np.moveaxis(order, -1, dimension)
    else:
        order = key_order(_key_arrays(interpreter, to_apply.block, keys, inputs), dimension)
    return tuple(np.take_along_axis(x, order, dimension) for x in inputs)


def topk(operand: Array, *, k: int, largest: bool) -> tuple[Array, Array]:
    """The first k entries in ascending or descending order."""
    is_float = widened(operand[..., :0]).dtype.kind == "f"
    kind = ComparisonType.TOTALORDER if is_float else ComparisonType.SIGNED
    keys = ordered_integers(operand, kind, largest)
    order = np.argsort(keys, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(operand, order, axis=-1), order.astype(np.int32)


def _key_arrays(
    interpreter: Interpreter, block: Block, keys: Iterable[SortKey], values: Sequence[Array]
) -> list[Array]:
    return [
        np.broadcast_to(
            ordered_integers(
                evaluated(interpreter, key.value, block, values), key.order, key.is_descending
            ),
            values[0].shape,
        )
        for key in keys
    ]


def key_order(keys: Sequence[Array], axis: int) -> Array:
    """The stable order along an axis, lexicographic by integer keys."""
    if len(keys) == 1:
        return np.argsort(keys[0], axis=axis, kind="stable")
    return cast("Array", np.lexsort(tuple(reversed(keys)), axis=axis))


SortingFunctions = registration("SortingFunctions", {ops.SortOp: sort, ops.TopkOp: topk})
"""Orders along one dimension."""
