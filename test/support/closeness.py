"""Whether arrays are as close to each other as the bound of a program asks."""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from jax_programs import Bound

from xla_dialect.literals.arrays import Array, element_type_of
from xla_dialect.types import ELEMENT_TYPES, ElementClass


def assert_within(found: Sequence[Array], expected: Sequence[Array], bound: Bound) -> None:
    """The same types and sizes; integers equal, floats within the bound of the largest one."""
    assert len(found) == len(expected)
    for number, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), f"result {number}"
        type_ = element_type_of(theirs.dtype)
        row = next(row for row in ELEMENT_TYPES if row.type == type_)
        where = f"result {number}, bound {bound.units} ({bound.reason})"
        if not row.element_class & (ElementClass.FLOAT | ElementClass.COMPLEX):
            np.testing.assert_array_equal(mine, theirs, where)
            continue
        wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
        with np.errstate(invalid="ignore"):
            mine, theirs = mine.astype(wide), theirs.astype(wide)
        largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=0)
        info = ml_dtypes.finfo(element_numpy(found[number]))
        tolerance = bound.units * float(info.eps) * max(float(largest), float(info.tiny))
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=tolerance, err_msg=where)


def element_numpy(array: Array) -> Any:
    """The dtype of an element, or of the parts of a complex one."""
    return np.real(array).dtype if array.dtype.kind == "c" else array.dtype
