"""
`exp`, `exp2`, `expm1` and what is made of them.

`x = n * ln 2 + r` with an integer `n` and `|r| <= ln 2 / 2`, so `exp(x) = 2**n * exp(r)`.
"""

from __future__ import annotations

from math import log, log2

from lowerings.loops.math_functions.numbers import Number

EXP_Q: dict[int, tuple[float, ...]] = {
    32: (0.49999994, 0.16666515, 0.041668084, 0.008369348, 0.0013840366),
    64: (
        0.5,
        0.16666666666666677,
        0.0416666666666667,
        0.00833333333332183,
        0.0013888888888871475,
        0.00019841269887644516,
        2.48015873237979e-05,
        2.7557240748080982e-06,
        2.7557323263301683e-07,
        2.511074112152868e-08,
        2.087891044029011e-09,
    ),
}
"""By bits: `exp(r) = 1 + r + r**2 * Q(r)` for `|r| <= 0.3473`, to 3.3e-9 and 1.3e-18."""

EXPM1_Q: dict[int, tuple[float, ...]] = {
    32: (0.5, 0.16666636, 0.04166651, 0.00834151, 0.0013930545, 0.00015046209),
    64: EXP_Q[64],
}
"""`exp(r) - 1 = r + r**2 * Q(r)` for `|r| <= 0.3473`, to 3.4e-9 and 1.3e-18."""

LN2: dict[int, tuple[float, float]] = {
    32: (0.693145751953125, 1.4286068e-06),
    64: (0.6931471805598903, 5.497923018708371e-14),
}
"""ln 2 as a sum; its head has so few bits that its product with any exponent is exact."""

EXP_RANGE: dict[int, tuple[float, float]] = {32: (-104.0, 89.0), 64: (-746.0, 710.0)}
"""Arguments whose exponential rounds to zero, and to infinity."""

EXP2_P: dict[int, tuple[float, ...]] = {
    32: (1.0000001, 0.69314694, 0.2402212, 0.055507135, 0.009675543, 0.0013276424),
    64: (
        1.0,
        0.6931471805599497,
        0.24022650695908768,
        0.055504108664458755,
        0.009618129108034312,
        0.0013333558228573298,
        0.00015403529961494734,
        1.5252658110027471e-05,
        1.3215662649056766e-06,
        1.0208539095789234e-07,
        7.0373113205962525e-09,
    ),
}
"""`exp2(r)` for `|r| <= 1/2`, to 7.5e-8 and 2.1e-16: for what is added to something larger."""

EXPM1_SATURATED: dict[int, float] = {32: -18.0, 64: -38.0}
"""At and below this the result is -1."""


def power_of_two(shifted: Number) -> tuple[Number, Number]:
    """
    `2**n` for the integer `n` in the low bits of `n + rounding_shift`: as two factors of about its
    root, so that neither over- or underflows.
    """
    layout = shifted.format
    bits = shifted.as_integer()
    # Half of n, rounded down, at the place of the exponent: an odd n's last bit falls below it.
    half = (bits << (layout.mantissa_bits - 1)) & -(1 << layout.mantissa_bits)
    rest = (bits << layout.mantissa_bits) - half
    return (half + layout.one_bits).as_float(), (rest + layout.one_bits).as_float()


def reduce_by_ln2(x: Number) -> tuple[Number, Number]:
    """`n + rounding_shift` and `x - n * ln 2`, where `n` is the integer next to `x / ln 2`."""
    high, low = LN2[x.format.bits]
    shifted = x.times_plus(1 / log(2), x.format.rounding_shift)
    n = shifted - x.format.rounding_shift
    return shifted, n.times_plus(-low, n.times_plus(-high, x))


def near_exp(r: Number) -> Number:
    """`exp(r)` for `|r| <= ln 2 / 2`."""
    return r.polynomial((1.0, 1.0, *EXP_Q[r.format.bits]))


def exp2_of_moderate(x: Number) -> Number:
    """2 to the power of x where it is a normal number, to `EXP2_P`'s precision."""
    layout = x.format
    shifted = x + layout.rounding_shift
    near = (x - (shifted - layout.rounding_shift)).polynomial(EXP2_P[layout.bits])
    return (near.as_integer() + (shifted.as_integer() << layout.mantissa_bits)).as_float()


def expm1_of_moderate(x: Number) -> Number:
    """The exponential of x, less 1, where it is a normal number; 1.5 ULP."""
    layout = x.format
    shifted, r = reduce_by_ln2(x)
    scale = ((shifted.as_integer() << layout.mantissa_bits) + layout.one_bits).as_float()
    near = (r * r).times_plus(r.polynomial(EXPM1_Q[layout.bits]), r)
    return near.times_plus(scale, scale - 1.0)


def exp(x: Number) -> Number:
    """The exponential of x. At most 1.0 ULP, denormal results as well."""
    least, greatest = EXP_RANGE[x.format.bits]
    shifted, r = reduce_by_ln2(x.above(least).below(greatest))
    first, second = power_of_two(shifted)
    return near_exp(r) * first * second


def exp2(x: Number) -> Number:
    """2 to the power of x. At most 1.1 ULP, denormal results as well."""
    least, greatest = EXP_RANGE[x.format.bits]
    limited = x.above(least * log2(2.7182818284590455)).below(greatest / log(2))
    shifted = limited + x.format.rounding_shift
    fraction = limited - (shifted - x.format.rounding_shift)
    first, second = power_of_two(shifted)
    return near_exp(fraction * log(2)) * first * second


def expm1(x: Number) -> Number:
    """
    The exponential of x, less 1. At most 1.9 ULP.

    With `2**n = a * b` it is `(a * (exp(r) - 1) + (a - 1 / b)) * b`.
    """
    bits = x.format.bits
    limited = x.above(EXPM1_SATURATED[bits]).below(EXP_RANGE[bits][1])
    shifted, r = reduce_by_ln2(limited)
    first, second = power_of_two(shifted)
    near = (r * r).times_plus(r.polynomial(EXPM1_Q[bits]), r)
    result = first.times_plus(near, first - 1.0 / second) * second
    return x.is_equal(0.0).choose(x, result)


ERF_P: dict[int, tuple[float, ...]] = {
    32: (
        0.12837917,
        -0.37612626,
        0.11283579,
        -0.026853347,
        0.005187162,
        -0.0007997853,
        7.806904e-05,
    ),
    64: (
        0.12837916709551256,
        -0.37612638903183343,
        0.11283791670936952,
        -0.026866170641959473,
        0.005223977596737011,
        -0.0008548325484780277,
        0.00012055280473869405,
        -1.49244647018567e-05,
        1.6444130093637413e-06,
        -1.618374371909761e-07,
        1.3615138007638815e-08,
        -7.603802929449388e-10,
    ),
}
"""`erf(x) = x + x * P(x**2)` for `|x| <= 1`, to 1.5e-9 and 1.4e-17."""

ERFC_LOG2: dict[int, tuple[float, ...]] = {
    32: (-2.6684167, -3.8072135, -1.2165098, -0.059214864, 0.0130503, -0.0016695093),
    64: (
        -2.6684166967815997,
        -3.807225345853523,
        -1.2163466576907473,
        -0.05995998993906378,
        0.014475748999400418,
        -0.0028535029408949648,
        0.0003423532021751325,
        3.799921656875035e-05,
        -3.936071039694075e-05,
        1.4123021061479251e-05,
        -3.249992117472932e-06,
        4.2591238521257954e-07,
        1.2590940076625212e-08,
        -2.0340211135151115e-08,
        4.6891375794205345e-09,
        -5.316311551344409e-10,
        2.553784585107767e-11,
    ),
}
"""`erf(x) = 1 - exp2(L(|x| - 1))` for `1 <= |x| <= ERF_SATURATED`, to 1.6e-8 and 3.1e-17."""

ERF_SATURATED: dict[int, float] = {32: 3.95, 64: 6.0}
"""From here on the result is 1."""


def erf(x: Number) -> Number:
    """The error function. At most 1.4 ULP."""
    bits = x.format.bits
    square = x * x
    near = x.times_plus(square.polynomial(ERF_P[bits]), x)
    magnitude = abs(x)
    beyond = magnitude.below(ERF_SATURATED[bits]) - 1.0
    far = 1.0 - exp2_of_moderate(beyond.polynomial(ERFC_LOG2[bits]))
    return magnitude.is_greater(1.0).choose(far, near).with_sign_of(x)


TANH_SATURATED: dict[int, float] = {32: 10.0, 64: 20.0}
"""From here on the result is 1."""


def tanh(x: Number) -> Number:
    """
    The hyperbolic tangent. At most 2.6 ULP.

    With `t = exp(2 * |x|) - 1` it is `t / (t + 2)`, where nothing cancels.
    """
    magnitude = abs(x)
    t = expm1_of_moderate((magnitude + magnitude).below(2 * TANH_SATURATED[x.format.bits]))
    return (t / (t + 2.0)).with_sign_of(x)
