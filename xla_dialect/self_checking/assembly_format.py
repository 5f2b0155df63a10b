"""How the operations of `check` and `interpreter` are written.

    check.expect_almost_eq %0, %1, tolerance = 1.000000e-03 : tensor<2xf32>
    check.expect_eq_const %0, dense<[1, 2]> : tensor<2xi32>
    %1 = interpreter.probe %0, probe_id = "x" : tensor<2xf32>

Operands and a literal, then clauses, attributes, and the type of the operands unless the literal
has said it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
)
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from xla_dialect.op import XlaOp
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.text import parse_literal, print_literal

_LITERALS = (DenseIntOrFPElementsAttr, DenseResourceAttr)
"""What may stand for `value`. The reader of StableHLO puts a literal in the place of a resource."""

_CLAUSE_TYPES: tuple[type[Attribute], ...] = (IntegerType, Float64Type)


@dataclass(frozen=True)
class AssemblyFormat:
    """How one class of operations is written."""

    operands: int = 1
    has_literal: bool = False
    """Whether the property `value` follows the operands."""
    clauses: Mapping[str, tuple[str, Attribute | None]] = field(
        default_factory=dict[str, tuple[str, Attribute | None]]
    )
    """By keyword: the property, and the type of its number; None for a string."""
    is_typed_twice: bool = False
    """Whether the types of both operands are written."""
    has_result: bool = False
    """Whether there is a result, of the type of the operands."""


class FormattedOp(XlaOp):
    """An operation that is written in a custom assembly format."""

    FORMAT: ClassVar[AssemblyFormat]

    def print(self, printer: Printer) -> None:
        """Prints everything after the name; clauses with their default value are left out."""
        format_ = self.FORMAT
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        if format_.has_literal:
            printer.print_string(", ")
            print_literal(self.properties["value"], printer)
        definitions = self.get_irdl_definition().properties
        for keyword, (name, _) in format_.clauses.items():
            value = self.properties[name]
            if value != definitions[name].default_value or format_.is_typed_twice:
                printer.print_string(f", {keyword} = ")
                _print_bare(value, printer)
        if not format_.has_literal:
            printer.print_string(" :" if format_.is_typed_twice else "")
        printer.print_op_attributes(self.attributes)
        if not format_.has_literal:
            printer.print_string(" " if format_.is_typed_twice else " : ")
            written = self.operands if format_.is_typed_twice else self.operands[:1]
            printer.print_list([operand.type for operand in written], printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses everything after the name; raises ParseError."""
        format_ = cls.FORMAT
        position = parser.pos
        operands = [parser.parse_unresolved_operand()]
        for _ in range(format_.operands - 1):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        properties: dict[str, Attribute] = {}
        if format_.has_literal:
            parser.parse_punctuation(",")
            start = parser.pos
            properties["value"] = parse_literal(parser)
            if not isinstance(properties["value"], _LITERALS):
                message = "expected dense<...> or dense_resource<...> as the expected value"
                parser.raise_error(message, start, parser.pos)
        while parser.parse_optional_punctuation(","):
            properties |= _parse_clause(format_, cls.name, parser)
        attributes = parser.parse_optional_attr_dict()
        if format_.has_literal:
            types = [cast(Attribute, cast(Any, properties["value"]).type)]
        else:
            parser.parse_punctuation(":")
            attributes |= parser.parse_optional_attr_dict()
            types = [parser.parse_type()]
            if isinstance(types[0], _CLAUSE_TYPES) and parser.parse_optional_punctuation(":"):
                # Some printers write the type of the last number in front of that of the operands.
                attributes |= parser.parse_optional_attr_dict()
                types = [parser.parse_type()]
            if format_.is_typed_twice:
                parser.parse_punctuation(",")
                types.append(parser.parse_type())
        if len(types) < format_.operands:
            types *= format_.operands
        return create(
            cls,
            operands=parser.resolve_operands(operands, types, position),
            result_types=types[:1] if format_.has_result else (),
            properties=properties,
            attributes=attributes,
        )


def _parse_clause(format_: AssemblyFormat, name: str, parser: Parser) -> Mapping[str, Attribute]:
    """Parses `keyword = number` or `keyword = "text"`; the number's type is known."""
    position = parser.pos
    keyword = parser.parse_identifier()
    if keyword not in format_.clauses:
        known = ", ".join(format_.clauses) or "none"
        parser.raise_error(f"{name} has no '{keyword}' (it has: {known})", position, parser.pos)
    parser.parse_punctuation("=")
    property_name, type_ = format_.clauses[keyword]
    if type_ is None:
        return {property_name: StringAttr(parser.parse_str_literal())}
    if isinstance(type_, Float64Type):
        return {property_name: FloatAttr(float(parser.parse_number()), type_)}
    position = parser.pos
    number = parser.parse_integer(allow_boolean=False, allow_negative=False)
    if number >= 1 << cast(IntegerType, type_).width.data:
        parser.raise_error(f"{keyword} = {number} does not fit {type_}", position, parser.pos)
    return {property_name: IntegerAttr(number, cast(IntegerType, type_))}


def _print_bare(value: Attribute, printer: Printer) -> None:
    """Prints a number without its type, or a string."""
    match value:
        case IntegerAttr():
            printer.print_string(str(cast("IntegerAttr[Any]", value).value.data))
        case FloatAttr():
            printer.print_float(value.value.data, value.type)
        case _:
            printer.print_attribute(value)
