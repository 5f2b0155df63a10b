"""How most custom forms are written: operands and clauses in a row, then types.

    stablehlo.pad %0, %1, low = [1], high = [2], interior = [0] {attributes} : (a, b) -> c
    stablehlo.compare LT, %0, %1, FLOAT : (a, a) -> b
    stablehlo.add %0, %1 : a

A form lists its clauses by keyword, its bare words in order, and what one list of types without an
arrow stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IntegerAttr, TensorType, TupleType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand

from xla_dialect.stablehlo.attributes import FIELDS, WORDS, integers, parse_i64
from xla_dialect.stablehlo.source import Form, SourceOp
from xla_dialect.types import Array, array_like, component_type

Clause: TypeAlias = Callable[[Parser], Mapping[str, Attribute]]
"""Parses the value of a clause, what follows `keyword =`, into properties."""

Types: TypeAlias = tuple[Sequence[Attribute], Sequence[Attribute]]
"""The types of the operands and of the results."""

TypeRule: TypeAlias = Callable[[Sequence[Attribute], int], Types | None]
"""The types that a list without an arrow stands for, given the number of operands, if legal."""


# Clauses


def parse_integers(parser: Parser) -> Attribute:
    """Parses `[1, -2]` as `array<i64>`."""
    return integers(
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_i64(parser))
    )


def integers_clause(name: str) -> Clause:
    """`keyword = [1, 2]`."""
    return lambda parser: {name: parse_integers(parser)}


def integer_clause(name: str) -> Clause:
    """`keyword = 1`."""
    return lambda parser: {name: IntegerAttr(parse_i64(parser), i64)}


def flag_clause(name: str) -> Clause:
    """`keyword = true`."""
    return lambda parser: {name: BoolAttr.from_bool(parser.parse_boolean())}


def word_clause(name: str, enumeration: str) -> Clause:
    """`keyword = WORD`."""
    word = WORDS[enumeration]
    return lambda parser: {name: word(parser.parse_identifier())}


def words_clause(name: str, enumeration: str) -> Clause:
    """`keyword = [DEFAULT, HIGHEST]`."""
    word = WORDS[enumeration]

    def parse(parser: Parser) -> Mapping[str, Attribute]:
        words = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: word(parser.parse_identifier())
        )
        return {name: ArrayAttr(words)}

    return parse


def fields_clause(name: str, attribute: str) -> Clause:
    """`keyword = <field = 1, other = [2]>`."""
    fields = FIELDS[attribute]
    return lambda parser: {name: fields(fields.parse_parameter(parser))}


def pair_clause(left: str, right: str) -> Clause:
    """`keyword = [0] x [1]`."""

    def parse(parser: Parser) -> Mapping[str, Attribute]:
        first = parse_integers(parser)
        parser.parse_characters("x")
        return {left: first, right: parse_integers(parser)}

    return parse


# What a list of types without an arrow stands for


def same_type(types: Sequence[Attribute], operands: int) -> Types | None:
    """One type: that of all operands and of the only result."""
    return ([types[0]] * operands, types) if len(types) == 1 else None


def select_types(types: Sequence[Attribute], operands: int) -> Types | None:
    """The type of the predicate, and the type of everything else."""
    return ([types[0], types[1], types[1]], [types[1]]) if len(types) == 2 else None


def complex_type(types: Sequence[Attribute], operands: int) -> Types | None:
    """The type of the result; the operands have its real component type."""
    if len(types) != 1 or not isinstance(types[0], TensorType):
        return None
    result = cast(Array, types[0])
    part = component_type(result.element_type)
    return ([array_like(result, part)] * operands, types) if part != result.element_type else None


def each_type(types: Sequence[Attribute], operands: int) -> Types | None:
    """One type per operand; the results have the same."""
    return types, types


def operand_types(types: Sequence[Attribute], operands: int) -> Types | None:
    """One type per operand; there are no results."""
    return types, ()


def tuple_type(types: Sequence[Attribute], operands: int) -> Types | None:
    """The tuple that is the result; its elements are the types of the operands."""
    if len(types) != 1 or not isinstance(types[0], TupleType):
        return None
    return types[0].types.data, types


def parse_types(parser: Parser, rule: TypeRule, operands: int) -> Types:
    """Parses `type, ...`, `type, ... -> types` or `(type, ...) -> types`."""
    position = parser.pos
    if (function_type := parser.parse_optional_function_type()) is not None:
        return function_type.inputs.data, function_type.outputs.data
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    if parser.parse_optional_punctuation("->") is not None:
        results = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        return types, [parser.parse_type()] if results is None else results
    found = rule(types, operands)
    if found is None:
        parser.raise_error("expected a function type here", position)
    return found


def parse_attributes_and_types(
    parser: Parser, operands: Sequence[UnresolvedOperand], rule: TypeRule = same_type
) -> tuple[dict[str, Attribute], Sequence[SSAValue], Sequence[Attribute]]:
    """Parses `{attributes} : types`, which ends most forms; looks up the operands."""
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    position = parser.pos
    types, results = parse_types(parser, rule, len(operands))
    return attributes, parser.resolve_operands(operands, types, position), results


def form(
    types: TypeRule = same_type, words: Sequence[tuple[str, str]] = (), **clauses: Clause
) -> Form:
    """
    The form of an operation.

    `words`: property and enumeration of each bare word, in order. `clauses`: by keyword.
    """

    def parse(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
        operands: list[UnresolvedOperand] = []
        properties: dict[str, Attribute] = {}
        remaining = iter(words)

        def parse_item() -> None:
            if parse_optional_item() is None:
                parser.raise_error("expected an operand or a keyword")

        def parse_optional_item() -> bool | None:
            if (operand := parser.parse_optional_unresolved_operand()) is not None:
                operands.append(operand)
                return True
            position = parser.pos
            if (keyword := parser.parse_optional_identifier()) is None:
                return None
            if keyword in clauses:
                parser.parse_punctuation("=")
                properties.update(clauses[keyword](parser))
                return True
            word = next(remaining, None)
            if word is None:
                parser.raise_error(f"{op_class.name} has no {keyword!r} here", position)
            properties[word[0]] = WORDS[word[1]](keyword)
            return True

        parser.parse_optional_undelimited_comma_separated_list(parse_optional_item, parse_item)
        attributes, values, results = parse_attributes_and_types(parser, operands, types)
        return op_class.create(
            operands=values, result_types=results, properties=properties, attributes=attributes
        )

    return parse
