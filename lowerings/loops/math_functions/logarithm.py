"""
`log`, `log2`, `log10` and `log1p`.

`x = 2**e * (1 + f)` with `1 + f` between the roots of 1/2 and 2, so
`log(x) = e * ln 2 + log(1 + f)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, nan
from typing import TypeAlias

from lowerings.ir.float_formats import FloatFormat
from lowerings.loops.math_functions.exponential import LN2
from lowerings.loops.math_functions.numbers import Number

LOG_P: tuple[float, ...] = (
    0.3333333,
    -0.2500082,
    0.20001227,
    -0.16623358,
    0.14201763,
    -0.13160183,
    0.12761536,
    -0.07634444,
)
"""f32: `log(1 + f) = f - f**2 / 2 + f**3 * P(f)`, to 6.4e-9."""

LOG_R: tuple[float, ...] = (
    0.666666666666674,
    0.3999999999937658,
    0.285714287516407,
    0.22222197550264305,
    0.1818362103000701,
    0.1531251494056248,
    0.14812114955485356,
)
"""f64: `log(1 + f) = s * (2 + z * R(z))` with `s = f / (2 + f)` and `z = s**2`, to 1.4e-18."""

ROOT_OF_HALF_BITS: dict[int, int] = {32: 0x3F3504F3, 64: 0x3FE6A09E667F3BCD}
"""The bit pattern of the root of 1/2."""

Sum: TypeAlias = tuple[float, float]
"""A number as a sum of two."""

LOG10_2: dict[int, Sum] = {
    32: (0.30103302001953125, -3.0243555e-06),
    64: (0.30102999566395283, 2.8363394551044964e-14),
}
"""The decimal logarithm of 2; the products of its head with exponents are exact."""
LOG2_E: dict[int, Sum] = {
    32: (1.4426950216293335, 1.925963e-08),
    64: (1.4426950408889634, 2.0355273740931033e-17),
}
LOG10_E: dict[int, Sum] = {
    32: (0.4342944920063019, -1.010305e-08),
    64: (0.4342944819032518, 1.098319650216765e-17),
}


def mantissa_and_exponent(x: Number) -> tuple[Number, Number]:
    """A normal positive number as `2**exponent * (1 + fraction)`: fraction and exponent."""
    layout = x.format
    root = ROOT_OF_HALF_BITS[layout.bits]
    shifted = x.as_integer() - root
    exponent = (shifted >> layout.mantissa_bits).to_float(x.element_type)
    mantissa = (shifted & ((1 << layout.mantissa_bits) - 1)) + root
    return mantissa.as_float() - 1.0, exponent


def tail_of_log1p(f: Number) -> Number:
    """`log(1 + f) - f` for `1 + f` between the roots of 1/2 and 2."""
    square = f * f
    if f.format.bits == 32:
        return (square * f).times_plus(f.polynomial(LOG_P), square * -0.5)
    half = square * 0.5
    s = f / (f + 2.0)
    z = s * s
    return s.times_plus(z.times_plus(z.polynomial(LOG_R), half), -half)


def normalized(x: Number) -> tuple[Number, Number]:
    """A positive number scaled up if it is denormal, and what that adds to its exponent."""
    layout: FloatFormat = x.format
    digits = layout.mantissa_bits + 1
    is_small = x.is_less(layout.smallest_normal)
    scaled = is_small.choose(x * 2.0**digits, x)
    return scaled, is_small.choose(x.constant(-float(digits)), 0.0)


def at_edges(x: Number, pole: float, result: Number) -> Number:
    """`result`, with minus infinity at the pole, NaN below it, and `x` itself at infinity."""
    regular = x.is_less(inf).choose(result, x)
    outside = x.is_equal(pole).choose(x.constant(-inf), nan)
    return x.compare("ole", pole).choose(outside, regular)


def _logarithm(x: Number, *, of_e: Mapping[int, Sum], of_2: Mapping[int, Sum]) -> Number:
    """The logarithm to a base of which the logarithms of e and 2 are given, but for the base's."""
    bits = x.format.bits
    scaled, shift = normalized(x)
    fraction, exponent = mantissa_and_exponent(scaled)
    low = tail_of_log1p(fraction)
    exponent = exponent + shift
    if of_e:
        high, rest = of_e[bits]
        low = fraction.times_plus(rest, low * high)
    if of_2:
        low = exponent.times_plus(of_2[bits][1], low)
    result = fraction.times_plus(of_e[bits][0], low) if of_e else fraction + low
    result = exponent.times_plus(of_2[bits][0], result) if of_2 else result + exponent
    return at_edges(x, 0.0, result)


def log_e(x: Number) -> Number:
    """The natural logarithm. At most 0.9 ULP."""
    return _logarithm(x, of_e={}, of_2=LN2)


def log_2(x: Number) -> Number:
    """The logarithm to base 2. At most 1.0 ULP."""
    return _logarithm(x, of_e=LOG2_E, of_2={})


def log_10(x: Number) -> Number:
    """The logarithm to base 10. At most 1.0 ULP."""
    return _logarithm(x, of_e=LOG10_E, of_2=LOG10_2)


def log1p(x: Number) -> Number:
    """
    The natural logarithm of 1 + x. At most 0.9 ULP.

    What `u = 1 + x` loses in rounding, divided by u, is added to the logarithm of u.
    """
    u = x + 1.0
    lost = x.is_less(1.0).choose(x - (u - 1.0), 1.0 - (u - x))
    fraction, exponent = mantissa_and_exponent(u)
    tail = tail_of_log1p(fraction) + lost / u
    high, low = LN2[x.format.bits]
    fraction = fraction + exponent.times_plus(low, tail)
    result = at_edges(x, -1.0, exponent.times_plus(high, fraction))
    return x.is_equal(0.0).choose(x, result)
