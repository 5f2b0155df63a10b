"""Shapes of HLO text, `f32[2,<=3]{1,0:T(8,128)}`, and tuples of them: the types they stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, TensorType, TupleType
from xdsl.ir import Attribute, TypeAttribute

from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.layouts.type_layouts import (
    human_string_with_layout,
    layout_of,
    validate_layout_for_shape,
)
from xla_dialect.spelling import Excerpt, NoHloSpelling, SpellingError, quoted, suggestion
from xla_dialect.text.lexer import Lexer
from xla_dialect.types import (
    BY_NAME,
    BY_TYPE,
    MAX_ELEMENTS,
    Array,
    BufferType,
    OpaqueType,
    TokenType,
    array,
    element_count,
    spell,
)

_SHAPE = re.compile(r"([a-z0-9]++)\s*+\[([^\]]*+)\]\s*+(\{.*\})?", re.DOTALL)
_DIMENSION = re.compile(r"\s*+(<=\s*+)?(\d++|\?)\s*+", re.ASCII)
_DIGITS_OF_MAXIMUM = len(str(MAX_ELEMENTS))
_NO_ARRAYS = ("token", "opaque")


def parse_shape(text: str) -> Attribute:
    """
    The type for the text of one shape that is no tuple: `f32[2]{0}`, `token[]`.

    The default layout is no encoding. Raises SpellingError.
    """
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise SpellingError("expected a shape such as f32[2,3]", 0)
    name, dimensions, layout = match.groups()
    if name in _NO_ARRAYS:
        if dimensions.strip():
            raise SpellingError(f"{name} has no dimensions", match.start(2))
        return OpaqueType() if name == "opaque" else TokenType()
    element = BY_NAME.get(name)
    if element is None:
        hint = suggestion(name, BY_NAME)
        raise SpellingError(f"unknown element type {quoted(name)}{hint}")
    sizes, bounds = _parse_dimensions(dimensions, match.start(2))
    encoding = _parse_layout(layout or "", match.start(3), sizes, bounds)
    type_ = array(element.type, sizes, encoding)
    with Excerpt(match.start(3)):
        validate_layout_for_shape(type_)
    return type_


def _parse_dimensions(text: str, start: int) -> tuple[list[int], list[int | None]]:
    """Sizes (dynamic ones as DYNAMIC_INDEX) and upper bounds (None where static or unbounded)."""
    sizes: list[int] = []
    bounds: list[int | None] = []
    if not text.strip():
        return sizes, bounds
    for part in text.split(","):
        match = _DIMENSION.fullmatch(part)
        if match is None or (match.group(1) and match.group(2) == "?"):
            raise SpellingError(f"expected a dimension size, found {quoted(part.strip())}", start)
        at_most, digits = match.groups()
        if digits == "?":
            sizes.append(DYNAMIC_INDEX)
            bounds.append(None)
        else:
            size = _size(digits, start + match.start(2))
            sizes.append(DYNAMIC_INDEX if at_most else size)
            bounds.append(size if at_most else None)
        start += len(part) + 1
    extents = (b if s < 0 else s for s, b in zip(sizes, bounds, strict=True))
    if element_count([n for n in extents if n]) > MAX_ELEMENTS:
        raise SpellingError("array has more than 2^63 - 1 elements", 0)
    return sizes, bounds


def _size(digits: str, position: int) -> int:
    significant = digits.lstrip("0")
    if len(significant) <= _DIGITS_OF_MAXIMUM and int(significant or "0") <= MAX_ELEMENTS:
        return int(significant or "0")
    spelled = digits if len(digits) <= 40 else f"{digits[:20]}... ({len(digits)} digits)"
    raise SpellingError(f"dimension size {spelled} is greater than 2^63 - 1", position)


def _parse_layout(
    text: str, start: int, sizes: list[int], bounds: list[int | None]
) -> LayoutAttr | None:
    """The encoding for the braces after the dimensions; None for what the default says."""
    has_bounds = any(bound is not None for bound in bounds)
    if not text and not has_bounds:
        return None
    with Excerpt(start):
        layout = Layout.parse(text) if text else Layout.default(len(sizes))
        if has_bounds:
            layout = replace(layout, bounds=tuple(bounds))
        layout.validate(sizes)
    return None if layout.is_default else LayoutAttr(layout)


def spell_type(type_: Attribute, with_layouts: bool = True) -> str:
    """
    The text of a type, the inverse of `parse_type`: `f32[2,3]{1,0}`, `(s32[], token[])`.

    Every array of rank 1 or more has its layout, unless they are left out. Raises Inexpressible
    for what is no type of HLO.
    """
    if isinstance(type_, TensorType):
        type_ = cast(Array, type_)
        if type_.element_type not in BY_TYPE:
            raise NoHloSpelling(f"{type_} is no type of HLO")
        if not with_layouts:
            return spell(type_)
        if not isinstance(type_.encoding, NoneAttr | LayoutAttr):
            raise NoHloSpelling(f"{type_} has an encoding that is no layout")
        if layout_of(type_).padded_dimensions:
            raise NoHloSpelling(f"layout of {type_}: today's HLO text has no padded_dimensions")
        return human_string_with_layout(type_)
    if isinstance(type_, TupleType):
        return f"({count_list([spell_type(t, with_layouts) for t in type_.types.data])})"
    if isinstance(type_, BufferType):
        return f"b({spell_type(type_.content, with_layouts)})"
    if isinstance(type_, TokenType | OpaqueType):
        return spell(type_)
    raise NoHloSpelling(f"{type_} is no type of HLO")


def spell_entry_layout(parameters: Sequence[Attribute], result: Attribute) -> str:
    """The `entry_computation_layout` of these types: `{(f32[2]{0})->f32[]}`."""
    return f"{{({count_list([spell_type(t) for t in parameters])})->{spell_type(result)}}}"


def count_list(texts: Sequence[str], interval: int = 5) -> str:
    """A list as XLA prints it: `a, b, c, d, e, /*index=5*/f`; an interval of 0 never counts."""
    if not interval or len(texts) <= interval:
        return ", ".join(texts)
    return ", ".join(
        f"/*index={i}*/{text}" if i and not i % interval else text for i, text in enumerate(texts)
    )


MAX_NESTING = 32
"""How deep tuples, instructions inside operands, and computations inside instructions may be
nested."""


def parse_type(text: str) -> Attribute:
    """
    The type that a text spells: `f32[2,3]{1,0}`, `(s32[], pred[4])`, `token[]`.

    Raises SpellingError.
    """
    parser = TypeParser(text)
    type_ = parser.type()
    if parser.kind != "end":
        parser.fail_expected("the end of the type")
    return type_


class TypeParser(Lexer):
    """Reads types among tokens."""

    def __init__(self, text: str, start: int = 0):
        super().__init__(text, start)
        self.types: dict[str, Attribute] = {}
        """Every spelling of a type met so far."""
        self.equal_types: dict[Attribute, Attribute] = {}
        """One object for all equal types, so that comparing them mostly ends at identity."""

    def at_type(self) -> bool:
        """Whether a shape begins here."""
        token = self.token
        return (
            self.kind == "shape"
            or token == "("
            or (token == "b" and self.text.startswith("(", self.end))
        )

    def type(self) -> Attribute:
        """Steps over a shape and returns its type."""
        if self.kind == "shape":
            type_ = self.types.get(self.token)
            if type_ is None:
                type_ = self.new_type(self.array(self.token, self.start))
            self.advance()
            return type_
        if self.token == "b":
            return self.buffer()
        if self.token != "(":
            self.fail_expected("a shape")
        start = self.start
        end = self.skip_group(start)
        text = self.text[start:end]
        type_ = self.types.get(text)
        if type_ is None:
            type_ = self.types[text] = self.tuple()
        else:
            self.advance_to(end)
        return type_

    def buffer(self) -> Attribute:
        """Steps over the shape of a buffer, `b(f32[2])`."""
        self.advance()
        self.expect("(")
        start = self.start
        content = self.type() if self.kind == "shape" else None
        if not isinstance(content, TensorType):
            self.fail(f"expected the shape of an array, found {self.describe()}", start)
        self.expect(")")
        type_ = BufferType(cast(Array, content))
        return self.equal_types.setdefault(type_, type_)

    def array(self, text: str, start: int) -> Attribute:
        with Excerpt(start):
            return parse_shape(text)

    def new_type(self, type_: Attribute) -> Attribute:
        """The object that stands for this type from now on, under the current token."""
        type_ = self.types[self.token] = self.equal_types.setdefault(type_, type_)
        return type_

    def tuple(self, depth: int = 0) -> Attribute:
        """Steps over a tuple shape."""
        if depth == MAX_NESTING:
            self.fail(f"tuples are nested deeper than {MAX_NESTING}")
        self.expect("(")
        elements: list[Attribute] = []
        while not self.accept(")"):
            if elements:
                self.expect(",")
            elements.append(self.tuple(depth + 1) if self.token == "(" else self.type())
        type_ = TupleType(cast("tuple[TypeAttribute, ...]", (*elements,)))
        return self.equal_types.setdefault(type_, type_)
