"""Literals of HLO text, `{ {1, 2}, {3, nan} }`, and the constants of the dialect they stand for.

Elements are printed all at once, as they are read. Floats have the digits that XLA prints.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute

from xla_dialect.literals.arrays import (
    bytes_of,
    check_memory,
    elements_of,
    numpy_dtype,
)
from xla_dialect.spelling import (
    BRACES_AND_PARENTHESES,
    Excerpt,
    NoHloSpelling,
    Scanner,
    SpellingError,
    quoted,
)
from xla_dialect.types import (
    BY_TYPE,
    Array,
    ElementClass,
    ElementType,
    component_type,
    element_count,
    spell,
)
from xla_dialect.xdsl.dense_literals import element_texts, elided, is_elided
from xla_dialect.xdsl.nested_elements import Brackets, NestedElements

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def parse_literal(text: str, type_: Attribute, start: int = 0) -> Attribute:
    """
    The constant for a literal of this type: a dense array, or for a tuple an array attribute.

    Elements lie in row-major order of the dimensions, whatever the layout of the type. `start` is
    where `text` stands in the whole literal. Raises SpellingError.
    """
    if isinstance(type_, TupleType):
        return _parse_tuple(text, type_, start)
    if not isinstance(type_, TensorType):
        raise SpellingError(f"no literal has the type {spell(type_)}", start)
    type_ = cast(Array, type_)
    if type_.get_shape() and _ELIDED.fullmatch(text):
        return elided(type_)
    with Excerpt(start):
        data = _array_data(text, type_)
    return DenseIntOrFPElementsAttr(cast("TensorType[Any]", type_), BytesAttr(data))


def _parse_tuple(text: str, type_: TupleType, start: int) -> Attribute:
    scanner = Scanner(text)
    with Excerpt(start):
        if not scanner.accept("("):
            scanner.fail("a tuple literal in parentheses")
        parts = scanner.items(")", lambda: _element(scanner))
        scanner.finish("nothing after a tuple literal")
    types = type_.types.data
    if len(parts) != len(types):
        raise SpellingError(
            f"tuple literal has {len(parts)} elements, its type {spell(type_)} has {len(types)}",
            start,
        )
    return ArrayAttr(
        [
            parse_literal(part, element, start + offset)
            for (part, offset), element in zip(parts, types, strict=True)
        ]
    )


def _element(scanner: Scanner) -> tuple[str, int]:
    """Steps over an element of a tuple literal; its text and where it stands."""
    start = scanner.position
    scanner.match(_TO_BRACKET_OR_COMMA, "an element")
    while scanner.at("(") or scanner.at("{"):
        scanner.group(BRACES_AND_PARENTHESES)
        scanner.match(_TO_BRACKET_OR_COMMA, "an element")
    return scanner.text[start : scanner.position].rstrip(), start


class _ArrayLiteral(NestedElements):
    """The literal of one array in HLO text."""

    brackets = Brackets("{", "}", "braces")
    elision = "...", "'...' stands for all elements of an array, in one pair of braces"

    def __init__(self, text: str, type_: Array, sizes: Sequence[int]):
        if "nan(" in text:
            # Not the parentheses of a complex number. The replacement `nan:0x7 ` is as long as
            # `nan(0x7)`, so that positions in messages stay right.
            text = _PAYLOAD.sub(r"\1:\2 ", text)
        self.type = type_
        self.element = BY_TYPE[type_.element_type]
        super().__init__(text, sizes, self.element.element_class is ElementClass.COMPLEX)

    def converted(self, numbers: str) -> bytes:
        return bytes_of(_CONVERSIONS[self.element.element_class](numbers, self.element))

    def types(self) -> tuple[str, str]:
        return spell(self.type), self.element.name

    def shown(self, token: str) -> str:
        return quoted(_PAYLOAD_MARK.sub(r"nan(\1)", token))


def _array_data(text: str, type_: Array) -> bytes:
    """The elements of the literal of an array."""
    sizes = type_.get_shape()
    if any(size < 0 for size in sizes):
        raise SpellingError(f"{spell(type_)} has a dynamic dimension: no literal says its size")
    literal = _ArrayLiteral(text, type_, sizes)
    is_scalar = sizes and not literal.is_complex and _SCALAR.fullmatch(literal.text)
    if not is_scalar or 0 in sizes:
        return literal.read()
    # A scalar in the place of an array is, as XLA reads it, the first element.
    first = _ArrayLiteral(text, type_, ()).read()
    check_memory(type_)
    return first.ljust(element_count(sizes) * len(first), b"\0")


def _booleans(text: str, element: ElementType) -> Numbers:
    words = [_BOOLEANS.get(word.strip()) for word in text.split(",")]
    if None in words:
        raise ValueError("not a truth value")
    return np.array(words, np.bool_)


def _integers(text: str, element: ElementType) -> Numbers:
    if _INTEGERS.fullmatch(text) is None:
        raise ValueError("not an integer")
    is_unsigned = element.element_class is ElementClass.UNSIGNED
    values = list(map(int, text.split(",")))
    if element.name == "u64" and min(values) < 0:
        # XLA reads numbers of 64 bits, signed or not, into the same bits.
        values = [value % 2**64 if value >= -(2**63) else value for value in values]
    numbers = np.array(values, np.uint64 if is_unsigned else np.int64)
    if not all(int(number) in element.integers for number in (numbers.min(), numbers.max())):
        raise OverflowError("integer out of range")
    return numbers.astype(numpy_dtype(element.type))


def _floats(text: str, element: ElementType) -> Numbers:
    if _FLOATS.fullmatch(text) is None:
        return _floats_with_payloads(text, element)
    exact = np.array(list(map(float, text.split(","))), np.float64)
    dtype = numpy_dtype(element.type)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        rounded = exact.astype(dtype)
        back = rounded.astype(np.float64)
    mantissa_bits, smallest_normal, _ = _precision(dtype)
    out_of_range: Numbers = np.isfinite(exact) & ~np.isfinite(back)
    out_of_range |= ~np.isnan(exact) & np.isnan(back)
    out_of_range |= bool(np.isinf(exact).sum() != text.count("inf"))
    out_of_range |= np.abs(exact) > np.abs(back) * (1 + 0.5**mantissa_bits) + smallest_normal
    if out_of_range.any():
        raise OverflowError("float out of range")
    return rounded


def _floats_with_payloads(text: str, element: ElementType) -> Numbers:
    """As `_floats`, where NaNs with a payload, `nan:0x7`, are among the numbers."""
    words = text.split(",")
    payloads = {i: found for i, word in enumerate(words) if (found := _NAN.fullmatch(word))}
    for i, found in payloads.items():
        words[i] = found.group(1)
    plain = ",".join(words)
    if not payloads or _FLOATS.fullmatch(plain) is None:
        raise ValueError("not a number")
    numbers = _floats(plain, element)
    mantissa_bits, _, has_infinity = _precision(numbers.dtype)
    if not has_infinity:
        raise ValueError("NaNs have a payload only where infinities exist")
    bits = numbers.view(f"u{numbers.itemsize}")
    quiet = 1 << mantissa_bits - 1
    for i, found in payloads.items():
        payload = int(found.group(2), 16)
        if not 0 < payload < 1 << mantissa_bits:
            raise OverflowError("payload out of range")
        bits[i] = int(bits[i]) & ~quiet | payload
    return numbers


def _complex(text: str, element: ElementType) -> Numbers:
    """Real and imaginary parts in turn."""
    return _floats(text, BY_TYPE[component_type(element.type)])


@cache
def _precision(dtype: np.dtype[Any]) -> tuple[int, float, bool]:
    """The explicit mantissa bits, the smallest normal number, and whether there is infinity."""
    info = cast(Any, ml_dtypes).finfo(dtype)
    infinity = np.array(np.inf).astype(dtype).astype(np.float64)
    return int(info.nmant), float(info.smallest_normal), bool(np.isinf(infinity))


_ELIDED = re.compile(r"\s*+\{\s*+\.\.\.\s*+\}\s*+")
_PAYLOAD = re.compile(r"(nan)\((0x[0-9a-fA-F]++)\)")
_PAYLOAD_MARK = re.compile(r"nan:(0x[0-9a-fA-F]++)\s?")
_SCALAR = re.compile(r"[^(){},]++")
_TO_BRACKET_OR_COMMA = re.compile(r"[^(){},]*+")

# Within these characters `int` and `float` accept what HLO text has, and no more.
_INTEGERS = re.compile(r"[-0-9,\s]*+", re.ASCII)
_FLOATS = re.compile(r"[-+0-9.eEnaif,\s]*+", re.ASCII)
_NAN = re.compile(r"\s*+(-?nan):(0x[0-9a-fA-F]{1,16})\s*+")

_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
_CONVERSIONS: dict[ElementClass, Callable[[str, ElementType], Numbers]] = {
    ElementClass.PRED: _booleans,
    ElementClass.SIGNED: _integers,
    ElementClass.UNSIGNED: _integers,
    ElementClass.FLOAT: _floats,
    ElementClass.COMPLEX: _complex,
}
"""From the class to the reader of `number, number, ...`."""


# ---- Printing

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
    return _spell_floats(elements_of(data, numpy_dtype(element.type)))


def _spell_complex(data: bytes, element: ElementType) -> list[str]:
    parts = iter(_spell_reals(data, BY_TYPE[component_type(element.type)]))
    return [f"({real}, {imaginary})" for real, imaginary in zip(parts, parts, strict=True)]


def _spell_floats(numbers: Numbers) -> list[str]:
    """
    Every number with the digits that tell it from its neighbours.

    Of 32 and 64 bits XLA prints 6 and 15 digits where these are enough, else 9 and 17.
    """
    mantissa_bits, _, has_infinity = _precision(numbers.dtype)
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
        texts[i] = _spell_nan(numbers[i : i + 1], mantissa_bits, has_infinity)
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


def _spell_nan(number: Numbers, mantissa_bits: int, has_infinity: bool) -> str:
    """`nan`, `-nan`, or with its payload `nan(0x7)` where types with infinities have several."""
    sign = "-" if np.signbit(number)[0] else ""
    payload = int(number.view(f"u{number.itemsize}")[0]) & (1 << mantissa_bits) - 1
    if not has_infinity or payload == 1 << mantissa_bits - 1:
        return f"{sign}nan"
    return f"{sign}nan({payload:#x})"


def _spell_integers(data: bytes, element: ElementType) -> list[str]:
    """As MLIR has them."""
    return element_texts(element.type, data)


_SPELLINGS: dict[ElementClass, Callable[[bytes, ElementType], list[str]]] = {
    ElementClass.PRED: _spell_booleans,
    ElementClass.SIGNED: _spell_integers,
    ElementClass.UNSIGNED: _spell_integers,
    ElementClass.FLOAT: _spell_reals,
    ElementClass.COMPLEX: _spell_complex,
}
"""From the class to the texts of all elements."""
