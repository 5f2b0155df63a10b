"""Transcendental functions of complex scalars, by real functions of their parts."""

from __future__ import annotations

from math import inf, nan

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue

from lowerings.xla_to_linalg.complex_numbers import add, divide, modulus, multiply
from lowerings.xla_to_linalg.float_functions import (
    EXPONENTIAL_DOMINATES,
    cosh,
    log1p,
    sinh,
    sqrt,
)
from lowerings.xla_to_linalg.scalars import ScalarBuilder, component

NEAR = 0.5
"""Below this |z|, `ln(1 + z)` is computed from z rather than from 1 + z."""


def exponential(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`e^a (cos b + i sin b)`; real for b = 0, and 0 for a = -infinity."""
    a, b = s.parts(z)
    scale = s.emit(math.ExpOp, (a,))
    real = s.mulf(scale, s.emit(math.CosOp, (b,)))
    imaginary = s.mulf(scale, s.emit(math.SinOp, (b,)))
    vanishes = s.compare_floats("oeq", a, -inf)
    is_real = s.compare_floats("oeq", b, 0.0)
    return s.create_complex(
        s.select(s.either(vanishes, is_real), scale, real),
        s.select(is_real, b, s.select(vanishes, scale, imaginary)),
    )


def logarithm(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """
    `ln |z| + i atan2(b, a)`.

    Near |z| = 1 it is `½ ln1p((m - 1)(m + 1) + n²)` with m and n the larger and smaller part.
    """
    a, b = s.parts(z)
    length = modulus(s, z)
    first, second = s.absf(a), s.absf(b)
    larger = s.emit(arith.MaximumfOp, (first, second))
    smaller = s.emit(arith.MinimumfOp, (first, second))
    excess = s.addf(s.mulf(s.subf(larger, 1.0), s.addf(larger, 1.0)), s.mulf(smaller, smaller))
    near = s.mulf(s.emit(math.Log1pOp, (excess,)), 0.5)
    is_near = s.both(s.compare_floats("ogt", length, 0.5), s.compare_floats("olt", length, 2.0))
    return s.create_complex(
        s.select(is_near, near, s.emit(math.LogOp, (length,))),
        s.emit(math.Atan2Op, (b, a)),
    )


def _one(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    part = component(z)
    return s.create_complex(s.constant(1.0, part), s.constant(0.0, part))


def _cos(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    return s.emit(math.CosOp, (x,))


def _sin(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    return s.emit(math.SinOp, (x,))


def _times(s: ScalarBuilder, factor: SSAValue, x: SSAValue) -> SSAValue:
    """`factor x`; zero where the factor is, though x be infinite."""
    return s.select(s.compare_floats("oeq", factor, 0.0), factor, s.mulf(factor, x))


def exponential_minus_one(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`expm1 a cos b - 2 sin² b/2 + i e^a sin b`; real for b = 0."""
    a, b = s.parts(z)
    half = _sin(s, s.mulf(b, 0.5))
    minus_one = s.emit(math.ExpM1Op, (a,))
    versine = s.mulf(s.mulf(half, half), 2.0)
    real = s.subf(s.mulf(minus_one, _cos(s, b)), versine)
    is_real = s.compare_floats("oeq", b, 0.0)
    imaginary = s.mulf(s.emit(math.ExpOp, (a,)), _sin(s, b))
    return s.create_complex(s.select(is_real, minus_one, real), s.select(is_real, b, imaginary))


def log_plus_one(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`½ ln1p(a (2 + a) + b²) + i atan2(b, 1 + a)` near 0, else `ln(1 + z)`."""
    a, b = s.parts(z)
    square = s.addf(s.mulf(a, s.addf(a, 2.0)), s.mulf(b, b))
    near = s.mulf(log1p(s, square), 0.5)
    shifted = s.create_complex(s.addf(a, 1.0), b)
    is_near = s.compare_floats("olt", modulus(s, z), NEAR)
    real = s.select(is_near, near, s.real(logarithm(s, shifted)))
    return s.create_complex(real, s.emit(math.Atan2Op, (b, s.addf(a, 1.0))))


def square_root(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """The root with real part t or, for a < 0, imaginary part ±t, `t = √(|a|/2 + |z|/2)`."""
    a, b = s.parts(z)
    t = sqrt(s, s.addf(s.mulf(s.absf(a), 0.5), s.mulf(modulus(s, z), 0.5)))
    other = s.divf(s.absf(b), s.addf(t, t))
    is_zero = s.compare_floats("oeq", t, 0.0)
    other = s.select(is_zero, t, other)
    on_right = s.compare_floats("oge", a, 0.0)
    is_infinite = s.compare_floats("oeq", s.absf(b), inf)
    real = s.select(on_right, t, other)
    imaginary = s.select(on_right, other, t)
    return s.create_complex(
        s.select(is_infinite, s.absf(b), real),
        s.copysign(s.select(is_infinite, s.absf(b), imaginary), b),
    )


def reciprocal_square_root(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`1 / √z`."""
    return divide(s, _one(s, z), square_root(s, z))


def logistic(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`1 / (1 + e^-z)`."""
    a, b = s.parts(z)
    e = exponential(s, s.create_complex(s.negf(a), s.negf(b)))
    return divide(s, _one(s, z), add(s, _one(s, z), e))


def sine(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`sin a cosh b + i cos a sinh b`."""
    a, b = s.parts(z)
    imaginary = s.mulf(_cos(s, a), sinh(s, b))
    return s.create_complex(_times(s, _sin(s, a), cosh(s, b)), imaginary)


def cosine(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`cos a cosh b - i sin a sinh b`."""
    a, b = s.parts(z)
    imaginary = s.negf(_times(s, _sin(s, a), sinh(s, b)))
    return s.create_complex(s.mulf(_cos(s, a), cosh(s, b)), imaginary)


def hyperbolic_sine(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`sinh a cos b + i cosh a sin b`."""
    a, b = s.parts(z)
    imaginary = _times(s, _sin(s, b), cosh(s, a))
    return s.create_complex(s.mulf(sinh(s, a), _cos(s, b)), imaginary)


def hyperbolic_cosine(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`cosh a cos b + i sinh a sin b`."""
    a, b = s.parts(z)
    imaginary = _times(s, _sin(s, b), sinh(s, a))
    return s.create_complex(s.mulf(cosh(s, a), _cos(s, b)), imaginary)


def hyperbolic_tangent(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """
    By `t = tan b`, `h = sinh a`: `((1 + t²) h √(1 + h²) + i t) / (1 + (1 + t²) h²)`.

    For large |a| it is `±1 + 4i sin b cos b e^-2|a|`.
    """
    a, b = s.parts(z)
    t = s.emit(math.TanOp, (b,))
    h = sinh(s, a)
    beta = s.addf(s.mulf(t, t), 1.0)
    denominator = s.addf(s.mulf(s.mulf(beta, h), h), 1.0)
    root = sqrt(s, s.addf(s.mulf(h, h), 1.0))
    real = s.divf(s.mulf(s.mulf(beta, h), root), denominator)
    decay = s.emit(math.ExpOp, (s.mulf(s.absf(a), -2.0),))
    tail = s.mulf(s.mulf(s.mulf(_sin(s, b), _cos(s, b)), 4.0), decay)
    is_far = s.compare_floats("ogt", s.absf(a), EXPONENTIAL_DOMINATES)
    far = s.copysign(s.constant_like(1, a), a)
    return s.create_complex(
        s.select(is_far, far, real), s.select(is_far, tail, s.divf(t, denominator))
    )


def tangent(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`-i tanh(i z)`."""
    a, b = s.parts(z)
    turned = hyperbolic_tangent(s, s.create_complex(s.negf(b), a))
    return s.create_complex(s.imaginary(turned), s.negf(s.real(turned)))


def power(s: ScalarBuilder, z: SSAValue, w: SSAValue) -> SSAValue:
    """`e^(w ln z)`; `z^0 = 1`, and 0 to a power is 0 for a positive real part, else undefined."""
    part = component(z)
    zero, undefined = s.constant(0.0, part), s.constant(nan, part)
    value = exponential(s, multiply(s, w, logarithm(s, z)))
    base_is_zero = s.compare_floats("oeq", modulus(s, z), 0.0)
    vanishes = s.compare_floats("ogt", s.real(w), 0.0)
    of_zero = s.select(vanishes, zero, undefined)
    value = s.select(base_is_zero, s.create_complex(of_zero, of_zero), value)
    return s.select(s.compare_floats("oeq", modulus(s, w), 0.0), _one(s, z), value)
