"""`rsqrt` and `cbrt`."""

from __future__ import annotations

from lowerings.loops.math_functions.numbers import Number


def rsqrt(x: Number) -> Number:
    """One over the square root; at most 1.5 ULP."""
    return 1.0 / x.sqrt()
