"""Conversions between f32 and narrower floats, in integer arithmetic on their codes."""

from __future__ import annotations

from xdsl.dialects.builtin import Float64Type, IntegerType, f32
from xdsl.ir import Attribute

from lowerings.ir.float_formats import FloatFormat, Specials
from lowerings.loops.math_functions.numbers import FORMATS, Number

SINGLE = FORMATS[type(f32)]
_INFINITY = 0x7F80_0000
_QUIET_NAN = 0x7FC0_0000
_MAGNITUDE = 0x7FFF_FFFF


def extended_to_single(number: Number, format_: FloatFormat) -> Number:
    """A small float as f32: exact; a NaN is quiet and has its sign."""
    code = number.bitcast(IntegerType(format_.bits)).zero_extended(SINGLE.bits)
    if not format_.has_zero:
        return _power_of_two(code, format_).as_float()
    magnitude = code & (format_.sign - 1)
    shift = SINGLE.mantissa_bits - format_.mantissa_bits
    # With the exponent rebased, what has the leading one is right. The others, with one more in
    # the exponent, have a leading one too many: it is subtracted.
    rebased = (magnitude << shift) + ((SINGLE.bias - format_.bias) << SINGLE.mantissa_bits)
    with_leading_one = (rebased + (1 << SINGLE.mantissa_bits)).as_float()
    subnormal = with_leading_one - 2.0 ** (1 - format_.bias)
    is_subnormal = magnitude.is_less(1 << format_.mantissa_bits)
    bits = is_subnormal.choose(subnormal.as_integer(), rebased)
    if format_.infinity is not None:
        bits = magnitude.is_equal(format_.infinity).choose(_INFINITY, bits)
        bits = magnitude.is_greater(format_.infinity).choose(_QUIET_NAN, bits)
    elif format_.specials is Specials.LAST_IS_NAN:
        bits = magnitude.is_equal(format_.largest + 1).choose(_QUIET_NAN, bits)
    sign = (code & format_.sign) << (SINGLE.bits - format_.bits)
    if format_.specials is Specials.NEGATIVE_ZERO_IS_NAN:
        bits = code.is_equal(format_.sign).choose(_QUIET_NAN, bits)
    return (bits | sign).as_float()


def _power_of_two(code: Number, format_: FloatFormat) -> Number:
    """The f32 bits of a format that is an exponent alone, the same as that of f32."""
    bits = code << SINGLE.mantissa_bits
    # 2**-127 is half of the smallest number with a leading one.
    bits = code.is_equal(0).choose(1 << (SINGLE.mantissa_bits - 1), bits)
    return code.is_equal(format_.largest + 1).choose(_QUIET_NAN, bits)


def rounded_from_single(number: Number, format_: FloatFormat, element_type: Attribute) -> Number:
    """
    An f32 as a small float: to nearest, ties to even. Larger magnitudes become infinity, NaN, or
    the largest number, which of them the format has first.

    Without signs, negative numbers are NaN, and so is zero where there is none; NaN is -0 where
    there is no NaN.
    """
    bits = number.as_integer()
    magnitude = bits & _MAGNITUDE
    if format_.has_zero:
        code = _rounded_magnitude(magnitude, format_)
    else:
        # The only bit that is kept is the leading one: a tie goes away from it.
        half = 1 << (SINGLE.mantissa_bits - 1)
        is_subnormal = magnitude.is_less(1 << SINGLE.mantissa_bits)
        nearly_half = is_subnormal.choose(magnitude.constant(half - 1), half)
        code = (magnitude + nearly_half).shift_right_unsigned(SINGLE.mantissa_bits)
    code = code.is_greater(format_.largest).choose(format_.overflow, code)
    is_nan = magnitude.is_greater(_INFINITY)
    if format_.infinity is not None:
        assert format_.nan is not None
        code = is_nan.choose(format_.nan, code)
    if not format_.is_signed:
        assert format_.nan is not None
        code = bits.is_at_most(0).choose(format_.nan, code)
    else:
        sign = bits.shift_right_unsigned(SINGLE.bits - format_.bits) & format_.sign
        signed = code | sign
        if format_.specials is Specials.NEGATIVE_ZERO_IS_NAN:
            signed = code.is_equal(0).choose(0, signed)
        code = signed
    if format_.nan is None:
        code = is_nan.choose(format_.sign, code)
    return code.cut(format_.bits).bitcast(element_type)


def _rounded_magnitude(magnitude: Number, format_: FloatFormat) -> Number:
    """The magnitude in the small format, as if its exponents had no end."""
    shift = SINGLE.mantissa_bits - format_.mantissa_bits
    rebase = (SINGLE.bias - format_.bias) << SINGLE.mantissa_bits
    odd = magnitude.shift_right_unsigned(shift) & 1
    rounded = magnitude + odd + ((1 << (shift - 1)) - 1 - rebase)
    normal = rounded.shift_right_unsigned(shift)
    # The last bit of this addend weighs what the last bit of a subnormal does: the addition
    # rounds to it.
    addend = 2.0 ** (shift + 1 - format_.bias)
    addend_bits = (SINGLE.bias + shift + 1 - format_.bias) << SINGLE.mantissa_bits
    subnormal = (magnitude.as_float() + addend).as_integer() - addend_bits
    smallest = (SINGLE.bias + 1 - format_.bias) << SINGLE.mantissa_bits
    return magnitude.is_less(smallest).choose(subnormal, normal)


def rounded_to_odd(number: Number) -> Number:
    """
    An f64 as f32, of the two neighbours the one with an odd last bit unless exact: rounded to
    fewer bits afterwards, it is rounded once (Boldo and Melquiond, 2008).
    """
    nearest = number.truncated(f32)
    back = nearest.extended(Float64Type())
    bits = nearest.as_integer()
    away = abs(back).is_greater(abs(number))
    odd = away.choose(bits - 1, bits) | 1
    return back.is_equal(number).choose(bits, number.is_nan().choose(bits, odd)).as_float()
