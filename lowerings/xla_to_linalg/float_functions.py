"""Functions of f32 and f64 scalars that the math dialect lacks, or leaves to the library."""

from __future__ import annotations

import math as constants

from xdsl.dialects import math
from xdsl.ir import SSAValue

from lowerings.xla_to_linalg.scalars import ScalarBuilder

LARGE = 2.0**28
"""From here on `x * x + 1` is `x * x` in f64, hence in f32 too."""

EXPONENTIAL_DOMINATES = 20.0
"""From here on `e^-2x` is below half an ulp of 1 in f64."""


def sqrt(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`√x`."""
    return s.emit(math.SqrtOp, (x,))


def log1p(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`ln(1 + x)`."""
    return s.emit(math.Log1pOp, (x,))


def _one_minus_square(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`1 - x²` without cancellation near ±1."""
    one = s.constant_like(1, x)
    return s.mulf(s.subf(one, x), s.addf(one, x))


def acos(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`atan2(√(1 - x²), x)`."""
    return s.emit(math.Atan2Op, (sqrt(s, _one_minus_square(s, x)), x))


def asin(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`atan2(x, √(1 - x²))`."""
    return s.emit(math.Atan2Op, (x, sqrt(s, _one_minus_square(s, x))))


def _log_of_double(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`ln 2x`, where 2x may overflow."""
    return s.addf(s.emit(math.LogOp, (x,)), constants.log(2))


def acosh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`ln1p(t + √(t (t + 2)))` with t = x - 1; `ln 2x` where squares may overflow."""
    t = s.subf(x, 1.0)
    near = log1p(s, s.addf(t, sqrt(s, s.mulf(t, s.addf(t, 2.0)))))
    value = s.select(s.compare_floats("ogt", x, LARGE), _log_of_double(s, x), near)
    return s.select(s.compare_floats("olt", x, 1.0), s.constant_like(constants.nan, x), value)


def asinh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`±ln1p(a + a² / (1 + √(a² + 1)))` with a = |x|; `ln 2a` where squares may overflow."""
    a = s.absf(x)
    square = s.mulf(a, a)
    root = sqrt(s, s.addf(square, 1.0))
    near = log1p(s, s.addf(a, s.divf(square, s.addf(root, 1.0))))
    value = s.select(s.compare_floats("ogt", a, LARGE), _log_of_double(s, a), near)
    return s.copysign(value, x)


def atanh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`±½ ln1p(2a / (1 - a))` with a = |x|."""
    a = s.absf(x)
    ratio = s.divf(s.addf(a, a), s.subf(s.constant_like(1, a), a))
    return s.copysign(s.mulf(log1p(s, ratio), 0.5), x)


def _half_exponential(s: ScalarBuilder, a: SSAValue) -> SSAValue:
    """`e^a / 2`, where e^a may overflow but e^a / 2 does not; a/2 is exact."""
    root = s.emit(math.ExpOp, (s.mulf(a, 0.5),))
    return s.mulf(s.mulf(root, 0.5), root)


def cosh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`(e^a + e^-a) / 2` with a = |x|."""
    a = s.absf(x)
    e = s.emit(math.ExpOp, (a,))
    near = s.mulf(s.addf(e, s.divf(s.constant_like(1, e), e)), 0.5)
    far = s.compare_floats("ogt", a, EXPONENTIAL_DOMINATES)
    return s.select(far, _half_exponential(s, a), near)


def sinh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`±(m + m / (m + 1)) / 2` with m = e^|x| - 1, which is accurate near 0."""
    a = s.absf(x)
    m = s.emit(math.ExpM1Op, (a,))
    near = s.mulf(s.addf(m, s.divf(m, s.addf(m, 1.0))), 0.5)
    far = s.compare_floats("ogt", a, EXPONENTIAL_DOMINATES)
    return s.copysign(s.select(far, _half_exponential(s, a), near), x)


def logistic(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`1 / (1 + e^-x)`, below 0 as `e^x / (1 + e^x)`: nothing overflows, no digits are lost."""
    e = s.emit(math.ExpOp, (s.negf(s.absf(x)),))
    numerator = s.select(s.compare_floats("oge", x, 0.0), s.constant_like(1, x), e)
    return s.divf(numerator, s.addf(e, 1.0))


def is_finite(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """Whether x is neither infinite nor NaN."""
    return s.compare_floats("olt", s.absf(x), constants.inf)


def sign(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """±1 by the sign; x itself where it is zero or NaN."""
    return s.select(s.compare_floats("one", x, 0.0), s.copysign(s.constant_like(1, x), x), x)


def zero(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """Zero of the type of x."""
    return s.constant_like(0, x)
