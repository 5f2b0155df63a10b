"""Literals as MLIR prints them: `dense<[1.000000e+00, 0x7FC00000]> : tensor<2xf32>`.

More than `LARGE` elements are hexadecimal, as in MLIR; truth values are always words, because
versions of MLIR differ in how many of them are in a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.text.literals import integer_texts
from xla_dialect.types import (
    BY_TYPE,
    Array,
    ElementClass,
    ElementType,
    component_type,
    element_count,
)

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]

LARGE = 100
"""So many elements are printed one by one."""


_REMEMBERED = 64
"""The largest literal, in bytes, that is looked up among those printed before."""


def literal_text(dense: DenseIntOrFPElementsAttr[Any]) -> str:
    """What stands in `dense<...>`; short literals repeat."""
    type_ = cast(Array, dense.type)
    data = dense.data.data
    text = _text if len(data) > _REMEMBERED else _remembered_text
    return text(type_.element_type, type_.get_shape(), data)


def _text(element_type: Attribute, sizes: tuple[int, ...], data: bytes) -> str:
    element = BY_TYPE[element_type]
    count = element_count(sizes)
    if count == 0:
        return ""
    width = max(1, element.bits // 8)
    if data == data[:width] * (len(data) // width):
        return _spelled(data[:width], element)[0]
    if count > LARGE and element.element_class is not ElementClass.PRED:
        return f'"0x{data.hex().upper()}"'
    return _in_brackets(_spelled(data, element), sizes)


_remembered_text = lru_cache(4096)(_text)


def _in_brackets(texts: Sequence[str], sizes: Sequence[int]) -> str:
    for size in reversed(sizes[1:]):
        texts = [f"[{', '.join(texts[i : i + size])}]" for i in range(0, len(texts), size)]
    return f"[{', '.join(texts)}]" if sizes else texts[0]


def _spelled(data: bytes, element: ElementType) -> list[str]:
    return _SPELLINGS[element.element_class](data, element)


def _booleans(data: bytes, element: ElementType) -> list[str]:
    return ["true" if byte else "false" for byte in data]


def _complex(data: bytes, element: ElementType) -> list[str]:
    parts = iter(_floats(data, BY_TYPE[component_type(element.type)]))
    return [f"({real},{imaginary})" for real, imaginary in zip(parts, parts, strict=True)]


def _floats(data: bytes, element: ElementType) -> list[str]:
    """Six digits after the point where they are enough, else all that tell a number apart."""
    numbers = np.frombuffer(data, numpy_dtype(element.type))
    with np.errstate(all="ignore"):
        exact = numbers.astype(np.float64)
    bits = numbers.view(f"u{numbers.itemsize}").tolist()
    texts = [f"{number:.6e}" for number in exact.tolist()]
    finite = np.isfinite(exact)
    with np.errstate(all="ignore"):
        back = np.array([float(text) for text in texts], np.float64).astype(numbers.dtype)
        same = (back == numbers) & finite
    digits = 2 * numbers.itemsize
    for i in np.flatnonzero(~same).tolist():
        texts[i] = _long(exact[i], numbers.itemsize) if finite[i] else f"0x{bits[i]:0{digits}X}"
    return texts


def _long(number: float, size_bytes: int) -> str:
    text = f"{number:.17g}" if size_bytes > 4 else f"{number:.9g}"
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{exponent}{power}"


_SPELLINGS: dict[ElementClass, Callable[[bytes, ElementType], list[str]]] = {
    ElementClass.PRED: _booleans,
    ElementClass.SIGNED: integer_texts,
    ElementClass.UNSIGNED: integer_texts,
    ElementClass.FLOAT: _floats,
    ElementClass.COMPLEX: _complex,
}
