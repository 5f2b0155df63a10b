"""Whether results are other ones, whatever passes say that they may change."""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Results = list[list[Array] | str]
"""Of each function on each input the arrays, or why there are none."""

TIMES = 8.0
"""How much further than before from what is expected a result is that was rounded otherwise."""


def difference(found: Results, before: Results, expected: Results) -> dict[str, Any]:
    """
    `equivalent` where not a bit differs, `rounding` where what is found is about as far from what
    is expected as it was before, or `missed`, with how far it is, in units of the last place.
    """
    outcome: dict[str, Any] = {"status": "equivalent"}
    for number, (ours, theirs, wanted) in enumerate(zip(found, before, expected, strict=True)):
        if isinstance(theirs, str) or isinstance(wanted, str):
            continue
        if isinstance(ours, str):
            return {"status": "missed", "message": f"input {number}: {ours}"}
        for one, other, right in zip(ours, theirs, wanted, strict=True):
            if _is_same(one, other):
                continue
            now, then = (_ulps(each, right) for each in (one, other))
            how = f"input {number}: {now:.3g} ULP from what is expected, {then:.3g} before"
            if not now <= TIMES * (then + 2):
                return {"status": "missed", "message": how}
            outcome = {"status": "rounding", "message": how}
    return outcome


def _is_same(one: Array, other: Array) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    with np.errstate(all="ignore"):
        same = (one == other) | ((one != one) & (other != other))
    is_float = other.dtype.kind not in "biu" and not np.issubdtype(other.dtype, np.integer)
    if is_float and other.dtype.kind != "c":
        same = same & ((np.signbit(one) == np.signbit(other)) | (one != one))
    return bool(np.all(same))


def _ulps(found: Array, expected: Array) -> float:
    """The largest distance of elements, in units of the last place; infinite for a NaN."""
    if found.dtype.kind == "c":
        parts = (np.real, np.imag)
        return max(_ulps(part(found), part(expected)) for part in parts)
    try:
        info = ml_dtypes.finfo(expected.dtype)
    except ValueError:
        return np.inf if np.any(found != expected) else 0.0
    with np.errstate(all="ignore"):
        one, other = found.astype(np.float64), expected.astype(np.float64)
        unit = np.maximum(np.abs(other), float(info.tiny)) * float(info.eps)
        distance = np.abs(one - other) / unit
        distance = np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0.0, distance)
    return float(np.max(np.where(np.isnan(distance), np.inf, distance), initial=0.0))
