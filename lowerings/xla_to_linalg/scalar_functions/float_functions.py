"""Functions of floats that math has no operation for."""

from __future__ import annotations

from math import log, nan

from lowerings.xla_to_linalg.scalar_functions.formulas import Condition, Real

LARGE = 2.0**28
"""From here on `x * x + 1` is `x * x` in f64, hence in f32 too."""

EXPONENTIAL_DOMINATES = 20.0
"""From here on `e^-2x` is below half an ulp of 1 in f64."""


def _one_minus_square(x: Real) -> Real:
    """`1 - x²` without cancellation near ±1."""
    return (1.0 - x) * (1.0 + x)


def acos(x: Real) -> Real:
    """`atan2(√(1 - x²), x)`."""
    return _one_minus_square(x).sqrt().atan2(x)


def asin(x: Real) -> Real:
    """`atan2(x, √(1 - x²))`."""
    return x.atan2(_one_minus_square(x).sqrt())


def _log_of_double(x: Real) -> Real:
    """`ln 2x`, where 2x may overflow."""
    return x.log() + log(2)


def acosh(x: Real) -> Real:
    """`ln1p(t + √(t (t + 2)))` with t = x - 1; `ln 2x` where squares may overflow."""
    t = x - 1.0
    near = (t + (t * (t + 2.0)).sqrt()).log1p()
    value = x.is_greater(LARGE).choose(_log_of_double(x), near)
    return x.is_less(1.0).choose(nan, value)


def asinh(x: Real) -> Real:
    """`±ln1p(a + a² / (1 + √(a² + 1)))` with a = |x|; `ln 2a` where squares may overflow."""
    a = abs(x)
    square = a * a
    near = (a + square / ((square + 1.0).sqrt() + 1.0)).log1p()
    return a.is_greater(LARGE).choose(_log_of_double(a), near).with_sign_of(x)


def atanh(x: Real) -> Real:
    """`±½ ln1p(2a / (1 - a))` with a = |x|."""
    a = abs(x)
    return (((a + a) / (1.0 - a)).log1p() * 0.5).with_sign_of(x)


def _half_exponential(a: Real) -> Real:
    """`e^a / 2`, where e^a may overflow but e^a / 2 does not; a/2 is exact."""
    root = (a * 0.5).exp()
    return root * 0.5 * root


def cosh(x: Real) -> Real:
    """`(e^a + e^-a) / 2` with a = |x|."""
    a = abs(x)
    e = a.exp()
    near = (e + 1.0 / e) * 0.5
    return a.is_greater(EXPONENTIAL_DOMINATES).choose(_half_exponential(a), near)


def sinh(x: Real) -> Real:
    """`±(m + m / (m + 1)) / 2` with m = e^|x| - 1, which is accurate near 0."""
    a = abs(x)
    m = a.expm1()
    near = (m + m / (m + 1.0)) * 0.5
    far = a.is_greater(EXPONENTIAL_DOMINATES)
    return far.choose(_half_exponential(a), near).with_sign_of(x)


def logistic(x: Real) -> Real:
    """`1 / (1 + e^-x)`, below 0 as `e^x / (1 + e^x)`: nothing overflows, no digits are lost."""
    e = (-abs(x)).exp()
    return x.is_at_least(0.0).choose(1.0, e) / (e + 1.0)


def is_finite(x: Real) -> Condition:
    """Neither infinite nor NaN."""
    return x.is_finite()


def sign(x: Real) -> Real:
    """±1 by the sign; x itself where it is zero or NaN."""
    return x.compare("one", 0.0).choose(x.constant(1.0).with_sign_of(x), x)


def zero(x: Real) -> Real:
    """0, whatever the operand."""
    return x.constant(0.0)
