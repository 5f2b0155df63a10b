"""`atan` and `atan2`."""

from __future__ import annotations

from math import inf

from lowerings.loops.math_functions.numbers import Number

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
