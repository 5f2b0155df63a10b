"""The constants of the dialect as literals of HLO text: `{ { 1, 2 }, { 3, nan } }`.

As in `literals.py`, which reads them, everything is done for a whole array at once: constants of
many megabytes are common. Floats have the digits that XLA prints.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.literals.text import integer_texts
from xla_dialect.spelling import NoHloSpelling
from xla_dialect.types import (
    BY_TYPE,
    Array,
    ElementClass,
    ElementType,
    component_type,
    element_count,
    spell,
)
from xla_dialect.xdsl.elided import is_elided

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]

MAX_EMPTY_ROWS = 1 << 20
"""How many pairs of braces without elements are printed, as f32[1000,0] has."""

MAX_SPLAT_ELEMENTS = 1 << 20
"""The largest literal that is printed where a single element stands for all."""


def splat_element(value: Attribute) -> DenseIntOrFPElementsAttr[Any] | None:
    """
    The scalar literal that a literal beyond `MAX_SPLAT_ELEMENTS` consists of.

    None for any other literal.
    """
    if isinstance(value, ArrayAttr) or not isinstance(value, DenseIntOrFPElementsAttr):
        return None
    dense = cast("DenseIntOrFPElementsAttr[Any]", value)
    type_ = cast(Array, dense.type)
    row = BY_TYPE.get(type_.element_type)
    if row is None or len(dense.data.data) > max(row.bits // 8, 1):
        return None
    if element_count(type_.get_shape()) <= MAX_SPLAT_ELEMENTS:
        return None
    scalar = TensorType(cast(Any, type_.element_type), ())
    return DenseIntOrFPElementsAttr(scalar, dense.data)


def spell_literal(value: Attribute) -> str:
    """
    The literal for a constant: a dense array, or for a tuple an array attribute.

    Raises Inexpressible.
    """
    if isinstance(value, ArrayAttr):
        parts = map(spell_literal, cast("ArrayAttr[Attribute]", value).data)
        return f"( {', '.join(parts)} )"
    if is_elided(value):
        return "{...}"
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise NoHloSpelling(f"no literal for {value}")
    dense = cast("DenseIntOrFPElementsAttr[Any]", value)
    type_ = cast(Array, dense.type)
    element = BY_TYPE.get(type_.element_type)
    if element is None:
        raise NoHloSpelling(f"{type_.element_type} is no element type of HLO")
    sizes = type_.get_shape()
    if any(size < 0 for size in sizes):
        raise NoHloSpelling(f"no literal has the dynamic shape {spell(type_)}")
    texts = _SPELLINGS[element.element_class](dense.data.data, element)
    if not sizes:
        (text,) = texts
        return _WORDS[text] if element.element_class is ElementClass.PRED else text
    if len(texts) == 1:
        # A splat is stored as one element.
        if element_count(sizes) > MAX_SPLAT_ELEMENTS:
            raise NoHloSpelling(f"a literal of {element_count(sizes)} equal elements")
        texts *= element_count(sizes)
    return _in_braces(texts, sizes)


def spell_float(value: float) -> str:
    """A 32-bit float as literals have it: `0.1`, `nan`."""
    (text,) = _spell_floats(np.array([value], np.float32))
    return text


def _in_braces(texts: list[str], sizes: Sequence[int]) -> str:
    """The elements with a pair of braces for every row, row of rows and so on."""
    rank = len(sizes)
    if rank == 1:
        return "{" + ", ".join(texts) + "}"
    count = element_count(sizes[:-1])
    if not texts and count > MAX_EMPTY_ROWS:
        raise NoHloSpelling(f"a literal with {count} empty rows")
    width = sizes[-1]
    opening, closing = ("{", "}") if width <= 1 else ("{ ", " }")
    rows = [
        f"{opening}{', '.join(texts[i * width : (i + 1) * width])}{closing}" for i in range(count)
    ]
    for depth in range(rank - 2, -1, -1):
        size = sizes[depth]
        # From rank 4 on XLA prints comments with indices, `/*i0=1*/`, in all but the outermost and
        # the innermost braces.
        counts = rank > 3 and depth > 0
        rows = [
            (f"{{ /*i{depth - 1}={i % sizes[depth - 1]}*/ " if counts else "{ ")
            + ", ".join(rows[i * size : (i + 1) * size])
            + " }"
            for i in range(element_count(sizes[:depth]))
        ]
    (text,) = rows
    return text


_WORDS = {"0": "false", "1": "true"}


def _spell_booleans(data: bytes, element: ElementType) -> list[str]:
    return ["1" if byte else "0" for byte in data]


def _spell_reals(data: bytes, element: ElementType) -> list[str]:
    return _spell_floats(np.frombuffer(data, numpy_dtype(element.type)))


def _spell_complex(data: bytes, element: ElementType) -> list[str]:
    parts = iter(_spell_reals(data, BY_TYPE[component_type(element.type)]))
    return [f"({real}, {imaginary})" for real, imaginary in zip(parts, parts, strict=True)]


def _spell_floats(numbers: Numbers) -> list[str]:
    """
    Every number with the digits that tell it from its neighbours.

    Of 32 and 64 bits XLA prints 6 and 15 digits where these are enough, else 9 and 17.
    """
    mantissa_bits = int(cast(Any, ml_dtypes).finfo(numbers.dtype).nmant)
    with np.errstate(invalid="ignore"):
        exact = numbers.astype(np.float64)
    digits = math.ceil(1 + (mantissa_bits + 1) * math.log10(2))
    if numbers.itemsize < 4:
        texts = _format(exact, digits)
        if mantissa_bits == 0:
            texts = [_LEAST_SCALE_TEXT if x == _LEAST_SCALE else x for x in texts]
    else:
        few = digits - (3 if numbers.itemsize == 4 else 2)
        candidates = np.arange(len(numbers))
        if len(numbers) > _FEW:
            candidates = np.flatnonzero(_may_be_short(numbers, exact, few))
        short = _format(exact[candidates], few)
        back = np.array(list(map(float, short)), np.float64).astype(numbers.dtype)
        same = back == numbers[candidates]
        is_short = np.zeros(len(numbers), np.bool_)
        is_short[candidates[same]] = True
        found = itertools.compress(short, same.tolist())
        if is_short.all():
            texts = list(found)
        else:
            long = iter(_format(exact[~is_short], digits))
            texts = [next(found) if s else next(long) for s in is_short.tolist()]
    for i in np.flatnonzero((exact == 0) & np.signbit(exact)).tolist():
        texts[i] = "-0.0"  # XLA prints -0, which it reads as the integer 0.
    for i in np.flatnonzero(np.isnan(exact)).tolist():
        texts[i] = _spell_nan(numbers[i : i + 1], mantissa_bits)
    return texts


def _may_be_short(numbers: Numbers, exact: Numbers, digits: int) -> Numbers:
    """
    Which numbers may be those that their first `digits` digits stand for; the others are not.

    Rounding in decimal is not exact here, so that the texts themselves have to be compared.
    """
    with np.errstate(all="ignore"):
        magnitude = np.abs(exact)
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(magnitude)))
        difference = np.abs(np.rint(magnitude * scale) / scale - magnitude)
        close = difference <= magnitude * np.finfo(numbers.dtype).eps
    return close | ~np.isfinite(scale) | (magnitude < _SMALL[numbers.itemsize])


_LEAST_SCALE, _LEAST_SCALE_TEXT = "5.9e-39", "5.87747175e-39"
"""The least number of f8e8m0fnu as XLA prints it, and so that it is not rounded up when read."""

_FEW = 64
"""Up to this count, all numbers are tried with few digits, without a test which may be short."""

_SMALL = {4: 1e-35, 8: 1e-290}
"""By size in bytes: below, numbers may be denormal and have fewer significant digits."""


def _format(numbers: Numbers, digits: int) -> list[str]:
    """The numbers with so many significant digits, all in one step."""
    return (f"%.{digits}g " * len(numbers) % tuple(numbers.tolist())).split()


def _spell_nan(number: Numbers, mantissa_bits: int) -> str:
    """`nan`, `-nan`, or with its payload `nan(0x7)` where types with infinities have several."""
    sign = "-" if np.signbit(number)[0] else ""
    payload = int(number.view(f"u{number.itemsize}")[0]) & (1 << mantissa_bits) - 1
    has_infinity = np.isinf(np.array(np.inf).astype(number.dtype).astype(np.float64))
    if not has_infinity or payload == 1 << mantissa_bits - 1:
        return f"{sign}nan"
    return f"{sign}nan({payload:#x})"


_SPELLINGS: dict[ElementClass, Callable[[bytes, ElementType], list[str]]] = {
    ElementClass.PRED: _spell_booleans,
    ElementClass.SIGNED: integer_texts,
    ElementClass.UNSIGNED: integer_texts,
    ElementClass.FLOAT: _spell_reals,
    ElementClass.COMPLEX: _spell_complex,
}
"""From the class to the texts of all elements."""
