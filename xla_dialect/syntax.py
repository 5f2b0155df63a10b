"""The one syntax of all operations of the dialect.

    %r = xla.reduce %x, %init {dimensions = [1]} attributes {xla.metadata = "..."}
           : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
         to_apply (%a: tensor<f32>, %b: tensor<f32>) { ... xla.return %c : tensor<f32> }

Properties stand in braces: lists of integers as `[1, 0]`, integers and booleans bare, enumerations
as their bare HLO word, everything else as an attribute; default values are left out. One type
stands for all operands and the only result if they are equal, or if there are no operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    i1,
    i64,
)
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, Data, Operation, Region, SSAValue
from xdsl.irdl import OpDef, OptionalDef
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from xla_dialect.xdsl.directives import parse_arguments, print_arguments
from xla_dialect.xdsl.text import parse_literal, print_literal


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
            numbers = cast("DenseArrayBase[Any]", value).get_values()
            printer.print_string(f"[{', '.join(map(str, numbers))}]")
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
        printer.print_string("(")
        printer.print_list(operands, printer.print_attribute)
        printer.print_string(") -> ")
        if len(results) == 1:
            printer.print_attribute(results[0])
        else:
            printer.print_string("(")
            printer.print_list(results, printer.print_attribute)
            printer.print_string(")")


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
            parser._resume_from(start)  # pyright: ignore[reportPrivateUsage]
            return parser.parse_attribute()
        return IntegerAttr(number, i64)
    numbers = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _list_item(parser)
    )
    if numbers is None:
        return parse_literal(parser)
    return DenseArrayBase.from_list(i64, numbers)


def _list_item(parser: Parser) -> int:
    position = parser.pos
    value = parser.parse_integer(allow_boolean=False)
    if not -(2**63) <= value < 2**63:
        parser.raise_error("integer does not fit 64 bits", position, parser.pos)
    return value


def parse_attributes(parser: Parser) -> dict[str, Attribute]:
    """Parses `attributes {...}` if present."""
    found = parser.parse_optional_attr_dict_with_keyword()
    return dict(found.data) if found is not None else {}


def parse_signature(
    operands: Sequence[UnresolvedOperand], position: int, parts: Parts, parser: Parser
) -> None:
    """Parses ` : type` or ` : (types) -> types` and resolves the operands."""
    parser.parse_punctuation(":")
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    if types is None:
        only = parser.parse_type()
        types = [only] * len(operands)
        parts.result_types = [only]
    else:
        parser.parse_punctuation("->")
        results = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        parts.result_types = [parser.parse_type()] if results is None else results
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
