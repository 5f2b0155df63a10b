"""In which type a function is evaluated, and how its value is rounded to the element type.

Integers below 8 bits are evaluated in 8 bits and wrap. Floats below f32 are evaluated in f32 and
round once: for `+ - * / √` of normal numbers that is the correctly rounded result, because f32 has
more than twice their precision. Transcendental functions of f32 and below are evaluated in f64,
those of c64 in c128.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xla_dialect.literals.arrays import COMPUTE_DTYPES, ELEMENT_OF_DTYPE, Array, DType, numpy_dtype
from xla_dialect.types import BY_NAME, ElementClass

_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_WITHOUT_NAN = frozenset(
    numpy_dtype(BY_NAME[name].type) for name in ("f4e2m1fn", "f6e2m3fn", "f6e3m2fn")
)

DOUBLE_DTYPES: dict[DType, DType] = {
    **{d: _DOUBLE for d, r in ELEMENT_OF_DTYPE.items() if r.element_class == ElementClass.FLOAT},
    **{np.dtype(c): np.dtype(np.complex128) for c in (np.complex64, np.complex128)},
}
"""From the dtype of a float or complex type to the one of double precision."""

Function = Callable[..., Array]


def widened(array: Array) -> Array:
    """The same numbers in the type that their arithmetic is done in."""
    wide = COMPUTE_DTYPES.get(array.dtype)
    return array if wide is None else array.astype(wide)


def in_compute_type(function: Function) -> Function:
    """`function` on narrow operands: evaluated wide, rounded (or wrapped) to their type."""

    def evaluate(*operands: Array) -> Array:
        dtype = operands[0].dtype
        wide = COMPUTE_DTYPES.get(dtype)
        if wide is None:
            return function(*operands)
        return rounded(function(*(operand.astype(wide) for operand in operands)), dtype)

    return evaluate


def in_double(function: Function) -> Function:
    """`function` of floats or complex numbers, evaluated in double precision and rounded once."""

    def evaluate(*operands: Array) -> Array:
        dtype = operands[0].dtype
        wide = DOUBLE_DTYPES[dtype]
        return rounded(function(*(operand.astype(wide) for operand in operands)), dtype)

    return evaluate


def rounded(array: Array, dtype: DType) -> Array:
    """
    Floats rounded once to another float type, integers wrapped to a narrower one.

    Ties go to even. Overflow is what the type has for it: infinity, NaN (f8e4m3fn and the fnuz
    formats) or the largest value (f4 and f6). NaN becomes -0 where there is none (f4 and f6).
    Complex numbers round by component.
    """
    source = array.dtype
    if source == dtype:
        return array
    if dtype in _WITHOUT_NAN and source.kind == "f":
        # ml_dtypes makes a NaN the zero of opposite sign; a computed NaN may have either sign.
        array = np.where(np.isnan(array), source.type(np.nan), array)
    if source == _DOUBLE and dtype not in (_SINGLE, np.dtype(np.float16)):
        # ml_dtypes would round to f32 on the way, i.e. twice.
        return _rounded_to_odd(array).astype(dtype)
    return array.astype(dtype)


def _rounded_to_odd(array: Array) -> Array:
    """
    f64 to f32 so that another rounding to fewer bits gives what one rounding would.

    An inexact result is the neighbour with odd last bit (S. Boldo, G. Melquiond: "Emulation of FMA
    and correctly rounded sums: proved algorithms using rounding to odd", 2008).
    """
    nearest = array.astype(_SINGLE)
    back = nearest.astype(_DOUBLE)
    even = (nearest.view(np.uint32) & 1) == 0
    towards = np.where(array > back, np.float32(np.inf), np.float32(-np.inf))
    inexact = (back != array) & ~np.isnan(array)
    return np.where(even & inexact, np.nextafter(nearest, towards), nearest)


def as_complex(real: Array, imaginary: Array) -> Array:
    """The complex array of two f32 or two f64 arrays; no arithmetic touches the parts."""
    parts = np.stack(np.broadcast_arrays(real, imaginary), axis=-1)
    return parts.view(f"c{2 * parts.dtype.itemsize}")[..., 0]
