"""`erf`."""

from __future__ import annotations

from lowerings.loops.math_functions.exponential import exp2_of_moderate
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
