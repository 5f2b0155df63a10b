"""`x * y + z`, rounded once, of floats in numpy, which has no such function."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CDLL, c_double
from typing import cast

import numpy as np

from lowerings.interpreter.elements import Number
from xla_dialect.reference.rounding import rounded

_fma = CDLL(None).fma
"""C's function of doubles."""
_fma.argtypes, _fma.restype = (c_double,) * 3, c_double
_of_doubles = cast(Callable[..., Number], np.frompyfunc(_fma, 3, 1))
_MIDDLE_OF_SINGLES = np.int64(1 << 28)
_BELOW_SINGLE = np.int64((1 << 29) - 1)
_LEAST_NORMAL_SINGLE = 2.0**-126


def multiply_add(x: Number, y: Number, z: Number) -> Number:
    """The product and the sum of floats of one type, rounded once to that type."""
    dtype = x.dtype
    if dtype == np.float64:
        return np.asarray(_of_doubles(x, y, z), dtype)[()]
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
