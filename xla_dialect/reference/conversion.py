"""What the operations that change the element type compute."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np

from xla_dialect import types
from xla_dialect.literals.arrays import (
    COMPUTE_DTYPES,
    ELEMENT_OF_DTYPE,
    Array,
    DType,
    bit_width,
    bits_of,
    numpy_dtype,
)
from xla_dialect.op import XlaOp
from xla_dialect.ops import conversion as ops
from xla_dialect.reference.registration import registration
from xla_dialect.reference.rounding import as_complex, rounded, widened
from xla_dialect.types import ElementClass


def convert(x: Array, dtype: DType) -> Array:
    """`x` in another element type, by the rules of `convert`."""
    if x.dtype == dtype:
        return x
    target = ELEMENT_OF_DTYPE[dtype].element_class
    if target == ElementClass.PRED:
        return widened(x) != 0
    if x.dtype.kind == "c" and target != ElementClass.COMPLEX:
        x = np.real(x)
    if target == ElementClass.COMPLEX:
        if x.dtype.kind == "c":
            return x.astype(dtype)
        part = convert(x, np.dtype(f"f{dtype.itemsize // 2}"))
        return as_complex(part, np.zeros((), part.dtype))
    x = x.astype(np.uint8) if x.dtype == np.bool_ else widened(x)
    if target == ElementClass.FLOAT:
        return rounded(x, dtype) if x.dtype.kind == "f" else integer_to_float(x, dtype)
    if x.dtype.kind == "f":
        return float_to_integer(x, dtype)
    return x.astype(COMPUTE_DTYPES.get(dtype, dtype)).astype(dtype)


def float_to_integer(x: Array, dtype: DType) -> Array:
    """Truncated toward zero; out of range the nearest integer of the type; NaN gives 0."""
    integers = ELEMENT_OF_DTYPE[dtype].integers
    lowest, highest = integers[0], integers[-1]
    storage = COMPUTE_DTYPES.get(dtype, dtype)
    whole = np.trunc(x.astype(np.float64))
    # Both limits are powers of two (or 0), which are exact in f64; `highest` may not be.
    below, above = whole < float(lowest), whole >= float(highest + 1)
    inside = np.where(below | above | np.isnan(whole), 0.0, whole).astype(storage)
    saturated = np.where(below, storage.type(lowest), inside)
    return np.where(above, storage.type(highest), saturated).astype(dtype)


def integer_to_float(x: Array, dtype: DType) -> Array:
    """The nearest float, ties to even."""
    if dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        return x.astype(dtype)
    if x.dtype.itemsize == 8:
        # Rounding to odd in 53 bits makes the second rounding, to the result type, correct.
        low = x.dtype.type(0x7FF)
        to_odd = ((x >> 11) | ((x & low) != 0)) << 11
        x = np.where(np.abs(x.astype(np.float64)) < 2.0**53, x, to_odd)
    return rounded(x.astype(np.float64), dtype)


def bitcast_convert(x: Array, dtype: DType) -> Array:
    """The bits as another element type; index 0 of a new last dimension has the lowest bits."""
    old, new = bit_width(x.dtype), bit_width(dtype)
    unit = min(old, new, 8)
    units = _split(_bytes_of(x), min(old, 8), unit)
    if new > old:
        sizes = x.shape[:-1]
    else:
        sizes = x.shape if new == old else (*x.shape, old // new)
    elements = _merged(units.reshape((*sizes, new // unit)), unit, min(new, 8))
    if dtype == np.bool_:
        return elements[..., 0] != 0
    return elements.view(dtype)[..., 0]


def _bytes_of(x: Array) -> Array:
    """The bytes of each element, lowest first, in a new last dimension."""
    if bit_width(x.dtype) < 8:
        return bits_of(x)[..., None]
    return np.asarray(x, order="C")[..., None].view(np.uint8)


def _split(units: Array, width: int, narrow: int) -> Array:
    """Units of `width` bits as units of `narrow` bits, lowest first, along the last dimension."""
    shifts = np.arange(0, width, narrow, dtype=np.uint8)
    parts = (units[..., None] >> shifts) & np.uint8((1 << narrow) - 1)
    return parts.reshape((*units.shape[:-1], units.shape[-1] * shifts.size))


def _merged(units: Array, width: int, wide: int) -> Array:
    """Units of `width` bits joined to units of `wide` bits, the inverse of `_split`."""
    shifts = np.arange(0, wide, width, dtype=np.uint8)
    parts = units.reshape((*units.shape[:-1], units.shape[-1] // shifts.size, shifts.size))
    return np.bitwise_or.reduce(parts << shifts, axis=-1)


def reduce_precision(x: Array, *, exponent_bits: int, mantissa_bits: int) -> Array:
    """Floats rounded to a format with these bits and back; see the operation."""
    info = cast("Any", ml_dtypes.finfo(x.dtype))
    stored, own_bits = int(info.nmant), int(info.nexp)
    bits, one, largest = (
        bits_of(np.asarray(value, x.dtype)).astype(np.uint64) for value in (x, 1, info.max)
    )
    magnitude = bits & np.uint64((1 << (stored + own_bits)) - 1)
    sign = bits ^ magnitude
    if mantissa_bits < stored:
        dropped = stored - mantissa_bits
        # With no mantissa bits left, "even" is the lowest bit of the exponent.
        last = (magnitude >> np.uint64(dropped)) & np.uint64(1)
        half = np.uint64((1 << (dropped - 1)) - 1)
        magnitude = (magnitude + half + last) & ~np.uint64((1 << dropped) - 1)
    overflows = magnitude > largest
    vanishes = np.zeros(x.shape, np.bool_)
    if exponent_bits < own_bits:
        exponent = (magnitude >> np.uint64(stored)).astype(np.int64)
        exponent -= int(one >> np.uint64(stored))
        bias = (1 << (exponent_bits - 1)) - 1
        overflows |= exponent > bias
        vanishes = exponent < 1 - bias
    kept = sign | np.where(overflows | vanishes, np.uint64(0), magnitude)
    result = kept.astype(f"u{x.dtype.itemsize}").view(x.dtype)
    limit = np.where(overflows, np.float32(np.inf), np.float32(0))
    limit = np.where(sign != 0, -limit, limit).astype(x.dtype)
    result = np.where(overflows | vanishes, limit, result)
    return np.where(np.isnan(widened(x)), x, result)


def result_dtype(op: XlaOp) -> DType:
    """The dtype of the only result of an operation."""
    return numpy_dtype(cast("types.Array", op.results[0].type).element_type)


def convert_element_type(operand: Array, *, op: ops.ConvertOp) -> Array:
    """Every element converted."""
    return convert(operand, result_dtype(op))


def bitcast_convert_type(operand: Array, *, op: ops.BitcastConvertOp) -> Array:
    """The bits of the elements read as another type."""
    return bitcast_convert(operand, result_dtype(op))


ConversionFunctions = registration(
    "ConversionFunctions",
    {
        ops.ConvertOp: convert_element_type,
        ops.BitcastConvertOp: bitcast_convert_type,
        ops.ReducePrecisionOp: reduce_precision,
    },
)
