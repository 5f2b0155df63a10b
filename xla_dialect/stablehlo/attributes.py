"""The attributes and types of StableHLO, as far as operations refer to them.

Two shapes cover nearly all: a member of an enumeration, `#stablehlo<precision DEFAULT>`, and named
values, `#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>`. An
attribute that has no class here is kept as its text.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, NoReturn, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    StringAttr,
    TensorType,
    TupleType,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import (
    Attribute,
    Data,
    Operation,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import AttrConstraint, BaseAttr, irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from xla_dialect import attributes as xla
from xla_dialect import types
from xla_dialect.attributes import (
    ComparisonDirection,
    FftType,
    FusionKind,
    RandomAlgorithm,
    RandomDistribution,
    Transpose,
)
from xla_dialect.diagnostics import LocatedError
from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.op import decode
from xla_dialect.shapes.window import ConvolutionLabels
from xla_dialect.sharding.attributes import TokensAttribute
from xla_dialect.sharding.mesh import AxisReference, Mesh
from xla_dialect.spelling import SpellingError, Tokens, symbol_text
from xla_dialect.text.accuracy import TOLERANCES, Accuracy, AccuracyMode
from xla_dialect.types import (
    Array,
    element_name,
    spell,
)
from xla_dialect.violations import place_of
from xla_dialect.xdsl.directives import parse_i64


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
        """Parses `bounds = [?, 4]`, behind `type_extensions<`."""
        parser.parse_keyword("bounds")
        parser.parse_punctuation("=")
        bounds = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _bound(parser))
        return cls(tuple(bounds))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        bounds = ", ".join("?" if bound is None else str(bound) for bound in self.data)
        printer.print_string(f"<{bounds}>")


def _bound(parser: AttrParser) -> int | None:
    return None if parser.parse_optional_punctuation("?") is not None else parse_i64(parser)


class Word(Data[Any], SpacedOpaqueSyntaxAttribute):
    """A member of an enumeration, by its name: `WORD`, or `<WORD>` behind that of the attribute."""

    enum_type: ClassVar[type[StrEnum]]

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


def integers(values: Iterable[int]) -> DenseArrayBase[Any]:
    """A list of integers as `array<i64>`."""
    return _integers(tuple(values))


@lru_cache(4096)
def _integers(values: tuple[int, ...]) -> DenseArrayBase[Any]:
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
FLOAT: Any = BaseAttr(FloatAttr)
FLAG: Any = IntegerAttr.constr(i1)


@irdl_attr_definition
class ChannelHandleAttr(Struct):
    """`#stablehlo.channel_handle<handle = 1, type = 1>`."""

    name = "stablehlo.channel_handle"
    handle: IntegerAttr[IntegerType] = param_def(INTEGER)
    type: IntegerAttr[IntegerType] = param_def(INTEGER)

    @staticmethod
    def of(number: int, kind: int) -> ChannelHandleAttr:
        """The handle of a channel with this number and of this type."""
        return ChannelHandleAttr.new([IntegerAttr(number, i64), IntegerAttr(kind, i64)])


@irdl_attr_definition
class OutputAlias(Struct):
    """The part of a result and that of an operand that share memory."""

    name = "stablehlo.output_operand_alias"
    output_tuple_indices: Integers = param_def(INTEGERS)
    operand_index: IntegerAttr[IntegerType] = param_def(INTEGER)
    operand_tuple_indices: Integers = param_def(INTEGERS)

    @staticmethod
    def of(output: Sequence[int], operand: int, part: Sequence[int]) -> OutputAlias:
        """Of indices into nested tuples, and the number of the operand."""
        return OutputAlias.new([integers(output), IntegerAttr(operand, i64), integers(part)])


def _numbers(name: str, *fields: str) -> type[DimensionNumbers]:
    """The attribute with these fields, lists of dimensions, but for `index_vector_dim`."""
    constraints = {each: INTEGER if each == "index_vector_dim" else INTEGERS for each in fields}
    parameters = {each: param_def(constraint) for each, constraint in constraints.items()}
    types = dict.fromkeys(fields, Attribute)
    members = {"name": name, "__annotations__": types, **parameters}
    return irdl_attr_definition(type(f"{name.title()}Numbers", (DimensionNumbers,), members))


_DOT_NUMBERS = (
    *("lhs_batching_dimensions", "rhs_batching_dimensions"),
    *("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
)
DotNumbers = _numbers("stablehlo.dot", *_DOT_NUMBERS)
"""The dimensions of both sides that pair up in a contraction."""

RaggedDotNumbers = _numbers(
    "chlo.ragged_dot", *_DOT_NUMBERS, "lhs_ragged_dimensions", "rhs_group_dimensions"
)
"""As for `dot`, with the dimension that is in groups, and the one that counts them."""

GatherNumbers = _numbers(
    "stablehlo.gather",
    *("offset_dims", "collapsed_slice_dims", "operand_batching_dims"),
    *("start_indices_batching_dims", "start_index_map", "index_vector_dim"),
)
"""Where a gather takes its windows, and where it puts them."""

ScatterNumbers = _numbers(
    "stablehlo.scatter",
    *("update_window_dims", "inserted_window_dims", "input_batching_dims"),
    *("scatter_indices_batching_dims", "scatter_dims_to_operand_dims", "index_vector_dim"),
)
"""Where a scatter takes its windows, and where it puts them."""


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


class ComparisonType(StrEnum):
    """How `compare` orders its operands; `NOTYPE` is the default of the element type."""

    NOTYPE = "NOTYPE"
    FLOAT = "FLOAT"
    TOTALORDER = "TOTALORDER"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"


def _words(name: str, members: type[StrEnum]) -> type[Word]:
    """The attribute for the members of an enumeration."""
    class_name = f"{name.title()}Attr"
    return irdl_attr_definition(type(class_name, (Word,), {"name": name, "enum_type": members}))


PrecisionAttr = _words("stablehlo.precision", Precision)
RaggedPrecisionAttr = _words("chlo.precision", Precision)
ComparisonDirectionAttr = _words("stablehlo.comparison_direction", ComparisonDirection)
ChloComparisonDirectionAttr = _words("chlo.comparison_direction", ComparisonDirection)
ComparisonTypeAttr = _words("stablehlo.comparison_type", ComparisonType)
ChloComparisonTypeAttr = _words("chlo.comparison_type", ComparisonType)
RngAlgorithmAttr = _words("stablehlo.rng_algorithm", RandomAlgorithm)
RngDistributionAttr = _words("stablehlo.rng_distribution", RandomDistribution)
StableHloFftTypeAttr = _words("stablehlo.fft_type", FftType)
StableHloTransposeAttr = _words("stablehlo.transpose", Transpose)


@irdl_attr_definition
class MhloFusionKindAttr(EnumAttribute[FusionKind], SpacedOpaqueSyntaxAttribute):
    """A `FusionKind` as an attribute."""

    name = "mhlo.fusion_kind"


AccuracyModeAttr = _words("stablehlo.result_accuracy_mode", AccuracyMode)


@irdl_attr_definition
class ResultAccuracy(Struct):
    """`#stablehlo.result_accuracy<rtol = 0.5, ulps = 2, mode = ...>`."""

    name = "stablehlo.result_accuracy"
    atol: FloatAttr[Float64Type] = param_def(FLOAT)
    rtol: FloatAttr[Float64Type] = param_def(FLOAT)
    ulps: IntegerAttr[IntegerType] = param_def(INTEGER)
    mode: Word = param_def(BaseAttr(AccuracyModeAttr))

    @classmethod
    def absent(cls, name: str) -> Attribute | None:
        """No tolerance; there is always a mode."""
        return _NO_TOLERANCE.get(name)

    @staticmethod
    def of(atol: float, rtol: float, ulps: int, mode: Attribute) -> ResultAccuracy:
        """The accuracy of these tolerances."""
        tolerances = FloatAttr(atol, f64), FloatAttr(rtol, f64), IntegerAttr(ulps, i64)
        return ResultAccuracy.new([*tolerances, mode])

    def accuracy(self) -> Accuracy:
        """What it says; raises VerifyException for tolerances that the mode does not have."""
        mode = self.mode.data
        found = self.atol.value.data, self.rtol.value.data, self.ulps.value.data
        for name, value in zip(TOLERANCES, found, strict=True):
            if not value >= 0 or (value and mode is not AccuracyMode.TOLERANCE):
                raise VerifyException(f"{name} is {value} in result_accuracy of mode {mode.name}")
        return Accuracy(*found, mode)


_NO_TOLERANCE: Mapping[str, Attribute] = {
    "atol": FloatAttr(0.0, f64),
    "rtol": FloatAttr(0.0, f64),
    "ulps": IntegerAttr(0, i64),
}

_WORDS: Mapping[type[Attribute], type[Word]] = {
    xla.ComparisonDirectionAttr: ComparisonDirectionAttr,
    xla.ComparisonTypeAttr: ComparisonTypeAttr,
    xla.FftTypeAttr: StableHloFftTypeAttr,
    xla.TransposeAttr: StableHloTransposeAttr,
    xla.RandomAlgorithmAttr: RngAlgorithmAttr,
    xla.RandomDistributionAttr: RngDistributionAttr,
}
"""From the enumerations of `xla` to those of StableHLO, which may have more members."""

_XLA_WORDS: Mapping[type[Attribute], type[Attribute]] = {
    **{own: word for word, own in _WORDS.items()},
    ChloComparisonDirectionAttr: xla.ComparisonDirectionAttr,
    ChloComparisonTypeAttr: xla.ComparisonTypeAttr,
    MhloFusionKindAttr: xla.FusionKindAttr,
}


def own_constraint(constraint: AttrConstraint) -> AttrConstraint:
    """The constraint of StableHLO for one of `xla`, which may name one of its enumerations."""
    own = _WORDS.get(constraint.attr) if isinstance(constraint, BaseAttr) else None
    return constraint if own is None else BaseAttr(own)


def own_value(value: Attribute) -> Attribute:
    """The member of an enumeration of StableHLO for one of `xla`; anything else as it is."""
    word = cast("Any", _WORDS.get(type(value)))
    return value if word is None else word(word.enum_type(cast("Data[Any]", value).data))


def xla_value(value: Attribute) -> Attribute | None:
    """
    The member of an enumeration of `xla` for one of StableHLO, None where it has none, and a number
    of 64 bits for one of 32; anything else as it is.
    """
    word = cast("Any", _XLA_WORDS.get(cast(Any, type(value))))
    if word is not None:
        member = cast("Data[Any]", value).data
        return word(word.enum_type(member)) if member in list(word.enum_type) else None
    number = cast("IntegerAttr[Any]", value)
    is_narrow = type(number) is IntegerAttr and number.type == i32
    return IntegerAttr(number.value.data, i64) if is_narrow else value


class StableHloPrintError(LocatedError):
    """The module holds what StableHLO cannot express."""


class Inexpressible(ValueError):
    """StableHLO has no form for a type or a value; the caller adds the operation."""

    def __init__(self, message: str):
        super().__init__(message)


def fail(op: Operation, message: str) -> NoReturn:
    """Raises StableHloPrintError at the place of an operation."""
    file, line, column = place_of(op.location) or ("<module>", 0, 0)
    raise StableHloPrintError(f"{op.name}: {message}", file, line, column)


@irdl_attr_definition
class MeshAxis(TokensAttribute[tuple[str, int]]):
    """`#stablehlo.mesh_axis<name = "a", size = 2>`"""

    name = "stablehlo.mesh_axis"

    @classmethod
    def parse(cls, tokens: Tokens) -> tuple[str, int]:
        """Reads `<name = "a", size = 2>`."""
        found = tokens.fields({"name": tokens.quoted, "size": tokens.number})
        return found["name"], found["size"]

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        printer.print_string('<name = "{}", size = {}>'.format(*self.data))


@irdl_attr_definition
class AxisRef(TokensAttribute[AxisReference]):
    """`#stablehlo.axis_ref<name = "a", sub_axis_info = (1)2>`, or the whole axis."""

    name = "stablehlo.axis_ref"

    @classmethod
    def parse(cls, tokens: Tokens) -> AxisReference:
        """Reads `<name = "a", sub_axis_info = (1)2>`."""

        def part() -> tuple[int, int]:
            tokens.expect("(")
            before = tokens.number()
            tokens.expect(")")
            return before, tokens.number()

        found = tokens.fields({"name": tokens.quoted, "sub_axis_info": part}, ("sub_axis_info",))
        return AxisReference(found["name"], *found.get("sub_axis_info", ()))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        axis = self.data
        part = "" if axis.size is None else f", sub_axis_info = ({axis.pre_size}){axis.size}"
        printer.print_string(f'<name = "{axis.name}"{part}>')


@irdl_attr_definition
class DeviceMesh(TokensAttribute[Mesh]):
    """`#stablehlo.mesh<axes=[<name = "a", size = 2>], device_ids=dense<[1, 0]> : tensor<2xi64>>`"""

    name = "stablehlo.mesh"

    @classmethod
    def parse(cls, tokens: Tokens) -> Mesh:
        """Reads `<axes=[...], device_ids=dense<...> : tensor<2xi64>>`."""

        def axes() -> tuple[tuple[str, int], ...]:
            return tokens.contents(MeshAxis.name, MeshAxis.parse)

        def ids() -> tuple[int, ...]:
            tokens.expect("dense", "<")
            found = tokens.numbers("[", "]") if tokens.at("[") else (tokens.number(),)
            tokens.expect(">", ":", "tensor", "<", str(len(found)), "xi64", ">")
            return found

        found = tokens.fields({"axes": axes, "device_ids": ids}, ("device_ids",))
        return Mesh(found["axes"], found.get("device_ids", ()))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        axes = ", ".join('<name = "{}", size = {}>'.format(*axis) for axis in self.data.axes)
        listed = list(self.data.device_ids)
        numbers = listed if len(listed) > 1 else sum(listed)
        ids = f", device_ids=dense<{numbers}> : tensor<{len(listed)}xi64>" if listed else ""
        printer.print_string(f"<axes=[{axes}]{ids}>")


@dataclass(frozen=True)
class Chosen:
    """A mesh, or its name in the module, and the axes that groups vary in."""

    mesh: Mesh | str
    axes: tuple[AxisReference, ...]


@irdl_attr_definition
class MeshAxes(TokensAttribute[Chosen]):
    """`#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<...>]>`"""

    name = "stablehlo.replica_group_mesh_axes"

    @classmethod
    def parse(cls, tokens: Tokens) -> Chosen:
        """Reads `<mesh = @mesh, axes = [...]>`."""

        def mesh() -> Mesh | str:
            return tokens.symbol() if tokens.at("@") else DeviceMesh.parse_element(tokens)

        def axes() -> tuple[AxisReference, ...]:
            return tokens.contents(AxisRef.name, AxisRef.parse)

        return Chosen(**tokens.fields({"mesh": mesh, "axes": axes}))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        mesh = self.data.mesh
        shown = symbol_text(mesh) if isinstance(mesh, str) else str(DeviceMesh(mesh))
        axes = ", ".join(str(AxisRef(axis)) for axis in self.data.axes)
        printer.print_string(f"<mesh = {shown}, axes = [{axes}]>")


NO_ELEMENT_TYPE = "index is not an element type of XLA; operands that say a shape may have it"
"""Why an operation does not take sizes of MLIR's type `index`."""


def is_index(type_: Attribute) -> bool:
    """Whether a type is one of sizes: an array of MLIR's type `index`, or a number in no array."""
    if isinstance(type_, TensorType):
        return isinstance(cast(Array, type_).element_type, IndexType)
    return isinstance(type_, IndexType | IntegerType)


def integers_for_index(type_: Attribute) -> Array:
    """The array type that one of sizes becomes: of 64 bits, as XLA has no type `index`."""
    if isinstance(type_, TensorType):
        array = cast(Array, type_)
        return TensorType(i64, array.get_shape(), array.encoding)
    return TensorType(cast(Attribute, type_) if isinstance(type_, IntegerType) else i64, ())


def literal_of_integers(value: DenseIntOrFPElementsAttr[Any]) -> DenseIntOrFPElementsAttr[Any]:
    """The same elements as 64-bit integers if they are sizes; any other literal as it is."""
    if not is_index(cast(Attribute, value.type)):
        return value
    return DenseIntOrFPElementsAttr(
        cast(Any, integers_for_index(cast(Attribute, value.type))), value.data
    )


def xla_type(type_: Attribute) -> Attribute:
    """The type of the `xla` dialect for one of StableHLO that is legal."""
    if isinstance(type_, TokenType):
        return types.TokenType()
    if isinstance(type_, TupleType):
        elements = (cast(TypeAttribute, xla_type(element)) for element in type_.types.data)
        return TupleType(tuple(elements))
    if is_index(type_):
        type_ = integers_for_index(type_)
    if isinstance(type_, TensorType) and isinstance(cast(Array, type_).encoding, Bounds):
        return with_bounds(cast(Array, type_))
    if has_foreign_encoding(cast(Attribute, type_)):
        return TensorType(cast(Array, type_).element_type, cast(Array, type_).get_shape())
    return cast(Attribute, type_)


def stablehlo_type(type_: Attribute) -> Attribute:
    """The type of StableHLO for one of `xla`, without its layout; raises Inexpressible."""
    if isinstance(type_, TupleType):
        elements = (cast(TypeAttribute, stablehlo_type(element)) for element in type_.types.data)
        return TupleType(tuple(elements))
    if isinstance(type_, types.TokenType):
        return TokenType()
    if not isinstance(type_, TensorType):
        # A size in no array is in programs whose shapes depend on arguments.
        if isinstance(type_, TokenType | FutureType | IndexType | IntegerType):
            return cast(Attribute, type_)
        raise Inexpressible(f"StableHLO has no type {spell(type_)}")
    array = cast(Array, type_)
    name = element_name(array.element_type)
    if name in _MISSING:
        raise Inexpressible(f"StableHLO has no element type {name}")
    if not isinstance(array.encoding, LayoutAttr):
        return array
    bounds = array.encoding.data.bounds
    is_bounded = any(bound is not None for bound in bounds)
    encoding = Bounds(bounds) if is_bounded else NoneAttr()
    return TensorType(array.element_type, array.get_shape(), encoding)


_MISSING = ("s1", "u1")
"""The element types of XLA that StableHLO has not."""


def has_foreign_encoding(type_: Attribute) -> bool:
    """Whether the elements of an array are kept in a way that XLA does not have."""
    known = NoneAttr | Bounds | LayoutAttr
    return isinstance(type_, TensorType) and not isinstance(cast(Array, type_).encoding, known)


def with_bounds(type_: Array) -> Array:
    """An array type whose bounds are in its layout, as the `xla` dialect has them."""
    layout = Layout.default(len(type_.get_shape()))
    bounds = cast(Bounds, type_.encoding).data
    return TensorType(
        type_.element_type, type_.get_shape(), LayoutAttr(replace(layout, bounds=bounds))
    )


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
    PrecisionAttr,
    *_WORDS.values(),
    ResultAccuracy,
    MeshAxis,
    AxisRef,
    DeviceMesh,
    MeshAxes,
    OutputAlias,
)
"""The attributes and types of the `stablehlo` dialect."""

CHLO_ATTRIBUTES: tuple[type[Attribute], ...] = (
    RaggedDotNumbers,
    ChloComparisonDirectionAttr,
    ChloComparisonTypeAttr,
    RaggedPrecisionAttr,
)
"""The attributes and types of the `chlo` dialect."""
