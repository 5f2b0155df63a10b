"""`tanh`."""

from __future__ import annotations

from lowerings.loops.math_functions.exponential import exp_of_moderate
from lowerings.loops.math_functions.numbers import Number

TANH_P: dict[int, tuple[float, ...]] = {
    32: (-0.3333333, 0.13333221, -0.05394818, 0.021706894, -0.0081900135, 0.002152684),
    64: (
        -0.33333333333333315,
        0.1333333333332996,
        -0.05396825396614946,
        0.021869488470699718,
        -0.008863234338763003,
        0.0035921142225239042,
        -0.001455727210343195,
        0.0005894566210800233,
        -0.000237023995393296,
        9.157832425809452e-05,
        -3.0205890398478662e-05,
        6.050160601384811e-06,
    ),
}
"""`tanh(x) = x + x**3 * P(x**2)` for `|x| <= 0.625`, to 1.8e-10 and 3.8e-19."""

TANH_SMALL = 0.625

TANH_SATURATED: dict[int, float] = {32: 10.0, 64: 20.0}
"""From here on the result is 1."""


def tanh(x: Number) -> Number:
    """
    The hyperbolic tangent. At most 1.3 ULP.

    A polynomial where `|x| <= 0.625`, else `1 - 2 / (exp(2 * |x|) + 1)`.
    """
    bits = x.format.bits
    square = x * x
    near = (square * x).times_plus(square.polynomial(TANH_P[bits]), x)
    magnitude = abs(x)
    power = exp_of_moderate(magnitude.below(TANH_SATURATED[bits]) * 2.0)
    far = 1.0 - 2.0 / (power + 1.0)
    return magnitude.is_greater(TANH_SMALL).choose(far, near).with_sign_of(x)
