"""
Functions of complex numbers of f64, by their parts.

Each part of an exponential or logarithm, and of the trigonometric and hyperbolic functions and
their inverses, is within 10 ULP in c128, also where it is small beside the other; in c64 it is
rounded once from that. Where terms cancel in `e^z - 1` or `1 + e^-z`, the error is a few ULP of the
terms. A power is off by about `|w ln z|` ULP of its modulus. Infinities and NaN are those of C99,
Annex G.

A function of `iz` is one of z turned: sines and tangents of `b + ia` have the parts of hyperbolic
ones of `a + ib`, exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, nan, pi

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import i32

from lowerings.xla_to_linalg.scalar_functions import float_functions
from lowerings.xla_to_linalg.scalar_functions.formulas import Complex, Condition, Real


def divide(z: Complex, w: Complex) -> Complex:
    """
    `z / w` by Smith's method, which divides by the larger part of w first.

    Over zero the parts are divided by +0 each. Where z or w is infinite and nothing else is found,
    the quotient is that of their directions, times infinity or zero.
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
    quotient = Complex(is_zero.choose(a / 0.0, real), is_zero.choose(b / 0.0, imaginary))
    over, under = _is_infinite(z), _is_infinite(w)
    is_lost = quotient.real.is_nan() & quotient.imaginary.is_nan()
    a, b, c, d = *_directions(z, over), *_directions(w, under)
    no_number = a.constant(nan)
    size = over.choose(under.choose(no_number, inf), under.choose(0.0, no_number))
    found = Complex((a * c + b * d) * size, (b * c - a * d) * size)
    return is_lost.choose_complex(found, quotient)


def _is_infinite(z: Complex) -> Condition:
    return z.real.is_infinite() | z.imaginary.is_infinite()


def _directions(z: Complex, is_infinite: Condition) -> tuple[Real, Real]:
    """The parts of a number; where it is infinite ones for those that are, zeros for the other."""

    def direction(part: Real) -> Real:
        size = part.is_infinite().choose(part.constant(1.0), part.constant(0.0))
        return is_infinite.choose(size.with_sign_of(part), part)

    return direction(z.real), direction(z.imaginary)


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


def _bounded(x: Real) -> tuple[Real, Real]:
    """A number whose exponential does not overflow, and a factor of that; up to twice the limit."""
    overflows = x.is_greater(LARGEST_EXPONENT)
    return (
        overflows.choose(x - LARGEST_EXPONENT, x),
        overflows.choose(exp(LARGEST_EXPONENT), x.constant(1.0)),
    )


def _turned(z: Complex, first: Real, second: Real, factor: Real) -> Complex:
    """`first cos b + i second sin b`, times a factor, for exponentials of the real part of z."""
    sine = z.imaginary.sin()
    result = Complex(
        times_cosine(first, z.imaginary.cos()) * factor, times_sine(second, sine) * factor
    )
    return lost_where_undirected(z, sine, result)


def exponential(z: Complex) -> Complex:
    """`e^a (cos b + i sin b)`; real for b = 0, and zero for a = -infinity."""
    exponent, factor = _bounded(z.real)
    scale = exponent.exp()
    return _turned(z, scale, scale, factor)


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
        bounded, factor = _bounded(a)
        m = bounded.expm1()
        e = m + 1.0
        half = e * 0.5
        is_far = a.is_greater(float_functions.EXPONENTIAL_DOMINATES)
        ratio = m / e
        sine = is_far.choose(half, (m + ratio) * 0.5).with_sign_of(x)
        cosine = is_far.choose(half, 1.0 + m * ratio * 0.5)
        return Hyperbolic(sine, cosine, factor)


def sinh(z: Complex) -> Complex:
    """`sinh a cos b + i cosh a sin b`."""
    hyperbolic = Hyperbolic.of(z.real)
    return _turned(z, hyperbolic.sine, hyperbolic.cosine, hyperbolic.factor)


def cosh(z: Complex) -> Complex:
    """`cosh a cos b + i sinh a sin b`."""
    hyperbolic = Hyperbolic.of(z.real)
    return _turned(z, hyperbolic.cosine, hyperbolic.sine, hyperbolic.factor)


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
