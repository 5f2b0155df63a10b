"""xDSL's parser and printer of MLIR text, with literals as MLIR has them.

What differs from xDSL 0.74.0, which stays as it is for everyone else:

- Dense literals: see `dense_literals` and `dense_printing`.
- A string without its closing quote takes time exponential in its length to be refused.
- A name loses one suffix `_<digits>` each time it is read, so `%a_1_2` is `%a` after two times.
- `1 : i9999999999` computes 2^9999999999. Integer types have at most 8 digits (MLIR: 2^24 - 1).
- A text without operations is an empty module, as for mlir-opt.
- The error of an unknown operation is at what follows its name.

A newer xDSL may need less of this: `test/xdsl/test_dense_literals.py` has a test for each point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    ModuleOp,
    RankedStructure,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import AttrParser, Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.printer import Printer
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from xla_dialect.xdsl.dense_literals import parse_dense_elements
from xla_dialect.xdsl.dense_printing import print_dense
from xla_dialect.xdsl.elided import ELIDED, elided


class MlirLexer(MLIRLexer):
    """Refuses a string without its end in linear time."""

    # As xDSL's pattern, but it does not try other ways to match.
    _unescaped_characters_regex = re.compile(
        r'"[^"\\\n\v\f]*+(?:\\(?:["nt\\]|[0-9A-Fa-f]{2})[^"\\\n\v\f]*+)*"'
    )


class MlirParser(Parser):
    """Reads MLIR text; every parser of this project is one."""

    _builtin_integer_type_regex = re.compile(r"^[su]?i(\d{1,8})$")

    def __init__(self, ctx: Context, text: str, name: str = "<unknown>"):
        """Reads the first token; raises ParseError."""
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(MlirLexer(Input(text, name)))

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Parses a whole text; raises ParseError."""
        while self._current_token.kind in _ALIASES:
            self._parse_alias_def()
        if self._current_token.kind is MLIRTokenKind.EOF:
            return ModuleOp([])
        return super().parse_module(allow_implicit_module)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """The class of an operation; an unknown one is an error where its name stands."""
        found = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if found is None:
            next_ = self._current_token.span
            start = next_.input.content.rfind(name, 0, next_.start)
            self.raise_error(f"Operation {name} is not registered", start, start + len(name))
        return found

    def _parse_builtin_dense_resource_attr(self) -> DenseResourceAttr:
        """Parses what follows `dense_resource`; `<__elided__>` is a resource that is nowhere."""
        found = parse_elided(self)
        return super()._parse_builtin_dense_resource_attr() if found is None else found

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        """Names the values, without any suffix `_<digits>`: printed names do not change again."""
        super()._register_ssa_definition(name, values, span)
        if "_" in name:
            for value in values:
                if value.name_hint:
                    hint_at(value, value.name_hint)

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr[Any]:
        """Parses what follows `dense`; see `parse_dense_elements`."""
        return parse_dense_elements(self, type)


_ALIASES = (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT)


class MlirPrinter(Printer):
    """Prints MLIR text; every printer of this project is one."""

    def print_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute or a type."""
        if type(attribute) is DenseIntOrFPElementsAttr:
            print_dense(cast("DenseIntOrFPElementsAttr[Any]", attribute), self)
        else:
            super().print_attribute(attribute)


def hint_at(value: SSAValue, name: str) -> None:
    """Gives a value a name without its suffixes `_<digits>`; raises ValueError for no name."""
    hint = _SUFFIXES.sub("", name)
    value.name_hint = hint or name


_SUFFIXES = re.compile(r"(?:_[0-9]+)+$")


def parse_elided(parser: AttrParser) -> DenseResourceAttr | None:
    """Parses `<__elided__> : type` after `dense_resource`; None, and nothing, if it is another."""
    if not _ELIDED.match(parser.lexer.input.content, parser.pos):
        return None
    for characters in ("<", ELIDED, ">", ":"):
        parser.parse_characters(characters)
    type_ = parser.parse_type()
    if not isinstance(type_, TensorType):
        parser.raise_error(f"a literal is an array, not a {type_}")
    return elided(cast("TensorType[Attribute]", type_))


_ELIDED = re.compile(rf"\s*<\s*{ELIDED}\s*>")


def parse_literal(parser: AttrParser) -> Attribute:
    """
    Parses an attribute of one of our operations: a literal, a tuple of literals, or any other.

    Means the same in every tool: a parser of xDSL's own reads dense literals in its own way.
    """
    if isinstance(parser, MlirParser):
        return parser.parse_attribute()
    if parser.parse_optional_keyword("dense"):
        return parse_dense_elements(parser)
    if parser.parse_optional_keyword("dense_resource"):
        found = parse_elided(parser)
        return found or parser.raise_error("expected <__elided__>")
    elements = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parse_literal(parser)
    )
    return parser.parse_attribute() if elements is None else ArrayAttr(elements)


def print_literal(attribute: Attribute, printer: Printer) -> None:
    """Prints what `parse_literal` parses, in every tool."""
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        print_dense(cast("DenseIntOrFPElementsAttr[Any]", attribute), printer)
    elif isinstance(attribute, ArrayAttr):
        with printer.in_square_brackets():
            elements = cast("ArrayAttr[Attribute]", attribute).data
            printer.print_list(elements, lambda element: print_literal(element, printer))
    else:
        printer.print_attribute(attribute)
