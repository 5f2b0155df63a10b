"""`x * y + z`, rounded once, of floats in numpy, which has no such function."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from lowerings.interpreter.elements import Number
from xla_dialect.reference.rounding import rounded

_SPLITTER = float((1 << 27) + 1)
"""Splits the 53 bits of a double into halves (Veltkamp)."""
_LEAST, _MOST = 2.0**-400, 2.0**400
"""Factors and sums between these neither overflow nor lose bits below the least double."""
_MIDDLE_OF_SINGLES = np.int64(1 << 28)
_BELOW_SINGLE = np.int64((1 << 29) - 1)
_LEAST_NORMAL_SINGLE = 2.0**-126


def multiply_add(x: Number, y: Number, z: Number) -> Number:
    """The product and the sum of floats of one type, rounded once to that type."""
    dtype = x.dtype
    if dtype == np.float64:
        return _of_doubles(x, y, z)
    # The product of two floats of at most 24 bits is exact in f64; only the sum rounds.
    product = x.astype(np.float64) * y.astype(np.float64)
    addend = z.astype(np.float64)
    total = product + addend
    if dtype == np.float32 and not _is_near_middle(total):
        return total.astype(dtype)
    return rounded(_to_odd(*_exact_sum(product, addend)), dtype)


def _is_near_middle(total: Number) -> bool:
    """Whether rounding the doubles again, to f32, may differ from rounding the exact sums."""
    near = (total.view(np.int64) & _BELOW_SINGLE) == _MIDDLE_OF_SINGLES
    small = (np.abs(total) < _LEAST_NORMAL_SINGLE) & (total != 0)
    return bool(np.any(near | small))


def _exact_sum(x: Number, y: Number) -> tuple[Number, Number]:
    """The rounded sum, and what is missing from it (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _exact_product(x: Number, y: Number) -> tuple[Number, Number]:
    """The rounded product, and what is missing from it (Dekker)."""
    product = x * y
    (x_high, x_low), (y_high, y_low) = _halves(x), _halves(y)
    rest = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return product, rest


def _halves(x: Number) -> tuple[Number, Number]:
    scaled = x * _SPLITTER
    high = scaled - (scaled - x)
    return high, x - high


def _to_odd(total: Number, rest: Number) -> Number:
    """
    The exact sum `total + rest` rounded to odd, which makes a second rounding correct.

    See S. Boldo, G. Melquiond: "Emulation of FMA and correctly rounded sums: proved algorithms
    using rounding to odd", 2008.
    """
    is_even = (total.view(np.int64) & np.int64(1)) == 0
    towards = np.where(rest > 0, np.inf, -np.inf)
    moves = is_even & (rest != 0) & np.isfinite(total) & np.isfinite(rest)
    return np.where(moves, np.nextafter(total, towards), total)


def _of_doubles(x: Number, y: Number, z: Number) -> Number:
    """Boldo and Melquiond's algorithm; exact fractions for what over- or underflows on the way."""
    high, low = _exact_product(x, y)
    sum_high, sum_low = _exact_sum(z, low)
    total, rest = _exact_sum(high, sum_high)
    result = np.asarray(total + _to_odd(*_exact_sum(sum_low, rest)))
    # The sum of two zeros has a sign, which the parts of the product lose.
    result = np.where((x == 0) | (y == 0), x * y + z, result)
    is_plain: Any = np.asarray(_is_moderate(x) & _is_moderate(y) & _is_moderate(z))
    if not np.all(is_plain):
        x, y, z, _ = np.broadcast_arrays(x, y, z, result)
        result = np.array(result)
        for place in zip(*np.nonzero(np.atleast_1d(~is_plain)), strict=True):
            place = place if result.ndim else ()
            result[place] = _of_numbers(float(x[place]), float(y[place]), float(z[place]))
    return result[()]


def _is_moderate(x: Number) -> Number:
    magnitude = np.abs(x)
    return (x == 0) | ((magnitude > _LEAST) & (magnitude < _MOST))


def _of_numbers(x: float, y: float, z: float) -> float:
    if not math.isfinite(z) and math.isfinite(x) and math.isfinite(y):
        return z  # The exact product is finite, where the rounded one may be infinite.
    if not all(map(math.isfinite, (x, y, z))) or (x * y == 0 and z == 0):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if not exact:
        return x * y + z if x * y + z == 0 else 0.0
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
