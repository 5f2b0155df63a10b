"""How most custom forms are written, in both directions: operands and clauses, then types.

    stablehlo.pad %0, %1, low = [1], high = [2], interior = [0] {attributes} : (a, b) -> c
    stablehlo.compare LT, %0, %1, FLOAT : (a, a) -> b
    stablehlo.add %0, %1 : a

A form lists its clauses by keyword, its bare words in order, and what one list of types without an
arrow stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand

from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.directives import parse_i64, parse_integers


@dataclass(frozen=True)
class Clause:
    """What follows `keyword =`."""

    names: tuple[str, ...]
    """The properties that it gives."""
    parse: Callable[[Parser], Mapping[str, Attribute]]
    """Parses it into these properties."""
    text: Callable[..., str]
    """Its text for their values in Python, in order; empty where it is left out."""


Types: TypeAlias = tuple[Sequence[Attribute], Sequence[Attribute]]
"""The types of the operands and of the results."""

Texts: TypeAlias = Sequence[str]
"""Types as they are written."""


@dataclass(frozen=True)
class TypeRule:
    """What one list of types without an arrow stands for."""

    full: Callable[[Sequence[Attribute], int], Types | None]
    """The types that a list stands for, given the number of operands, if it is legal."""
    short: Callable[[Texts, Texts], Texts | None]
    """The list for the types of operands and results, if there is one."""
    in_parentheses: bool = True
    """Whether the types of the operands before an arrow are in parentheses."""

    def text(self, operands: Texts, results: Texts) -> str:
        """What follows the colon."""
        short = self.short(operands, results)
        if short is not None:
            return ", ".join(short)
        before = ", ".join(operands)
        after = results[0] if len(results) == 1 else f"({', '.join(results)})"
        return f"({before}) -> {after}" if self.in_parentheses else f"{before} -> {after}"


# Clauses


def integers_text(values: Sequence[int]) -> str:
    """`[1, -2]`"""
    return f"[{', '.join(map(str, values))}]"


def integers_clause(name: str) -> Clause:
    """`keyword = [1, 2]`."""
    return Clause((name,), lambda parser: {name: parse_integers(parser)}, integers_text)


def integer_clause(name: str) -> Clause:
    """`keyword = 1`."""
    return Clause((name,), lambda parser: {name: IntegerAttr(parse_i64(parser), i64)}, str)


# What a list of types without an arrow stands for


def _one_for_all(types: Sequence[Attribute], operands: int) -> Types | None:
    return ([types[0]] * operands, types) if len(types) == 1 else None


def _of_all(operands: Texts, results: Texts) -> Texts | None:
    is_one = len(results) == 1 and all(text == results[0] for text in operands)
    return results if is_one else None


same_type = TypeRule(_one_for_all, _of_all)
"""One type: that of all operands and of the only result."""

function_types = TypeRule(_one_for_all, lambda operands, results: None)
"""Always a function type, `(a) -> b`; one type is understood as above."""


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
    found = rule.full(types, operands)
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


@dataclass(frozen=True)
class CustomForm:
    """The form of an operation; as a function it parses it."""

    types: TypeRule
    clauses: Mapping[str, Clause]
    """By keyword."""

    def __call__(self, parser: Parser, op_class: type[SourceOp]) -> SourceOp:
        """Parses what follows the name of an operation."""
        operands: list[UnresolvedOperand] = []
        properties: dict[str, Attribute] = {}

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
            if keyword not in self.clauses:
                parser.raise_error(f"{op_class.name} has no {keyword!r} here", position)
            parser.parse_punctuation("=")
            properties.update(self.clauses[keyword].parse(parser))
            return True

        parser.parse_optional_undelimited_comma_separated_list(parse_optional_item, parse_item)
        attributes, values, results = parse_attributes_and_types(parser, operands, self.types)
        return create(
            op_class,
            operands=values,
            result_types=results,
            properties=properties,
            attributes=attributes,
        )

    def items(self, operands: Texts, values: Mapping[str, Any]) -> str:
        """What stands before attributes and types, for the values in Python of the properties."""
        found = list(operands)
        for keyword, clause in self.clauses.items():
            given = [values[name] for name in clause.names if name in values]
            text = clause.text(*given) if len(given) == len(clause.names) else ""
            if text:
                found.append(f"{keyword} = {text}")
        return ", ".join(found)


def form(
    types: TypeRule = function_types,
    **clauses: Clause,
) -> CustomForm:
    """The form of an operation, see `CustomForm`."""
    return CustomForm(types, clauses)
