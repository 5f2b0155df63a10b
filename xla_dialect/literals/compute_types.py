"""The types in which arithmetic on narrow element types is done."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, DType, numpy_dtype
from xla_dialect.types import BY_TYPE, ElementClass

_WIDE_DTYPES = {
    ElementClass.SIGNED: np.dtype(np.int8),
    ElementClass.UNSIGNED: np.dtype(np.uint8),
    ElementClass.FLOAT: np.dtype(np.float32),
}

COMPUTE_DTYPES: dict[DType, DType] = {
    dtype: _WIDE_DTYPES[row.element_class]
    for dtype, row in ELEMENT_OF_DTYPE.items()
    if row.bits < (32 if row.element_class == ElementClass.FLOAT else 8)
}
"""From the dtype of a narrow type to the one that its arithmetic is done in."""


def accumulator_dtype(lhs: DType, rhs: DType, result: DType) -> DType:
    """f64 (c128) if a part of the dot has it, f32 (c64) for other floats, else the result type."""
    rows = [ELEMENT_OF_DTYPE[d] for d in (lhs, rhs, result)]
    if not any(row.element_class & (ElementClass.FLOAT | ElementClass.COMPLEX) for row in rows):
        return COMPUTE_DTYPES.get(result, result)
    kind = "c" if any(row.element_class == ElementClass.COMPLEX for row in rows) else "f"
    parts = [
        row.bits // (2 if row.element_class == ElementClass.COMPLEX else 1)
        for row in rows
        if row.element_class & (ElementClass.FLOAT | ElementClass.COMPLEX)
    ]
    size = 8 if max(parts) == 64 else 4
    return np.dtype(f"{kind}{2 * size if kind == 'c' else size}")


# Which of two element types holds what both hold best.


def higher_precision(left: Attribute, right: Attribute) -> Attribute | None:
    """
    The element type that a product of two has in XLA, where none is written.

    Complex comes before real, a float before any integer, more range before more digits, these
    before more bits, signed before unsigned. None where this does not tell two types apart, as
    f8e5m2 and f8e5m2fnuz.
    """
    if left == right:
        return left
    if _rank(left) == _rank(right):
        return None
    return max(left, right, key=_rank)


def _rank(type_: Attribute) -> tuple[int, ...]:
    is_complex = isinstance(type_, ComplexType)
    part = BY_TYPE[cast("ComplexType[Any]", type_).element_type if is_complex else type_]
    exponent, digits = -1, -1
    if part.element_class == ElementClass.FLOAT:
        limits = cast("Any", ml_dtypes.finfo(numpy_dtype(part.type)))
        exponent, digits = int(limits.maxexp), int(limits.nmant)
    bits = 1 if part.element_class == ElementClass.PRED else part.bits
    return (is_complex, exponent, digits, bits, part.element_class == ElementClass.SIGNED)
