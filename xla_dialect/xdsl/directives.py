# pyright: reportPrivateUsage=false
"""Custom directives of assembly formats that several dialects share.

assembly_format = "operands attr-dict `:` custom<SameType>(type(operands), type(results))"
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    TypeDirective,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

Types: TypeAlias = Sequence[Attribute]


class TypesDirective(CustomDirective):
    """
    The types of operands and results: a list without an arrow, or a function type.

    Subclasses say what a list stands for. They repeat the two fields, as a directive's parameters
    are the fields of its own class.
    """

    operands: TypeDirective
    results: TypeDirective

    def full(self, types: Types, count: int) -> tuple[Types, Types] | None:
        """The types of `count` operands, and of the results, for a list; None if it is illegal."""
        raise NotImplementedError

    def short(self, operands: Types, results: Types) -> Types | None:
        """The list for the types of operands and results; None if there is none."""
        raise NotImplementedError

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses `type, ...` or `(type, ...) -> types`."""
        position = parser.pos
        function_type = parser.parse_optional_function_type()
        if function_type is not None:
            operands, results = function_type.inputs.data, function_type.outputs.data
        else:
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            count = sum(len(group) for group in state.operands if group is not None)
            found = self.full(types, count)
            if found is None:
                parser.raise_error("expected a function type here", position)
            operands, results = found
        self.operands.set(state, operands)
        self.results.set(state, results)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the list, or else the function type."""
        state.print_whitespace(printer)
        operands, results = self.operands.get(op), self.results.get(op)
        short = self.short(operands, results)
        if short is None:
            printer.print_function_type(operands, results)
        else:
            printer.print_list(short, printer.print_attribute)


@irdl_custom_directive
class SameType(TypesDirective):
    """One type: that of all operands and of the only result."""

    operands: TypeDirective
    results: TypeDirective

    def full(self, types: Types, count: int) -> tuple[Types, Types] | None:
        """All have the one type."""
        return ([types[0]] * count, types) if len(types) == 1 else None

    def short(self, operands: Types, results: Types) -> Types | None:
        """The type of the result, if it is that of every operand."""
        is_one = len(results) == 1 and all(type_ == results[0] for type_ in operands)
        return results if is_one else None


@irdl_custom_directive
class EachType(TypesDirective):
    """One type for each operand; the results have the same."""

    operands: TypeDirective
    results: TypeDirective

    def full(self, types: Types, count: int) -> tuple[Types, Types] | None:
        """Results have the types of the operands."""
        return types, types

    def short(self, operands: Types, results: Types) -> Types | None:
        """The types of the operands, if the results have them."""
        return operands if list(operands) == list(results) else None


class ArrowTypesDirective(TypesDirective):
    """Types with an arrow, `a, b -> c` or `(a, b) -> c`; one type alone is that of all values."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the types."""
        function_type = parser.parse_optional_function_type()
        if function_type is not None:
            operands, results = function_type.inputs.data, function_type.outputs.data
        else:
            position = parser.pos
            operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            if parser.parse_optional_punctuation("->") is not None:
                results = [parser.parse_type()]
            elif len(operands) == 1:
                results = operands
                operands = operands * sum(
                    len(group) for group in state.operands if group is not None
                )
            else:
                parser.raise_error("expected a function type here", position)
        self.operands.set(state, operands)
        self.results.set(state, results)


@irdl_custom_directive
class ArrowTypes(ArrowTypesDirective):
    """Printed as `a, b -> c`."""

    operands: TypeDirective
    results: TypeDirective

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the types."""
        state.print_whitespace(printer)
        printer.print_list(self.operands.get(op), printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_list(self.results.get(op), printer.print_attribute)


@irdl_custom_directive
class FunctionTypes(ArrowTypesDirective):
    """Printed as `(a, b) -> c`."""

    operands: TypeDirective
    results: TypeDirective

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the types."""
        state.print_whitespace(printer)
        printer.print_function_type(self.operands.get(op), self.results.get(op))


@irdl_custom_directive
class OperandsThenComma(CustomDirective):
    """Operands of any number with a comma behind the last: xDSL refuses one in the format."""

    operands: VariadicOperandVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses `%0, %1,` or, without operands, `,` or nothing."""
        found: list[Any] = []
        while (operand := parser.parse_optional_unresolved_operand()) is not None:
            found.append(operand)
            parser.parse_punctuation(",")
        if not found:
            parser.parse_optional_punctuation(",")
        self.operands.set(state, found)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints what `parse` parses."""
        state.print_whitespace(printer)
        printer.print_list(self.operands.get(op), printer.print_ssa_value)
        printer.print_string(",")
        state.last_was_punctuation = False
        state.should_emit_space = True


@irdl_custom_directive
class Integers(CustomDirective):
    """A list of integers of 64 bits, `[1, -2]`; xDSL 0.74 lets larger ones wrap."""

    values: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the list."""
        self.values.set(state, parse_integers(parser))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the list."""
        state.print_whitespace(printer)
        print_integers(printer, self.values.get(op))


@irdl_custom_directive
class RegionWithArguments(CustomDirective):
    """`(%a: type, ...) { ... }`: a region of one block, with its arguments in front."""

    region: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses arguments and region."""
        self.region.set(state, parser.parse_region(parse_arguments(parser)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints arguments and region."""
        state.print_whitespace(printer)
        print_arguments(self.region.get(op), printer)


# What directives are made of


def parse_argument(parser: Parser) -> Parser.Argument:
    """Parses `%x: type` of a region, and its location if it is there."""
    argument = parser.parse_argument()
    argument.location = parser.parse_optional_location()
    return argument


def parse_arguments(parser: Parser) -> list[Parser.Argument]:
    """Parses `(%x: type, ...)` of a region."""
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_argument(parser))


def print_arguments(region: Region, printer: Printer) -> None:
    """Prints `(%x: type, ...) {...}`: the arguments of a region, and the region."""
    block = region.first_block
    with printer.in_parens():
        printer.print_list(block.args if block is not None else (), printer.print_block_argument)
    printer.print_string(" ")
    printer.print_region(region, print_entry_block_args=False)


def parse_i64(parser: AttrParser) -> int:
    """Parses an integer that fits into 64 bits, signed."""
    position = parser.pos
    value = parser.parse_integer(allow_boolean=False)
    if not -(2**63) <= value < 2**63:
        parser.raise_error("the number does not fit into 64 bits", position)
    return value


def parse_integers(parser: AttrParser) -> Attribute:
    """Parses `[1, -2]` as `array<i64>`."""
    numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_i64(parser))
    return DenseArrayBase.from_list(i64, numbers)


def print_integers(printer: Printer, value: Attribute | None) -> None:
    """Prints what `parse_integers` parses; an absent list as an empty one."""
    numbers = () if value is None else cast("DenseArrayBase[Any]", value).get_values()
    printer.print_string(f"[{', '.join(map(str, numbers))}]")


def parse_integer_pair(parser: AttrParser) -> tuple[Attribute, Attribute]:
    """Parses `[0, 1] x [1, 2]`."""
    left = parse_integers(parser)
    parser.parse_characters("x")
    return left, parse_integers(parser)


def print_integer_pair(printer: Printer, left: Attribute, right: Attribute) -> None:
    """Prints what `parse_integer_pair` parses."""
    print_integers(printer, left)
    printer.print_string(" x ")
    print_integers(printer, right)


def print_new_line(printer: Printer) -> None:
    """Begins a line, as far to the right as the operation that is printed."""
    printer._print_new_line()


def name_alike(printer: Printer, value: SSAValue, same: SSAValue) -> None:
    """Gives two arguments of regions one name in the text."""
    outer, printer.stream = printer.stream, StringIO()
    printer._ssa_values[same] = printer.print_ssa_value(value)
    printer.stream = outer
