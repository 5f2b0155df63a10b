"""The element types of arrays in memory, by their names in HLO."""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import ELEMENTS, ElementClass, ElementRow

Array: TypeAlias = NDArray[Any]
DType: TypeAlias = np.dtype[Any]

MOST_DIMENSIONS = 64
"""Of an array of numpy 2."""


def _numpy_type(element: ElementRow) -> DType:
    """The dtype of one row of the table of element types."""
    match element.element_class:
        case ElementClass.PRED:
            return np.dtype(np.bool_)
        case ElementClass.COMPLEX:
            return np.dtype(f"complex{element.bits}")
        case ElementClass.FLOAT if element.bits >= 16 and element.name != "bf16":
            return np.dtype(f"float{element.bits}")
        case ElementClass.FLOAT:
            return np.dtype(getattr(ml_dtypes, _ML_DTYPES_NAMES[element.name]))
        case _:
            name = ("u" if element.element_class == ElementClass.UNSIGNED else "") + (
                f"int{element.bits}"
            )
            return np.dtype(getattr(np if element.bits >= 8 else ml_dtypes, name))


_ML_DTYPES_NAMES = {
    "f4e2m1fn": "float4_e2m1fn",
    "f6e2m3fn": "float6_e2m3fn",
    "f6e3m2fn": "float6_e3m2fn",
    "f8e3m4": "float8_e3m4",
    "f8e4m3": "float8_e4m3",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0fnu": "float8_e8m0fnu",
    "bf16": "bfloat16",
}

NUMPY_TYPES: dict[str, DType] = {each.name: _numpy_type(each) for each in ELEMENTS}
"""From the HLO name to the dtype."""
_NAMES = {dtype: name for name, dtype in NUMPY_TYPES.items()}


def spell_array(array: Array) -> str:
    """Element type and sizes of an array as HLO text spells them, e.g. `f32[2,3]`."""
    name = _NAMES.get(array.dtype) or str(array.dtype)
    return f"{name}[{','.join(map(str, array.shape))}]"


def require_rank(rank: int) -> None:
    """Raises XlaError where numpy has no arrays of this rank."""
    if rank > MOST_DIMENSIONS:
        raise XlaError(
            f"an array of rank {rank}: those of numpy have at most {MOST_DIMENSIONS} dimensions, "
            "and only arrays inside of compiled code may have more"
        )
