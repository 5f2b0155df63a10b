"""What reductions compute: a left fold in row-major order of the reduced positions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation, Region, SSAValue

from xla_dialect import shapes
from xla_dialect.op import XlaOp
from xla_dialect.ops import control_flow, conversion, creation, data_movement, tuples
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.ops import reduction as ops
from xla_dialect.reference.data_movement import integers
from xla_dialect.reference.elementwise_binary import BINARY, maximum, minimum
from xla_dialect.reference.elementwise_ternary import TERNARY
from xla_dialect.reference.elementwise_unary import UNARY
from xla_dialect.reference.literal import Array
from xla_dialect.reference.rounding import Function, widened
from xla_dialect.reference.tuples import as_results, elements
from xla_dialect.types import flatten, is_scalar

POLYMORPHIC: frozenset[type[Operation]] = frozenset(
    (
        *UNARY,
        *BINARY,
        *TERNARY,
        binary.CompareOp,
        control_flow.OptBarrierOp,
        control_flow.ReturnOp,
        conversion.BitcastConvertOp,
        conversion.ConvertOp,
        creation.ConstantOp,
        data_movement.CopyOp,
        tuples.GetTupleElementOp,
        tuples.TupleOp,
    )
)
"""Operations on scalars whose functions work on arrays just as well, element by element."""

_FEW = 512
"""Up to so many folds at once, running sums along the reduced positions are quicker."""


def is_elementwise(computation: Region) -> bool:
    """Whether a computation on scalars can be run on arrays, to the same effect per element."""
    return all(
        type(op) in POLYMORPHIC and _only_scalars(op.operands) and _only_scalars(op.results)
        for op in computation.block.ops
    )


def _only_scalars(values: Iterable[SSAValue]) -> bool:
    return all(is_scalar(leaf) for leaf in flatten([value.type for value in values]))


def only_operation(computation: Region) -> type[XlaOp] | None:
    """The binary operation that a computation of two parameters consists of, if it does."""
    block = computation.block
    operation = block.first_op
    if (
        operation is None
        or type(operation) not in BINARY
        or operation.next_op is not block.last_op
        or len(block.args) != 2
        or set(operation.operands) != set(block.args)
        or tuple(cast("control_flow.ReturnOp", block.last_op).operands) != tuple(operation.results)
    ):
        return None
    # Which parameter comes first makes no difference to operations with a fold of their own.
    return cast("type[XlaOp]", type(operation))


def fold_in_any_order(ufunc: np.ufunc, x: Array) -> Array:
    """The fold over axis 0 where the order makes no difference, in the compute type of x."""
    wide = widened(x)
    return ufunc.reduce(wide, axis=0, dtype=wide.dtype)


def fold_extreme(extreme: Function, ufunc: np.ufunc, x: Array) -> Array:
    """The largest or smallest value over axis 0, as repeated `extreme` gives it."""
    found = fold_in_any_order(ufunc, x)
    if found.dtype.kind != "f" or np.all(found):
        return found
    # One more application per sign of zero that occurs decides which zero is the result.
    zeros = [
        np.any((x_wide == 0) & (np.signbit(x_wide) == negative), axis=0)
        for x_wide in (widened(x),)
        for negative in (False, True)
    ]
    for present, zero in zip(zeros, (0.0, -0.0), strict=True):
        with_zero = extreme(found, found.dtype.type(zero))
        found = np.where((found == 0) & present, with_zero, found)
    return found


def fold_in_order(ufunc: np.ufunc, function: Function, init: Array, x: Array) -> Array:
    """The left fold over axis 0 that starts with `function(init, x[0])`."""
    if math.prod(x.shape[1:]) > _FEW or (x.dtype.kind == "c" and ufunc is np.multiply):
        total = init
        for value in x:
            total = function(total, value)
        return total
    terms = np.array(x)
    terms[0] = function(init, x[0])
    return ufunc.accumulate(terms, axis=0, dtype=x.dtype)[-1]


_EXTREMES: dict[type[XlaOp], tuple[Function, np.ufunc]] = {
    binary.MaximumOp: (maximum, np.maximum),
    binary.MinimumOp: (minimum, np.minimum),
}
_SUMS: dict[type[XlaOp], np.ufunc] = {binary.AddOp: np.add, binary.MultiplyOp: np.multiply}
_BITWISE: dict[type[XlaOp], np.ufunc] = {
    binary.AndOp: np.bitwise_and,
    binary.OrOp: np.bitwise_or,
    binary.XorOp: np.bitwise_xor,
}


def known_fold(operation: type[XlaOp] | None, init: Array, x: Array) -> Array | None:
    """The fold over axis 0 by one operation, where numpy has a form with the same bits."""
    if operation is None or operation not in (_EXTREMES | _SUMS | _BITWISE).keys():
        return None
    function = BINARY[operation]
    if operation in _EXTREMES:
        return function(init, fold_extreme(*_EXTREMES[operation], x).astype(x.dtype))
    ufunc = _BITWISE.get(operation) or _SUMS[operation]
    if widened(x[:0]).dtype.kind in "biu":
        # Integers that wrap, and logical values: any order.
        return function(init, fold_in_any_order(ufunc, x).astype(x.dtype))
    return fold_in_order(ufunc, function, init, x)


def by_position(array: Array, reduced: Sequence[int]) -> Array:
    """The array as [reduced position in row-major order, kept dimensions..]."""
    kept = shapes.without(range(array.ndim), reduced)
    moved = array.transpose((*reduced, *kept))
    count = math.prod(array.shape[d] for d in reduced)
    return moved.reshape((count, *(array.shape[d] for d in kept)))


def folded(
    interpreter: Interpreter, computation: Region, inits: PythonValues, values: Sequence[Array]
) -> PythonValues:
    """
    The left fold over axis 0 of all values by a computation, starting from `inits`.

    All folds run at once where the computation allows it, one by one otherwise.
    """
    count = len(values)
    kept = values[0].shape[1:]
    if is_elementwise(computation):
        totals = inits
        for position in zip(*values, strict=True):
            returned = interpreter.run_ssacfg_region(computation, (*totals, *position), "to_apply")
            totals = elements(returned, count)
        return tuple(np.broadcast_to(total, kept) for total in totals)
    results = [np.empty(kept, value.dtype) for value in values]
    for place in np.ndindex(kept):
        totals = inits
        for position in range(len(values[0])):
            step = tuple(value[(position, *place)] for value in values)
            returned = interpreter.run_ssacfg_region(computation, (*totals, *step), "to_apply")
            totals = elements(returned, count)
        for result, total in zip(results, totals, strict=True):
            result[place] = total
    return tuple(results)


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
            known = known_fold(only_operation(op.to_apply), inits[0], values[0])
            if known is not None:
                return (known,)
        return as_results(op, folded(interpreter, op.to_apply, inits, values))
