"""The attributes and types of StableHLO, as far as operations refer to them.

Two shapes cover nearly all: one word, `#stablehlo<precision DEFAULT>`, and fields with values,
`#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>`. An attribute
that stands in no table here is kept as its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f64,
    i1,
    i64,
)
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import (
    Attribute,
    Data,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from xla_dialect.attributes import ComparisonDirection
from xla_dialect.shapes.convolution_labels import ConvolutionLabels
from xla_dialect.spelling import SpellingError
from xla_dialect.xdsl.directives import parse_i64

WORD_NAMES = (
    "fft_type",
    "precision",
    "result_accuracy_mode",
    "rng_algorithm",
    "rng_distribution",
    "transpose",
)
"""The attributes that are one word of an enumeration."""

FIELD_NAMES = (
    "dot",
    "dot_algorithm",
    "gather",
    "output_operand_alias",
    "scatter",
)
"""The attributes that are fields with values."""


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """An ordering between operations with side effects."""

    name = "stablehlo.token"


@irdl_attr_definition
class FutureType(ParametrizedAttribute, TypeAttribute):
    """What an asynchronous computation will give: `!stablehlo.future<tensor<2xf32>>`."""

    name = "stablehlo.future"
    types: ArrayAttr[Attribute] = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parses the list of types in angle brackets."""
        types = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parser.parse_type)
        return [ArrayAttr(types)]

    def print_parameters(self, printer: Printer) -> None:
        """Prints what `parse_parameters` parses."""
        with printer.in_angle_brackets():
            printer.print_list(self.types.data, printer.print_attribute)


@irdl_attr_definition
class Bounds(Data[tuple[int | None, ...]]):
    """The encoding of an array with bounded dynamic dimensions: `#stablehlo.bounds<?, 4>`."""

    name = "stablehlo.bounds"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int | None, ...]:
        """Parses `<?, 4>`; None where a dimension has no bound."""
        return tuple(
            parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _bound(parser))
        )

    @classmethod
    def parse_older(cls, parser: AttrParser) -> Bounds:
        """Parses `<bounds = [?, 4]>`, behind `type_extensions`."""
        with parser.in_angle_brackets():
            parser.parse_keyword("bounds")
            parser.parse_punctuation("=")
            bounds = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _bound(parser)
            )
        return cls(tuple(bounds))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        bounds = ", ".join("?" if bound is None else str(bound) for bound in self.data)
        printer.print_string(f"<{bounds}>")


def _bound(parser: AttrParser) -> int | None:
    return None if parser.parse_optional_punctuation("?") is not None else parse_i64(parser)


class Word(Data[str], SpacedOpaqueSyntaxAttribute):
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
        """Prints the word: `#stablehlo<precision HIGH>`."""
        printer.print_string(self.data)


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
    """Prints `name = value`, as `parse_value` reads it."""
    printer.print_string(f"{name} = ")
    match value:
        case DenseArrayBase():
            numbers = cast("DenseArrayBase[Any]", value).get_values()
            printer.print_string(f"[{', '.join(map(str, numbers))}]")
        case IntegerAttr():
            number = cast("IntegerAttr[Any]", value)
            is_flag = number.type == i1
            printer.print_string(
                str(bool(number.value.data)).lower() if is_flag else str(number.value.data)
            )
        case FloatAttr():
            printer.print_float(cast("FloatAttr[Any]", value).value.data, f64)
        case Word():
            printer.print_string(f"#{value.name}<{value.data}>")
        case StringAttr():
            printer.print_string(value.data)
        case _:
            printer.print_attribute(value)


def parse_value(parser: AttrParser) -> Attribute:
    """Parses the value of a field: numbers, a number, a flag, a type, an attribute or a word."""
    numbers = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parse_i64(parser)
    )
    if numbers is not None:
        return integers(numbers)
    if (flag := parser.parse_optional_boolean()) is not None:
        return BoolAttr.from_bool(flag)
    if (number := parser.parse_optional_number()) is not None:
        return FloatAttr(number, f64) if isinstance(number, float) else IntegerAttr(number, i64)
    if (type_ := parser.parse_optional_type()) is not None:
        return type_
    if (attribute := parser.parse_optional_attribute()) is not None:
        return attribute
    return StringAttr(parser.parse_identifier(" as the value of a field"))


def integers(values: Sequence[int]) -> DenseArrayBase[Any]:
    """A list of integers as `array<i64>`."""
    return DenseArrayBase.from_list(i64, values)


@irdl_attr_definition
class ChannelHandle(Fields):
    """`#stablehlo.channel_handle<handle = 1, type = 1>`."""

    name = "stablehlo.channel_handle"

    @staticmethod
    def of(number: int, kind: int) -> ChannelHandle:
        """The handle of a channel with this number and of this type."""
        return ChannelHandle(
            (("handle", IntegerAttr(number, i64)), ("type", IntegerAttr(kind, i64)))
        )

    def field(self, name: str) -> int:
        """`handle`, or `type`; raises VerifyException where it is missing."""
        value = dict(self.data).get(name)
        if not isinstance(value, IntegerAttr):
            raise VerifyException(f"channel_handle has no {name}")
        return cast("IntegerAttr[Any]", value).value.data


@irdl_attr_definition
class ConvolutionNumbers(Data[str]):
    """`#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`, kept as labels: `b0f_0io->b0f`."""

    name = "stablehlo.conv"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Parses what stands in angle brackets."""
        with parser.in_angle_brackets():
            return cls.parse_labels(parser)

    @classmethod
    def parse_labels(cls, parser: AttrParser) -> str:
        """Parses `[b, 0, f]x[0, i, o]->[b, 0, f]`."""
        position = parser.pos
        lhs = cls._parse_list(parser)
        parser.parse_characters("x")
        rhs = cls._parse_list(parser)
        parser.parse_punctuation("->")
        labels = f"{lhs}_{rhs}->{cls._parse_list(parser)}"
        try:
            return str(ConvolutionLabels.parse(labels))
        except SpellingError as error:
            parser.raise_error(str(error), position)

    @staticmethod
    def _parse_list(parser: AttrParser) -> str:
        def parse_label() -> str:
            if parser.parse_optional_punctuation("?") is not None:
                return "?"
            number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
            return parser.parse_identifier() if number is None else str(number)

        return "".join(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_label))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        sides, result = self.data.split("->")
        lhs, rhs = (f"[{', '.join(side)}]" for side in sides.split("_"))
        printer.print_string(f"<{lhs}x{rhs}->[{', '.join(result)}]>")


class _Word(SpacedOpaqueSyntaxAttribute):
    """How a member of an enumeration is read: `WORD`, or `<WORD>` behind the attribute's name."""

    enum_type: ClassVar[type[StrEnum]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        """Parses the member."""
        is_bracketed = parser.parse_optional_punctuation("<") is not None
        position = parser.pos
        word = parser.parse_identifier()
        members = {str(member): member for member in cls.enum_type}
        if word not in members:
            parser.raise_error(f"{word} is none of {', '.join(members)}", position)
        if is_bracketed:
            parser.parse_punctuation(">")
        return members[word]


@irdl_attr_definition
class ComparisonDirectionAttr(_Word, EnumAttribute[ComparisonDirection]):
    """A `ComparisonDirection` as an attribute."""

    name = "stablehlo.comparison_direction"


class ComparisonType(StrEnum):
    """How `compare` orders its operands; `NOTYPE` is the default of the element type."""

    NOTYPE = "NOTYPE"
    FLOAT = "FLOAT"
    TOTALORDER = "TOTALORDER"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"


@irdl_attr_definition
class ComparisonTypeAttr(_Word, EnumAttribute[ComparisonType]):
    """A `ComparisonType` as an attribute."""

    name = "stablehlo.comparison_type"


@irdl_attr_definition
class ChloComparisonDirectionAttr(_Word, EnumAttribute[ComparisonDirection]):
    """The same of CHLO."""

    name = "chlo.comparison_direction"


@irdl_attr_definition
class ChloComparisonTypeAttr(_Word, EnumAttribute[ComparisonType]):
    """The same of CHLO."""

    name = "chlo.comparison_type"


@irdl_attr_definition
class ResultAccuracy(Fields):
    """`#stablehlo.result_accuracy<atol = 0.0, rtol = 0.5, ulps = 2, mode = ...>`."""

    name = "stablehlo.result_accuracy"

    @classmethod
    def of_hlo(cls, text: str) -> Self:
        """The accuracy for `{mode=highest}` or `{tolerance={atol=0,rtol=0.5,ulps=2}}`."""
        found = dict(_TOLERANCE.findall(text))
        fields: list[tuple[str, Attribute]] = [
            (name, FloatAttr(float(found[name]), f64)) for name in ("atol", "rtol") if name in found
        ]
        if "ulps" in found:
            fields.append(("ulps", IntegerAttr(int(found["ulps"]), i64)))
        word = "TOLERANCE" if found else text.strip("{}").partition("=")[2].strip().upper()
        fields.append(("mode", WORDS["result_accuracy_mode"](word)))
        return cls(tuple(fields))

    def hlo_text(self) -> str | None:
        """As HLO text spells it, `{mode=highest}`; None for the default. Raises VerifyException."""
        fields = dict(self.data)
        if unknown := [name for name in fields if name not in (*_TOLERANCES, "mode")]:
            raise VerifyException(f"result_accuracy has no {unknown[0]}")
        mode = fields.get("mode")
        word = mode.data if isinstance(mode, Word) else str(mode)
        if word not in _MODES:
            raise VerifyException(f"{word} is none of {', '.join(_MODES)}")
        numbers = {name: _number(fields.get(name)) for name in _TOLERANCES}
        for name, value in numbers.items():
            if value < 0 or (value and word != "TOLERANCE"):
                raise VerifyException(f"{name} is {value} in result_accuracy of mode {word}")
        if word != "TOLERANCE":
            return None if word == "DEFAULT" else f"{{mode={word.lower()}}}"
        listed = ",".join(f"{name}={value}" for name, value in numbers.items())
        return f"{{tolerance={{{listed}}}}}"


_TOLERANCE = re.compile(r"(atol|rtol|ulps)=([^,}]+)")
_TOLERANCES = ("atol", "rtol", "ulps")
_MODES = ("DEFAULT", "HIGHEST", "TOLERANCE")


def _number(value: Attribute | None) -> float | int:
    """A number, an integer where it is one."""
    if isinstance(value, FloatAttr):
        number = cast("FloatAttr[Any]", value).value.data
        return int(number) if number >= 0 and number.is_integer() else number
    return cast("IntegerAttr[Any]", value).value.data if isinstance(value, IntegerAttr) else 0


@irdl_attr_definition
class RaggedDotNumbers(Fields):
    """`#chlo.ragged_dot<lhs_ragged_dimensions = [0], ...>`."""

    name = "chlo.ragged_dot"


def _subclass(base: type[Attribute], name: str, dialect: str = "stablehlo") -> type[Any]:
    return type(name.title().replace("_", ""), (base,), {"name": f"{dialect}.{name}"})


WORDS: Mapping[str, type[Word]] = {name: _subclass(Word, name) for name in WORD_NAMES}
"""From the name of an enumeration to its attribute class."""

FIELDS: Mapping[str, type[Fields]] = {name: _subclass(Fields, name) for name in FIELD_NAMES}
"""From the name of an attribute with fields to its class."""

ATTRIBUTES: tuple[type[Attribute], ...] = (
    TokenType,
    FutureType,
    Bounds,
    ChannelHandle,
    ConvolutionNumbers,
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    ResultAccuracy,
    *WORDS.values(),
    *FIELDS.values(),
)
"""The attributes and types of the `stablehlo` dialect."""

CHLO_ATTRIBUTES: tuple[type[Attribute], ...] = (
    RaggedDotNumbers,
    ChloComparisonDirectionAttr,
    ChloComparisonTypeAttr,
    _subclass(Word, "precision", "chlo"),
)
"""The attributes and types of the `chlo` dialect."""
