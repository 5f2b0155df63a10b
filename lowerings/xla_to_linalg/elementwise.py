"""Elementwise operations."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from lowerings.dialects.arith_extension import RemFOp
from lowerings.ir.float_formats import Specials, small_float
from lowerings.xla_to_linalg.scalar_functions import complex_numbers, float_functions
from lowerings.xla_to_linalg.scalar_functions.element_functions import (
    ElementFunction,
    ScalarFunction,
    elements_of,
    widen,
)
from lowerings.xla_to_linalg.scalar_functions.formulas import (
    Complex,
    of_complex,
    of_complex_in_double,
    of_real,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder, int_width
from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise as ops
from xla_dialect.ops.elementwise import SelectOp
from xla_dialect.types import BY_TYPE, ElementClass, ElementType


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


UNARY: dict[type[XlaOp], ElementFunction] = {
    ops.AbsOp: ElementFunction(
        floats=_math(math.AbsFOp),
        signed=_absolute,
        unsigned=_same,
        complex=of_complex_in_double(complex_numbers.modulus),
    ),
    ops.AcosOp: ElementFunction(
        floats=of_real(float_functions.acos),
        complex=of_complex_in_double(complex_numbers.acos),
    ),
    ops.AcoshOp: ElementFunction(
        floats=of_real(float_functions.acosh),
        complex=of_complex_in_double(complex_numbers.acosh),
    ),
    ops.AsinOp: ElementFunction(
        floats=of_real(float_functions.asin),
        complex=of_complex_in_double(complex_numbers.asin),
    ),
    ops.AsinhOp: ElementFunction(
        floats=of_real(float_functions.asinh),
        complex=of_complex_in_double(complex_numbers.asinh),
    ),
    ops.AtanhOp: ElementFunction(
        floats=of_real(float_functions.atanh),
        complex=of_complex_in_double(complex_numbers.atanh),
    ),
    ops.CbrtOp: _math_of_floats(math.CbrtOp),
    ops.CeilOp: _math_of_floats(math.CeilOp),
    ops.CosineOp: ElementFunction(
        floats=_math(math.CosOp), complex=of_complex_in_double(complex_numbers.cosine)
    ),
    ops.CoshOp: ElementFunction(
        floats=of_real(float_functions.cosh),
        complex=of_complex_in_double(complex_numbers.cosh),
    ),
    ops.CountLeadingZerosOp: _COUNT_LEADING_ZEROS,
    ops.ErfOp: _math_of_floats(math.ErfOp),
    ops.ExponentialOp: ElementFunction(
        floats=_math(math.ExpOp), complex=of_complex_in_double(complex_numbers.exponential)
    ),
    ops.ExponentialMinusOneOp: ElementFunction(
        floats=_math(math.ExpM1Op),
        complex=of_complex_in_double(complex_numbers.exponential_minus_one),
    ),
    ops.FloorOp: _math_of_floats(math.FloorOp),
    ops.ImagOp: ElementFunction(
        floats=of_real(float_functions.zero), complex=ScalarBuilder.imaginary
    ),
    ops.IsFiniteOp: ElementFunction(floats=of_real(float_functions.is_finite)),
    ops.LogOp: ElementFunction(
        floats=_math(math.LogOp), complex=of_complex_in_double(complex_numbers.logarithm)
    ),
    ops.LogPlusOneOp: ElementFunction(
        floats=_math(math.Log1pOp),
        complex=of_complex_in_double(complex_numbers.logarithm_plus_one),
    ),
    ops.LogisticOp: ElementFunction(
        floats=of_real(float_functions.logistic),
        complex=of_complex_in_double(complex_numbers.logistic),
    ),
    ops.NegateOp: ElementFunction.integer(
        _negate, floats=ScalarBuilder.negf, complex=of_complex(Complex.__neg__)
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
        floats=_math(math.SinOp), complex=of_complex_in_double(complex_numbers.sine)
    ),
    ops.SinhOp: ElementFunction(
        floats=of_real(float_functions.sinh),
        complex=of_complex_in_double(complex_numbers.sinh),
    ),
    ops.SqrtOp: ElementFunction(
        floats=_math(math.SqrtOp), complex=of_complex_in_double(complex_numbers.sqrt)
    ),
    ops.TanOp: ElementFunction(
        floats=_math(math.TanOp), complex=of_complex_in_double(complex_numbers.tangent)
    ),
    ops.TanhOp: ElementFunction(
        floats=_math(math.TanhOp), complex=of_complex_in_double(complex_numbers.tanh)
    ),
}


def one_op(op_class: type[Operation]) -> ScalarFunction:
    """The function that is one operation of two values of one type."""

    def function(scalars: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        return scalars.emit(op_class, (x, y))

    return function


ADD = one_op(arith.AddiOp)
MULTIPLY = one_op(arith.MuliOp)
AND = one_op(arith.AndIOp)
OR = one_op(arith.OrIOp)
XOR = one_op(arith.XOrIOp)


def _least(value: SSAValue) -> int:
    return -(1 << (int_width(value) - 1))


def _divisor_guards(s: ScalarBuilder, x: SSAValue, y: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Whether y is 0, and y with 1 in place of undefined divisors: 0, and -1 for INT_MIN / -1."""
    is_zero = s.compare("eq", y, 0)
    overflows = s.both(s.compare("eq", x, _least(x)), s.compare("eq", y, -1))
    undefined = s.either(is_zero, overflows)
    return is_zero, s.select(undefined, s.constant(1, y.type), y)


def _in_two_bits(function: ScalarFunction) -> ScalarFunction:
    """`function`, applied to s1 extended to two bits: s1 cannot represent the divisor 1."""

    def evaluate(s: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        if int_width(x) > 1:
            return function(s, x, y)
        return s.resize(function(s, s.resize(x, 2, True), s.resize(y, 2, True)), 1, True)

    return evaluate


@_in_two_bits
def _divide_signed(s: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    is_zero, divisor = _divisor_guards(s, x, y)
    quotient = s.integers(arith.DivSIOp, x, divisor)
    return s.select(is_zero, s.constant(-1, x.type), quotient)


@_in_two_bits
def _remainder_signed(s: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    is_zero, divisor = _divisor_guards(s, x, y)
    return s.select(is_zero, x, s.integers(arith.RemSIOp, x, divisor))


def _divide_unsigned(s: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    is_zero = s.compare("eq", y, 0)
    quotient = s.integers(arith.DivUIOp, x, s.select(is_zero, s.constant(1, y.type), y))
    return s.select(is_zero, s.constant(-1, x.type), quotient)


def _remainder_unsigned(s: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    is_zero = s.compare("eq", y, 0)
    remainder = s.integers(arith.RemUIOp, x, s.select(is_zero, s.constant(1, y.type), y))
    return s.select(is_zero, x, remainder)


def _power_unsigned(s: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """Square and multiply, one step for every bit of y."""
    result, square = s.constant(1, x.type), x
    for bit in range(int_width(y)):
        shifted = s.integers(arith.ShRUIOp, y, bit) if bit else y
        taken = s.resize(shifted, 1, signed=False)
        result = s.select(taken, s.integers(arith.MuliOp, result, square), result)
        if bit + 1 < int_width(y):
            square = s.integers(arith.MuliOp, square, square)
    return result


def _power_signed(s: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """A negative exponent gives 1 for base 1, ±1 for base -1, else 0."""
    one, minus_one = s.constant(1, x.type), s.constant(-1, x.type)
    is_odd = s.resize(y, 1, signed=False)
    of_minus_one = s.select(is_odd, minus_one, one)
    inverse = s.select(s.compare("eq", x, -1), of_minus_one, s.constant(0, x.type))
    inverse = s.select(s.compare("eq", x, 1), one, inverse)
    return s.select(s.compare("slt", y, 0), inverse, _power_unsigned(s, x, y))


def _mulhi(signed: bool) -> ScalarFunction:
    """The product of double width, shifted down; of 64 bits from products of halves."""

    def function(s: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        width = int_width(x)
        if width == _WIDEST:
            high = _high_of_unsigned(s, x, y)
            return _high_of_signed(s, high, x, y) if signed else high
        wide = [s.resize(value, 2 * width, signed) for value in (x, y)]
        product = s.integers(arith.MuliOp, wide[0], wide[1])
        return s.resize(s.integers(arith.ShRUIOp, product, width), width, signed)

    return function


_WIDEST = 64
"""No integers are wider at the lower levels."""


def _high_of_unsigned(s: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """`x y = xh yh 2^64 + (xh yl + xl yh) 2^32 + xl yl`, with the carries into the high half."""
    half = _WIDEST // 2
    (xl, xh), (yl, yh) = (
        (
            s.integers(arith.AndIOp, value, (1 << half) - 1),
            s.integers(arith.ShRUIOp, value, half),
        )
        for value in (x, y)
    )
    low = s.integers(arith.MuliOp, xl, yl)
    middle = s.integers(
        arith.AddiOp, s.integers(arith.MuliOp, xh, yl), s.integers(arith.ShRUIOp, low, half)
    )
    rest = s.integers(
        arith.AddiOp,
        s.integers(arith.MuliOp, xl, yh),
        s.integers(arith.AndIOp, middle, (1 << half) - 1),
    )
    high = s.integers(arith.MuliOp, xh, yh)
    for carry in (middle, rest):
        high = s.integers(arith.AddiOp, high, s.integers(arith.ShRUIOp, carry, half))
    return high


def _high_of_signed(s: ScalarBuilder, high: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
    """A negative factor is 2^64 less than read as unsigned: the other is subtracted."""
    zero = s.constant(0, x.type)
    for factor, other in ((x, y), (y, x)):
        excess = s.select(s.compare("slt", factor, 0), other, zero)
        high = s.integers(arith.SubiOp, high, excess)
    return high


def _shift(op_class: type[Operation]) -> ScalarFunction:
    """A shift that gives 0 for amounts from the width on, read as unsigned."""

    def function(s: ScalarBuilder, x: SSAValue, amount: SSAValue) -> SSAValue:
        zero = s.constant(0, x.type)
        in_range = _is_below_width(s, amount)
        shifted = s.integers(op_class, x, s.select(in_range, amount, zero))
        return s.select(in_range, shifted, zero)

    return function


def _is_below_width(s: ScalarBuilder, amount: SSAValue) -> SSAValue:
    return s.compare("ult", amount, int_width(amount))


def _shift_right_arithmetic(s: ScalarBuilder, x: SSAValue, amount: SSAValue) -> SSAValue:
    last = s.constant(int_width(x) - 1, x.type)
    limited = s.select(_is_below_width(s, amount), amount, last)
    return s.integers(arith.ShRSIOp, x, limited)


BINARY: dict[type[XlaOp], ElementFunction] = {
    ops.AddOp: ElementFunction.integer(
        ADD, floats=ScalarBuilder.addf, pred=OR, complex=of_complex(Complex.__add__)
    ),
    ops.SubtractOp: ElementFunction.integer(
        one_op(arith.SubiOp),
        floats=ScalarBuilder.subf,
        complex=of_complex(Complex.__sub__),
    ),
    ops.MultiplyOp: ElementFunction.integer(
        MULTIPLY,
        floats=ScalarBuilder.mulf,
        pred=AND,
        complex=of_complex(Complex.__mul__),
    ),
    ops.DivideOp: ElementFunction(
        floats=ScalarBuilder.divf,
        signed=_divide_signed,
        unsigned=_divide_unsigned,
        complex=of_complex(complex_numbers.divide),
    ),
    ops.PowerOp: ElementFunction(
        floats=one_op(math.PowFOp),
        signed=_power_signed,
        unsigned=_power_unsigned,
        complex=of_complex_in_double(complex_numbers.power),
    ),
    ops.RemainderOp: ElementFunction(
        floats=one_op(RemFOp), signed=_remainder_signed, unsigned=_remainder_unsigned
    ),
    ops.MaximumOp: ElementFunction(
        floats=one_op(arith.MaximumfOp),
        signed=one_op(arith.MaxSIOp),
        unsigned=one_op(arith.MaxUIOp),
        pred=OR,
    ),
    ops.MinimumOp: ElementFunction(
        floats=one_op(arith.MinimumfOp),
        signed=one_op(arith.MinSIOp),
        unsigned=one_op(arith.MinUIOp),
        pred=AND,
    ),
    ops.AndOp: ElementFunction.integer(AND, pred=AND),
    ops.OrOp: ElementFunction.integer(OR, pred=OR),
    ops.XorOp: ElementFunction.integer(XOR, pred=XOR),
    ops.MulhiOp: ElementFunction(signed=_mulhi(True), unsigned=_mulhi(False)),
    ops.ShiftLeftOp: ElementFunction.integer(_shift(arith.ShLIOp)),
    ops.ShiftRightArithmeticOp: ElementFunction.integer(_shift_right_arithmetic),
    ops.ShiftRightLogicalOp: ElementFunction.integer(_shift(arith.ShRUIOp)),
    ops.Atan2Op: ElementFunction(
        floats=one_op(math.Atan2Op), complex=of_complex_in_double(complex_numbers.atan2)
    ),
    ops.ComplexOp: ElementFunction(floats=ScalarBuilder.create_complex),
}

_EQUALITIES = {
    ComparisonDirection.EQ: complex_numbers.equal,
    ComparisonDirection.NE: complex_numbers.unequal,
}


def compare(s: ScalarBuilder, op: ops.CompareOp, x: SSAValue, y: SSAValue) -> SSAValue:
    """The result of a `compare` of two scalars; only equality is defined of complex numbers."""
    direction, row = op.direction.data, BY_TYPE[elements_of(op.lhs)]
    word, is_signed = direction.value.lower(), row.element_class == ElementClass.SIGNED
    if op.order == ComparisonType.TOTALORDER:
        x, y, is_signed = total_order_key(s, x, row), total_order_key(s, y, row), True
    elif row.element_class == ElementClass.FLOAT:
        is_unordered = direction == ComparisonDirection.NE
        predicate = ("u" if is_unordered else "o") + word
        return s.compare_floats(predicate, widen(s, x), widen(s, y))
    elif row.element_class == ElementClass.COMPLEX:
        return of_complex(_EQUALITIES[direction])(s, x, y)
    if direction not in _EQUALITIES:
        word = ("s" if is_signed else "u") + word
    return s.compare(word, x, y)


def total_order_key(s: ScalarBuilder, value: SSAValue, row: ElementType) -> SSAValue:
    """
    The bits as a signed integer, negative ones with all bits but the sign flipped.

    Formats with one NaN that has no sign (fnuz, f8e8m0fnu) have it above everything.
    """
    bits = s.bitcast(value, IntegerType(row.bits))
    small = small_float(value.type)
    if small is not None and not small.is_signed:
        return s.resize(bits, 2 * row.bits, signed=False)
    sign = s.integers(arith.ShRSIOp, bits, row.bits - 1)
    key = s.integers(arith.XOrIOp, bits, s.integers(arith.ShRUIOp, sign, 1))
    if small is None or small.specials is not Specials.NEGATIVE_ZERO_IS_NAN:
        return key
    wide = s.resize(key, 2 * row.bits, signed=True)
    is_nan = s.compare("eq", bits, small.sign)
    return s.select(is_nan, s.constant(small.sign, wide.type), wide)


def _clamped(maximum: type[Operation], minimum: type[Operation]) -> ScalarFunction:
    """`min(max(low, x), high)` by the operations of the element class."""

    def function(s: ScalarBuilder, low: SSAValue, x: SSAValue, high: SSAValue) -> SSAValue:
        return s.emit(minimum, (s.emit(maximum, (low, x)), high))

    return function


CLAMP = ElementFunction(
    floats=_clamped(arith.MaximumfOp, arith.MinimumfOp),
    signed=_clamped(arith.MaxSIOp, arith.MinSIOp),
    unsigned=_clamped(arith.MaxUIOp, arith.MinUIOp),
    pred=_clamped(arith.OrIOp, arith.AndIOp),
)


def select(
    s: ScalarBuilder, _op: SelectOp, pred: SSAValue, on_true: SSAValue, on_false: SSAValue
) -> SSAValue:
    """The result of a `select` of scalars, of any type."""
    return s.select(pred, on_true, on_false)
