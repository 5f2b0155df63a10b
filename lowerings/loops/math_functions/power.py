"""
`powf`: `2**(y * log2(x))`, with the logarithm and the product as sums of two numbers.

The exponent may be as large as 1024, and its absolute error is the relative one of the result:
the logarithm needs ten bits more than a float has.
"""

from __future__ import annotations

from math import inf, log
from typing import TypeAlias

from lowerings.loops.math_functions.exponential import near_exp, power_of_two
from lowerings.loops.math_functions.logarithm import LOG2_E, mantissa_and_exponent, normalized
from lowerings.loops.math_functions.numbers import Number

LOG_R1: dict[int, tuple[float, ...]] = {
    32: (0.40000156, 0.28546742, 0.234288),
    64: (
        0.39999999999999974,
        0.28571428571447044,
        0.22222222217070114,
        0.18181818927112506,
        0.15384553024817046,
        0.13336464289127736,
        0.11671859555738343,
        0.12013468769265252,
    ),
}
"""`2 * atanh(s) = s * (2 + z * (2/3 + z * R1(z)))` with `z = s**2`, to 9e-12 and 9e-23."""

TWO_THIRDS: dict[int, tuple[float, float]] = {
    32: (0.6666666865348816, -1.9868216e-08),
    64: (0.6666666666666666, 3.700743415417188e-17),
}
EXPONENT_RANGE: dict[int, tuple[float, float]] = {32: (-160.0, 130.0), 64: (-1090.0, 1030.0)}
"""Powers of two beyond are zero, and infinity."""


Pair: TypeAlias = tuple[Number, Number]
"""The sum of a number and a small correction."""


def exact_product(a: Number, b: Number) -> Pair:
    """The product without rounding."""
    product = a * b
    return product, a.times_plus(b, -product)


def exact_sum(large: Number, small: Number) -> Pair:
    """The sum without rounding; `large` is not the smaller one in magnitude."""
    total = large + small
    return total, small - (total - large)


def log2_pair(x: Number) -> Pair:
    """The logarithm to base 2 of a positive finite number, to some 68 bits (f32: 36)."""
    bits = x.format.bits
    scaled, shift = normalized(x)
    fraction, exponent = mantissa_and_exponent(scaled)
    # s = f / (2 + f), with what both roundings lost.
    divisor = fraction + 2.0
    divisor_low = fraction - (divisor - 2.0)
    s = fraction / divisor
    lost = (-s).times_plus(divisor, fraction)
    s_low = (-s).times_plus(divisor_low, lost) / divisor
    z, z_rest = exact_product(s, s)
    z_low = (s * s_low).times_plus(2.0, z_rest)
    series = z * z.polynomial(LOG_R1[bits])
    high, low = TWO_THIRDS[bits]
    factor, factor_rest = exact_sum(series.constant(high), series)
    factor_low = factor_rest + low
    cubic, cubic_rest = exact_product(z, factor)
    cubic_low = z.times_plus(factor_low, z_low.times_plus(factor, cubic_rest))
    term, term_rest = exact_product(s, cubic)
    term_low = s.times_plus(cubic_low, s_low.times_plus(cubic, term_rest))
    natural, natural_rest = exact_sum(s * 2.0, term)
    natural_low = natural_rest + s_low.times_plus(2.0, term_low)
    base, base_low = LOG2_E[bits]
    product, product_rest = exact_product(natural, natural.constant(base))
    product_low = natural.times_plus(base_low, natural_low.times_plus(base, product_rest))
    result, result_low = exact_sum(exponent + shift, product)
    return result, result_low + product_low


def pow_of_magnitude(x: Number, y: Number) -> Number:
    """A positive number, zero or infinity, to the power of y."""
    layout = x.format
    logarithm, logarithm_low = log2_pair(x)
    product, product_low = exact_product(y, logarithm)
    low = y.times_plus(logarithm_low, product_low)
    least, greatest = EXPONENT_RANGE[layout.bits]
    limited = product.above(least).below(greatest)
    # Where the product overflows, or is limited, its low part is meaningless.
    low = limited.is_equal(product).choose(low, 0.0)
    shifted = limited + layout.rounding_shift
    rest = (limited - (shifted - layout.rounding_shift)) + low
    first, second = power_of_two(shifted)
    return near_exp(rest * log(2)) * first * second


def powf(x: Number, y: Number) -> Number:
    """X to the power of y, with the special cases of IEEE 754. At most 1.2 ULP."""
    magnitude = abs(x)
    result = pow_of_magnitude(magnitude, y)
    # Zero and infinity, and y infinite.
    grows = y.is_greater(0.0)
    result = magnitude.is_equal(0.0).choose(grows.choose(result.constant(0.0), inf), result)
    result = magnitude.is_equal(inf).choose(grows.choose(result.constant(inf), 0.0), result)
    away = magnitude.is_greater(1.0).is_equal(grows)
    infinite = away.choose(result.constant(inf), 0.0)
    result = abs(y).is_equal(inf).choose(infinite, result)
    # Signs, and powers of negative numbers that are not real.
    half = y * 0.5
    is_whole = y.trunc().is_equal(y)
    is_odd = is_whole & (half.trunc().is_equal(half) ^ 1)
    signed = result.with_sign_of(x)
    result = is_odd.choose(signed, result)
    is_unreal = x.is_less(0.0) & magnitude.is_less(inf) & (is_whole ^ 1)
    result = is_unreal.choose(result.constant(float("nan")), result)
    result = (x.is_nan() | y.is_nan()).choose(x + y, result)
    is_one = x.is_equal(1.0) | y.is_equal(0.0) | (magnitude.is_equal(1.0) & abs(y).is_equal(inf))
    return is_one.choose(result.constant(1.0), result)
