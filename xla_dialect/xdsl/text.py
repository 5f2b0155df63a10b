"""xDSL's parser and printer of MLIR text, with literals as MLIR has them.

What differs from xDSL 0.74.0, which stays as it is for everyone else:

- Dense literals: see `dense_literals`.
- A string without its closing quote takes time exponential in its length to be refused.
- A name loses one suffix `_<digits>` each time it is read, so `%a_1_2` is `%a` after two times.
- `1 : i9999999999` computes 2^9999999999. Integer types have at most 8 digits (MLIR: 2^24 - 1).
- A text without operations is an empty module, as for mlir-opt.
- Labels of blocks may be numbers, `^12`, and `tensor<4xf32,>` is the type without the comma.
- The error of an unknown operation is at what follows its name.
- Aliases may be defined behind their use, as MLIR prints those of locations; locations may be
  ranges and have metadata; attributes of dialects that are unknown, or known in part, stay as text.

A newer xDSL may need less of this: `test/xdsl/test_dense_literals.py` has a test for each point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    ArrayAttr,
    CallSiteLoc,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    RankedStructure,
    StringAttr,
    TensorType,
    UnknownLoc,
    UnrankedTensorType,
    UnregisteredAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.parser import AttrParser, Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.printer import Printer
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
)

from xla_dialect.spelling import suggestion
from xla_dialect.xdsl.dense_literals import (
    ELIDED,
    elided,
    parse_dense_elements,
    print_dense,
)

_SHORT = re.compile(
    r"\s*([a-zA-Z_][\w$.]*"
    r"|[%#!^](?!-})(?:[0-9]+|[a-zA-Z$._-][\w$.-]*)|@[a-zA-Z_][\w$.]*"
    r"|->|[:,()}\[\]<>=?]|{(?!-#)|[0-9]+(?![0-9.x]))",
    re.ASCII,
)
"""A token that no other one begins with; most are."""
_KINDS = {
    **KIND_BY_PUNCTUATION_SPELLING,
    "-": MLIRTokenKind.ARROW,
    "%": MLIRTokenKind.PERCENT_IDENT,
    "#": MLIRTokenKind.HASH_IDENT,
    "!": MLIRTokenKind.EXCLAMATION_IDENT,
    "^": MLIRTokenKind.CARET_IDENT,
    "@": MLIRTokenKind.AT_IDENT,
    **dict.fromkeys("0123456789", MLIRTokenKind.INTEGER_LIT),
}
"""The kinds of these by their first character, but for bare identifiers."""


class MlirLexer(MLIRLexer):
    """Finds most tokens by one pattern, and refuses a string without its end in linear time."""

    def lex(self) -> MLIRToken:
        """The next token; raises ParseError."""
        found = _SHORT.match(self.input.content, self.pos)
        if found is None:
            return super().lex()
        start, self.pos = found.span(1)
        kind = _KINDS.get(self.input.content[start], MLIRTokenKind.BARE_IDENT)
        return Token(kind, Span(start, self.pos, self.input))

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
        self._alias_places: dict[str, int] | None = None
        """Where aliases are defined that have been used before."""
        self._alias_ends: dict[int, int] = {}
        """By the place of a definition that has been parsed already, where it ends."""
        self._alias_lengths: dict[str, int] = {}

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Parses a whole text; raises ParseError."""
        while self._current_token.kind in _ALIASES:
            self._parse_alias_def()
        if self._current_token.kind is MLIRTokenKind.EOF:
            return ModuleOp([])
        return super().parse_module(allow_implicit_module)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """The class of an operation; an unknown one is an error where its name stands."""
        found = self.operation_named(name)
        if found is None:
            next_ = self._current_token.span
            start = next_.input.content.rfind(name, 0, next_.start)
            message = f"Operation {name} is not registered{self.hint_at_operation(name)}"
            self.raise_error(message, start, start + len(name))
        return found

    def operation_named(self, name: str) -> type[Operation] | None:
        """The class of an operation, if it is known."""
        return self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)

    def hint_at_operation(self, name: str) -> str:
        """What may have been meant by an operation that is not known, or how it becomes known."""
        dialect, dot, word = name.partition(".")
        own = next((d for d in self.ctx.loaded_dialects if d.name == dialect), None)
        if own is not None:
            return suggestion(word, (op.name.partition(".")[2] for op in own.operations))
        known = {*self.ctx.registered_dialect_names, *(d.name for d in self.ctx.loaded_dialects)}
        if not dot or dialect in known:
            return ""
        return f": there is no dialect '{dialect}'" + (
            suggestion(dialect, sorted(known))
            or "; a package brings dialects by its entry points in the group `xdsl.universe`"
        )

    def _parse_builtin_dense_resource_attr(self) -> DenseResourceAttr:
        """Parses what follows `dense_resource`; `<__elided__>` is a resource that is nowhere."""
        found = parse_elided(self)
        return super()._parse_builtin_dense_resource_attr() if found is None else found

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        """Names the values, without any suffix `_<digits>`: printed names do not change again."""
        super()._register_ssa_definition(name, values, span)
        if "_" in name:
            for value in values:
                if value.name_hint is not None:
                    hint_at(value, value.name_hint)

    def _parse_block(self) -> Block:
        """Parses a block and its label, which may be a number: `^12`."""
        label = self._current_token.span
        name = label.text[1:]
        if not name.isdecimal():
            block = super()._parse_block()
            if block.name_hint is not None:
                hint_at(block, block.name_hint)
            return block
        self._consume_token(MLIRTokenKind.CARET_IDENT)
        block = self._get_block_from_name(label)
        if self.blocks[name][1] is not None:
            self.raise_error(f"block {label.text} is defined twice", label)
        self.blocks[name] = (block, label)
        self.forward_block_references.pop(name, None)
        self._parse_optional_block_arg_list(block)
        self.parse_punctuation(":")
        self._parse_block_body(block)
        return block

    def _parse_tensor_attrs(self) -> Any:
        """Parses what stands in `tensor<...>`; as for MLIR, nothing needs to follow its comma."""
        shape, element_type = self.parse_shape()
        encoding: Attribute = NoneAttr()
        if self.parse_optional_punctuation(",") is not None:
            if shape is None:
                self.raise_error("an array of any rank has no encoding")
            if self._current_token.kind is not MLIRTokenKind.GREATER:
                encoding = self.parse_attribute()
        if shape is None:
            return UnrankedTensorType(element_type)
        return TensorType(element_type, shape, encoding)

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr[Any]:
        """Parses what follows `dense`; see `parse_dense_elements`."""
        return parse_dense_elements(self, type)

    # Aliases

    def alias(self, name: str) -> Attribute:
        """What `#name` or `!name` stands for, also if it is defined further down."""
        if name not in self.attribute_aliases:
            text = self.lexer.input.content
            if self._alias_places is None:
                definitions = _ALIAS_DEFINITION.finditer(text)
                self._alias_places = {each.group(1): each.start(1) for each in definitions}
            start = self._alias_places.pop(name, None)
            if start is None:
                use = text.rfind(name, 0, self.pos)
                self.raise_error(f"undefined alias {name}", use, use + len(name))
            here = self.pos
            self._resume_from(start)
            self._parse_alias_def()
            self._resume_from(here)
        return self.attribute_aliases[name]

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        """Parses what follows `#` or `!` and a name: nothing, where that is an alias."""
        if "." in attr_or_dialect_name or self._current_token.kind is MLIRTokenKind.LESS:
            return super()._parse_extended_type_or_attribute(attr_or_dialect_name, is_type)
        return self.alias(("!" if is_type else "#") + attr_or_dialect_name)

    def _parse_alias_def(self) -> None:
        name, start = self._current_token.text, self.pos
        known_end = self._alias_ends.get(start)
        if known_end is not None:
            self._resume_from(known_end)
            return
        super()._parse_alias_def()
        self._alias_ends[start] = self.pos
        self._bound_alias(name, start + len(name))

    def _bound_alias(self, name: str, start: int) -> None:
        """Bounds what an alias stands for: a few lines could double it again and again."""
        text = self.lexer.input.content[start : self.pos]
        used = (self._alias_lengths.get(name, 0) for name in _ALIAS.findall(text))
        length = self._alias_lengths[name] = len(text) + sum(used)
        if length > MAX_ALIAS_LENGTH:
            message = f"{name} stands for more than {MAX_ALIAS_LENGTH} characters"
            self.raise_error(message, start, self.pos)

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ) -> Any:
        """Parses the rest of an attribute; of one that xDSL does not have, its text."""
        if is_type or not self._is_foreign(attr_name):
            return super()._parse_dialect_type_or_attribute_body(
                attr_name, is_type, is_opaque, starting_opaque_pos
            )
        body = ""
        if starting_opaque_pos is not None:
            end = self._raw_scan_balanced(starting_opaque_pos)
            body = self.lexer.input.content[starting_opaque_pos:end]
            self._resume_from(end)
        elif self._current_token.kind is MLIRTokenKind.LESS:
            body = self._parse_dialect_symbol_body()
        return _kept_class(attr_name)(attr_name, is_type, is_opaque, body)

    def _is_foreign(self, name: str) -> bool:
        """Whether an attribute is unknown, and of a dialect that is unknown or not ours."""
        found = self.ctx.get_optional_attr(name)
        if found is not None and not issubclass(found, UnregisteredAttr):
            return False
        dialect = name.partition(".")[0]
        known = {*self.ctx.registered_dialect_names, *(d.name for d in self.ctx.loaded_dialects)}
        return dialect in _OF_OTHERS or dialect not in known

    # Locations

    def _parse_location(self) -> LocationAttr:
        """Parses what stands inside `loc(...)`."""
        if self._current_token.kind is MLIRTokenKind.HASH_IDENT:
            use = self._consume_token(MLIRTokenKind.HASH_IDENT)
            found = self.alias(use.text)
            if not isinstance(found, LocationAttr):
                self.raise_error(f"{use.text} is not a location", use.span)
            return found
        if (text := self.parse_optional_str_literal()) is not None:
            if self.parse_optional_punctuation(":") is not None:
                return self._parse_file_location(StringAttr(text))
            if self.parse_optional_punctuation("(") is None:
                return NameLoc(StringAttr(text), NoneAttr())
            child = self._parse_location()
            self.parse_punctuation(")")
            return NameLoc(StringAttr(text), child)
        match self.parse_identifier(" in a location"):
            case "unknown":
                return UnknownLoc()
            case "callsite":
                with self.in_parens():
                    callee = self._parse_location()
                    self.parse_keyword("at")
                    return CallSiteLoc(callee, self._parse_location())
            case "fused":
                metadata = NoneAttr()
                if self.parse_optional_punctuation("<") is not None:
                    metadata = self.parse_attribute()
                    self.parse_punctuation(">")
                parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
                return FusedLoc(ArrayAttr(parts), metadata)
            case name:
                self.raise_error(f"unknown kind of location: {name}")

    def _parse_file_location(self, file: StringAttr) -> LocationAttr:
        """Parses `line:column`; of a range, `line:column to [line]:column`, the start is kept."""
        line = self.parse_integer(allow_boolean=False, allow_negative=False)
        self.parse_punctuation(":")
        column = self.parse_integer(allow_boolean=False, allow_negative=False)
        if self.parse_optional_keyword("to") is not None:
            self.parse_optional_integer(allow_boolean=False, allow_negative=False)
            self.parse_punctuation(":")
            self.parse_integer(allow_boolean=False, allow_negative=False)
        return FileLineColLoc(file, IntAttr(line), IntAttr(column))


@lru_cache(4096)
def _kept_class(name: str) -> type[UnregisteredAttr]:
    """The class of attributes that are kept as text: xDSL makes one each time, none equal."""
    return UnregisteredAttr.with_name_and_type(name, is_type=False)


MAX_ALIAS_LENGTH = 1 << 16
"""What an alias stands for, all aliases in it written out, is no longer in characters."""
_OF_OTHERS = frozenset((*XDSL_UNIVERSE.all_dialects, "chlo", "sdy", "stablehlo"))
"""Dialects that are defined elsewhere: xDSL and we may not have all of their attributes."""
_ALIAS = re.compile(r"[#!][\w$.-]+")
_ALIAS_DEFINITION = re.compile(r"^[ \t]*([#!][\w$.-]+)[ \t]*=(?!=)", re.MULTILINE)
_ALIASES = (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT)


class MlirPrinter(Printer):
    """Prints MLIR text; every printer of this project is one."""

    def print_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute or a type."""
        if type(attribute) is DenseIntOrFPElementsAttr:
            print_dense(cast("DenseIntOrFPElementsAttr[Any]", attribute), self)
        else:
            super().print_attribute(attribute)


def hint_at(value: SSAValue | Block, name: str) -> None:
    """Names a value or a block without suffixes `_<digits>`; not if nothing else is left."""
    value.name_hint = _SUFFIXES.sub("", name) or None


_SUFFIXES = re.compile(r"(?:_[0-9]+)+$")


def alias_of(parser: AttrParser, name: str) -> Attribute:
    """What `#name` stands for, in the place where a parser is; raises ParseError."""
    if isinstance(parser, MlirParser):
        return parser.alias(name)
    found = parser.attribute_aliases.get(name)
    return parser.raise_error(f"undefined alias {name}") if found is None else found


def operation_named(parser: Parser, name: str) -> type[Operation] | None:
    """The class of an operation, if a parser knows it."""
    if isinstance(parser, MlirParser):
        return parser.operation_named(name)
    return parser.ctx.get_optional_op(name)


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
