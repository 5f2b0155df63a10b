"""The attributes and types of StableHLO, as far as operations refer to them.

Two shapes cover them: one word, `#stablehlo<precision DEFAULT>`, and fields with values,
`#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>`. An attribute
that stands in no table here is kept as its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

WORD_NAMES = ("comparison_direction", "comparison_type", "precision")
"""The attributes that are one word of an enumeration."""

FIELD_NAMES = ("dot", "dot_algorithm", "gather")
"""The attributes that are fields with values."""


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """An ordering between operations with side effects."""

    name = "stablehlo.token"


class Word(Data[str]):
    """A word of an enumeration; subclasses name the enumeration."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Parses `WORD`, or `<WORD>` where the name of the enumeration stands outside."""
        if parser.parse_optional_punctuation("<") is None:
            return parser.parse_identifier()
        word = parser.parse_identifier()
        parser.parse_punctuation(">")
        return word

    def print_parameter(self, printer: Printer) -> None:
        """Prints `<WORD>`."""
        printer.print_string(f"<{self.data}>")


class Fields(Data[tuple[tuple[str, Attribute], ...]]):
    """Named values; subclasses name the attribute."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, Attribute], ...]:
        """Parses `<name = value, ...>`; numbers become i64, lists of them `array<i64>`."""
        fields: dict[str, Attribute] = {}

        def parse_field() -> None:
            position = parser.pos
            name = parser.parse_identifier()
            if name in fields:
                parser.raise_error(f"{cls.name}: {name} is given twice", position)
            parser.parse_punctuation("=")
            fields[name] = parse_value(parser)

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_field)
        return tuple(fields.items())

    def print_parameter(self, printer: Printer) -> None:
        """Prints the fields with their values as attributes."""
        with printer.in_angle_brackets():
            printer.print_list(self.data, lambda item: print_field(printer, *item))


def print_field(printer: Printer, name: str, value: Attribute) -> None:
    """Prints `name = value`."""
    printer.print_string(f"{name} = ")
    printer.print_attribute(value)


def parse_value(parser: AttrParser) -> Attribute:
    """Parses the value of a field: a list of integers, an integer, a type, a word or a symbol."""
    numbers = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )
    if numbers is not None:
        return integers(parser, numbers)
    if (flag := parser.parse_optional_boolean()) is not None:
        return BoolAttr.from_bool(flag)
    if (number := parser.parse_optional_integer(allow_boolean=False)) is not None:
        return integer(parser, number)
    if (type_ := parser.parse_optional_type()) is not None:
        return type_
    if (symbol := parser.parse_optional_symbol_name()) is not None:
        return SymbolRefAttr(symbol)
    return StringAttr(parser.parse_identifier_or_str_literal(" as the value of a field"))


def integer(parser: AttrParser, value: int) -> IntegerAttr[Any]:
    """The i64 attribute of a parsed number; one that does not fit is an error there."""
    if not -(2**63) <= value < 2**63:
        parser.raise_error("the number does not fit into 64 bits")
    return IntegerAttr(value, i64)


def integers(parser: AttrParser, values: list[int]) -> DenseArrayBase[Any]:
    """The `array<i64>` of parsed numbers; numbers that do not fit are an error there."""
    if any(not -(2**63) <= value < 2**63 for value in values):
        parser.raise_error("a number of the list does not fit into 64 bits")
    return DenseArrayBase.from_list(i64, values)


def _subclass(base: type[Attribute], name: str) -> type[Any]:
    return type(name.title().replace("_", ""), (base,), {"name": f"stablehlo.{name}"})


WORDS: Mapping[str, type[Word]] = {name: _subclass(Word, name) for name in WORD_NAMES}
"""From the name of an enumeration to its attribute class."""

FIELDS: Mapping[str, type[Fields]] = {name: _subclass(Fields, name) for name in FIELD_NAMES}
"""From the name of an attribute with fields to its class."""

ATTRIBUTES: tuple[type[Attribute], ...] = (TokenType, *WORDS.values(), *FIELDS.values())
"""What the `stablehlo` dialect registers."""
