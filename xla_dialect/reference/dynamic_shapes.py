"""What the operations on dynamic dimensions compute.

An array with dynamic dimensions is an ndarray of its sizes at run time: its padding does not exist,
so reductions and all else ignore it. Where a static result needs elements that are not there, it
has zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, cast

import numpy as np
from xdsl.interpreter import PythonValues
from xdsl.ir import Operation, SSAValue

from xla_dialect import types
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.ops import dynamic_shapes as ops
from xla_dialect.ops.dynamic_shapes import Dimensions, shared_dimensions, undefined
from xla_dialect.reference.registration import registration
from xla_dialect.shapes.size_arithmetic import DynamicSize, is_dynamic


def bounds(value: SSAValue) -> tuple[int, ...]:
    """The sizes of the type of an array, those of dynamic dimensions as `DynamicSize`."""
    return types.sizes_of(cast("types.Array", value.type))


def filled(array: Array, sizes: Sequence[int]) -> Array:
    """The array with zeros added at the end of the static dimensions that are too short."""
    wanted = [
        have if isinstance(size, DynamicSize) else size
        for have, size in zip(array.shape, sizes, strict=True)
    ]
    if list(array.shape) == wanted:
        return array
    result = np.zeros(wanted, array.dtype)
    result[tuple(slice(size) for size in array.shape)] = array
    return result


def has_dynamic_operand(op: Operation) -> bool:
    """Whether an operand of an operation has a dynamic dimension."""
    return any(types.is_array(x.type) and is_dynamic(bounds(x)) for x in op.operands)


Preparation: TypeAlias = Callable[[PythonValues], PythonValues]


def preparation(op: Operation) -> Preparation | None:
    """
    The adjustment of operands before an operation is run; None where none is needed.

    Dimensions that have to agree, such as the contracting ones of a dot, are cut to the smallest
    size at run time. Raises XlaError for operations without a meaning for dynamic dimensions.
    """
    if not has_dynamic_operand(op):
        return None
    reason = undefined(op)
    if reason is not None:
        raise XlaError(reason)
    groups = shared_dimensions(op)
    return partial(_cut, groups) if groups else None


def _cut(groups: Sequence[Dimensions], values: PythonValues) -> PythonValues:
    """The arrays with the dimensions of each group cut to the smallest size among them."""
    found = list(values)
    for group in groups:
        size = min(found[operand].shape[d] for operand, d in group)
        for operand, d in group:
            found[operand] = found[operand][(slice(None),) * d + (slice(size),)]
    return tuple(found)


def get_dimension_size(operand: Array, *, dimension: int) -> np.int32:
    """The size of the array."""
    return np.int32(operand.shape[dimension])


def set_dimension_size(
    operand: Array, size: Array, *, dimension: int, op: ops.SetDimensionSizeOp
) -> Array:
    """The first `size` elements along the dimension."""
    count, bound = int(size), bounds(op.operand)[dimension]
    if not 0 <= count <= bound:
        raise XlaError(f"(C4) size {count} of dimension {dimension}, whose bound is {int(bound)}")
    if op.is_whole and count != bound:
        raise XlaError(
            f"(C5) size {count} of dimension {dimension}, which has {int(bound)} in the result"
        )
    wanted = list(operand.shape)
    wanted[dimension] = count
    return filled(operand[tuple(slice(n) for n in wanted)], wanted)


def dynamic_reshape(
    operand: Array, dim_sizes: Sequence[Array], *, op: ops.DynamicReshapeOp
) -> Array:
    """Row-major order, refilled."""
    wanted = [int(size) for size in dim_sizes]
    for number, (size, bound) in enumerate(zip(wanted, bounds(op.result), strict=True)):
        fits = 0 <= size <= bound if isinstance(bound, DynamicSize) else size == bound
        if not fits:
            raise XlaError(f"(C4) size {size} of dimension {number}, declared as {bound!r}")
    if math.prod(wanted) != operand.size:
        raise XlaError(f"(C4) {operand.size} elements for the sizes {wanted}")
    return operand.reshape(wanted)


DynamicShapeFunctions = registration(
    "DynamicShapeFunctions",
    {
        ops.GetDimensionSizeOp: get_dimension_size,
        ops.SetDimensionSizeOp: set_dimension_size,
        ops.DynamicReshapeOp: dynamic_reshape,
    },
)
