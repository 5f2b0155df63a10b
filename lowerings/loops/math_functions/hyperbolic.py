"""`tanh`."""

from __future__ import annotations

from lowerings.loops.math_functions.exponential import expm1_of_moderate
from lowerings.loops.math_functions.numbers import Number

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
