"""MLIR text in and out: located operations and errors, and one way to print.

`RecoveringParser` goes on after an error, so that one reading finds several.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from io import StringIO
from typing import NoReturn, TypeAlias, TypeVar, cast

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import (
    DenseResourceAttr,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnknownLoc,
    UnrealizedConversionCastOp,
)
from xdsl.ir import Attribute, AttributeInvT, Block, Operation, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.exceptions import ParseError, UnregisteredConstructException, VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xla_dialect.diagnostics import LocatedError
from xla_dialect.xdsl.creation import location_at
from xla_dialect.xdsl.dense_literals import is_elided, literal_of_blob
from xla_dialect.xdsl.text import MlirParser, MlirPrinter
from xla_dialect.xdsl.traversal import deep_recursion, operations_in

MAX_FAULTS = 100
"""After so many, reading ends."""

_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"?|//[^\n]*|[{}\n]')
_STATEMENT = re.compile(r"[ \t\r]*(?=[%^#!\"}]|[A-Za-z_]|//|\Z|\n)")
"""How the line after an operation begins; others go on with it."""
_RESULTS = re.compile(r"%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*(?=\s*=)")
_NAME = re.compile(r"%([\w$.-]+)")
_ENDS = (MLIRTokenKind.R_BRACE, MLIRTokenKind.CARET_IDENT, MLIRTokenKind.EOF)


_FAULTS = (
    ParseError,
    VerifyException,
    UnregisteredConstructException,
    ValueError,
    OverflowError,
)
"""What parsers and verifiers raise for text that they understand."""


def fault_message(error: Exception) -> str:
    """The first line of what an error says; its class where that is nothing."""
    text = error.msg if isinstance(error, ParseError) else str(error)
    lines = text.strip().splitlines()
    kind = type(error).__name__
    if isinstance(error, _FAULTS):
        return lines[0] if lines else "syntax error"
    return f"cannot be read ({kind}{': ' if lines else ''}{lines[0] if lines else ''})"


def fault_offset(error: Exception, position: int) -> int:
    """Where an error is: only those of the parser know it, others are at its position."""
    return error.span.start if isinstance(error, ParseError) else position


class MlirSyntaxError(LocatedError):
    """MLIR text that cannot be read."""


class LocatingParser(MlirParser):
    """A parser that also gives every operation the place where it stands in the text."""

    def __init__(self, ctx: Context, text: str, file_name: str):
        super().__init__(ctx, text, file_name)
        self._file = StringAttr(file_name)
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.first_uses: dict[str, int] = {}
        """Where values are first used that were not defined before."""
        self.places: dict[Operation, LocationAttr] = {}
        """Where operations stand whose own location says something else."""
        self.resources = OpAsmDialectInterface()
        """What the text has itself: those of a dialect are shared by all texts."""

    def _parse_dialect_resource_handle(
        self, dialect_name: str, interface: OpAsmDialectInterface
    ) -> str:
        return super()._parse_dialect_resource_handle(dialect_name, self.resources)

    def _parse_resource(self, dialect_name: str, interface: OpAsmDialectInterface) -> None:
        super()._parse_resource(dialect_name, self.resources)

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        """Resolves an operand and notes where a value is used before it is defined."""
        if operand.operand_name not in self.ssa_values:
            self.first_uses.setdefault(operand.operand_name, operand.span.start)
        return super().resolve_operand(operand, type)

    def undefined_value(self) -> tuple[str, int] | None:
        """The first value that is used and never defined, and the place of that use."""
        for name in self.forward_ssa_references:
            if name in self.first_uses:
                return name, self.first_uses[name]
        return None

    def start_of(self, op: Operation) -> int:
        """Where in the text an operation stands."""
        place = self.places.get(op, op.location)
        if not isinstance(place, FileLineColLoc):
            return 0
        return self._line_starts[place.line.data - 1] + place.column.data - 1

    def locate(self, op: Operation, start: int) -> None:
        """Gives an operation that starts at an offset its place, unless it has another location."""
        line = bisect_right(self._line_starts, start)
        column = start - self._line_starts[line - 1] + 1
        place = location_at(self._file, _number(line), _number(column))
        if isinstance(op.location, UnknownLoc):
            op.location = place
        else:
            self.places[op] = place

    def parse_operation(self) -> Operation:
        """Parses an operation; one without a location gets that of its first character."""
        start = self.pos
        op = super().parse_operation()
        if isinstance(op, ModuleOp) and not op.body.blocks:
            # xDSL fails on `ModuleOp.ops` and `body.block` of such a module.
            self.raise_error("the region of 'builtin.module' has no block", start, start)
        self.locate(op, start)
        return op


class RecoveringParser(LocatingParser):
    """A parser that steps over operations it cannot read, and goes on with the next."""

    def __init__(self, ctx: Context, text: str, file_name: str):
        self.faults: list[tuple[str, int]] = []
        """Messages, and the offsets they are about."""
        self.lost: set[str] = set()
        """The values of operations that could not be read: to use them is no fault of its own."""
        self.values: dict[int, Sequence[SSAValue]] = {}
        """What was defined, by the offset of its name."""
        super().__init__(ctx, text, file_name)

    def parse_operation(self) -> Operation:
        """Parses an operation; one that cannot be read becomes a cast of nothing to nothing."""
        start = self.pos
        defined, blocks = len(self.ssa_values), (self.blocks, self.forward_block_references)
        depth = len(self._parser_state.dialect_stack)
        try:
            return super().parse_operation()
        except RecursionError:
            raise
        except Exception as error:  # xDSL 0.74 checks malformed text with assertions and others
            following = self._after_operation(start)
            if following is None or len(self.faults) >= MAX_FAULTS:
                raise
            self.faults.append((fault_message(error), fault_offset(error, self.pos)))
            # Regions go on with the values around them, and add to these.
            while len(self.ssa_values) > defined:
                self.ssa_values.popitem()
            self.blocks, self.forward_block_references = blocks
            del self._parser_state.dialect_stack[depth:]
            results = _RESULTS.match(self.lexer.input.content, start)
            if results is not None:
                self.lost.update(_NAME.findall(results.group()))
            self.resume(following)
            return UnrealizedConversionCastOp.create()

    def resume(self, offset: int) -> None:
        """Goes on at an offset; a character that begins no token is a fault too."""
        while True:
            try:
                self._resume_from(offset)
                return
            except ParseError as error:
                self.faults.append((fault_message(error), error.span.start))
                following = self._after_operation(error.span.start)
                if following is None or len(self.faults) >= MAX_FAULTS:
                    raise
                offset = following

    def _parse_block_body(self, block: Block) -> None:
        super()._parse_block_body(block)
        while self._current_token.kind not in _ENDS and len(self.faults) < MAX_FAULTS:
            following = self._after_operation(self.pos)
            if following is None:
                return
            self.faults.append(
                (f"expected an operation, found '{self._current_token.text}'", self.pos)
            )
            self.resume(following)
            super()._parse_block_body(block)

    def _after_operation(self, start: int) -> int | None:
        """
        The offset after the operation that starts at one: the brackets of its regions are balanced.

        None where they never are.
        """
        text = self.lexer.input.content
        depth = 0
        for piece in _PIECE.finditer(text, start):
            match piece.group():
                case "{":
                    depth += 1
                case "}" if depth == 0:
                    return piece.start()
                case "}":
                    depth -= 1
                case "\n" if depth == 0 and _STATEMENT.match(text, piece.end()):
                    return piece.end()
                case _:
                    pass
        return None if depth else len(text)

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        """Resolves an operand; one that was lost is of whatever type it is used with."""
        if operand.operand_name in self.lost and operand.operand_name not in self.ssa_values:
            return Parser.resolve_operand(self, operand, type)
        return super().resolve_operand(operand, type)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        self.values[span.start] = tuple(values)

    def read(self) -> ModuleOp | None:
        """Parses a module; None where there are faults."""
        module = None
        try:
            module = self.parse_module()
        except RecursionError:
            self.faults.append(("nested too deeply", self.pos))
        except Exception as error:
            if "used but not defined" not in str(error):
                self.faults.append((fault_message(error), fault_offset(error, self.pos)))
        for name in self.forward_ssa_references:
            if name not in self.lost and name in self.first_uses:
                self.faults.append((f"value %{name} is not defined", self.first_uses[name]))
        return None if self.faults else module


_number = lru_cache(4096)(IntAttr)
"""Numbers of lines and columns, which recur."""


@deep_recursion()
def print_mlir(op: Operation, *, generic: bool = False, locations: bool = False) -> str:
    """The MLIR text of an operation, a module mostly, without a line break at its end."""
    output = StringIO()
    MlirPrinter(output, print_generic_format=generic, print_debuginfo=locations).print_op(op)
    return output.getvalue()


@deep_recursion()
def read_mlir(
    text: str,
    ctx: Context,
    file_name: str = "<input>",
    places: dict[Operation, LocationAttr] | None = None,
) -> ModuleOp:
    """
    Parses a module with the dialects of a context.

    Raises MlirSyntaxError (with line and column) for text that cannot be read. The module is not
    verified. `places` receives the position in the text of each operation that has another location
    of its own.
    """
    with parser_of(text, ctx, file_name) as parser:
        module = parser.parse_module()
        if places is not None:
            places.update(parser.places)
        if "dense_resource<" in text:
            resolve_resources(module, parser, keeps_elided=True)
        return module


Resources: TypeAlias = Mapping[str, bytes]
"""Elements by the names of resources, row-major and little-endian, each in whole bytes."""


def resolve_resources(
    module: ModuleOp,
    parser: LocatingParser,
    given: Resources | None = None,
    *,
    keeps_elided: bool = False,
) -> None:
    """
    Puts literals in the place of resources, which are given with a text, or which it has itself.

    Raises MlirSyntaxError at an operation with one that is nowhere, but for those that were left
    out when the text was printed, if these are kept.
    """
    for op in operations_in(module):
        for entries in (op.properties, op.attributes):
            for name, value in entries.items():
                is_kept = keeps_elided and is_elided(value)
                if isinstance(value, DenseResourceAttr) and not is_kept:
                    key, type_ = value.resource_handle.data, cast(Attribute, value.type)
                    blob = (given or {}).get(key) or parser.resources.lookup(key)
                    try:
                        found = literal_of_blob(key, blob, type_)
                    except ValueError as error:
                        source, start = parser.lexer.input, parser.start_of(op)
                        _fail(f"{op.name}: {error}", source.content, source.name, start)
                    entries[name] = found


def read_mlir_type(text: str, ctx: Context, file_name: str = "<type>") -> Attribute:
    """The type that a whole text spells; raises MlirSyntaxError for any other text."""
    with parser_of(text, ctx, file_name) as parser:
        type_ = parser.parse_type()
        if parser.pos < len(text.rstrip()):
            parser.raise_error("expected the end of the type")
        return type_


def read_with_all_errors(
    text: str, ctx: Context, file_name: str = "<input>"
) -> tuple[ModuleOp | None, list[LocatedError], dict[int, Sequence[SSAValue]]]:
    """
    Parses a module and goes on after errors.

    Returns the module, not verified, and None where there are errors; all errors; and the values
    by the offset of the names that define them.
    """
    module, errors, parser = recovered(RecoveringParser, ctx, text, file_name)
    return module, errors, {} if parser is None else parser.values


RecoveringT = TypeVar("RecoveringT", bound=RecoveringParser)


def recovered(
    parser_class: Callable[[Context, str, str], RecoveringT],
    ctx: Context,
    text: str,
    file_name: str,
) -> tuple[ModuleOp | None, list[LocatedError], RecoveringT | None]:
    """The module of a text, and all errors; the parser, None where nothing can be read."""
    try:
        parser = parser_class(ctx, text, file_name)
    except ParseError as error:
        message = error.msg.strip()
        return None, [LocatedError.at_offset(message, file_name, text, error.span.start)], None
    module = parser.read()
    errors = [LocatedError.at_offset(m, file_name, text, start) for m, start in parser.faults]
    return module, errors, parser


ParserT = TypeVar("ParserT", bound=LocatingParser)


@contextmanager
def parser_of(
    text: str,
    ctx: Context,
    file_name: str,
    parser_class: Callable[[Context, str, str], ParserT] = LocatingParser,
) -> Generator[ParserT]:
    """A parser for a text; whatever it raises becomes MlirSyntaxError."""
    try:
        # The constructor lexes the first token, and may raise.
        parser = parser_class(ctx, text, file_name)
    except ParseError as error:
        _fail(error.msg.strip(), text, file_name, error.span.start)
    try:
        yield parser
    except RecursionError:
        _fail("nested too deeply", text, file_name, parser.pos)
    except (*_FAULTS, *_CARELESS) as error:
        undefined = parser.undefined_value()
        if undefined is not None and "used but not defined" in str(error):
            _fail(f"value %{undefined[0]} is not defined", text, file_name, undefined[1])
        # Verifiers of attributes and types raise errors without a position.
        _fail(fault_message(error), text, file_name, fault_offset(error, parser.pos))


_CARELESS = (AssertionError, AttributeError, LookupError, NotImplementedError, TypeError)
"""What the parsers of some operations of xDSL raise for text that they do not expect."""


def _fail(message: str, text: str, file_name: str, offset: int) -> NoReturn:
    raise MlirSyntaxError.at_offset(message, file_name, text, offset) from None
