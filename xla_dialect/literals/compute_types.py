"""The types in which arithmetic on narrow element types is done."""

from __future__ import annotations

import numpy as np

from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, DType
from xla_dialect.types import ElementClass

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
