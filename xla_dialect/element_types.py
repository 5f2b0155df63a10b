"""The table of element types by their names in HLO, and what numpy has for them, without MLIR."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from xla_dialect.diagnostics import XlaError


class ElementClass(IntFlag):
    """The classes of element types that constraints speak of (docs/specification/shapes.md#s8)."""

    PRED = 1
    SIGNED = 2
    UNSIGNED = 4
    FLOAT = 8
    COMPLEX = 16
    INTEGER = SIGNED | UNSIGNED
    REAL = INTEGER | FLOAT
    NUMBER = INTEGER | FLOAT | COMPLEX
    ANY = NUMBER | PRED

    def describe(self) -> str:
        """The class in words, as messages use it: `integer or float`."""
        words: list[str] = []
        rest = self
        for members, word in _CLASS_WORDS:
            if rest & members == members:
                words.append(word)
                rest &= ~members
        return " or ".join(words)


_CLASS_WORDS = (
    (ElementClass.INTEGER, "integer"),
    (ElementClass.SIGNED, "signed integer"),
    (ElementClass.UNSIGNED, "unsigned integer"),
    (ElementClass.FLOAT, "float"),
    (ElementClass.COMPLEX, "complex"),
    (ElementClass.PRED, "pred"),
)


@dataclass(frozen=True)
class ElementRow:
    """One row of the table: what is known of an element type without MLIR."""

    name: str
    """The name in HLO text, e.g. `f32`."""
    bits: int
    """The width of a value in bits; pred counts as 8, its storage width."""
    element_class: ElementClass

    @property
    def byte_size(self) -> int:
        """The bytes of an element of an array: whole ones, so one of pred and of sub-byte types."""
        return max(1, self.bits // 8)

    @property
    def integers(self) -> range:
        """The integers that an element may be; of pred 0 and 1."""
        if self.element_class == ElementClass.PRED:
            return range(2)
        least = -(1 << self.bits - 1) if self.element_class == ElementClass.SIGNED else 0
        return range(least, least + (1 << self.bits))


_FLOATS = (
    ("f4e2m1fn", 4),
    ("f6e2m3fn", 6),
    ("f6e3m2fn", 6),
    ("f8e3m4", 8),
    ("f8e4m3", 8),
    ("f8e4m3fn", 8),
    ("f8e4m3fnuz", 8),
    ("f8e4m3b11fnuz", 8),
    ("f8e5m2", 8),
    ("f8e5m2fnuz", 8),
    ("f8e8m0fnu", 8),
    ("bf16", 16),
    ("f16", 16),
    ("f32", 32),
    ("f64", 64),
)
_INTEGER_WIDTHS = (1, 2, 4, 8, 16, 32, 64)

ELEMENTS: tuple[ElementRow, ...] = (
    ElementRow("pred", 8, ElementClass.PRED),
    *(ElementRow(f"s{bits}", bits, ElementClass.SIGNED) for bits in _INTEGER_WIDTHS),
    *(ElementRow(f"u{bits}", bits, ElementClass.UNSIGNED) for bits in _INTEGER_WIDTHS),
    *(ElementRow(name, bits, ElementClass.FLOAT) for name, bits in _FLOATS),
    ElementRow("c64", 64, ElementClass.COMPLEX),
    ElementRow("c128", 128, ElementClass.COMPLEX),
)
"""The one table of element types; `xla_dialect.types` adds those of MLIR."""

BY_NAME: dict[str, ElementRow] = {each.name: each for each in ELEMENTS}
"""From the HLO name to the row."""


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
