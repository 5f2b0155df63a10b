"""What reductions compute: a left fold in row-major order of the reduced positions.

Windows and `map` too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from xla_dialect.analysis.computations import only_operation
from xla_dialect.literals.arrays import Array
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.ops import reduction as ops
from xla_dialect.reference.computations import ArrayFunction, on_arrays
from xla_dialect.reference.data_movement import integers
from xla_dialect.reference.elementwise_binary import BINARY
from xla_dialect.reference.indexed_updates import EXTREMES, UFUNCS, update_at
from xla_dialect.reference.ordered_folds import product_in_order, sum_in_order
from xla_dialect.reference.rounding import Function, widened
from xla_dialect.reference.tuples import as_results
from xla_dialect.reference.windows import boxes
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.window import Window


def fold_in_any_order(ufunc: np.ufunc, x: Array) -> Array:
    """The fold over axis 0 where the order makes no difference, in the compute type of x."""
    wide = widened(x)
    return ufunc.reduce(wide, axis=0, dtype=wide.dtype)


def fold_extreme(extreme: Function, ufunc: np.ufunc, x: Array) -> Array:
    """The largest or smallest value over axis 0, as repeated `extreme` gives it."""
    found = fold_in_any_order(ufunc, x)
    if found.dtype.kind != "f" or np.all(found):
        return found
    # numpy may return either zero. One more application of `extreme` for each sign of zero that
    # occurs in the operand gives the right one.
    zeros = [
        np.any((x_wide == 0) & (np.signbit(x_wide) == negative), axis=0)
        for x_wide in (widened(x),)
        for negative in (False, True)
    ]
    for present, zero in zip(zeros, (0.0, -0.0), strict=True):
        with_zero = extreme(found, found.dtype.type(zero))
        found = np.where((found == 0) & present, with_zero, found)
    return found


_IN_ORDER: dict[type[XlaOp], Function] = {
    binary.AddOp: sum_in_order,
    binary.MultiplyOp: product_in_order,
}


def known_fold(operation: type[XlaOp] | None, init: Array, x: Array) -> Array | None:
    """The fold over axis 0 by one operation, where numpy has a form with the same bits."""
    if operation in EXTREMES:
        found = fold_extreme(BINARY[operation], EXTREMES[operation], x)
    elif operation in UFUNCS and widened(x[:0]).dtype.kind in "biu":
        # Integers that wrap, and logical values.
        found = fold_in_any_order(UFUNCS[operation], x)
    elif operation in _IN_ORDER:
        return _IN_ORDER[operation](init, x)
    else:
        return None
    return BINARY[operation](init, found.astype(x.dtype))


def by_position(array: Array, reduced: Sequence[int]) -> Array:
    """The array as [reduced position in row-major order, kept dimensions..]."""
    kept = shapes.without(range(array.ndim), reduced)
    moved = array.transpose((*reduced, *kept))
    count = math.prod(array.shape[d] for d in reduced)
    return moved.reshape((count, *(array.shape[d] for d in kept)))


def folded(function: ArrayFunction, inits: PythonValues, values: Sequence[Array]) -> PythonValues:
    """The left folds over axis 0 of all values by a computation, starting from `inits`."""
    totals = inits
    for position in zip(*values, strict=True):
        totals = function(*totals, *position)
    return tuple(totals)


def selected_places(
    select: ArrayFunction, window: Window, operand: Array, placements: Sequence[int]
) -> Array:
    """
    Per placement of the window the flat index of the element that `select` picks.

    -1 where the window lies in padding.
    """
    places = np.arange(operand.size).reshape(operand.shape)
    best = np.zeros(placements, operand.dtype)
    chosen = np.full(placements, -1)
    for _, into, taken in boxes(window, operand.shape):
        current, candidate = np.asarray(best[into]), np.asarray(operand[taken])
        keeps = np.asarray(chosen[into] >= 0)
        (keeps[keeps],) = select(current[keeps], candidate[keeps])
        best[into] = np.where(keeps, current, candidate)
        chosen[into] = np.where(keeps, chosen[into], places[taken])
    return chosen


@register_impls
class ReductionFunctions(InterpreterFunctions):
    """Folds over dimensions."""

    @impl(ops.ReduceOp)
    def run_reduce(
        self, interpreter: Interpreter, op: ops.ReduceOp, args: PythonValues
    ) -> PythonValues:
        """Per kept position: `acc = init; for value in row-major order: acc = f(acc, value)`."""
        count = len(args) // 2
        inits = args[count:]
        reduced = sorted(integers(op.dimensions))
        values = [by_position(array, reduced) for array in args[:count]]
        kept = values[0].shape[1:]
        if values[0].size == 0:
            return as_results(op, tuple(np.broadcast_to(init, kept) for init in inits))
        if count == 1:
            known = known_fold(only_operation(op.to_apply.block), inits[0], values[0])
            if known is not None:
                return (known,)
        function = on_arrays(interpreter, op.to_apply, "to_apply")
        return as_results(op, folded(function, inits, values))

    @impl(ops.ReduceWindowOp)
    def run_reduce_window(
        self, interpreter: Interpreter, op: ops.ReduceWindowOp, args: PythonValues
    ) -> PythonValues:
        """Per placement: `acc = init; for value in the window: acc = f(acc, value)`."""
        count = len(args) // 2
        arrays, inits = args[:count], args[count:]
        window = op.window.data
        sizes = window.placements(arrays[0].shape)
        totals: list[Array] = [np.full(sizes, init, init.dtype) for init in inits]
        function = on_arrays(interpreter, op.to_apply, "to_apply")
        for _, into, taken in boxes(window, arrays[0].shape):
            found = function(
                *(np.array(total[into]) for total in totals), *(array[taken] for array in arrays)
            )
            for total, value in zip(totals, found, strict=True):
                total[into] = value
        return as_results(op, tuple(totals))

    @impl(ops.SelectAndScatterOp)
    def run_select_and_scatter(
        self, interpreter: Interpreter, op: ops.SelectAndScatterOp, args: PythonValues
    ) -> PythonValues:
        """What `select` picks in each placement gets the element of the source, by `scatter`."""
        operand, source, init = cast("tuple[Array, ...]", args)
        select = on_arrays(interpreter, op.select, "select")
        chosen = selected_places(select, op.window.data, operand, source.shape).reshape(-1)
        result: Array = np.full(int(operand.size), init, init.dtype)
        picked = chosen >= 0
        update_at(
            interpreter,
            op.scatter,
            "scatter",
            [result],
            chosen[picked],
            [source.reshape(-1)[picked]],
        )
        return (result.reshape(operand.shape),)

    @impl(ops.MapOp)
    def run_map(self, interpreter: Interpreter, op: ops.MapOp, args: PythonValues) -> PythonValues:
        """The computation at every index."""
        return on_arrays(interpreter, op.to_apply, "to_apply")(*args)
