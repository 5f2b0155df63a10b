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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from typing import Any, NoReturn, TypeAlias, cast

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

ScalarType: TypeAlias = AnyFloat | IntegerType | IndexType
"""What one number of a dense literal can be."""

ShapedElements: TypeAlias = RankedStructure[Any]
"""A tensor, vector or memref type, whose elements a dense literal gives."""

MAX_SPLAT_BYTES = 1 << 28
"""The largest splat that is expanded: xDSL's attribute holds every element."""

_MAX_SPELLED = 100
"""Of the shape of nested lists, in a message."""


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
        tokens = None if body is None else _tokenize(body)
        shape, elements = (None, []) if tokens is None else _structure(self, tokens)
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
                assert tokens is not None
                data, is_splat = _from_elements(self, tokens, shape, elements, shaped)
        except (DenseError, NotImplementedError) as error:
            message = str(error) if isinstance(error, DenseError) else _unsupported(shaped)
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


class DenseError(ValueError):
    """A literal that does not fit its type."""


def _unsupported(type: ShapedElements) -> str:
    return f"dense elements of type {type.element_type} are not supported"


# The inside of `<...>`. Comments may hold a '>'.
_BODY = re.compile(r'[^>/"]*+(?://[^\n]*+[^>/"]*+)*')
_COMMENT = re.compile(r"//[^\n]*+")
_HEX_STRING = re.compile(r'\s*+"(0[xX])?([^"\n]*+)"\s*+')
_TOKEN = re.compile(r"[\[\],]|\([^()\[\]]*+\)|(?:-\s*+)?[^\s\[\],()]++|[()]")
_HEX = re.compile(r"0[xX][0-9a-fA-F]++")
_INTEGER = re.compile(r"-?\s*+[0-9]++")
_FLOAT = re.compile(r"-?\s*+[0-9]++\.[0-9]*+(?:[eE][-+]?[0-9]++)?")
_BOOLEANS = {"true": 1, "false": 0}


@dataclass(frozen=True)
class _Tokens:
    """The brackets, commas and elements between the angle brackets."""

    body: str
    start: int
    """Where the body starts in the text."""
    texts: list[str]

    def fail(self, parser: AttrParser, index: int, message: str) -> NoReturn:
        """Raises at a token; its place is looked for only now."""
        if index < len(self.texts):
            for i, match in enumerate(_TOKEN.finditer(self.body)):
                if i == index:
                    parser.raise_error(
                        message, self.start + match.start(), self.start + match.end()
                    )
        parser.raise_error(message, self.start + len(self.body))


def _tokenize(match: re.Match[str]) -> _Tokens:
    body = match.group()
    if "//" in body:
        body = _COMMENT.sub(lambda comment: " " * len(comment.group()), body)
    return _Tokens(body, match.start(), _TOKEN.findall(body))


def _structure(parser: AttrParser, tokens: _Tokens) -> tuple[list[int] | None, list[int]]:
    """The shape (None: no brackets) and the indices of the elements among the tokens."""
    if not tokens.texts:
        return [0], []
    shape: list[int | None] = []
    counts: list[int] = []  # elements so far of each open list
    elements: list[int] = []
    element_depth: int | None = None
    expects_value = True
    for i, text in enumerate(tokens.texts):
        if i and not counts:
            tokens.fail(parser, i, "Expected '>' in dense attribute")
        if text == ",":
            if expects_value:
                tokens.fail(parser, i, "Expected an element")
            expects_value = True
            continue
        if text == "]":
            if not counts or (expects_value and counts[-1]):
                tokens.fail(parser, i, "Expected an element")
            count = counts.pop()
            if shape[len(counts)] not in (None, count):
                tokens.fail(parser, i, "Tensor literal has lists of different lengths")
            shape[len(counts)] = count
        else:
            if not expects_value:
                tokens.fail(parser, i, "Expected ',' or ']'")
            if text == "[":
                if element_depth is not None and len(counts) >= element_depth:
                    tokens.fail(parser, i, "Tensor literal has elements at different depths")
                if len(shape) == len(counts):
                    shape.append(None)
                counts.append(0)
                continue
            if element_depth not in (None, len(counts)):
                tokens.fail(parser, i, "Tensor literal has elements at different depths")
            element_depth = len(counts)
            elements.append(i)
        expects_value = False
        if counts:
            counts[-1] += 1
    if counts:
        tokens.fail(parser, len(tokens.texts), "Expected ']'")
    return ([size or 0 for size in shape] or None), elements


def _from_elements(
    parser: AttrParser,
    tokens: _Tokens,
    shape: list[int] | None,
    elements: list[int],
    type: ShapedElements,
) -> tuple[bytes, bool]:
    expected = list(type.get_shape())
    if not tokens.texts:
        if math.prod(expected):
            raise DenseError("Expected at least one element in the dense literal, but got None")
    elif shape is not None and shape != expected:
        found = f"{shape} shape" if len(shape) < _MAX_SPELLED else f"{len(shape)} dimensions"
        raise DenseError(
            f"Shape mismatch in dense literal. Expected {expected} "
            f"shape from the type, but got {found}."
        )
    texts = [tokens.texts[i] for i in elements]
    element_type = type.element_type

    def fail(position: int, message: str) -> NoReturn:
        tokens.fail(parser, elements[position], message)

    if isinstance(element_type, ComplexType):
        parts: list[str] = []
        for position, text in enumerate(texts):
            pair = [part.strip() for part in text[1:-1].split(",")] if text[0] == "(" else []
            if len(pair) != 2:
                fail(position, f"Expected a complex value (real, imaginary), found {text!r}")
            parts += pair
        component = cast(ScalarType, cast("ComplexType[Any]", element_type).element_type)
        data = _pack(parts, component, lambda i, message: fail(i // 2, message))
    else:
        data = _pack(texts, cast(ScalarType, element_type), fail)
    return data, shape is None and bool(texts)


def _pack(texts: Sequence[str], type: ScalarType, fail: Callable[[int, str], NoReturn]) -> bytes:
    if isinstance(type, IntegerType | IndexType):
        return _pack_integers(texts, type, fail)
    return _pack_floats(texts, type, fail)


def _pack_floats(
    texts: Sequence[str], type: AnyFloat, fail: Callable[[int, str], NoReturn]
) -> bytes:
    values: list[float] = []
    patterns: dict[int, int] = {}
    for i, text in enumerate(texts):
        if _FLOAT.fullmatch(text) or _INTEGER.fullmatch(text):
            values.append(float(text.replace(" ", "")))
        elif _HEX.fullmatch(text):
            pattern = int(text, 16)
            if pattern >> type.bitwidth:
                fail(i, f"Hexadecimal float {text} is out of range for type {type}")
            patterns[i] = pattern
            values.append(0.0)
        else:
            fail(i, _expected("a float", text))
    try:
        packed = type.pack(values)
    except OverflowError:
        packed = b"".join(_pack_saturated(type, value) for value in values)
    if not patterns:
        return packed
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


def _pack_integers(
    texts: Sequence[str], type: IntegerType | IndexType, fail: Callable[[int, str], NoReturn]
) -> bytes:
    values: list[int] = []
    width = 64 if isinstance(type, IndexType) else type.width.data
    if width > 64:
        raise NotImplementedError
    is_unsigned = isinstance(type, IntegerType) and type.signedness.data is Signedness.UNSIGNED
    is_signed = isinstance(type, IntegerType) and type.signedness.data is Signedness.SIGNED
    lowest = 0 if is_unsigned else -(1 << width >> 1)
    limit = 1 << (width - 1 if is_signed else width)
    wrapped = limit if is_unsigned or is_signed else 1 << width >> 1
    for i, text in enumerate(texts):
        if _INTEGER.fullmatch(text):
            # int() refuses thousands of digits; no type here has more than 40.
            digits = text.replace(" ", "")
            value = int(digits) if len(digits) < 80 else limit
        elif _HEX.fullmatch(text):
            value = int(text, 16)
        elif text in _BOOLEANS:
            if width != 1:
                fail(i, "Boolean values are only allowed for i1 types")
            value = -_BOOLEANS[text] if is_signed else _BOOLEANS[text]
        else:
            fail(i, _expected("an integer", text))
        if not lowest <= value < limit:
            shown = text if len(text) < 80 else f"of {len(text)} digits"
            fail(i, f"Integer value {shown} is out of range for type {type}")
        values.append(value - (1 << width) if value >= wrapped else value)
    return type.pack(values)


def _expected(what: str, text: str) -> str:
    if text == "__elided__":
        return "The elements of this constant were left out when it was printed"
    shown = text if len(text) < 80 else text[:77] + "..."
    return f"Expected {what} in the dense literal, found {shown!r}"


def _from_hex_string(match: re.Match[str], type: ShapedElements) -> tuple[bytes, bool]:
    try:
        if match.group(1) is None or " " in match.group(2):
            raise ValueError
        data = bytes.fromhex(match.group(2))
    except ValueError:
        raise DenseError("Hex string in denseAttr is invalid") from None
    literal = elements_of_bytes(data, type)
    return literal.data, literal.is_splat


def elements_of_bytes(data: bytes, type: ShapedElements) -> DenseLiteral:
    """
    The elements that MLIR has in `data`, little-endian: all of them, or one for all.

    Raises DenseError if the length does not fit the type.
    """
    count = math.prod(type.get_shape())
    element_type = type.element_type
    is_integer = isinstance(element_type, IntegerType)
    width = cast(IntegerType, element_type).width.data if is_integer else 0
    if width == 1 and len(data) != count and data not in (b"\x00", b"\xff"):
        if len(data) != (count + 7) // 8:
            raise DenseError(_wrong_length(count, len(data), "bytes of eight elements each"))
        unpacked = b"".join(map(_UNPACKED_BITS.__getitem__, data))[:count]
        return DenseLiteral(type, _sign_extend(unpacked, cast(IntegerType, element_type)), False)
    size = element_type.compile_time_size
    is_splat = len(data) == size and count != 1
    if not is_splat and len(data) != count * size:
        raise DenseError(_wrong_length(count, len(data) / size, "elements"))
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
        return _element_texts(type, data[:size])[0]
    is_flags = type in _FLAGS
    if len(data) > _MAX_LISTED * size and (packs_flags or not is_flags):
        return f'"0x{(packed_flags(data) if is_flags else data).hex().upper()}"'
    texts = _element_texts(type, data)
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


def _element_texts(type: Attribute, data: bytes) -> list[str]:
    """Each element; of a complex type its parts in parentheses."""
    if isinstance(type, ComplexType):
        parts = iter(_element_texts(cast("ComplexType[Any]", type).element_type, data))
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
