"""Elementwise operations of one operand."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from lowerings.xla_to_linalg.scalar_functions import (
    complex_exponential,
    complex_numbers,
    complex_trigonometric,
    float_functions,
)
from lowerings.xla_to_linalg.scalar_functions.element_functions import (
    ElementFunction,
    ScalarFunction,
)
from lowerings.xla_to_linalg.scalar_functions.formulas import (
    of_complex,
    of_complex_in_double,
    of_real,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder, int_width
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_unary as ops


def _math(op_class: type[Operation]) -> ScalarFunction:
    """The function that is one operation."""

    def function(scalars: ScalarBuilder, x: SSAValue) -> SSAValue:
        return scalars.emit(op_class, (x,))

    return function


def _same(_scalars: ScalarBuilder, x: SSAValue) -> SSAValue:
    return x


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
        floats=_math(math.AbsFOp),
        signed=_absolute,
        unsigned=_same,
        complex=of_complex_in_double(complex_numbers.modulus),
    ),
    ops.AcosOp: ElementFunction(
        floats=of_real(float_functions.acos),
        complex=of_complex_in_double(complex_trigonometric.acos),
    ),
    ops.AcoshOp: ElementFunction(
        floats=of_real(float_functions.acosh),
        complex=of_complex_in_double(complex_trigonometric.acosh),
    ),
    ops.AsinOp: ElementFunction(
        floats=of_real(float_functions.asin),
        complex=of_complex_in_double(complex_trigonometric.asin),
    ),
    ops.AsinhOp: ElementFunction(
        floats=of_real(float_functions.asinh),
        complex=of_complex_in_double(complex_trigonometric.asinh),
    ),
    ops.AtanhOp: ElementFunction(
        floats=of_real(float_functions.atanh),
        complex=of_complex_in_double(complex_trigonometric.atanh),
    ),
    ops.CbrtOp: _math_of_floats(math.CbrtOp),
    ops.CeilOp: _math_of_floats(math.CeilOp),
    ops.CosineOp: ElementFunction(
        floats=_math(math.CosOp), complex=of_complex_in_double(complex_trigonometric.cosine)
    ),
    ops.CoshOp: ElementFunction(
        floats=of_real(float_functions.cosh),
        complex=of_complex_in_double(complex_trigonometric.cosh),
    ),
    ops.CountLeadingZerosOp: _COUNT_LEADING_ZEROS,
    ops.ErfOp: _math_of_floats(math.ErfOp),
    ops.ExponentialOp: ElementFunction(
        floats=_math(math.ExpOp), complex=of_complex_in_double(complex_exponential.exponential)
    ),
    ops.ExponentialMinusOneOp: ElementFunction(
        floats=_math(math.ExpM1Op),
        complex=of_complex_in_double(complex_exponential.exponential_minus_one),
    ),
    ops.FloorOp: _math_of_floats(math.FloorOp),
    ops.ImagOp: ElementFunction(
        floats=of_real(float_functions.zero), complex=ScalarBuilder.imaginary
    ),
    ops.IsFiniteOp: ElementFunction(floats=of_real(float_functions.is_finite)),
    ops.LogOp: ElementFunction(
        floats=_math(math.LogOp), complex=of_complex_in_double(complex_exponential.logarithm)
    ),
    ops.LogPlusOneOp: ElementFunction(
        floats=_math(math.Log1pOp),
        complex=of_complex_in_double(complex_exponential.logarithm_plus_one),
    ),
    ops.LogisticOp: ElementFunction(
        floats=of_real(float_functions.logistic),
        complex=of_complex_in_double(complex_exponential.logistic),
    ),
    ops.NegateOp: ElementFunction.integer(
        _negate, floats=ScalarBuilder.negf, complex=of_complex(complex_numbers.negate)
    ),
    ops.NotOp: ElementFunction.integer(_complement, pred=_complement),
    ops.PopcntOp: ElementFunction.integer(_math(math.CtPopOp)),
    ops.RealOp: ElementFunction(floats=_same, complex=ScalarBuilder.real),
    ops.RoundNearestAfzOp: _math_of_floats(math.RoundOp),
    ops.RoundNearestEvenOp: _math_of_floats(math.RoundEvenOp),
    ops.RsqrtOp: ElementFunction(
        floats=_math(math.RsqrtOp), complex=of_complex_in_double(complex_numbers.rsqrt)
    ),
    ops.SignOp: ElementFunction(
        floats=of_real(float_functions.sign),
        signed=_integer_sign,
        complex=of_complex_in_double(complex_numbers.sign),
    ),
    ops.SineOp: ElementFunction(
        floats=_math(math.SinOp), complex=of_complex_in_double(complex_trigonometric.sine)
    ),
    ops.SinhOp: ElementFunction(
        floats=of_real(float_functions.sinh),
        complex=of_complex_in_double(complex_trigonometric.sinh),
    ),
    ops.SqrtOp: ElementFunction(
        floats=_math(math.SqrtOp), complex=of_complex_in_double(complex_numbers.sqrt)
    ),
    ops.TanOp: ElementFunction(
        floats=_math(math.TanOp), complex=of_complex_in_double(complex_trigonometric.tangent)
    ),
    ops.TanhOp: ElementFunction(
        floats=_math(math.TanhOp), complex=of_complex_in_double(complex_trigonometric.tanh)
    ),
}
