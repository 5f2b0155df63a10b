"""Arithmetic of complex numbers by their parts, their magnitudes and roots."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

from lowerings.xla_to_linalg.scalar_functions.formulas import Complex, Condition, Real


def negate(z: Complex) -> Complex:
    """`-z`."""
    return -z


def add(z: Complex, w: Complex) -> Complex:
    """`z + w`."""
    return z + w


def subtract(z: Complex, w: Complex) -> Complex:
    """`z - w`."""
    return z - w


def multiply(z: Complex, w: Complex) -> Complex:
    """`(a + ib)(c + id) = ac - bd + i (ad + bc)`."""
    return z * w


def divide(z: Complex, w: Complex) -> Complex:
    """
    `z / w` by Smith's method, which divides by the larger part of w first.

    Over zero the parts are divided by +0 each.
    """
    a, b, c, d = z.real, z.imaginary, w.real, w.imaginary
    swapped = abs(c).is_less(abs(d))
    larger, smaller = swapped.choose(d, c), swapped.choose(c, d)
    first, second = swapped.choose(b, a), swapped.choose(a, b)
    ratio = smaller / larger
    denominator = larger + smaller * ratio
    real = (first + second * ratio) / denominator
    product = first * ratio
    minuend, subtrahend = swapped.choose(product, second), swapped.choose(second, product)
    imaginary = (minuend - subtrahend) / denominator
    is_zero = c.is_equal(0.0) & d.is_equal(0.0)
    return Complex(is_zero.choose(a / 0.0, real), is_zero.choose(b / 0.0, imaginary))


def equal(z: Complex, w: Complex) -> Condition:
    """Whether both parts are equal."""
    return z.real.is_equal(w.real) & z.imaginary.is_equal(w.imaginary)


def unequal(z: Complex, w: Complex) -> Condition:
    """Whether a part differs."""
    return z.real.compare("une", w.real) | z.imaginary.compare("une", w.imaginary)


_BIG, _SMALL = 2.0**500, 2.0**-500
"""Beyond these, squares of f64 are scaled: they would overflow, or lose digits."""
_SCALE = 2.0**600


@dataclass(frozen=True)
class Magnitude:
    """`|z|` of f64 as a product of two factors, neither of which overflows or vanishes."""

    root: Real
    factor: Real
    """A power of two."""
    logarithm: Real
    """The natural logarithm of `factor`."""

    @staticmethod
    def of(z: Complex) -> Magnitude:
        """Infinite if a part is, even if the other is NaN. At most 1.1 ULP."""
        a, b = abs(z.real), abs(z.imaginary)
        is_big = a.is_greater(_BIG) | b.is_greater(_BIG)
        is_small = a.is_less(_SMALL) & b.is_less(_SMALL)

        def by_size(big: float, small: float, moderate: float) -> Real:
            return is_big.choose(big, is_small.choose(small, a.constant(moderate)))

        scale = by_size(1 / _SCALE, _SCALE, 1.0)
        x, y = a * scale, b * scale
        root = (a.is_infinite() | b.is_infinite()).choose(inf, (x * x + y * y).sqrt())
        exponent = log(_SCALE)
        return Magnitude(root, by_size(_SCALE, 1 / _SCALE, 1.0), by_size(exponent, -exponent, 0.0))


def modulus(z: Complex) -> Real:
    """`√(a² + b²)`."""
    magnitude = Magnitude.of(z)
    return magnitude.root * magnitude.factor


def sign(z: Complex) -> Complex:
    """`z / |z|`, z itself where it is zero, and NaN where a part is infinite or NaN."""
    largest = abs(z.real).maximum(abs(z.imaginary))
    x, y = z.real / largest, z.imaginary / largest
    length = (x * x + y * y).sqrt()
    return largest.is_equal(0.0).choose_complex(z, Complex(x / length, y / length))


_HUGE, _TINY = 2.0**1020, 2.0**-960


def sqrt(z: Complex) -> Complex:
    """
    `t + i b / 2t` with `t = √((|a| + |z|) / 2)`, the parts exchanged for negative a.

    The root in the right half plane; numbers whose magnitude overflows or loses digits are scaled
    by a power of four.
    """
    a, b = z.real, z.imaginary
    is_huge = abs(a).is_greater(_HUGE) | abs(b).is_greater(_HUGE)
    is_tiny = abs(a).is_less(_TINY) & abs(b).is_less(_TINY)
    scale = is_huge.choose(2.0**-4, is_tiny.choose(2.0**108, a.constant(1.0)))
    root_of_scale = is_huge.choose(2.0**2, is_tiny.choose(2.0**-54, a.constant(1.0)))
    x, y = abs(a) * scale, b * scale
    t = ((x + modulus(Complex(x, y))) * 0.5).sqrt()
    other = y / (t + t)
    is_right = a.is_at_least(0.0)
    root = Complex(
        is_right.choose(t, abs(other)) * root_of_scale,
        is_right.choose(other, t.with_sign_of(b)) * root_of_scale,
    )
    root = (a.is_equal(0.0) & b.is_equal(0.0)).choose_complex(Complex(a.constant(0.0), b), root)
    return b.is_infinite().choose_complex(Complex(abs(b), b), root)


def rsqrt(z: Complex) -> Complex:
    """`1 / √z`."""
    root = sqrt(z)
    return divide(root.constant(1.0), root)
