"""`math`: functions of floats and of integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects import math
from xdsl.ir import Operation

from lowerings.interpreter.arith import element_of_result, floating
from lowerings.interpreter.elements import Number
from lowerings.interpreter.machine import Dialect, Function, ValueMaker, of_one
from lowerings.interpreter.multiply_add import multiply_add
from xla_dialect.reference.elementwise import erf, reciprocal_square_root, round_half_away
from xla_dialect.reference.rounding import in_double
from xla_dialect.xdsl.operation_table import OperationTable


def function(evaluate: Callable[..., Number]) -> ValueMaker:
    """A function of floats, evaluated in f64 and rounded once."""
    in_type = in_double(evaluate)

    def run(*operands: Number) -> Number:
        return in_type(*map(np.asarray, operands))[()]

    return lambda _op: run


def copy_sign(magnitude: Number, sign: Number) -> Number:
    """The magnitude with a sign, which a NaN has too."""
    return np.copysign(magnitude, sign)


def count_leading_zeros(op: Operation) -> Function:
    """The number of zeros above the highest set bit."""
    element = element_of_result(op)

    def run(x: Number) -> Number:
        bits = element.unsigned(x)
        for distance in (1, 2, 4, 8, 16, 32):
            if distance < 8 * bits.dtype.itemsize:
                bits = bits | (bits >> bits.dtype.type(distance))
        return element.wrapped(np.int64(element.bits) - np.bitwise_count(bits))

    return run


def count_trailing_zeros(op: Operation) -> Function:
    """The number of zeros below the lowest set bit; the width if there is none."""
    element = element_of_result(op)

    def run(x: Number) -> Number:
        bits = element.unsigned(x)
        one = bits.dtype.type(1)
        below = np.bitwise_count(~bits & (bits - one)).astype(np.int64)
        return element.wrapped(np.minimum(below, np.int64(element.bits)))

    return run


def count_set_bits(op: Operation) -> Function:
    """The number of set bits."""
    element = element_of_result(op)
    return of_one(lambda x: element.wrapped(np.bitwise_count(element.unsigned(x)).astype(np.int64)))


def absolute_integer(op: Operation) -> Function:
    """The magnitude; of the least number itself."""
    element = element_of_result(op)
    return of_one(lambda x: element.wrapped(np.abs(element.signed(x))))


VALUES = (
    OperationTable[ValueMaker]()
    .add(math.AbsFOp, floating(np.abs))
    .add(math.AbsIOp, absolute_integer)
    .add(math.AcosOp, function(np.arccos))
    .add(math.AcoshOp, function(np.arccosh))
    .add(math.AsinOp, function(np.arcsin))
    .add(math.AsinhOp, function(np.arcsinh))
    .add(math.AtanOp, function(np.arctan))
    .add(math.Atan2Op, function(np.arctan2))
    .add(math.AtanhOp, function(np.arctanh))
    .add(math.CbrtOp, function(np.cbrt))
    .add(math.CeilOp, floating(np.ceil))
    .add(math.CopySignOp, floating(copy_sign))
    .add(math.CosOp, function(np.cos))
    .add(math.CoshOp, function(np.cosh))
    .add(math.CountLeadingZerosOp, count_leading_zeros)
    .add(math.CtPopOp, count_set_bits)
    .add(math.CountTrailingZerosOp, count_trailing_zeros)
    .add(math.ErfOp, function(erf))
    .add(math.ExpOp, function(np.exp))
    .add(math.Exp2Op, function(np.exp2))
    .add(math.ExpM1Op, function(np.expm1))
    .add(math.FloorOp, floating(np.floor))
    .add(math.FmaOp, lambda _op: multiply_add)
    .add(math.LogOp, function(np.log))
    .add(math.Log10Op, function(np.log10))
    .add(math.Log1pOp, function(np.log1p))
    .add(math.Log2Op, function(np.log2))
    .add(math.PowFOp, function(np.power))
    .add(math.RoundOp, floating(round_half_away))
    .add(math.RoundEvenOp, floating(np.rint))
    .add(math.RsqrtOp, function(reciprocal_square_root))
    .add(math.SinOp, function(np.sin))
    .add(math.SinhOp, function(np.sinh))
    .add(math.SqrtOp, floating(np.sqrt))
    .add(math.TanOp, function(np.tan))
    .add(math.TanhOp, function(np.tanh))
    .add(math.TruncOp, floating(np.trunc))
)

MATH = Dialect(VALUES, {})
