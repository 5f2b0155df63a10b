"""
Exponentials, logarithms and powers of complex numbers of f64.

Each part of an exponential or logarithm is within 10 ULP; where terms cancel in `e^z - 1` or
`1 + e^-z`, the error is a few ULP of the terms. A power is off by about `|w ln z|` ULP of its
modulus. Infinities and NaN are those of C99, Annex G.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp as exponential_of
from math import inf, nan

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import i32

from lowerings.xla_to_linalg.scalar_functions.complex_numbers import (
    Magnitude,
    divide,
    equal,
    sqrt,
    unequal,
)
from lowerings.xla_to_linalg.scalar_functions.formulas import Complex, Condition, Real

LARGEST_EXPONENT = 709.0
"""Beyond it the exponential overflows in f64, where its product with a sine may not."""


def times_cosine(factor: Real, cosine: Real) -> Real:
    """The product, but infinity times NaN is infinity, and zero stays zero."""
    product = times_sine(factor, cosine)
    return (factor.is_infinite() & cosine.is_nan()).choose(factor, product)


def times_sine(factor: Real, sine: Real) -> Real:
    """The product, but zero times anything is a zero, with the sign of the product."""
    zero = factor.constant(0.0).with_sign_of(factor) * sine.constant(1.0).with_sign_of(sine)
    return (factor.is_equal(0.0) | sine.is_equal(0.0)).choose(zero, factor * sine)


def lost_where_undirected(z: Complex, turn: Real, result: Complex) -> Complex:
    """
    NaN where a finite real part other than 0 has no direction; `turn` is a sine of the imaginary.

    Its exponential may be infinite or 0, for which `times_cosine` and `times_sine` would decide.
    """
    size = abs(z.real)
    is_lost = turn.is_nan() & size.is_less(inf) & size.is_greater(0.0)
    return is_lost.choose_complex(Complex(turn, turn), result)


@dataclass(frozen=True)
class Growth:
    """`e^x` as a product of two factors: an exponential that does not overflow, and a constant."""

    exponent: Real
    factor: Real

    @staticmethod
    def of(x: Real) -> Growth:
        """Exact for finite x up to twice the largest exponent."""
        overflows = x.is_greater(LARGEST_EXPONENT)
        return Growth(
            overflows.choose(x - LARGEST_EXPONENT, x),
            overflows.choose(exponential_of(LARGEST_EXPONENT), x.constant(1.0)),
        )


def exponential(z: Complex) -> Complex:
    """`e^a (cos b + i sin b)`; real for b = 0, and zero for a = -infinity."""
    growth = Growth.of(z.real)
    scale, sine = growth.exponent.exp(), z.imaginary.sin()
    result = Complex(
        times_cosine(scale, z.imaginary.cos()) * growth.factor,
        times_sine(scale, sine) * growth.factor,
    )
    return lost_where_undirected(z, sine, result)


def exponential_minus_one(z: Complex) -> Complex:
    """`e^z - 1` with `Re = expm1(a) cos b - 2 sin²(b / 2)`, which does not cancel near 0."""
    a, b = z.real, z.imaginary
    half = (b * 0.5).sin()
    minus_one = a.expm1()
    real = minus_one * b.cos() - (half + half) * half
    is_real = b.is_equal(0.0)
    return Complex(
        is_real.choose(minus_one, real),
        is_real.choose(b, a.exp() * b.sin()),
    )


def logistic(z: Complex) -> Complex:
    """`1 / (1 + e^-z)`, in the left half plane as `e^z / (1 + e^z)`: nothing overflows."""
    is_left = z.real.is_less(0.0)
    decayed = exponential(is_left.choose_complex(z, -z))
    one = z.constant(1.0)
    return divide(is_left.choose_complex(decayed, one), one + decayed)


def _sum(x: Real, y: Real) -> tuple[Real, Real]:
    """The sum and its rounding error (D. E. Knuth)."""
    total = x + y
    back = total - x
    return total, (x - (total - back)) + (y - back)


def _square(x: Real) -> tuple[Real, Real]:
    """The square and its rounding error."""
    square = x * x
    return square, x.times_plus(x, -square)


def _squared_modulus_plus(z: Complex, addend: Real) -> Real:
    """`a² + b² + addend` with twice the digits, so that little is lost where it is near 0."""
    (p, p_error), (q, q_error) = _square(z.real), _square(z.imaginary)
    first, first_error = _sum(p, addend)
    total, error = _sum(first, q)
    return total + ((first_error + error) + (p_error + q_error))


def _log_of_modulus(z: Complex) -> Real:
    """`ln |z|`, wherever z is."""
    magnitude = Magnitude.of(z)
    return magnitude.root.log() + magnitude.logarithm


def _is_near_one(excess: Real) -> Condition:
    """Of `|z|² - 1`: whether a logarithm of |z| would lose digits."""
    return excess.is_greater(-0.75) & excess.is_less(3.0)


def logarithm(z: Complex) -> Complex:
    """`ln |z| + i atan2(b, a)`; near |z| = 1 the real part is `½ ln1p(|z|² - 1)`."""
    excess = _squared_modulus_plus(z, z.real.constant(-1.0))
    real = _is_near_one(excess).choose(excess.log1p() * 0.5, _log_of_modulus(z))
    return Complex(real, z.imaginary.atan2(z.real))


def logarithm_plus_one(z: Complex) -> Complex:
    """`ln(1 + z)`; near |1 + z| = 1 the real part is `½ ln1p(|z|² + 2a)`."""
    excess = _squared_modulus_plus(z, z.real + z.real)
    moved = Complex(1.0 + z.real, z.imaginary)
    real = _is_near_one(excess).choose(excess.log1p() * 0.5, _log_of_modulus(moved))
    return Complex(real, z.imaginary.atan2(moved.real))


LARGEST_MULTIPLIED = 100.0
"""Below it, powers to integers are products."""


def _product(z: Complex, count: Real) -> Complex:
    """`z` multiplied with itself so many times, a whole number below `LARGEST_MULTIPLIED`."""
    s = count.scalars
    bits = s.emit(arith.FPToSIOp, (count.value,), i32)
    one, square = z.constant(1.0), z
    result = Condition(s, s.resize(bits, 1, signed=False)).choose_complex(z, one)
    for bit in range(1, int(LARGEST_MULTIPLIED).bit_length()):
        square = square * square
        taken = s.resize(s.integers(arith.ShRUIOp, bits, bit), 1, signed=False)
        result = Condition(s, taken).choose_complex(result * square, result)
    return result


def power(z: Complex, w: Complex) -> Complex:
    """
    `e^(w ln z)`; for small integers w a product, or 1 over it.

    z^0 is 1; 0^w is 0 for positive Re w, and NaN for other w.
    """
    c = w.real
    is_integer = c.apply(math.TruncOp).is_equal(c) & w.imaginary.is_equal(0.0)
    is_small = is_integer & abs(c).is_less(LARGEST_MULTIPLIED)
    product = _product(z, is_small.choose(abs(c), 0.0))
    inverse = divide(z.constant(1.0), product)
    product = c.is_less(0.0).choose_complex(inverse, product)
    result = is_small.choose_complex(product, exponential(w * logarithm(z)))
    of_zero = c.is_greater(0.0).choose(0.0, c.constant(nan))
    is_zero = equal(z, z.constant(0.0)) & unequal(w, w.constant(0.0))
    return is_zero.choose_complex(Complex(of_zero, of_zero), result)


def atan2(y: Complex, x: Complex) -> Complex:
    """`-i ln((x + iy) / √(x² + y²))`."""
    turned = Complex(-y.imaginary, y.real)
    quotient = divide(x + turned, sqrt(x * x + y * y))
    result = logarithm(quotient)
    return Complex(result.imaginary, -result.real)
