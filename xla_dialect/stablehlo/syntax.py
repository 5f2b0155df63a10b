"""What the text writer and the last rows share: lists of integers, and what ends most forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand

Types: TypeAlias = tuple[Sequence[Attribute], Sequence[Attribute]]
"""The types of the operands and of the results."""


def integers_text(values: Sequence[int]) -> str:
    """`[1, -2]`"""
    return f"[{', '.join(map(str, values))}]"


def _parse_types(parser: Parser, operands: int) -> Types:
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
    if len(types) != 1:
        parser.raise_error("expected a function type here", position)
    return types * operands, types


def parse_attributes_and_types(
    parser: Parser, operands: Sequence[UnresolvedOperand]
) -> tuple[dict[str, Attribute], Sequence[SSAValue], Sequence[Attribute]]:
    """Parses `{attributes} : types`, which ends most forms; looks up the operands."""
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    position = parser.pos
    types, results = _parse_types(parser, len(operands))
    return attributes, parser.resolve_operands(operands, types, position), results
