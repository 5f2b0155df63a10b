"""`rsqrt` and `cbrt`."""

from __future__ import annotations

from math import inf

from lowerings.loops.math_functions.numbers import Number

CBRT_BIAS: dict[int, float] = {32: 0x2A5119F2, 64: 0x2A9F7893}
"""
Two thirds of the exponent's bias, and a little more: added to a third of the bits of a number
(f64: of its upper half), these are about the bits of the cube root, to some 5 %.
"""

CBRT_STEPS: dict[int, int] = {32: 2, 64: 3}
"""Each step of Halley's triples the number of right digits."""


RSQRT_BIAS = 0.2500008
"""
By what the exponent of the first estimate falls short of 3/2 of the bias. With the factors of the
first step an error of 6.5e-4 is left; all three constants are J. Kadlec's (2010).
"""
RSQRT_FIRST_STEP = 0.703952253, 2.38924456
RSQRT_LARGEST_FACTOR = 0.501
"""Of the next step, where the first estimate was one: of a positive number that is normal."""


def rsqrt(x: Number) -> Number:
    """
    One over the square root. At most 1.5 ULP.

    In f32 an estimate from the bits and two steps take half of the time of a root and a division,
    which are left for vectors with other than positive normal numbers; in f64 they take longer.
    """
    layout = x.format
    if layout.bits == 64:
        return 1.0 / x.sqrt()
    bits = x.as_integer()
    start = int((1.5 * layout.bias - RSQRT_BIAS) * 2**layout.mantissa_bits)
    root = (bits.constant(start) - (bits >> 1)).as_float()
    scale, addend = RSQRT_FIRST_STEP
    root = root * scale * (x * root).times_plus(-root, addend)
    rest = (x * root).times_plus(-root, 1.0)
    factor = rest.times_plus(0.375, 0.5)
    root = (root * rest).times_plus(factor, root)
    # As unsigned integers NaN and negative numbers are larger too.
    largest = factor.constant(RSQRT_LARGEST_FACTOR).as_integer()
    is_other = largest.compare("ult", factor.as_integer())
    return is_other.if_any(lambda: [is_other.choose(1.0 / x.sqrt(), root)], [root])[0]


def cbrt(x: Number) -> Number:
    """The cube root. At most 0.7 ULP."""
    layout = x.format
    digits = layout.mantissa_bits // 3 * 3 + 3
    magnitude = abs(x)
    is_small = magnitude.is_less(layout.smallest_normal)
    is_large = magnitude.is_greater(2.0 ** (layout.bias - digits))
    scaled = is_small.choose(magnitude * 2.0**digits, magnitude)
    scaled = is_large.choose(magnitude * 2.0**-digits, scaled)
    root = _first_root(scaled)
    for _ in range(CBRT_STEPS[layout.bits]):
        cube = root * root * root
        root = root * ((cube + (scaled + scaled)) / (cube + cube + scaled))
    # One step of Newton's, with the difference of the cube from x in double length.
    square = root * root
    square_low = root.times_plus(root, -square)
    cube = square * root
    cube_low = square.times_plus(root, -cube) + square_low * root
    root = root - ((cube - scaled) + cube_low) / (square * 3.0)
    root = is_small.choose(root * 2.0 ** -(digits // 3), root)
    root = is_large.choose(root * 2.0 ** (digits // 3), root)
    is_regular = magnitude.is_less(inf) & magnitude.is_greater(0.0)
    return is_regular.choose(root.with_sign_of(x), x)


def _first_root(x: Number) -> Number:
    """The cube root of a normal number to some 5 %."""
    layout = x.format
    dropped = layout.bits - 32
    bits = x.as_integer() >> dropped if dropped else x.as_integer()
    third = (bits.to_float(x.element_type) * (1 / 3)).to_integer(bits.element_type)
    root = third + CBRT_BIAS[layout.bits]
    return (root << dropped if dropped else root).as_float()
