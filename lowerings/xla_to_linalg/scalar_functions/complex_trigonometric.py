"""
Trigonometric and hyperbolic functions of complex numbers of f64, and their inverses.

A function of `iz` is one of z turned: sines and tangents of `b + ia` have the parts of hyperbolic
ones of `a + ib`, exchanged. In c128 each part is within 10 ULP, also where it is small beside the
other; in c64 it is rounded once from that. Infinities and NaN are those of C99, Annex G.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, pi

from lowerings.xla_to_linalg.scalar_functions import float_functions
from lowerings.xla_to_linalg.scalar_functions.complex_exponential import (
    LARGEST_EXPONENT,
    lost_where_undirected,
    times_cosine,
    times_sine,
)
from lowerings.xla_to_linalg.scalar_functions.complex_numbers import modulus, sqrt
from lowerings.xla_to_linalg.scalar_functions.formulas import Complex, Condition, Real


@dataclass(frozen=True)
class Hyperbolic:
    """The hyperbolic sine and cosine of a number, both divided by `factor`."""

    sine: Real
    cosine: Real
    factor: Real
    """1, except where the functions would overflow."""

    @staticmethod
    def of(x: Real) -> Hyperbolic:
        """`(m + m / e) / 2` and `1 + m² / 2e` with e = e^|x| and m = e - 1."""
        a = abs(x)
        overflows = a.is_greater(LARGEST_EXPONENT)
        m = overflows.choose(a - LARGEST_EXPONENT, a).expm1()
        e = m + 1.0
        half = e * 0.5
        is_far = a.is_greater(float_functions.EXPONENTIAL_DOMINATES)
        ratio = m / e
        sine = is_far.choose(half, (m + ratio) * 0.5).with_sign_of(x)
        cosine = is_far.choose(half, 1.0 + m * ratio * 0.5)
        return Hyperbolic(sine, cosine, overflows.choose(exp(LARGEST_EXPONENT), a.constant(1.0)))


def sinh(z: Complex) -> Complex:
    """`sinh a cos b + i cosh a sin b`."""
    hyperbolic, sine = Hyperbolic.of(z.real), z.imaginary.sin()
    result = Complex(
        times_cosine(hyperbolic.sine, z.imaginary.cos()) * hyperbolic.factor,
        times_sine(hyperbolic.cosine, sine) * hyperbolic.factor,
    )
    return lost_where_undirected(z, sine, result)


def cosh(z: Complex) -> Complex:
    """`cosh a cos b + i sinh a sin b`."""
    hyperbolic, sine = Hyperbolic.of(z.real), z.imaginary.sin()
    result = Complex(
        times_cosine(hyperbolic.cosine, z.imaginary.cos()) * hyperbolic.factor,
        times_sine(hyperbolic.sine, sine) * hyperbolic.factor,
    )
    return lost_where_undirected(z, sine, result)


TANGENT_IS_ONE = 22.0
"""From here on the hyperbolic tangent is ±1 in f64."""


def tanh(z: Complex) -> Complex:
    """`(sinh a cosh a + i sin b cos b) / (sinh² a + cos² b)`; far out `±1 + i sin 2b / e^2|a|`."""
    a, b = z.real, z.imaginary
    sine, cosine = b.sin(), b.cos()
    hyperbolic = Hyperbolic.of(a)
    denominator = hyperbolic.sine * hyperbolic.sine + cosine * cosine
    product = sine * cosine
    near = Complex(hyperbolic.sine * hyperbolic.cosine / denominator, product / denominator)
    decayed = (-abs(a)).exp()
    far = Complex(a.constant(1.0).with_sign_of(a), times_sine(decayed, product * 4.0) * decayed)
    far = lost_where_undirected(z, product, far)
    result = abs(a).is_greater(TANGENT_IS_ONE).choose_complex(far, near)
    # Zero parts stay, whatever the other part is.
    return Complex(
        a.is_equal(0.0).choose(a, result.real), b.is_equal(0.0).choose(b, result.imaginary)
    )


def sine(z: Complex) -> Complex:
    """`sin a cosh b + i cos a sinh b`."""
    return sinh(z.swapped).swapped


def cosine(z: Complex) -> Complex:
    """`cos a cosh b - i sin a sinh b`."""
    return cosh(z.swapped).conjugate


def tangent(z: Complex) -> Complex:
    """The sine by the cosine."""
    return tanh(z.swapped).swapped


LARGE = 2.0**28
"""From here on, `1 + z²` is `z²` in f64."""


SQUARES_LOSE_DIGITS = 2.0**-960


def _refined_root(z: Complex) -> Complex:
    """The square root after a step of Newton's method: parts near half an ULP, instead of two."""
    root = sqrt(z)
    p, q = root.real, root.imaginary
    square = p * p + q * q
    # The larger square first: what is left of the real part then is exact.
    first = (-p).times_plus(p, q.times_plus(q, z.real))
    second = q.times_plus(q, (-p).times_plus(p, z.real))
    real = abs(q).is_greater(p).choose(first, second)
    imaginary = (p * -2.0).times_plus(q, z.imaginary)
    half = 0.5 / square
    refined = Complex(
        (p + (real * p + imaginary * q) * half).with_sign_of(p),
        (q + (imaginary * p - real * q) * half).with_sign_of(q),
    )
    return square.is_less(SQUARES_LOSE_DIGITS).choose_complex(root, refined)


@dataclass(frozen=True)
class Roots:
    """The square roots of `1 - z` and `1 + z`, and whether z is large or not finite."""

    minus: Complex
    plus: Complex
    is_large: Condition
    log_of_double: Real
    """`ln |2z|` for large z."""

    @staticmethod
    def of(z: Complex) -> Roots:
        a, b = z.real, z.imaginary
        is_large = abs(a).is_greater(LARGE) | abs(b).is_greater(LARGE)
        # Halved, so that the magnitude does not overflow.
        length = modulus(Complex(a * 0.5, b * 0.5))
        return Roots(
            _refined_root(Complex(1.0 - a, -b)),
            _refined_root(Complex(1.0 + a, b)),
            is_large,
            length.log() + 2 * log(2),
        )


def asin(z: Complex) -> Complex:
    """
    `atan2(a, Re √(1 - z) √(1 + z)) + i asinh(Im conj(√(1 - z)) √(1 + z))` (W. Kahan: "Branch cuts
    for complex elementary functions", 1987).
    """
    a, b, roots = z.real, z.imaginary, Roots.of(z)
    plus, minus = roots.plus, roots.minus
    cosine_part = plus.real.times_plus(minus.real, -plus.imaginary * minus.imaginary)
    sine_part = minus.real.times_plus(plus.imaginary, -minus.imaginary * plus.real)
    near = Complex(a.atan2(cosine_part), float_functions.asinh(sine_part))
    far = Complex(a.atan2(abs(b)), roots.log_of_double.with_sign_of(b))
    result = roots.is_large.choose_complex(far, near)
    return Complex(a.is_equal(0.0).choose(a, result.real), result.imaginary)


def acos(z: Complex) -> Complex:
    """`2 atan2(Re √(1 - z), Re √(1 + z)) + i asinh(Im conj(√(1 + z)) √(1 - z))` (Kahan)."""
    a, b, roots = z.real, z.imaginary, Roots.of(z)
    plus, minus = roots.plus, roots.minus
    half = minus.real.atan2(plus.real)
    sine_part = plus.real.times_plus(minus.imaginary, -plus.imaginary * minus.real)
    near = Complex(half + half, float_functions.asinh(sine_part))
    far = Complex(abs(b).atan2(a), -roots.log_of_double.with_sign_of(b))
    result = roots.is_large.choose_complex(far, near)
    return Complex(a.is_equal(0.0).choose(pi / 2, result.real), result.imaginary)


def asinh(z: Complex) -> Complex:
    """The arc sine of `b + ia`, its parts exchanged."""
    return asin(z.swapped).swapped


def acosh(z: Complex) -> Complex:
    """The arc cosine times ±i, in the right half plane."""
    turned = acos(z)
    return Complex(abs(turned.imaginary), turned.real.with_sign_of(z.imaginary))


VAST = 2.0**100
"""From here on, `1/z` vanishes beside 1, in f64."""


def atanh(z: Complex) -> Complex:
    """`±¼ ln1p(4a / ((1 - a)² + b²)) + i ½ atan2(2b, (1 - a)(1 + a) - b²)` with a = |Re z|."""
    a, b = abs(z.real), z.imaginary
    less = 1.0 - a
    near = ((a * 4.0) / (less * less + b * b)).log1p() * 0.25
    # Beside 1, the square of b may vanish.
    is_beside = a.is_equal(1.0) & abs(b).is_less(1 / LARGE)
    near = is_beside.choose((log(2) - abs(b).log()) * 0.5, near)
    angle = (b + b).atan2(less * (1.0 + a) - b * b) * 0.5
    # Far out it is 1/z ± i pi/2; squares may overflow there.
    is_large = a.is_greater(VAST) | abs(b).is_greater(VAST)
    length = modulus(Complex(a * 0.5, b * 0.5))
    inverse = length.is_less(inf).choose(a / length / length * 0.25, 0.0)
    right = b.is_nan().choose(b, b.constant(pi / 2).with_sign_of(b))
    real = is_large.choose(inverse, near)
    return Complex(
        a.is_equal(0.0).choose(a, real).with_sign_of(z.real), is_large.choose(right, angle)
    )
