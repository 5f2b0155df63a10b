"""
`sin`, `cos` and `tan`.

`x = n * pi/2 + r` with an integer `n` and `|r| <= pi/4`; what is left to do depends on the two
low bits of `n`. Moderate arguments are reduced with pi/2 as a sum of three numbers. Where a
vector has a lane beyond that, its lanes are reduced one by one with as many digits of 2/pi as it
takes (the method of Payne and Hanek).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from xdsl.dialects.builtin import f64, i64

from lowerings.loops.math_functions.large_arguments import REDUCTION
from lowerings.loops.math_functions.numbers import Number

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


@dataclass(frozen=True)
class Reduced:
    """An angle as a number of right angles and a rest of at most half of one."""

    quadrant: Number
    """An integer, whose two low bits count."""
    rest: Number


def reduce(x: Number) -> Reduced:
    """Any finite number, or NaN for the rest of others."""
    layout = x.format
    first, second, third = HALF_PI[layout.bits]
    shifted = x.times_plus(TWO_OVER_PI, layout.rounding_shift)
    n = shifted - layout.rounding_shift
    rest = n.times_plus(-third, n.times_plus(-second, n.times_plus(-first, x)))
    magnitude = abs(x)
    is_large = magnitude.is_greater(MODERATE[layout.bits]) & magnitude.is_less(inf)
    near = Reduced(shifted.as_integer(), rest)

    def far() -> list[Number]:
        found = reduce_lanes(is_large.choose(x, MODERATE[layout.bits]))
        quadrant = is_large.choose(found.quadrant, near.quadrant)
        return [quadrant, is_large.choose(found.rest, near.rest)]

    return Reduced(*is_large.if_any(far, [near.quadrant, near.rest]))


def reduce_lanes(x: Number) -> Reduced:
    """Each lane by a call of the function for large arguments."""
    wide = x.extended(f64) if x.format.bits == 32 else x
    rest, quadrant = wide.call_on_lanes(REDUCTION, [f64, i64])
    if x.format.bits == 32:
        rest = rest.truncated(x.element_type)
        quadrant = quadrant.cut(x.format.bits)
    return Reduced(quadrant, rest)


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
    reduced = reduce(x)
    result = _wave(reduced.rest, reduced.quadrant)
    return x.is_equal(0.0).choose(x, result)


def cos(x: Number) -> Number:
    """The cosine of an angle in radians. At most 1.5 ULP."""
    reduced = reduce(x)
    return _wave(reduced.rest, reduced.quadrant + 1)


def _wave(rest: Number, quadrant: Number) -> Number:
    """The sine of the rest and `quadrant` right angles."""
    square = rest * rest
    is_odd = (quadrant & 1).is_equal(1)
    magnitude = is_odd.choose(cos_of_rest(square), sin_of_rest(rest, square))
    sign = (quadrant & 2) << (rest.format.bits - 2)
    return (magnitude.as_integer() ^ sign).as_float()


def tan(x: Number) -> Number:
    """The tangent of an angle in radians. At most 2.9 ULP."""
    reduced = reduce(x)
    square = reduced.rest * reduced.rest
    sine, cosine = sin_of_rest(reduced.rest, square), cos_of_rest(square)
    is_odd = (reduced.quadrant & 1).is_equal(1)
    result = is_odd.choose(-cosine, sine) / is_odd.choose(sine, cosine)
    return x.is_equal(0.0).choose(x, result)
