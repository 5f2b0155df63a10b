"""Elementwise operations of one operand."""

from __future__ import annotations

import math as constants

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from lowerings.xla_to_linalg import complex_numbers
from lowerings.xla_to_linalg.element_functions import ElementFunction, ScalarFunction
from lowerings.xla_to_linalg.scalars import ScalarBuilder, int_width
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_unary as ops

LARGE = 2.0**28
"""From here on `x * x + 1` is `x * x` in f64, hence in f32 too."""

EXPONENTIAL_DOMINATES = 20.0
"""From here on `e^-2x` is below half an ulp of 1 in f64."""


def _math(op_class: type[Operation]) -> ScalarFunction:
    """The function that is one operation."""

    def function(scalars: ScalarBuilder, x: SSAValue) -> SSAValue:
        return scalars.emit(op_class, (x,))

    return function


def _same(_scalars: ScalarBuilder, x: SSAValue) -> SSAValue:
    return x


# Floats


def _sqrt(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    return s.emit(math.SqrtOp, (x,))


def _log1p(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    return s.emit(math.Log1pOp, (x,))


def _one_minus_square(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`1 - x²` without cancellation near ±1."""
    one = s.constant_like(1, x)
    return s.mulf(s.subf(one, x), s.addf(one, x))


def _acos(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`atan2(√(1 - x²), x)`."""
    return s.emit(math.Atan2Op, (_sqrt(s, _one_minus_square(s, x)), x))


def _asin(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`atan2(x, √(1 - x²))`."""
    return s.emit(math.Atan2Op, (x, _sqrt(s, _one_minus_square(s, x))))


def _log_of_double(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`ln 2x`, where 2x may overflow."""
    return s.addf(s.emit(math.LogOp, (x,)), constants.log(2))


def _acosh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`ln1p(t + √(t (t + 2)))` with t = x - 1; `ln 2x` where squares may overflow."""
    t = s.subf(x, 1.0)
    near = _log1p(s, s.addf(t, _sqrt(s, s.mulf(t, s.addf(t, 2.0)))))
    value = s.select(s.compare_floats("ogt", x, LARGE), _log_of_double(s, x), near)
    return s.select(s.compare_floats("olt", x, 1.0), s.constant_like(constants.nan, x), value)


def _asinh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`±ln1p(a + a² / (1 + √(a² + 1)))` with a = |x|; `ln 2a` where squares may overflow."""
    a = s.absf(x)
    square = s.mulf(a, a)
    root = _sqrt(s, s.addf(square, 1.0))
    near = _log1p(s, s.addf(a, s.divf(square, s.addf(root, 1.0))))
    value = s.select(s.compare_floats("ogt", a, LARGE), _log_of_double(s, a), near)
    return s.copysign(value, x)


def _atanh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`±½ ln1p(2a / (1 - a))` with a = |x|."""
    a = s.absf(x)
    ratio = s.divf(s.addf(a, a), s.subf(s.constant_like(1, a), a))
    return s.copysign(s.mulf(_log1p(s, ratio), 0.5), x)


def _half_exponential(s: ScalarBuilder, a: SSAValue) -> SSAValue:
    """`e^a / 2`, where e^a may overflow but e^a / 2 does not; a/2 is exact."""
    root = s.emit(math.ExpOp, (s.mulf(a, 0.5),))
    return s.mulf(s.mulf(root, 0.5), root)


def _cosh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`(e^a + e^-a) / 2` with a = |x|."""
    a = s.absf(x)
    e = s.emit(math.ExpOp, (a,))
    near = s.mulf(s.addf(e, s.divf(s.constant_like(1, e), e)), 0.5)
    far = s.compare_floats("ogt", a, EXPONENTIAL_DOMINATES)
    return s.select(far, _half_exponential(s, a), near)


def _sinh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`±(m + m / (m + 1)) / 2` with m = e^|x| - 1, which is accurate near 0."""
    a = s.absf(x)
    m = s.emit(math.ExpM1Op, (a,))
    near = s.mulf(s.addf(m, s.divf(m, s.addf(m, 1.0))), 0.5)
    far = s.compare_floats("ogt", a, EXPONENTIAL_DOMINATES)
    return s.copysign(s.select(far, _half_exponential(s, a), near), x)


def _logistic(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`1 / (1 + e^-x)`, below 0 as `e^x / (1 + e^x)`: nothing overflows, no digits are lost."""
    e = s.emit(math.ExpOp, (s.negf(s.absf(x)),))
    numerator = s.select(s.compare_floats("oge", x, 0.0), s.constant_like(1, x), e)
    return s.divf(numerator, s.addf(e, 1.0))


def _is_finite(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    return s.compare_floats("olt", s.absf(x), constants.inf)


def _sign(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """±1 by the sign; x itself where it is zero or NaN."""
    return s.select(s.compare_floats("one", x, 0.0), s.copysign(s.constant_like(1, x), x), x)


def _zero(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    return s.constant_like(0, x)


# Integers


def _absolute(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """`|x|`; the least integer stays (math.absi leaves that open)."""
    return s.select(s.compare("slt", x, 0), _negate(s, x), x)


def _negate(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    return s.integers(arith.SubiOp, s.constant(0, x.type), x)


def _complement(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    return s.integers(arith.XOrIOp, x, -1)


def _integer_sign(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """All sign bits, or'ed with whether x is not zero."""
    width = int_width(x)
    sign = s.integers(arith.ShRSIOp, x, width - 1)
    return s.either(sign, s.resize(s.compare("ne", x, 0), width, signed=False))


_COUNT_LEADING_ZEROS = ElementFunction.integer(_math(math.CountLeadingZerosOp))


def _math_of_floats(op_class: type[Operation]) -> ElementFunction:
    return ElementFunction(floats=_math(op_class))


FUNCTIONS: dict[type[XlaOp], ElementFunction] = {
    ops.AbsOp: ElementFunction(
        floats=_math(math.AbsFOp), signed=_absolute, complex=complex_numbers.modulus
    ),
    ops.AcosOp: ElementFunction(floats=_acos),
    ops.AcoshOp: ElementFunction(floats=_acosh),
    ops.AsinOp: ElementFunction(floats=_asin),
    ops.AsinhOp: ElementFunction(floats=_asinh),
    ops.AtanhOp: ElementFunction(floats=_atanh),
    ops.CbrtOp: _math_of_floats(math.CbrtOp),
    ops.CeilOp: _math_of_floats(math.CeilOp),
    ops.CosineOp: _math_of_floats(math.CosOp),
    ops.CoshOp: ElementFunction(floats=_cosh),
    ops.CountLeadingZerosOp: _COUNT_LEADING_ZEROS,
    ops.ErfOp: _math_of_floats(math.ErfOp),
    ops.ExponentialOp: ElementFunction(
        floats=_math(math.ExpOp), complex=complex_numbers.exponential
    ),
    ops.ExponentialMinusOneOp: _math_of_floats(math.ExpM1Op),
    ops.FloorOp: _math_of_floats(math.FloorOp),
    ops.ImagOp: ElementFunction(floats=_zero, complex=ScalarBuilder.imaginary),
    ops.IsFiniteOp: ElementFunction(floats=_is_finite),
    ops.LogOp: ElementFunction(floats=_math(math.LogOp), complex=complex_numbers.logarithm),
    ops.LogPlusOneOp: _math_of_floats(math.Log1pOp),
    ops.LogisticOp: ElementFunction(floats=_logistic),
    ops.NegateOp: ElementFunction.integer(
        _negate, floats=ScalarBuilder.negf, complex=complex_numbers.negate
    ),
    ops.NotOp: ElementFunction.integer(_complement, pred=_complement),
    ops.PopcntOp: ElementFunction.integer(_math(math.CtPopOp)),
    ops.RealOp: ElementFunction(floats=_same, complex=ScalarBuilder.real),
    ops.RoundNearestAfzOp: _math_of_floats(math.RoundOp),
    ops.RoundNearestEvenOp: _math_of_floats(math.RoundEvenOp),
    ops.RsqrtOp: ElementFunction(floats=_math(math.RsqrtOp)),
    ops.SignOp: ElementFunction(floats=_sign, signed=_integer_sign, complex=complex_numbers.sign),
    ops.SineOp: _math_of_floats(math.SinOp),
    ops.SinhOp: ElementFunction(floats=_sinh),
    ops.SqrtOp: ElementFunction(floats=_sqrt),
    ops.TanOp: _math_of_floats(math.TanOp),
    ops.TanhOp: _math_of_floats(math.TanhOp),
}
