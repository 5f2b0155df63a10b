"""The attributes and types of StableHLO, as far as operations refer to them.

Two shapes cover nearly all: a member of an enumeration, `#stablehlo<precision DEFAULT>`, and named
values, `#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>`. An
attribute that has no class here is kept as its text.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
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

from xla_dialect import attributes as xla
from xla_dialect.attributes import (
    ComparisonDirection,
    FftType,
    RandomAlgorithm,
    RandomDistribution,
    Transpose,
)
from xla_dialect.op import decode
from xla_dialect.shapes.convolution_labels import ConvolutionLabels
from xla_dialect.spelling import SpellingError
from xla_dialect.xdsl.directives import parse_i64

FIELD_NAMES = ("output_operand_alias",)
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


class Word(SpacedOpaqueSyntaxAttribute):
    """A member of an enumeration, by its name: `WORD`, or `<WORD>` behind that of the attribute."""

    enum_type: ClassVar[type[StrEnum]]
    data: Any

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        """Parses the member."""
        is_bracketed = parser.parse_optional_punctuation("<") is not None
        position = parser.pos
        word = parser.parse_identifier()
        members = cls.enum_type.__members__
        if word not in members:
            parser.raise_error(f"{cls.name}: {word} is none of {', '.join(members)}", position)
        if is_bracketed:
            parser.parse_punctuation(">")
        return members[word]

    def print_parameter(self, printer: Printer) -> None:
        """Prints the member."""
        printer.print_string(self.data.name)


class Fields(Data[tuple[tuple[str, Attribute], ...]]):
    """Named values; subclasses name the attribute."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, Attribute], ...]:
        """Parses `<name = value, ...>`."""
        with parser.in_angle_brackets():
            return tuple(parse_fields(parser, cls.name).items())

    def print_parameter(self, printer: Printer) -> None:
        """Prints the fields with their values as attributes."""
        with printer.in_angle_brackets():
            printer.print_list(self.data, lambda item: print_field(printer, *item))


def parse_fields(
    parser: AttrParser, attribute: str, known: Container[str] | None = None
) -> dict[str, Attribute]:
    """
    Parses `name = value, ...`, perhaps with a comma behind the last, up to a closing bracket.

    Numbers become i64, lists of them `array<i64>`. `known` are the names that an attribute has.
    """
    fields: dict[str, Attribute] = {}
    position = parser.pos
    while (name := parser.parse_optional_identifier()) is not None:
        if known is not None and name not in known:
            parser.raise_error(f"{attribute} has no {name}", position)
        if name in fields:
            parser.raise_error(f"{attribute}: {name} is given twice", position)
        parser.parse_punctuation("=")
        fields[name] = parse_value(parser)
        if parser.parse_optional_punctuation(",") is None:
            break
        position = parser.pos
    return fields


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
            printer.print_string(f"#{value.name}<{value.data.name}>")
        case StringAttr():
            printer.print_string(value.data)
        case _:
            printer.print_string(str(value))


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


class Struct(ParametrizedAttribute):
    """Named values, in any order; the parameters of a subclass have their names."""

    @classmethod
    def absent(cls, name: str) -> Attribute | None:
        """What a value is that is not written; None for one that has to be."""
        return None

    @classmethod
    def names(cls) -> Sequence[str]:
        """The names of all values."""
        return [name for name, _ in cls.get_irdl_definition().parameters]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parses `<name = value, ...>`."""
        names = cls.names()
        with parser.in_angle_brackets():
            position = parser.pos
            given = parse_fields(parser, cls.name, names)
            values = [given.get(name, cls.absent(name)) for name in names]
            if None in values:
                parser.raise_error(f"{cls.name}: {names[values.index(None)]} is missing", position)
            return cast("list[Attribute]", values)

    def values(self) -> dict[str, Attribute]:
        """The values by their names."""
        return dict(zip(self.names(), self.parameters, strict=True))

    def print_parameters(self, printer: Printer) -> None:
        """Prints what has to be written of what `parse_parameters` parses."""
        items = [item for item in self.values().items() if item[1] != self.absent(item[0])]
        with printer.in_angle_brackets():
            printer.print_list(items, lambda item: print_field(printer, *item))


class DimensionNumbers(Struct):
    """Lists of dimensions, and the dimension of indices that has the vectors."""

    @classmethod
    def absent(cls, name: str) -> Attribute:
        """No dimensions; for a single one the first."""
        return IntegerAttr(0, i64) if name == "index_vector_dim" else integers(())


Integers: TypeAlias = DenseArrayBase[IntegerType]
INTEGERS = DenseArrayBase.constr(i64)
INTEGER: Any = IntegerAttr.constr(i64)
FLAG: Any = IntegerAttr.constr(i1)


@irdl_attr_definition
class ChannelHandleAttr(Fields):
    """`#stablehlo.channel_handle<handle = 1, type = 1>`."""

    name = "stablehlo.channel_handle"

    @staticmethod
    def of(number: int, kind: int) -> ChannelHandleAttr:
        """The handle of a channel with this number and of this type."""
        return ChannelHandleAttr(
            (("handle", IntegerAttr(number, i64)), ("type", IntegerAttr(kind, i64)))
        )

    def field(self, name: str) -> int:
        """`handle`, or `type`; raises VerifyException where it is missing."""
        value = dict(self.data).get(name)
        if not isinstance(value, IntegerAttr):
            raise VerifyException(f"channel_handle has no {name}")
        return cast("IntegerAttr[Any]", value).value.data


@irdl_attr_definition
class DotNumbers(DimensionNumbers):
    """The dimensions of both sides that pair up in a contraction."""

    name = "stablehlo.dot"
    lhs_batching_dimensions: Integers = param_def(INTEGERS)
    rhs_batching_dimensions: Integers = param_def(INTEGERS)
    lhs_contracting_dimensions: Integers = param_def(INTEGERS)
    rhs_contracting_dimensions: Integers = param_def(INTEGERS)


@irdl_attr_definition
class RaggedDotNumbers(DimensionNumbers):
    """As for `dot`, with the dimension that is in groups, and the one that counts them."""

    name = "chlo.ragged_dot"
    lhs_batching_dimensions: Integers = param_def(INTEGERS)
    rhs_batching_dimensions: Integers = param_def(INTEGERS)
    lhs_contracting_dimensions: Integers = param_def(INTEGERS)
    rhs_contracting_dimensions: Integers = param_def(INTEGERS)
    lhs_ragged_dimensions: Integers = param_def(INTEGERS)
    rhs_group_dimensions: Integers = param_def(INTEGERS)


@irdl_attr_definition
class GatherNumbers(DimensionNumbers):
    """Where a gather takes its windows, and where it puts them."""

    name = "stablehlo.gather"
    offset_dims: Integers = param_def(INTEGERS)
    collapsed_slice_dims: Integers = param_def(INTEGERS)
    operand_batching_dims: Integers = param_def(INTEGERS)
    start_indices_batching_dims: Integers = param_def(INTEGERS)
    start_index_map: Integers = param_def(INTEGERS)
    index_vector_dim: IntegerAttr[IntegerType] = param_def(INTEGER)


@irdl_attr_definition
class ScatterNumbers(DimensionNumbers):
    """Where a scatter takes its windows, and where it puts them."""

    name = "stablehlo.scatter"
    update_window_dims: Integers = param_def(INTEGERS)
    inserted_window_dims: Integers = param_def(INTEGERS)
    input_batching_dims: Integers = param_def(INTEGERS)
    scatter_indices_batching_dims: Integers = param_def(INTEGERS)
    scatter_dims_to_operand_dims: Integers = param_def(INTEGERS)
    index_vector_dim: IntegerAttr[IntegerType] = param_def(INTEGER)


@irdl_attr_definition
class DotAlgorithm(Struct):
    """The types that a dot computes in, and of how many products of parts it consists."""

    name = "stablehlo.dot_algorithm"
    lhs_precision_type: Attribute = param_def()
    rhs_precision_type: Attribute = param_def()
    accumulation_type: Attribute = param_def()
    lhs_component_count: IntegerAttr[IntegerType] = param_def(INTEGER)
    rhs_component_count: IntegerAttr[IntegerType] = param_def(INTEGER)
    num_primitive_operations: IntegerAttr[IntegerType] = param_def(INTEGER)
    allow_imprecise_accumulation: IntegerAttr[IntegerType] = param_def(FLAG)


@irdl_attr_definition
class ConvolutionNumbers(Data[ConvolutionLabels]):
    """What each dimension of a convolution is: `#stablehlo.conv<[b, 0]x[0, i]->[b, 0]>`."""

    name = "stablehlo.conv"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ConvolutionLabels:
        """Parses what stands in angle brackets; behind `raw` there are numbers with names."""
        with parser.in_angle_brackets():
            if parser.parse_optional_keyword("raw") is None:
                return cls.parse_labels(parser)
            position = parser.pos
            known = [f"{side}_{name}" for side, names in _SIDES.items() for name in names]
            numbers = parse_fields(parser, cls.name, known)
            try:
                return ConvolutionLabels(*(_labels(numbers, side) for side in _SIDES))
            except SpellingError as error:
                parser.raise_error(str(error), position)

    @classmethod
    def parse_labels(cls, parser: AttrParser) -> ConvolutionLabels:
        """Parses `[b, 0, f]x[0, i, o]->[b, 0, f]`."""
        position = parser.pos
        lhs = cls._parse_list(parser)
        parser.parse_characters("x")
        rhs = cls._parse_list(parser)
        parser.parse_punctuation("->")
        try:
            return ConvolutionLabels.parse(f"{lhs}_{rhs}->{cls._parse_list(parser)}")
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

    @staticmethod
    def spelled(labels: ConvolutionLabels) -> str:
        """What `parse_labels` parses."""
        lhs, rhs, result = (
            f"[{', '.join(side)}]" for side in (labels.lhs, labels.rhs, labels.result)
        )
        return f"{lhs}x{rhs}->{result}"

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        printer.print_string(f"<{self.spelled(self.data)}>")


_SIDES: Mapping[str, Mapping[str, str]] = {
    "input": {"spatial_dimensions": "", "batch_dimension": "b", "feature_dimension": "f"},
    "kernel": {
        "spatial_dimensions": "",
        "input_feature_dimension": "i",
        "output_feature_dimension": "o",
    },
    "output": {"spatial_dimensions": "", "batch_dimension": "b", "feature_dimension": "f"},
}
"""For each array of a convolution the names of its numbers, with their labels."""


def _labels(numbers: Mapping[str, Attribute], side: str) -> str:
    """The labels of an array; what is not given is dimension 0. Raises SpellingError."""
    given = {label: numbers.get(f"{side}_{name}") for name, label in _SIDES[side].items()}
    spatial = given.pop("") or integers(())
    if not isinstance(spatial, DenseArrayBase):
        raise SpellingError(f"{side}_spatial_dimensions is {spatial}, not a list")
    places: tuple[int, ...] = decode(cast(Attribute, spatial))
    dimensions: dict[Any, str] = {decode(value) or 0: label for label, value in given.items()}
    dimensions |= {d: str(i) for i, d in enumerate(places)}
    if set(dimensions) != set(range(len(places) + 2)):
        raise SpellingError(f"the numbers of {side} are not those of its dimensions")
    return "".join(dimensions[d] for d in range(len(dimensions)))


class Precision(StrEnum):
    """How exactly a contraction takes an operand."""

    DEFAULT = "default"
    HIGH = "high"
    HIGHEST = "highest"


@irdl_attr_definition
class PrecisionAttr(Word, EnumAttribute[Precision]):
    """A `Precision` as an attribute."""

    name = "stablehlo.precision"


@irdl_attr_definition
class RaggedPrecisionAttr(Word, EnumAttribute[Precision]):
    """A `Precision` as an attribute of CHLO."""

    name = "chlo.precision"


@irdl_attr_definition
class StableHloFftTypeAttr(Word, EnumAttribute[FftType]):
    """An `FftType` as an attribute."""

    name = "stablehlo.fft_type"


@irdl_attr_definition
class StableHloTransposeAttr(Word, EnumAttribute[Transpose]):
    """A `Transpose` as an attribute."""

    name = "stablehlo.transpose"


@irdl_attr_definition
class RngAlgorithmAttr(Word, EnumAttribute[RandomAlgorithm]):
    """A `RandomAlgorithm` as an attribute."""

    name = "stablehlo.rng_algorithm"


@irdl_attr_definition
class RngDistributionAttr(Word, EnumAttribute[RandomDistribution]):
    """A `RandomDistribution` as an attribute."""

    name = "stablehlo.rng_distribution"


@irdl_attr_definition
class ComparisonDirectionAttr(Word, EnumAttribute[ComparisonDirection]):
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
class ComparisonTypeAttr(Word, EnumAttribute[ComparisonType]):
    """A `ComparisonType` as an attribute."""

    name = "stablehlo.comparison_type"


@irdl_attr_definition
class ChloComparisonDirectionAttr(Word, EnumAttribute[ComparisonDirection]):
    """The same of CHLO."""

    name = "chlo.comparison_direction"


@irdl_attr_definition
class ChloComparisonTypeAttr(Word, EnumAttribute[ComparisonType]):
    """The same of CHLO."""

    name = "chlo.comparison_type"


class AccuracyMode(StrEnum):
    """What limits the error of a function."""

    DEFAULT = "default"
    HIGHEST = "highest"
    TOLERANCE = "tolerance"


@irdl_attr_definition
class AccuracyModeAttr(Word, EnumAttribute[AccuracyMode]):
    """An `AccuracyMode` as an attribute."""

    name = "stablehlo.result_accuracy_mode"


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
        fields.append(("mode", AccuracyModeAttr(AccuracyMode[word])))
        return cls(tuple(fields))

    def hlo_text(self) -> str | None:
        """As HLO text spells it, `{mode=highest}`; None for the default. Raises VerifyException."""
        fields = dict(self.data)
        if unknown := [name for name in fields if name not in (*_TOLERANCES, "mode")]:
            raise VerifyException(f"result_accuracy has no {unknown[0]}")
        mode = fields.get("mode")
        word = mode.data.name if isinstance(mode, Word) else str(mode)
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


_WORDS: Mapping[type[Attribute], type[EnumAttribute[Any]]] = {
    xla.FftTypeAttr: StableHloFftTypeAttr,
    xla.TransposeAttr: StableHloTransposeAttr,
    xla.RandomAlgorithmAttr: RngAlgorithmAttr,
    xla.RandomDistributionAttr: RngDistributionAttr,
}
"""From the enumerations of `xla` to those of StableHLO with the same members."""

_XLA_WORDS = {own: word for word, own in _WORDS.items()}


def own_word(value: Attribute) -> Attribute:
    """The member of an enumeration of StableHLO for one of `xla`; anything else as it is."""
    word = cast("Any", _WORDS.get(type(value)))
    return value if word is None else word(cast("EnumAttribute[Any]", value).data)


def xla_word(value: Attribute) -> Attribute:
    """The member of an enumeration of `xla` for one of StableHLO; anything else as it is."""
    word = cast("Any", _XLA_WORDS.get(cast(Any, type(value))))
    return value if word is None else word(cast("EnumAttribute[Any]", value).data)


FIELDS: Mapping[str, type[Fields]] = {
    name: type(name.title().replace("_", ""), (Fields,), {"name": f"stablehlo.{name}"})
    for name in FIELD_NAMES
}
"""From the name of an attribute with fields to its class."""

ATTRIBUTES: tuple[type[Attribute], ...] = (
    TokenType,
    FutureType,
    Bounds,
    ChannelHandleAttr,
    ConvolutionNumbers,
    DotNumbers,
    DotAlgorithm,
    GatherNumbers,
    ScatterNumbers,
    AccuracyModeAttr,
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    StableHloFftTypeAttr,
    PrecisionAttr,
    RngAlgorithmAttr,
    RngDistributionAttr,
    StableHloTransposeAttr,
    ResultAccuracy,
    *FIELDS.values(),
)
"""The attributes and types of the `stablehlo` dialect."""

CHLO_ATTRIBUTES: tuple[type[Attribute], ...] = (
    RaggedDotNumbers,
    ChloComparisonDirectionAttr,
    ChloComparisonTypeAttr,
    RaggedPrecisionAttr,
)
"""The attributes and types of the `chlo` dialect."""
