"""The special functions of CHLO as formulas of elementary operations.

Arguments are terms of f64 unless a function says otherwise: the functions of narrower types are
computed there and rounded once, which keeps f32 within 1 ULP where the result does not cancel.
Bounds for f64 are those that the tests hold.
"""

from __future__ import annotations

import math
from fractions import Fraction

from xla_dialect.ops import elementwise
from xla_dialect.stablehlo.special_coefficients import (
    BESSEL_I1E_FAR,
    BESSEL_I1E_NEAR,
    ERF_F32_NEAR,
    ERF_INV_CENTRAL,
    ERF_INV_F32_CENTRAL,
    ERF_INV_F32_NEAR,
    ERF_INV_F32_TAIL,
    ERF_INV_MIDDLE,
    ERF_INV_TAIL,
    ERFC,
    ERFC_F32,
    LOG_GAMMA,
    Approximation,
)
from xla_dialect.stablehlo.terms import Term

_BERNOULLI = tuple(
    Fraction(*ratio)
    for ratio in (
        (1, 6),
        (-1, 30),
        (1, 42),
        (-1, 30),
        (5, 66),
        (-691, 2730),
        (7, 6),
        (-3617, 510),
        (43867, 798),
        (-174611, 330),
        (854513, 138),
        (-236364091, 2730),
    )
)
"""The Bernoulli numbers B2, B4, B6, ..."""


def approximate(x: Term, table: Approximation) -> Term:
    """A tabulated polynomial, for arguments in its interval."""
    low, high = table.interval
    half = (high - low) / 2
    return ((x - (low + high) / 2) * (1 / half)).polynomial(table.coefficients)


# Error functions


def erf_inv(x: Term) -> Term:
    """
    The inverse of the error function: ±inf at ±1, NaN beyond; 3 ULP.

    With `w = -log(1 - x²)`, `erf_inv(x) / x` is a smooth function of w, and of √w for large w:
    M. Giles, "Approximating the erfinv function", GPU Computing Gems Jade (2011), chapter 10.
    Of √(w - 3), that is: it is less than the result, and so are its rounding errors.
    """
    w = _giles_argument(x)
    root = (w - 3.0).sqrt()
    ratio = approximate(w, ERF_INV_CENTRAL)
    ratio = (w < 5.0).where(ratio, approximate(root, ERF_INV_MIDDLE))
    ratio = (w < 16.0).where(ratio, approximate(root, ERF_INV_TAIL))
    return _with_poles(x, ratio)


def erf_inv_f32(x: Term) -> Term:
    """`erf_inv` of f32, in f32: random normal numbers need it to be fast; 3 ULP."""
    w = -_log_of_complement(x)
    # The constant of this polynomial, 1.5014, would be rounded.
    central = 1.5 + approximate(w, ERF_INV_F32_CENTRAL)
    far = (w < 5.0).where(central, approximate(w.sqrt(), ERF_INV_F32_TAIL))
    near = (x * x).polynomial(ERF_INV_F32_NEAR)
    return _with_poles(x, (abs(x) < 0.7).where(near, far))


def _giles_argument(x: Term) -> Term:
    inner = (-x * x).apply(elementwise.LogPlusOneOp)
    return -(abs(x) < 0.5).where(inner, _log_of_complement(x))


def _log_of_complement(x: Term) -> Term:
    """`log(1 - x²)`, which would cancel near 1."""
    return ((1.0 - x) * (1.0 + x)).log()


def _with_poles(x: Term, ratio: Term) -> Term:
    return abs(x).equals(1.0).where(x * math.inf, x * ratio)


def erfc(x: Term) -> Term:
    """
    The complement `1 - erf(x)`, with full relative accuracy for large x; 4 ULP.

    Beyond 1/2 `(1 + 2x) e^(x²) erfc(x)` is smooth in `t = (x - 4) / (x + 4)`: M. Shepherd and
    J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x²) erfc x", Math. Comp. 36 (1981).
    """
    size = abs(x).maximum(0.5).minimum(28.0)
    # The square in two parts: its rounding error would be multiplied by the exponential.
    upper = (size * 1024.0).floor() * (1 / 1024)
    decay = (-upper * upper).exp() * ((upper - size) * (upper + size)).exp()
    scaled = approximate((size - 4.0) / (size + 4.0), ERFC)
    tail = decay * scaled / (size * 2.0 + 1.0)
    far = (x < 0.0).where(2.0 - tail, tail)
    near = 1.0 - x.apply(elementwise.ErfOp)
    return ((abs(x) < 0.5) | x.differs(x)).where(near, far)


def erfc_f32(x: Term) -> Term:
    """`erfc` of f32, in f32: GELU needs it to be fast; 6 ULP."""
    size = abs(x).maximum(0.5).minimum(10.1)
    upper = (size * 256.0).floor() * (1 / 256)
    rest = ((upper - size) * (upper + size)).polynomial((1.0, 1.0, 1 / 2, 1 / 6, 1 / 24))
    inverse = 1.0 / (size + 1.5)
    tail = (-upper * upper).exp() * (rest * approximate(inverse, ERFC_F32) * inverse)
    far = (x < 0.0).where(2.0 - tail, tail)
    near = 1.0 - x * (x * x).polynomial(ERF_F32_NEAR)
    return ((abs(x) < 0.5) | x.differs(x)).where(near, far)


# The gamma function and its derivatives


def log_gamma(x: Term) -> Term:
    """
    `log |Γ(x)|`: inf at 0, -1, -2, ... and at ±inf; 16 ULP, for x < 0 of max(1, |result|), and 32
    in f32.

    Below 1/2 by reflection, `Γ(x) Γ(1 - x) = π / sin πx`; around its zeros 1 and 2 from a table of
    `log Γ(x) / ((x - 1) (x - 2))`; else Stirling's series. `Γ(x + 1) = x Γ(x)` leads there.
    """
    reflected = x < 0.5
    y = reflected.where(1.0 - x, x)
    positive = (y < 4.5).where(_tabulated_log_gamma(y), _stirling(y))
    sine = (_distance_to_integer(x) * math.pi).apply(elementwise.SineOp)
    result = reflected.where((math.pi / abs(sine)).log() - positive, positive)
    return abs(x).equals(math.inf).where(abs(x), result)


def _tabulated_log_gamma(x: Term) -> Term:
    """`log Γ(x)` for 1/2 ≤ x < 9/2."""
    factor = (x < 2.5).where(x.number(1.0), x - 1.0)
    factor = (x < 3.5).where(factor, factor * (x - 2.0))
    z = x - (x < 2.5).where(x.number(0.0), (x < 3.5).where(x.number(1.0), 2.0))
    return (z - 1.0) * (z - 2.0) * approximate(z, LOG_GAMMA) + factor.log()


_SHIFT = 8


def _stirling(x: Term) -> Term:
    """`log Γ(x)` for x ≥ 4."""
    product, large = x.number(1.0), x
    for _ in range(_SHIFT - 4):
        small = large < float(_SHIFT)
        product = small.where(product * large, product)
        large = small.where(large + 1.0, large)
    coefficients = [
        float(b / ((2 * k) * (2 * k - 1))) for k, b in enumerate(_BERNOULLI[:9], start=1)
    ]
    inverse = 1.0 / large
    series = inverse * (inverse * inverse).polynomial(coefficients)
    value = (large - 0.5) * (large.log() - 1.0) + (math.log(2 * math.pi) / 2 - 0.5) + series
    return value - product.log()


def _distance_to_integer(x: Term) -> Term:
    """The argument minus the nearest integer: exact; sin πx and tan πx only change in sign."""
    return x - x.apply(elementwise.RoundNearestEvenOp)


def digamma(x: Term) -> Term:
    """
    `Γ'(x) / Γ(x)`: NaN at 0, -1, -2, ...; 8 ULP of max(1, |result|) for x > 0.

    Below 1/2 by reflection, `ψ(x) = ψ(1 - x) - π / tan πx`; else the asymptotic series of x + n
    and `ψ(x + 1) = ψ(x) + 1/x`.
    """
    reflected = x < 0.5
    y = reflected.where(1.0 - x, x)
    total = y - y
    for _ in range(10):
        small = y < 10.0
        total = small.where(total + 1.0 / y, total)
        y = small.where(y + 1.0, y)
    inverse = 1.0 / (y * y)
    coefficients = [float(b / (2 * k)) for k, b in enumerate(_BERNOULLI[:8], start=1)]
    positive = y.log() - 0.5 / y - inverse * inverse.polynomial(coefficients) - total
    rest = _distance_to_integer(x)
    mirrored = positive - math.pi / (rest * math.pi).apply(elementwise.TanOp)
    pole = reflected & rest.equals(0.0)
    result = reflected.where(mirrored, (x.equals(math.inf)).where(x, positive))
    return pole.where(x.number(math.nan), result)


_ZETA_TERMS = 12
_ZETA_LEAST = -6.0
"""Below this q the Euler-Maclaurin formula would start at too small an argument."""


def zeta(x: Term, q: Term) -> Term:
    """
    Hurwitz' zeta function `Σ (q + n)^(-x)`, n = 0, 1, ..., by the Euler-Maclaurin formula.

    NaN for x < 1, inf for x = 1. For q ≤ 0: inf (NaN for an odd or fractional x) at the poles
    0, -1, -2, ..., else NaN unless x is an integer, and below -6. 1e-13 relative for x > 1, q > 0.
    """
    total = q**-x
    argument = q
    for _ in range(1, _ZETA_TERMS):
        argument = argument + 1.0
        total = total + argument**-x
    last = argument**-x
    total = total + last * (argument / (x - 1.0)) - 0.5 * last
    term = last * (x / argument)
    for k, bernoulli in enumerate(_BERNOULLI, start=1):
        total = total + term * float(bernoulli / math.factorial(2 * k))
        term = term * ((x + float(2 * k - 1)) / argument) * ((x + float(2 * k)) / argument)
    total = (x.equals(math.inf) | q.equals(math.inf)).where(q**-x, total)
    return _zeta_at_the_border(x, q, total)


def _zeta_at_the_border(x: Term, q: Term, total: Term) -> Term:
    number = x.number
    integral = x.floor().equals(x)
    even = integral & (x % 2.0).equals(0.0)
    pole = (q <= 0.0) & q.floor().equals(q)
    beside = (q <= 0.0) & (~integral | (q < _ZETA_LEAST))
    found = beside.where(number(math.nan), total)
    found = pole.where(even.where(number(math.inf), math.nan), found)
    found = (x < 1.0).where(number(math.nan), found)
    return x.equals(1.0).where(number(math.inf), found)


def polygamma(n: Term, x: Term) -> Term:
    """
    The n-th derivative of `digamma`: `(-1)^(n+1) n! ζ(n + 1, x)`; NaN unless n is 0, 1, 2, ...

    1e-12 relative for n ≤ 100.
    """
    sign = (n % 2.0).equals(0.0).where(n.number(-1.0), 1.0)
    value = sign * log_gamma(n + 1.0).exp() * zeta(n + 1.0, x)
    value = n.equals(0.0).where(digamma(x), value)
    defined = (n >= 0.0) & n.floor().equals(n)
    return defined.where(value, math.nan)


# Bessel functions


def bessel_i1e(x: Term) -> Term:
    """`e^(-|x|) I1(x)` from tables of it over x up to 8, and times √x in 8 / x beyond; 8 ULP."""
    size = abs(x)
    near = size.minimum(8.0) * approximate(size.minimum(8.0), BESSEL_I1E_NEAR)
    large = size.maximum(8.0)
    far = approximate(8.0 / large, BESSEL_I1E_FAR) / large.sqrt()
    value = (size < 8.0).where(near, far)
    return (x < 0.0).where(-value, value)
