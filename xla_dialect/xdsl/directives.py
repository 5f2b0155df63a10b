# pyright: reportPrivateUsage=false
"""What assembly formats of several dialects share: custom directives, and the syntax of `xla`.

assembly_format = "operands attr-dict `:` custom<SameType>(type(operands), type(results))"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    i1,
    i64,
)
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, Data, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, OpDef, OptionalDef
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
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer

from xla_dialect.xdsl.text import parse_literal, print_literal

Types: TypeAlias = Sequence[Attribute]


def directives_by_name(
    base: type[CustomDirective] = CustomDirective,
) -> dict[str, type[CustomDirective]]:
    """The custom directives of all modules that are loaded."""
    found = {each.__name__: each for each in base.__subclasses__()}
    for each in tuple(found.values()):
        found |= directives_by_name(each)
    return found


class TypesDirective(CustomDirective):
    """
    The types of operands and results: a list without an arrow, or a function type.

    Subclasses say what a list stands for, and whether `a, b -> c` is a function type too.
    """

    has_arrow: ClassVar[bool] = False
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
            if self.has_arrow and parser.parse_optional_punctuation("->") is not None:
                found = types, [parser.parse_type()]
            else:
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


_DirectiveT = TypeVar("_DirectiveT", bound=TypesDirective)


def types_directive(cls: type[_DirectiveT]) -> type[_DirectiveT]:
    """Defines a directive, whose parameters are the fields of its own class."""
    cls.__annotations__ = dict.fromkeys(("operands", "results"), TypeDirective)
    return irdl_custom_directive(cls)


@types_directive
class SameType(TypesDirective):
    """One type: that of all operands and of the only result."""

    def full(self, types: Types, count: int) -> tuple[Types, Types] | None:
        """All have the one type."""
        return ([types[0]] * count, types) if len(types) == 1 else None

    def short(self, operands: Types, results: Types) -> Types | None:
        """The type of the result, if it is that of every operand."""
        is_one = len(results) == 1 and all(type_ == results[0] for type_ in operands)
        return results if is_one else None


@types_directive
class EachType(TypesDirective):
    """One type for each operand; the results have the same."""

    def full(self, types: Types, count: int) -> tuple[Types, Types] | None:
        """Results have the types of the operands."""
        return types, types

    def short(self, operands: Types, results: Types) -> Types | None:
        """The types of the operands, if the results have them."""
        return operands if list(operands) == list(results) else None


@types_directive
class FunctionTypes(TypesDirective):
    """Types with an arrow, printed as `(a, b) -> c`; one type alone is that of all values."""

    has_arrow = True

    def full(self, types: Types, count: int) -> tuple[Types, Types] | None:
        """All have the one type."""
        return ([types[0]] * count, types) if len(types) == 1 else None

    def short(self, operands: Types, results: Types) -> Types | None:
        """No list is printed."""
        return None


@types_directive
class ArrowTypes(FunctionTypes):
    """Printed as `a, b -> c`."""

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the types."""
        state.print_whitespace(printer)
        printer.print_list(self.operands.get(op), printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_list(self.results.get(op), printer.print_attribute)


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
        parser.raise_error("integer does not fit into 64 bits", position)
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


# The one syntax of all operations of `xla`.
#
#     %r = xla.reduce %x, %init {dimensions = [1]} attributes {xla.metadata = "..."}
#            : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
#          to_apply (%a: tensor<f32>, %b: tensor<f32>) { ... xla.return %c : tensor<f32> }
#
# Properties stand in braces: lists of integers as `[1, 0]`, integers and booleans bare,
# enumerations as their bare HLO word, everything else as an attribute; default values are left out.
# One type stands for all operands and the only result if they are equal, or if there are no
# operands.


@dataclass
class Parts:
    """The parsed parts of an operation."""

    operands: Sequence[SSAValue] = ()
    result_types: Sequence[Attribute] = ()
    properties: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    regions: list[Region] = field(default_factory=list[Region])


def print_operation(op: Operation, printer: Printer) -> None:
    """Prints everything after the name of the operation."""
    definition = cast("Any", op).get_irdl_definition()
    if op.operands:
        printer.print_string(" ")
        printer.print_list(op.operands, printer.print_ssa_value)
    print_properties(op, definition, printer)
    print_attributes(op, printer)
    print_signature([o.type for o in op.operands], [r.type for r in op.results], printer)
    print_regions(op, definition, printer)


def print_properties(op: Operation, definition: OpDef, printer: Printer) -> None:
    """Prints ` {name = value, ...}`, or nothing where all have their defaults."""
    shown = [
        (name, value)
        for name, value in op.properties.items()
        if not is_default(definition, name, value)
    ]
    if not shown:
        return
    printer.print_string(" {")
    for i, (name, value) in enumerate(shown):
        printer.print_string(f"{', ' if i else ''}{name} = ")
        print_value(value, printer)
    printer.print_string("}")


def is_default(definition: OpDef, name: str, value: Attribute) -> bool:
    """Whether a property is left out when printing."""
    prop = definition.properties.get(name)
    return prop is not None and not isinstance(prop, OptionalDef) and prop.default_value == value


def print_value(value: Attribute, printer: Printer) -> None:
    """Prints a property value in its bare form where it has one."""
    match value:
        case DenseArrayBase() if value.elt_type == i64:
            print_integers(printer, cast(Attribute, value))
        case IntegerAttr() if cast("IntegerAttr[Any]", value).type == i1:
            number = cast("IntegerAttr[Any]", value)
            printer.print_string("true" if number.value.data else "false")
        case IntegerAttr() if cast("IntegerAttr[Any]", value).type == i64:
            printer.print_string(str(cast("IntegerAttr[Any]", value).value.data))
        case EnumAttribute():
            printer.print_string(str(cast("Data[Any]", value).data))
        case _:
            print_literal(value, printer)


def print_attributes(op: Operation, printer: Printer) -> None:
    """Prints ` attributes {...}`, the discardable attributes, or nothing."""
    if op.attributes:
        printer.print_string(" attributes")
        printer.print_op_attributes(op.attributes)


def print_signature(
    operands: Sequence[Attribute], results: Sequence[Attribute], printer: Printer
) -> None:
    """Prints ` : type` or ` : (types) -> types`."""
    printer.print_string(" : ")
    if len(results) == 1 and all(t == results[0] for t in operands):
        printer.print_attribute(results[0])
    else:
        printer.print_function_type(operands, results)


def print_regions(op: Operation, definition: OpDef, printer: Printer) -> None:
    """Prints every region as `name (arguments) {...}`; a variadic region repeats its name."""
    for name, region in zip(_region_names(definition, len(op.regions)), op.regions, strict=True):
        printer.print_string(f" {name} ")
        print_arguments(region, printer)


def _region_names(definition: OpDef, count: int) -> list[str]:
    names = [name for name, _ in definition.regions]
    return (names + names[-1:] * (count - len(names)))[:count]


def parse_operation(
    definition: OpDef, enums: Mapping[str, type[EnumAttribute[Any]]], parser: Parser
) -> Parts:
    """Parses everything after the name of an operation; raises ParseError."""
    parts = Parts()
    position = parser.pos
    operands = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    parts.properties = parse_properties(definition, enums, parser)
    parts.attributes = parse_attributes(parser)
    parse_signature(operands or [], position, parts, parser)
    parts.regions = parse_regions(definition, parser)
    return parts


def parse_properties(
    definition: OpDef, enums: Mapping[str, type[EnumAttribute[Any]]], parser: Parser
) -> dict[str, Attribute]:
    """Parses `{name = value, ...}` if present."""
    found: dict[str, Attribute] = {}
    if not parser.parse_optional_punctuation("{"):
        return found
    while True:
        position = parser.pos
        name = parser.parse_identifier()
        if name not in definition.properties or name in found:
            known = ", ".join(definition.properties)
            parser.raise_error(
                f"{definition.name}: unknown or repeated property '{name}' "
                f"(it has: {known or 'none'})",
                position,
                position + len(name),
            )
        parser.parse_punctuation("=")
        found[name] = parse_value(enums.get(name), parser)
        if not parser.parse_optional_punctuation(","):
            parser.parse_punctuation("}")
            return found


def parse_value(enum: type[EnumAttribute[Any]] | None, parser: Parser) -> Attribute:
    """Parses a property value in its bare form, or any attribute."""
    if enum is not None:
        position = parser.pos
        word = parser.parse_identifier()
        try:
            return enum(enum.enum_type(word))
        except ValueError:
            cases = ", ".join(case.value for case in enum.enum_type)
            parser.raise_error(f"'{word}' is none of {cases}", position, position + len(word))
    if (flag := parser.parse_optional_boolean()) is not None:
        return BoolAttr.from_bool(flag)
    start = parser.pos
    if (number := parser.parse_optional_integer(allow_boolean=False)) is not None:
        if parser.parse_optional_punctuation(":"):
            # `0x7FC00000 : f32` gives the bits of a float, which the attribute parser reads.
            parser._resume_from(start)
            return parser.parse_attribute()
        return IntegerAttr(number, i64)
    numbers = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parse_i64(parser)
    )
    if numbers is None:
        return parse_literal(parser)
    return DenseArrayBase.from_list(i64, numbers)


def parse_attributes(parser: Parser) -> dict[str, Attribute]:
    """Parses `attributes {...}` if present."""
    found = parser.parse_optional_attr_dict_with_keyword()
    return dict(found.data) if found is not None else {}


def parse_signature(
    operands: Sequence[UnresolvedOperand], position: int, parts: Parts, parser: Parser
) -> None:
    """Parses ` : type` or ` : (types) -> types` and resolves the operands."""
    parser.parse_punctuation(":")
    function_type = parser.parse_optional_function_type()
    if function_type is None:
        types = [parser.parse_type()] * max(len(operands), 1)
        parts.result_types = types[:1]
        types = types[: len(operands)]
    else:
        types, parts.result_types = function_type.inputs.data, function_type.outputs.data
    parts.operands = parser.resolve_operands(operands, types, position)


def parse_regions(definition: OpDef, parser: Parser) -> list[Region]:
    """Parses `name (arguments) {...}` for every region; the last name may repeat."""
    regions: list[Region] = []
    for i, (name, _) in enumerate(definition.regions):
        last = i == len(definition.regions) - 1
        while parser.parse_optional_keyword(name):
            regions.append(parser.parse_region(parse_arguments(parser)))
            if not last:
                break
    return regions
