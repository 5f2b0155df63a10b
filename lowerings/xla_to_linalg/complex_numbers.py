"""Arithmetic of complex scalars by their parts."""

from __future__ import annotations

from math import inf

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue

from lowerings.xla_to_linalg.scalars import ScalarBuilder


def negate(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`-z`."""
    real, imaginary = s.parts(z)
    return s.create_complex(s.negf(real), s.negf(imaginary))


def add(s: ScalarBuilder, z: SSAValue, w: SSAValue) -> SSAValue:
    """`z + w`."""
    return s.create_complex(s.addf(s.real(z), s.real(w)), s.addf(s.imaginary(z), s.imaginary(w)))


def subtract(s: ScalarBuilder, z: SSAValue, w: SSAValue) -> SSAValue:
    """`z - w`."""
    return s.create_complex(s.subf(s.real(z), s.real(w)), s.subf(s.imaginary(z), s.imaginary(w)))


def multiply(s: ScalarBuilder, z: SSAValue, w: SSAValue) -> SSAValue:
    """`(a + ib)(c + id) = ac - bd + i (ad + bc)`."""
    (a, b), (c, d) = s.parts(z), s.parts(w)
    return s.create_complex(s.subf(s.mulf(a, c), s.mulf(b, d)), s.addf(s.mulf(a, d), s.mulf(b, c)))


def divide(s: ScalarBuilder, z: SSAValue, w: SSAValue) -> SSAValue:
    """
    `z / w` by Smith's method, which divides by the larger part of w first.

    Over zero the parts are divided by +0 each.
    """
    (a, b), (c, d) = s.parts(z), s.parts(w)
    swapped = s.compare_floats("olt", s.absf(c), s.absf(d))
    larger, smaller = s.select(swapped, d, c), s.select(swapped, c, d)
    first, second = s.select(swapped, b, a), s.select(swapped, a, b)
    ratio = s.divf(smaller, larger)
    denominator = s.addf(larger, s.mulf(smaller, ratio))
    real = s.divf(s.addf(first, s.mulf(second, ratio)), denominator)
    unsigned = s.divf(s.subf(second, s.mulf(first, ratio)), denominator)
    imaginary = s.select(swapped, s.negf(unsigned), unsigned)
    is_zero = s.compare_floats("oeq", larger, 0.0)
    zero = s.constant_like(0, a)
    return s.create_complex(
        s.select(is_zero, s.divf(a, zero), real), s.select(is_zero, s.divf(b, zero), imaginary)
    )


def modulus(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`√(a² + b²)` by the larger part, so that nothing overflows; infinite if a part is."""
    a, b = (s.absf(part) for part in s.parts(z))
    larger, smaller = s.emit(arith.MaximumfOp, (a, b)), s.emit(arith.MinimumfOp, (a, b))
    ratio = s.divf(smaller, larger)
    root = s.emit(math.SqrtOp, (s.addf(s.mulf(ratio, ratio), 1.0),))
    value = s.select(s.compare_floats("oeq", larger, 0.0), larger, s.mulf(larger, root))
    is_infinite = s.either(s.compare_floats("oeq", a, inf), s.compare_floats("oeq", b, inf))
    return s.select(is_infinite, s.constant_like(inf, a), value)


def sign(s: ScalarBuilder, z: SSAValue) -> SSAValue:
    """`z / |z|`, and z itself where it is zero."""
    a, b = s.parts(z)
    length = modulus(s, z)
    is_zero = s.compare_floats("oeq", length, 0.0)
    unit = s.create_complex(s.divf(a, length), s.divf(b, length))
    return s.select(is_zero, z, unit)


def equal(s: ScalarBuilder, z: SSAValue, w: SSAValue) -> SSAValue:
    """Whether both parts are equal."""
    return s.both(
        s.compare_floats("oeq", s.real(z), s.real(w)),
        s.compare_floats("oeq", s.imaginary(z), s.imaginary(w)),
    )


def unequal(s: ScalarBuilder, z: SSAValue, w: SSAValue) -> SSAValue:
    """Whether a part differs."""
    return s.either(
        s.compare_floats("une", s.real(z), s.real(w)),
        s.compare_floats("une", s.imaginary(z), s.imaginary(w)),
    )
