"""Functions of double precision that numpy lacks, or has inaccurate near some argument."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xla_dialect.literals.arrays import COMPUTE_DTYPES, ELEMENT_OF_DTYPE, Array
from xla_dialect.reference.rounding import as_complex
from xla_dialect.types import ElementClass


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """`Σ coefficients[i] * x^(n-1-i)`, the highest power first, by Horner's rule."""
    value = np.full(x.shape, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value


_TWO_BY_ROOT_PI_MINUS_1 = 0.12837916709551257390
_ERF_TAYLOR = (
    *(
        (1.0 + _TWO_BY_ROOT_PI_MINUS_1) * (-1) ** n / (math.factorial(n) * (2 * n + 1))
        for n in range(19, 0, -1)
    ),
    _TWO_BY_ROOT_PI_MINUS_1,
)
"""`erf(x) / x - 1` in powers of x², highest first; the first term left out is below 1e-20 at 1."""

_ERFC_NUMERATOR = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e0,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
_ERFC_DENOMINATOR = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)


def erf(x: Array) -> Array:
    """
    The error function of f64, within 1 ULP.

    Up to |x| = 1 its Taylor series; beyond, `1 - erfc(x)` with `erfc(x) = e^(-x²) P(x) / Q(x)` from
    W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969).
    From |x| = 6 on it is ±1.
    """
    size = np.abs(x)
    inner = np.minimum(size, 1.0)
    series = inner + inner * polynomial(_ERF_TAYLOR, inner * inner)
    outer = np.clip(size, 1.0, 6.0)
    complement = np.exp(-outer * outer) * (
        polynomial(_ERFC_NUMERATOR, outer) / polynomial(_ERFC_DENOMINATOR, outer)
    )
    return np.copysign(np.where(size <= 1.0, series, 1.0 - complement), x)


def logistic(x: Array) -> Array:
    """`1 / (1 + e^(-x))`, written so that the exponential does not overflow."""
    decayed = np.exp(np.where(np.real(x) < 0, x, -x))
    return np.where(np.real(x) < 0, decayed, 1.0) / (1.0 + decayed)


def complex_expm1(z: Array) -> Array:
    """`e^z - 1` with `Re = expm1(x) cos y - 2 sin²(y / 2)`, which does not cancel near 0."""
    x, y = np.real(z), np.imag(z)
    half = np.sin(0.5 * y)
    real = np.expm1(x) * np.cos(y) - 2.0 * half * half
    # For real z the imaginary part is that of z, where 0 * infinity would give NaN.
    imaginary = np.where(y == 0.0, y, np.exp(x) * np.sin(y))
    return as_complex(np.where(y == 0.0, np.expm1(x), real), imaginary)


def complex_log1p(z: Array) -> Array:
    """`ln(1 + z)` with `Re = log1p(x (2 + x) + y²) / 2` near 0, where `|1 + z|` loses digits."""
    x, y = np.real(z), np.imag(z)
    near = np.maximum(np.abs(x), np.abs(y)) < 0.5
    small = 0.5 * np.log1p(np.where(near, x * (2.0 + x) + y * y, 0.0))
    return as_complex(np.where(near, small, np.log(np.hypot(1.0 + x, y))), np.arctan2(y, 1.0 + x))


def complex_sign(z: Array) -> Array:
    """`z / |z|`, 0 for 0, NaN + NaN i if a part is NaN."""
    largest = np.maximum(np.abs(np.real(z)), np.abs(np.imag(z)))
    scale = np.where(largest == 0.0, 1.0, largest)
    x, y = np.real(z) / scale, np.imag(z) / scale
    modulus = np.where(largest == 0.0, 1.0, np.hypot(x, y))
    invalid = np.isnan(np.real(z)) | np.isnan(np.imag(z))
    return np.where(invalid, complex(np.nan, np.nan), as_complex(x / modulus, y / modulus))


def complex_atan2(y: Array, x: Array) -> Array:
    """`-i ln((x + i y) / √(x² + y²))`."""
    logarithm = np.log((x + 1j * y) / np.sqrt(x * x + y * y))
    return as_complex(np.imag(logarithm), -np.real(logarithm))


def round_half_away(x: Array) -> Array:
    """The nearest integer, ties away from zero; keeps the sign of zero."""
    whole = np.trunc(x)
    away = np.abs(x - whole) >= 0.5
    return np.where(away, whole + np.copysign(x.dtype.type(1), x), whole)


def integer_power(base: Array, exponent: Array) -> Array:
    """
    Integers to integer powers, wrapping: square and multiply.

    A negative exponent gives 1 for base 1, ±1 for base -1, else 0.
    """
    one: Array = np.ones((), base.dtype)
    result = np.full(np.broadcast_shapes(base.shape, exponent.shape), one)
    square, left = base, exponent
    for _ in range(8 * base.dtype.itemsize):
        result = np.where((left & 1) != 0, result * square, result)
        left = left >> 1
        if not np.any(left > 0):
            break
        square = square * square
    if base.dtype.kind == "u":
        return result
    odd = (exponent & 1).astype(base.dtype)
    of_minus_one = one - odd - odd
    reciprocal = np.where(base == -1, of_minus_one, np.where(base == 1, one, one - one))
    return np.where(exponent < 0, reciprocal, result)


def high_product(lhs: Array, rhs: Array) -> Array:
    """The high half of the product of double width."""
    dtype = lhs.dtype
    row = ELEMENT_OF_DTYPE[dtype]
    signed = row.element_class == ElementClass.SIGNED
    if row.bits < 64:
        wide = np.dtype(np.int64 if signed else np.uint64)
        high = (lhs.astype(wide) * rhs.astype(wide)) >> wide.type(row.bits)
        return high.astype(COMPUTE_DTYPES.get(dtype, dtype)).astype(dtype)
    high = _unsigned_high_product(lhs.view(np.uint64), rhs.view(np.uint64)).view(dtype)
    if signed:
        # A negative operand counts 2^64 too much when it is read as unsigned.
        high = high - np.where(lhs < 0, rhs, 0) - np.where(rhs < 0, lhs, 0)
    return high


def _unsigned_high_product(lhs: Array, rhs: Array) -> Array:
    """64 x 64 bits by halves of 32 bits."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    low, high = lhs & mask, lhs >> half
    other_low, other_high = rhs & mask, rhs >> half
    carry = (low * other_low) >> half
    middle = high * other_low + carry
    other_middle = low * other_high + (middle & mask)
    return high * other_high + (middle >> half) + (other_middle >> half)
