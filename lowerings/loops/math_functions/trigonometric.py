"""
`sin`, `cos` and `tan`.

`x = n * pi/2 + r` with an integer `n` and `|r| <= pi/4`; what is left to do depends on the two
low bits of `n`. Moderate arguments are reduced with pi/2 as a sum of three numbers. Where a
vector has a lane beyond that, its lanes are reduced one by one with as many digits of 2/pi as it
takes (the method of Payne and Hanek).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import inf

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue

from lowerings.loops.builder import Index, LoopBuilder
from lowerings.loops.constants import FunctionConstants
from lowerings.loops.math_functions.numbers import Number
from xla_dialect.xdsl.creation import create

REDUCTION = "xla.reduce_by_half_pi"
"""The name of the function `f64 -> (f64, i64)`: the rest, and the number of right angles."""

DIGITS = "xla.two_over_pi"
"""The name of the constant that holds the binary digits of 2/pi."""

LEADING_ZERO_WORDS = 1
"""Words of 64 zero bits before the digits, so that moderate arguments find some as well."""
DIGIT_WORDS = 21
"""Words in all: the largest exponent reaches word 16 and needs four words from there."""

HALF_PI_HIGH, HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17


@cache
def digits_of_two_over_pi() -> tuple[int, ...]:
    """The words of the constant, as signed integers; pi by Machin's formula."""
    fraction_bits = 64 * (DIGIT_WORDS - LEADING_ZERO_WORDS)
    scale = 1 << (fraction_bits + 64)

    def arctangent_of_inverse(number: int) -> int:
        power, total, odd = scale // number, 0, 1
        while power:
            total += power // odd if odd % 4 == 1 else -(power // odd)
            power //= number * number
            odd += 2
        return total

    pi = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))
    digits = (2 * scale << fraction_bits) // pi
    shifts = range(fraction_bits - 64, -1, -64)
    words = [0] * LEADING_ZERO_WORDS + [digits >> shift & (1 << 64) - 1 for shift in shifts]
    return tuple(word - (1 << 64) if word >> 63 else word for word in words)


def definitions() -> list[Operation]:
    """The constant and the function."""
    digits_type = MemRefType(i64, [DIGIT_WORDS])
    words = TensorType(i64, [DIGIT_WORDS])
    dense = DenseIntOrFPElementsAttr.from_list(words, digits_of_two_over_pi())
    constant = memref.GlobalOp.get(StringAttr(DIGITS), digits_type, dense, constant=UnitAttr())
    block = Block(arg_types=[f64])
    builder = LoopBuilder(FunctionConstants(block))
    digits = builder.add(memref.GetGlobalOp(DIGITS, digits_type)).memref
    results = _reduce(Number(builder, block.args[0]), digits)
    builder.add(func.ReturnOp(*(result.value for result in results)))
    block.add_ops(builder.ops)
    function = func.FuncOp(REDUCTION, ([f64], [f64, i64]), Region(block), "private")
    return [constant, function]


def _reduce(x: Number, digits: SSAValue) -> tuple[Number, Number]:
    bits = x.as_integer()
    exponent = bits.shift_right_unsigned(52) & 0x7FF
    mantissa = (bits & (1 << 52) - 1) | 1 << 52
    # The value is mantissa * 2**(exponent - 1075). Digits of weight 2**(2 - e) and more drop out.
    position = exponent + (64 * LEADING_ZERO_WORDS - 1075 - 2)
    window = _window(position, digits)
    # The product modulo 2**192, without its lowest word: `high` counts right angles in its two
    # highest bits.
    _, carried = mantissa.times_wide(window[2])
    low, carried_high = mantissa.times_wide(window[1])
    middle = low + carried
    carry = middle.compare("ult", low).choose(middle.constant(1), 0)
    high = mantissa * window[0] + carried_high + carry
    quadrant = (high + (1 << 61)) >> 62
    rest = _signed_fraction(high - (quadrant << 62), middle)
    is_negative = bits.is_less(0)
    return (
        is_negative.choose(-rest, rest),
        is_negative.choose(quadrant.constant(0) - quadrant, quadrant),
    )


def _window(position: Number, digits: SSAValue) -> list[Number]:
    """Three words of the digits from a bit position on."""
    builder = position.builder
    first = Index(position.shift_right_unsigned(6).to_index())
    words: list[Number] = []
    for number in range(4):
        index = builder.materialize(builder.add_index(first, Index(None, number)))
        load = create(memref.LoadOp, operands=[digits, index], result_types=[i64])
        words.append(Number(builder, builder.add(load).res))
    shift = position & 63
    back = 63 - shift
    return [
        (word << shift) | following.shift_right_unsigned(1).shift_right_unsigned(back)
        for word, following in pairwise(words)
    ]


def _signed_fraction(high: Number, low: Number) -> Number:
    """pi/2 times a fraction of two words, of which the first is signed and counts 2**-62."""
    is_negative = high.is_less(0)
    borrow = low.is_equal(0).choose(low.constant(0), 1)
    high = is_negative.choose(high.constant(0) - high - borrow, high)
    low = is_negative.choose(low.constant(0) - low, low)
    zeros = high.leading_zeros()
    # At most 63 zeros lead: no float is nearer to a multiple of pi/2 than that.
    moved = (high << zeros) | low.shift_right_unsigned(1).shift_right_unsigned(63 - zeros)
    rest = low << zeros
    scale = ((1023 + 1 - zeros) << 52).as_float()
    head = moved.shift_right_unsigned(11).to_float(f64) * (2.0**-52)
    tail_bits = ((moved & 0x7FF) << 42) | rest.shift_right_unsigned(22)
    tail = tail_bits.to_float(f64) * (2.0**-105)
    product = head * HALF_PI_HIGH
    error = head.times_plus(HALF_PI_HIGH, -product)
    error = error + head.times_plus(HALF_PI_LOW, tail * HALF_PI_HIGH)
    result = (product + error) * scale
    return is_negative.choose(-result, result)


SIN_P: dict[int, tuple[float, ...]] = {
    32: (-0.16666667, 0.008333379, -0.00019853064, 2.8325098e-06),
    64: (
        -0.1666666666666663,
        0.00833333333332184,
        -0.00019841269829358533,
        2.755731353851862e-06,
        -2.5050734390339723e-08,
        1.589543337251779e-10,
    ),
}
"""`sin(r) = r + r**3 * P(r**2)` for `|r| <= 0.7862`, to 1.7e-10 and 3.8e-18."""

COS_P: dict[int, tuple[float, ...]] = {
    32: (0.041666646, -0.001388731, 2.4432327e-05),
    64: (
        0.041666666666666595,
        -0.0013888888888873307,
        2.480158728896522e-05,
        -2.7557314203073034e-07,
        2.087570313823862e-09,
        -1.1358616916295816e-11,
    ),
}
"""`cos(r) = 1 - r**2 / 2 + r**4 * P(r**2)` for `|r| <= 0.7862`, to 1.2e-10 and 5.8e-20."""

TWO_OVER_PI = 0.6366197723675814

HALF_PI: dict[int, tuple[float, float, float]] = {
    32: (1.5707963705062866, -4.371139e-08, -1.7151245e-15),
    64: (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
}
"""pi/2 as a sum, each number the rest rounded."""

MODERATE: dict[int, float] = {32: 30000.0, 64: 1e8}
"""Up to this size three numbers for pi/2 are enough, and the nearest integer is found."""


def reduce(x: Number) -> tuple[Number, Number]:
    """
    An angle as a number of right angles, an integer whose two low bits count, and a rest of at most
    half of one: NaN where the angle is not finite.
    """
    layout = x.format
    first, second, third = HALF_PI[layout.bits]
    shifted = x.times_plus(TWO_OVER_PI, layout.rounding_shift)
    n = shifted - layout.rounding_shift
    rest = n.times_plus(-third, n.times_plus(-second, n.times_plus(-first, x)))
    magnitude = abs(x)
    is_large = magnitude.is_greater(MODERATE[layout.bits]) & magnitude.is_less(inf)
    quadrant = shifted.as_integer()

    def far() -> list[Number]:
        found = reduce_lanes(is_large.choose(x, MODERATE[layout.bits]))
        return [is_large.choose(*pair) for pair in zip(found, (quadrant, rest), strict=True)]

    first, second = is_large.if_any(far, [quadrant, rest])
    return first, second


def reduce_lanes(x: Number) -> tuple[Number, Number]:
    """Each lane by a call of the function for large arguments."""
    wide = x.extended(f64) if x.format.bits == 32 else x
    rest, quadrant = wide.call_on_lanes(REDUCTION, [f64, i64])
    if x.format.bits == 32:
        rest = rest.truncated(x.element_type)
        quadrant = quadrant.cut(x.format.bits)
    return quadrant, rest


def sin_of_rest(r: Number, square: Number) -> Number:
    """The sine of the rest of a reduction, given its square."""
    return (square * r).times_plus(square.polynomial(SIN_P[r.format.bits]), r)


def cos_of_rest(square: Number) -> Number:
    """The cosine of the rest of a reduction, given the square of that."""
    quartic = (square * square) * square.polynomial(COS_P[square.format.bits])
    half = square * 0.5
    rounded = 1.0 - half
    return rounded + ((1.0 - rounded - half) + quartic)


def sin(x: Number) -> Number:
    """The sine of an angle in radians. At most 1.5 ULP."""
    quadrant, rest = reduce(x)
    result = _wave(rest, quadrant)
    return x.is_equal(0.0).choose(x, result)


def cos(x: Number) -> Number:
    """The cosine of an angle in radians. At most 1.5 ULP."""
    quadrant, rest = reduce(x)
    return _wave(rest, quadrant + 1)


def _wave(rest: Number, quadrant: Number) -> Number:
    """The sine of the rest and `quadrant` right angles."""
    square = rest * rest
    is_odd = (quadrant & 1).is_equal(1)
    magnitude = is_odd.choose(cos_of_rest(square), sin_of_rest(rest, square))
    sign = (quadrant & 2) << (rest.format.bits - 2)
    return (magnitude.as_integer() ^ sign).as_float()


def tan(x: Number) -> Number:
    """The tangent of an angle in radians. At most 2.9 ULP."""
    quadrant, rest = reduce(x)
    square = rest * rest
    sine, cosine = sin_of_rest(rest, square), cos_of_rest(square)
    is_odd = (quadrant & 1).is_equal(1)
    result = is_odd.choose(-cosine, sine) / is_odd.choose(sine, cosine)
    return x.is_equal(0.0).choose(x, result)


ATAN_P: dict[int, tuple[float, ...]] = {
    32: (
        -0.333333,
        0.1999853,
        -0.14264016,
        0.109508865,
        -0.0839938,
        0.057884764,
        -0.031103864,
        0.0108750295,
        -0.0017849841,
    ),
    64: (
        -0.3333333333333319,
        0.1999999999995218,
        -0.14285714280053796,
        0.11111110776286416,
        -0.09090897550633105,
        0.07692056517546955,
        -0.06663061860487286,
        0.05847581067524244,
        -0.05037909799775902,
        0.03802896160335301,
        -0.017868047144945165,
    ),
}
"""
`atan(q) = q + q**3 * P(q**2)`: f32 for `q <= 1`, to 3.2e-9; f64 for `|q| <= tan(pi/8)`, to 1.4e-18.
"""

TAN_OF_EIGHTH = 0.41421356237309503
"""tan(pi/8)."""

PI: dict[int, tuple[float, float]] = {
    32: (3.1415927410125732, -8.742278e-08),
    64: (3.141592653589793, 1.2246467991473532e-16),
}
"""pi as a sum."""


def atan(x: Number) -> Number:
    """The arc tangent. At most 1.3 ULP."""
    return atan2(x, x.constant(1.0))


def atan2(y: Number, x: Number) -> Number:
    """The angle of the point (x, y), between -pi and pi. At most 1.5 ULP."""
    high, low = PI[x.format.bits]
    rise, run = abs(y), abs(x)
    is_steep = rise.is_greater(run)
    least, most = is_steep.choose(run, rise), is_steep.choose(rise, run)
    angle = _atan_of_quotient(least, most)
    # From the nearest axis, by a right angle or two.
    angle = is_steep.choose(high / 2 - (angle - low / 2), angle)
    is_left = x.as_integer().is_less(0)
    angle = is_left.choose(high - (angle - low), angle)
    return (x.is_nan() | y.is_nan()).choose(x + y, angle.with_sign_of(y))


def _atan_of_quotient(least: Number, most: Number) -> Number:
    """The arc tangent of `least / most`, where 0/0 counts as 0 and inf/inf as 1."""
    bits = least.format.bits
    if bits == 32:
        quotient = _quotient(least, most)
        square = quotient * quotient
        return (square * quotient).times_plus(square.polynomial(ATAN_P[bits]), quotient)
    # atan(q) = pi/4 + atan((q - 1) / (q + 1)); a half of each keeps the sum in range.
    scale = most.is_greater(2.0**1022).choose(most.constant(0.5), 1.0)
    least, most = least * scale, most * scale
    is_infinite = least.is_equal(inf)
    is_near_one = least.is_greater(most * TAN_OF_EIGHTH) | is_infinite
    quotient = _quotient(
        is_near_one.choose(least - most, least), is_near_one.choose(least + most, most)
    )
    quotient = is_infinite.choose(quotient.constant(0.0), quotient)
    square = quotient * quotient
    rest = (square * quotient) * square.polynomial(ATAN_P[bits])
    high, low = PI[bits]
    turned = high / 4 + (quotient + (rest + low / 4))
    return is_near_one.choose(turned, quotient + rest)


def _quotient(least: Number, most: Number) -> Number:
    """`least / most`, where 0/0 is 0 and inf/inf is 1."""
    quotient = most.is_equal(0.0).choose(least, least / most)
    return least.is_equal(inf).choose(least.constant(1.0), quotient)
