"""`erf`."""

from __future__ import annotations

from lowerings.loops.math_functions.exponential import exp_of_moderate
from lowerings.loops.math_functions.numbers import Number

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

ERFC_LOG: dict[int, tuple[float, ...]] = {
    32: (
        -1.8496056,
        -2.6389668,
        -0.8431176,
        -0.041503496,
        0.00989546,
        -0.0018293821,
        0.00018637879,
    ),
    64: (
        -1.8496055099332482,
        -2.6389675142347837,
        -0.8431072563591071,
        -0.041561098030207654,
        0.010033825225746664,
        -0.0019779014744375416,
        0.00023731737602982093,
        2.629397036336685e-05,
        -2.719478397573711e-05,
        9.665982641981867e-06,
        -2.1268483274064456e-06,
        2.0127730383800222e-07,
        5.980784814948216e-08,
        -3.404958950949748e-08,
        8.687710209103516e-09,
        -1.347835607154847e-09,
        1.2222900306475165e-10,
        -4.996671985424105e-12,
    ),
}
"""`erf(x) = 1 - exp(L(|x| - 1))` for `1 <= |x| <= ERF_SATURATED`, to 9.5e-9 and 7.2e-18."""

ERF_SATURATED: dict[int, float] = {32: 4.0, 64: 6.0}
"""From here on the result is 1."""


def erf(x: Number) -> Number:
    """The error function. At most 1.1 ULP."""
    bits = x.format.bits
    square = x * x
    near = x.times_plus(square.polynomial(ERF_P[bits]), x)
    magnitude = abs(x)
    beyond = magnitude.below(ERF_SATURATED[bits]) - 1.0
    far = 1.0 - exp_of_moderate(beyond.polynomial(ERFC_LOG[bits]))
    return magnitude.is_greater(1.0).choose(far, near).with_sign_of(x)
