"""Dense literals of MLIR, `dense<...>`, read with any parser of xDSL, and printed.

What xDSL 0.74.0 itself does (`xdsl/parser/attribute_parser.py`), and what is done here:

- It reads `dense<0xFF800000> : tensor<f32>` as the number 4286578688, in lists too, and in every
  float type. A hexadecimal literal of a float is its bit pattern, as MLIR has it; so xDSL's own
  output for infinities and NaNs is read back equal.
- i1 elements in a hexadecimal string hold one byte each; MLIR packs eight into a byte. Both are
  read. The unused high bits of i2, i4, ui4, ... in a string are ignored.
- `true : si1` is out of range. Here it is -1, as in MLIR.
- A decimal literal beyond the range of f16 or f32 raises OverflowError. Here it is infinity, as in
  MLIR.
- Lists nest by recursion, and a splat of any declared shape is expanded in memory. Here lists are
  read in a loop, and a splat beyond `MAX_SPLAT_BYTES` is an error.

A newer xDSL may need less of this: `test/xdsl/test_dense_literals.py` has a test for each point.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IndexType,
    IntegerType,
    MemRefType,
    RankedStructure,
    Signedness,
    StringAttr,
    TensorType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xla_dialect.spelling import SpellingError
from xla_dialect.xdsl.nested_elements import Brackets, NestedElements

ScalarType: TypeAlias = AnyFloat | IntegerType | IndexType
"""What one number of a dense literal can be."""

ShapedElements: TypeAlias = RankedStructure[Any]
"""A tensor, vector or memref type, whose elements a dense literal gives."""

MAX_SPLAT_BYTES = 1 << 28
"""The largest splat that is expanded: xDSL's attribute holds every element."""


@dataclass(frozen=True)
class DenseLiteral:
    """The elements of a dense literal, in the bytes that `DenseIntOrFPElementsAttr` has."""

    type: ShapedElements
    data: bytes
    """All elements, or one that stands for all."""
    is_splat: bool
    """Whether `data` is one element that stands for all."""

    @property
    def byte_size(self) -> int:
        """Bytes of all elements together."""
        return len(self.data) * (math.prod(self.type.get_shape()) if self.is_splat else 1)

    def compact(self) -> DenseIntOrFPElementsAttr[Any]:
        """The attribute with the data as it is: a splat stays one element, whatever its shape.

        It prints as any splat does. xDSL's `get_values` gives that one element only.
        """
        return DenseIntOrFPElementsAttr(self.type, BytesAttr(self.data))

    def expanded(self) -> DenseIntOrFPElementsAttr[Any]:
        """The attribute with every element in memory. Check `byte_size` before."""
        count = math.prod(self.type.get_shape()) if self.is_splat else 1
        return DenseIntOrFPElementsAttr(self.type, BytesAttr(self.data * count))


def is_splat(attribute: DenseIntOrFPElementsAttr[Any]) -> bool:
    """Whether all elements have the same bits; False where there are none."""
    data = attribute.data.data
    size: int = attribute.type.element_type.compile_time_size
    if not data or data[:size] != data[-size:]:
        return False
    view = memoryview(data)
    return view[size:] == view[:-size]


def parse_dense_literal(parser: AttrParser, type: Attribute | None = None) -> DenseLiteral:
    """Reads `<...> : type`, what follows `dense`; `: type` is not read where a type is given.

    Raises ParseError at the literal, or at the element, that is wrong. Allocates no more than the
    text is long.
    """
    return _DenseLiteralParser.parse_dense_literal(cast(_DenseLiteralParser, parser), type)


def parse_dense_elements(
    parser: AttrParser, type: Attribute | None = None
) -> DenseIntOrFPElementsAttr[Any]:
    """As `parse_dense_literal`, every element in memory; at most `MAX_SPLAT_BYTES` of a splat."""
    start = parser.pos
    literal = parse_dense_literal(parser, type)
    if literal.is_splat and literal.byte_size > MAX_SPLAT_BYTES:
        parser.raise_error(
            f"A splat of {literal.byte_size} bytes is too large to be expanded "
            f"(the limit is {MAX_SPLAT_BYTES})",
            start,
        )
    return literal.expanded()


class _DenseLiteralParser(AttrParser):
    """Its methods are called on any AttrParser; the class gives access to protected members."""

    def parse_dense_literal(self, type: Attribute | None) -> DenseLiteral:
        text = self.lexer.input.content
        opening = self._current_token.span
        if opening.text != "<":
            self.raise_error("Expected '<' in dense attribute")
        string = _HEX_STRING.match(text, opening.end)
        body = None if string is not None else _BODY.match(text, opening.end)
        end = cast("re.Match[str]", string or body).end()
        if text[end : end + 1] != ">":
            self.raise_error("Expected '>' in dense attribute", end)
        self._resume_from(end)
        self.parse_punctuation(">", " in dense attribute")
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            shaped = _parse_elements_type(self)
        else:
            shaped = cast(ShapedElements, type)
        try:
            if string is not None:
                data, is_splat = _from_hex_string(string, shaped)
            else:
                elements = _ListedElements(text[opening.end : end], shaped)
                data, is_splat = elements.read(), elements.is_splat
        except SpellingError as error:
            self.raise_error(error.message, opening.end + error.position)
        except NotImplementedError:
            message = f"dense elements of type {shaped.element_type} are not supported"
            self.raise_error(message, opening.end, end)
        return DenseLiteral(shaped, data, is_splat)


def _parse_elements_type(parser: AttrParser) -> ShapedElements:
    """As xDSL's method, whose constraint takes a millisecond to build at every call."""
    position = parser.pos
    type = parser.expect(parser.parse_optional_type, "Dense attribute must be typed!")
    if not isinstance(type, TensorType | VectorType | MemRefType):
        parser.raise_error("Expected memref, vector or tensor type", position)
    shaped = cast(ShapedElements, type)
    if not isinstance(shaped.element_type, IntegerType | IndexType | AnyFloat | ComplexType):
        parser.raise_error("Expected elements of integer, index, float, or complex type", position)
    if DYNAMIC_INDEX in shaped.get_shape():
        parser.raise_error("Dense literal attribute should have a static shape.", position)
    return shaped


# The inside of `<...>`. Comments may hold a '>'.
_BODY = re.compile(r'[^>/"]*+(?://[^\n]*+[^>/"]*+)*')
_COMMENT = re.compile(r"//[^\n]*+")
_HEX_STRING = re.compile(r'\s*+"(0[xX])?([^"\n]*+)"\s*+')
_SIGN_APART = re.compile(r"-(\s++)")
_HEX = re.compile(r"\s*+0[xX][0-9a-fA-F]++\s*+")
_INTEGERS = re.compile(r"[-0-9,\s]*+", re.ASCII)
_FLOAT = re.compile(r"\s*+-?[0-9]++(?:\.[0-9]*+(?:[eE][-+]?[0-9]++)?)?\s*+")


class _ListedElements(NestedElements):
    """The elements between the angle brackets, but for hexadecimal strings."""

    brackets = Brackets("[", "]", "brackets")
    elision = "__elided__", "The elements of this constant were left out when it was printed"

    def __init__(self, body: str, type: ShapedElements):
        if "//" in body:
            body = _COMMENT.sub(lambda comment: " " * len(comment.group()), body)
        # A sign may stand apart from its number. Positions in messages stay right.
        text = _SIGN_APART.sub(r"\1-", body)
        self.type = type
        element = type.element_type
        self.is_splat = "[" not in text and bool(text.strip())
        super().__init__(
            text, () if self.is_splat else type.get_shape(), isinstance(element, ComplexType)
        )
        self.scalar = cast(ScalarType, element.element_type if self.is_complex else element)

    def read(self) -> bytes:
        if 0 in self.sizes and not self.text.strip():
            return b""
        if 0 in self.sizes[:-1]:
            self.fail()
        return super().read()

    def converted(self, numbers: str) -> bytes:
        convert = _integers if isinstance(self.scalar, IntegerType | IndexType) else _floats
        return convert(numbers, cast(Any, self.scalar))

    def types(self) -> tuple[str, str]:
        return str(self.type), str(self.type.element_type)


def _floats(text: str, type: AnyFloat) -> bytes:
    words = text.split(",")
    patterns: dict[int, int] = {}
    if "x" in text or "X" in text:
        for i, word in enumerate(words):
            if _HEX.fullmatch(word):
                patterns[i] = int(word, 16)
                words[i] = "0"
    if not all(map(_FLOAT.fullmatch, words)):
        raise ValueError("not a number")
    values = list(map(float, words))
    try:
        packed = type.pack(values)
    except OverflowError:
        packed = b"".join(_pack_saturated(type, value) for value in values)
    if not patterns:
        return packed
    if max(patterns.values()) >> type.bitwidth:
        raise OverflowError("bit pattern out of range")
    data = bytearray(packed)
    size = type.compile_time_size
    for i, pattern in patterns.items():
        data[i * size : (i + 1) * size] = pattern.to_bytes(size, "little")
    return bytes(data)


def _pack_saturated(type: AnyFloat, value: float) -> bytes:
    try:
        return type.pack([value])
    except OverflowError:
        return type.pack([math.copysign(math.inf, value)])


def _integers(text: str, type: IntegerType | IndexType) -> bytes:
    width = 64 if isinstance(type, IndexType) else type.width.data
    if width > 64:
        raise NotImplementedError
    signedness = Signedness.SIGNLESS if isinstance(type, IndexType) else type.signedness.data
    lowest = 0 if signedness is Signedness.UNSIGNED else -(1 << width >> 1)
    limit = 1 << (width - 1 if signedness is Signedness.SIGNED else width)
    words = text.split(",")
    if _INTEGERS.fullmatch(text):
        values = list(map(int, words))
    else:
        true = lowest if signedness is Signedness.SIGNED else 1
        named = {"true": true, "false": 0} if width == 1 else {}
        values = [
            named[word] if word in named else int(word, 16 if _HEX.fullmatch(word) else 10)
            for word in map(str.strip, words)
        ]
    if min(values) < lowest or max(values) >= limit:
        raise OverflowError("integer out of range")
    if signedness is Signedness.SIGNLESS and max(values) >= limit >> 1:
        values = [value - limit if value >= limit >> 1 else value for value in values]
    return type.pack(values)


def _from_hex_string(match: re.Match[str], type: ShapedElements) -> tuple[bytes, bool]:
    try:
        if match.group(1) is None or " " in match.group(2):
            raise ValueError
        data = bytes.fromhex(match.group(2))
    except ValueError:
        raise SpellingError("Hex string in denseAttr is invalid") from None
    literal = elements_of_bytes(data, type)
    return literal.data, literal.is_splat


def elements_of_bytes(data: bytes, type: ShapedElements) -> DenseLiteral:
    """
    The elements that MLIR has in `data`, little-endian: all of them, or one for all.

    Raises SpellingError if the length does not fit the type.
    """
    count = math.prod(type.get_shape())
    element_type = type.element_type
    is_integer = isinstance(element_type, IntegerType)
    width = cast(IntegerType, element_type).width.data if is_integer else 0
    if width == 1 and len(data) != count and data not in (b"\x00", b"\xff"):
        if len(data) != (count + 7) // 8:
            raise SpellingError(_wrong_length(count, len(data), "bytes of eight elements each"))
        unpacked = b"".join(map(_UNPACKED_BITS.__getitem__, data))[:count]
        return DenseLiteral(type, _sign_extend(unpacked, cast(IntegerType, element_type)), False)
    size = element_type.compile_time_size
    is_splat = len(data) == size and count != 1
    if not is_splat and len(data) != count * size:
        raise SpellingError(_wrong_length(count, len(data) / size, "elements"))
    if width % 8:
        data = _sign_extend(data, cast(IntegerType, element_type))
    return DenseLiteral(type, data, is_splat)


def _wrong_length(count: int, found: float, unit: str) -> str:
    return (
        f"Shape mismatch in dense literal. Expected {count} "
        f"elements from the type, but got {found:g} {unit}."
    )


def _sign_extend(data: bytes, type: IntegerType) -> bytes:
    """The same integers with the bits above the type's width as xDSL has them."""
    if type.compile_time_size == 1:
        return data.translate(
            b"".join(
                type.pack([type.normalized_value(i, truncate_bits=True) or 0]) for i in range(256)
            )
        )
    values = type.unpack(data, len(data) // type.compile_time_size)
    return type.pack([type.normalized_value(value, truncate_bits=True) or 0 for value in values])


_UNPACKED_BITS = [bytes(0xFF if byte >> i & 1 else 0 for i in range(8)) for byte in range(256)]
"""Eight i1 elements of a byte, the lowest bit first, as xDSL stores them."""


# Printing, as MLIR does. xDSL 0.74.0 (`xdsl/dialects/builtin.py`) compares elements as numbers, so
# that `dense<[0.0, -0.0]>` is printed as `dense<0.0>` and NaN payloads are lost. Here a splat is
# one by its bits, what is not finite is printed as its bits, and long lists of i1 in MLIR's form,
# eight elements to a byte.

_MAX_LISTED = 100
"""As MLIR: more elements than this, unless all equal, are printed as one hexadecimal string."""

_FLAGS = frozenset(IntegerType(1, signedness) for signedness in Signedness)

_REMEMBERED = 64
"""The largest literal, in bytes, that is looked up among those printed before."""


def print_dense(attribute: DenseIntOrFPElementsAttr[Any], printer: Printer) -> None:
    """Prints `dense<...> : type`, on any printer."""
    printer.print_string(f"dense<{dense_text(attribute)}> : ")
    printer.print_attribute(attribute.get_type())


def dense_text(attribute: DenseIntOrFPElementsAttr[Any], *, packs_flags: bool = True) -> str:
    """
    What stands in `dense<...>`.

    `packs_flags`: whether long lists of i1 are hexadecimal too: versions of MLIR differ in how many
    of them are in a byte.
    """
    data = attribute.data.data
    text = _text if len(data) > _REMEMBERED else _remembered_text
    return text(attribute.get_element_type(), attribute.get_shape(), data, packs_flags)


def _text(type: Attribute, sizes: Sequence[int], data: bytes, packs_flags: bool) -> str:
    if not data:
        return ""
    size: int = cast(Any, type).compile_time_size
    view = memoryview(data)
    if view[size:] == view[:-size]:
        return element_texts(type, data[:size])[0]
    is_flags = type in _FLAGS
    if len(data) > _MAX_LISTED * size and (packs_flags or not is_flags):
        return f'"0x{(packed_flags(data) if is_flags else data).hex().upper()}"'
    texts = element_texts(type, data)
    for size in reversed(sizes[1:]):
        texts = [f"[{', '.join(texts[i : i + size])}]" for i in range(0, len(texts), size)]
    return f"[{', '.join(texts)}]" if sizes else texts[0]


_remembered_text = lru_cache(4096)(_text)


def packed_flags(data: bytes) -> bytes:
    """Flags of one byte each, eight to a byte, the lowest bit first."""
    bits = int(data.translate(_BINARY_DIGITS)[::-1] or b"0", 2)
    return bits.to_bytes((len(data) + 7) // 8, "little")


_BINARY_DIGITS = b"0" + b"1" * 255
"""An i1 element of one byte as a binary digit."""


def element_texts(type: Attribute, data: bytes) -> list[str]:
    """Each element; of a complex type its parts in parentheses."""
    if isinstance(type, ComplexType):
        parts = iter(element_texts(cast("ComplexType[Any]", type).element_type, data))
        return [f"({real},{imaginary})" for real, imaginary in zip(parts, parts, strict=True)]
    scalar = cast(ScalarType, type)
    size = scalar.compile_time_size
    values = scalar.unpack(data, len(data) // size)
    if type == i1:
        return ["true" if value else "false" for value in values]
    if isinstance(scalar, IntegerType | IndexType):
        return list(map(str, values))
    return [
        _float_text(value, scalar)
        if math.isfinite(value)
        else f"0x{data[i * size : (i + 1) * size][::-1].hex().upper()}"
        for i, value in enumerate(values)
    ]


def _float_text(value: float, type: AnyFloat) -> str:
    stream = StringIO()
    Printer(stream).print_float(value, type)
    return stream.getvalue()


# Literals whose elements were left out when a text was printed: HLO's `{...}`.
#
# In MLIR they are `dense_resource<__elided__>`, as MLIR itself prints them.

ELIDED = "__elided__"
"""The name of a resource that is nowhere."""

LEFT_OUT = (
    "the elements of the literal were left out when the text was printed; "
    "print it with large constants"
)
"""Why a program that needs them does not run."""


def elided(type_: TensorType[Attribute]) -> DenseResourceAttr:
    """The literal of this type that nobody knows."""
    return DenseResourceAttr.from_params(StringAttr(ELIDED), cast(Any, type_))


def is_elided(literal: Attribute) -> bool:
    """Whether elements of a literal, or of one in a tuple, are left out."""
    if isinstance(literal, ArrayAttr):
        return any(map(is_elided, cast("ArrayAttr[Attribute]", literal).data))
    return isinstance(literal, DenseResourceAttr) and literal.resource_handle.data == ELIDED


_ALIGNMENT_BYTES = 4
"""The bytes of a resource start with their alignment, a little-endian 32-bit integer."""


def literal_of_blob(
    key: str, blob: str | bytes | None, type_: Attribute
) -> DenseIntOrFPElementsAttr[Any]:
    """
    The literal of a type with the bytes of a resource.

    `blob` is what the text has under its name, in hexadecimal digits, or what was given with the
    text, without an alignment; None where there is nothing. Raises ValueError.
    """
    if not blob:
        raise ValueError(
            f"there is no resource {key!r} in this text; it was left out when it was printed"
        )
    try:
        data = blob if isinstance(blob, bytes) else _bytes_of(blob)
        literal = elements_of_bytes(data, cast(Any, type_))
    except ValueError as error:
        raise ValueError(f"resource {key!r}: {error}") from None
    if literal.is_splat:
        raise ValueError(f"resource {key!r} has one element only, {type_} has more")
    return literal.compact()


def _bytes_of(blob: str) -> bytes:
    return bytes.fromhex(blob.removeprefix("0x"))[_ALIGNMENT_BYTES:]
