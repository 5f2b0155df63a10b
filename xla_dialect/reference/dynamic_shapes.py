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
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation, SSAValue

from xla_dialect import types
from xla_dialect.diagnostics import XlaError
from xla_dialect.dynamic_dimensions import Dimensions, shared_dimensions, undefined
from xla_dialect.literals.arrays import Array
from xla_dialect.ops import dynamic_shapes as ops
from xla_dialect.shapes.dynamic_size import DynamicSize, is_dynamic


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


@register_impls
class DynamicShapeFunctions(InterpreterFunctions):
    """Reading and setting the sizes of dimensions."""

    @impl(ops.GetDimensionSizeOp)
    def run_get_dimension_size(
        self, interpreter: Interpreter, op: ops.GetDimensionSizeOp, args: PythonValues
    ) -> PythonValues:
        """The size of the array."""
        return (np.int32(args[0].shape[op.dimension.value.data]),)

    @impl(ops.SetDimensionSizeOp)
    def run_set_dimension_size(
        self, interpreter: Interpreter, op: ops.SetDimensionSizeOp, args: PythonValues
    ) -> PythonValues:
        """The first `size` elements along the dimension."""
        operand, size = args[0], int(args[1])
        dimension = op.dimension.value.data
        bound = bounds(op.operand)[dimension]
        if not 0 <= size <= bound:
            raise XlaError(
                f"(C4) size {size} of dimension {dimension}, whose bound is {int(bound)}"
            )
        if op.is_whole and size != bound:
            raise XlaError(
                f"(C5) size {size} of dimension {dimension}, which has {int(bound)} in the result"
            )
        wanted = list(operand.shape)
        wanted[dimension] = size
        return (filled(operand[tuple(slice(n) for n in wanted)], wanted),)

    @impl(ops.DynamicReshapeOp)
    def run_dynamic_reshape(
        self, interpreter: Interpreter, op: ops.DynamicReshapeOp, args: PythonValues
    ) -> PythonValues:
        """Row-major order, refilled."""
        operand, *sizes = args
        wanted = [int(size) for size in sizes]
        for number, (size, bound) in enumerate(zip(wanted, bounds(op.result), strict=True)):
            fits = 0 <= size <= bound if isinstance(bound, DynamicSize) else size == bound
            if not fits:
                raise XlaError(f"(C4) size {size} of dimension {number}, declared as {bound!r}")
        if math.prod(wanted) != operand.size:
            raise XlaError(f"(C4) {operand.size} elements for the sizes {wanted}")
        return (operand.reshape(wanted),)
