"""The types that HLO text spells, read from the tokens of the lexer."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, TypeAttribute

from xla_dialect.spelling import Part
from xla_dialect.text.lexer import Lexer
from xla_dialect.text.shapes import parse_shape
from xla_dialect.types import Array, BufferType

MAX_NESTING = 32
"""How deep tuples, instructions inside operands, and computations inside instructions may be
nested."""


def parse_type(text: str) -> Attribute:
    """
    The type that a text spells: `f32[2,3]{1,0}`, `(s32[], pred[4])`, `token[]`.

    Raises SpellingError.
    """
    parser = TypeParser(Lexer(text))
    type_ = parser.type()
    if parser.lexer.kind != "end":
        parser.lexer.fail_expected("the end of the type")
    return type_


class TypeParser:
    """Reads types where the lexer stands."""

    def __init__(self, lexer: Lexer):
        self.lexer = lexer
        self.types: dict[str, Attribute] = {}
        """Every spelling of a type met so far."""
        self.equal_types: dict[Attribute, Attribute] = {}
        """One object for all equal types, so that comparing them mostly ends at identity."""

    def at_type(self) -> bool:
        """Whether a shape begins here."""
        lexer = self.lexer
        token = lexer.token
        return (
            lexer.kind == "shape"
            or token == "("
            or (token == "b" and lexer.text.startswith("(", lexer.end))
        )

    def type(self) -> Attribute:
        """Steps over a shape and returns its type."""
        lexer = self.lexer
        if lexer.kind == "shape":
            type_ = self.types.get(lexer.token)
            if type_ is None:
                type_ = self.new_type(self.array(lexer.token, lexer.start))
            lexer.advance()
            return type_
        if lexer.token == "b":
            return self.buffer()
        if lexer.token != "(":
            lexer.fail_expected("a shape")
        start = lexer.start
        end = lexer.skip_group(start)
        text = lexer.text[start:end]
        type_ = self.types.get(text)
        if type_ is None:
            type_ = self.types[text] = self.tuple()
        else:
            lexer.advance_to(end)
        return type_

    def buffer(self) -> Attribute:
        """Steps over the shape of a buffer, `b(f32[2])`."""
        lexer = self.lexer
        lexer.advance()
        lexer.expect("(")
        start = lexer.start
        content = self.type() if lexer.kind == "shape" else None
        if not isinstance(content, TensorType):
            lexer.fail(f"expected the shape of an array, found {lexer.describe()}", start)
        lexer.expect(")")
        type_ = BufferType(cast(Array, content))
        return self.equal_types.setdefault(type_, type_)

    def array(self, text: str, start: int) -> Attribute:
        with Part(start):
            return parse_shape(text)

    def new_type(self, type_: Attribute) -> Attribute:
        """The object that stands for this type from now on, under the current token."""
        type_ = self.types[self.lexer.token] = self.equal_types.setdefault(type_, type_)
        return type_

    def tuple(self) -> Attribute:
        """Steps over a tuple shape, without recursion."""
        lexer = self.lexer
        open_tuples: list[list[Attribute]] = []
        while True:
            start = lexer.start
            if lexer.accept("("):
                if len(open_tuples) == MAX_NESTING:
                    lexer.fail(f"tuples are nested deeper than {MAX_NESTING}", start)
                open_tuples.append([])
                if lexer.token != ")":
                    continue
            else:
                open_tuples[-1].append(self.type())
            while lexer.accept(")"):
                elements = cast("list[TypeAttribute]", open_tuples.pop())
                type_: Attribute = TupleType(tuple(elements))
                type_ = self.equal_types.setdefault(type_, type_)
                if not open_tuples:
                    return type_
                open_tuples[-1].append(type_)
            lexer.expect(",")
