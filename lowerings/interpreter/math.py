"""`math`: functions of floats and of integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Operation

from lowerings.interpreter.arith import element_of_result, floating
from lowerings.interpreter.elements import Number
from lowerings.interpreter.machine import Dialect, Function, ValueMaker, of_one
from lowerings.interpreter.multiply_add import multiply_add
from xla_dialect.reference.elementwise_unary import reciprocal_square_root
from xla_dialect.reference.rounding import in_double
from xla_dialect.reference.special_functions import erf, round_half_away


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


VALUES: dict[str, ValueMaker] = {
    "math.absf": floating(np.abs),
    "math.absi": absolute_integer,
    "math.acos": function(np.arccos),
    "math.acosh": function(np.arccosh),
    "math.asin": function(np.arcsin),
    "math.asinh": function(np.arcsinh),
    "math.atan": function(np.arctan),
    "math.atan2": function(np.arctan2),
    "math.atanh": function(np.arctanh),
    "math.cbrt": function(np.cbrt),
    "math.ceil": floating(np.ceil),
    "math.copysign": floating(copy_sign),
    "math.cos": function(np.cos),
    "math.cosh": function(np.cosh),
    "math.ctlz": count_leading_zeros,
    "math.ctpop": count_set_bits,
    "math.cttz": count_trailing_zeros,
    "math.erf": function(erf),
    "math.exp": function(np.exp),
    "math.exp2": function(np.exp2),
    "math.expm1": function(np.expm1),
    "math.floor": floating(np.floor),
    "math.fma": lambda _op: multiply_add,
    "math.log": function(np.log),
    "math.log10": function(np.log10),
    "math.log1p": function(np.log1p),
    "math.log2": function(np.log2),
    "math.powf": function(np.power),
    "math.round": floating(round_half_away),
    "math.roundeven": floating(np.rint),
    "math.rsqrt": function(reciprocal_square_root),
    "math.sin": function(np.sin),
    "math.sinh": function(np.sinh),
    "math.sqrt": floating(np.sqrt),
    "math.tan": function(np.tan),
    "math.tanh": function(np.tanh),
    "math.trunc": floating(np.trunc),
}

MATH = Dialect(VALUES, {})
