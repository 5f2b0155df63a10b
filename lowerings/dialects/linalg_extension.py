"""
xDSL's `linalg` dialect, able to read what it prints.

xDSL 0.74.0 prints the results of a `linalg.generic` with several of them as MLIR does,
`-> (tensor<4xf32>, tensor<4xi32>)`, but its parser takes types without parentheses only. Here
another class reads the text; operations that are parsed and operations that are built have one
class, xDSL's.

`LINALG` is to be loaded in the place of `xdsl.dialects.linalg.Linalg`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import linalg
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, StringAttr
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.parser import Parser


def parse_generic(parser: Parser) -> GenericOp:
    """Parses what `GenericOp.print` prints."""
    position = parser.pos
    trait = parser.parse_optional_attr_dict()
    maps, iterators = trait.get("indexing_maps"), trait.get("iterator_types")
    if not isinstance(maps, ArrayAttr) or not isinstance(iterators, ArrayAttr):
        parser.raise_error(
            "linalg.generic: indexing_maps and iterator_types, both arrays, are required",
            position,
            parser.pos,
        )
    inputs = _parse_operands("ins", parser)
    outputs = _parse_operands("outs", parser)
    extra: dict[str, Attribute] = {}
    if parser.parse_optional_keyword("attrs"):
        parser.parse_punctuation("=")
        extra = dict(parser.parse_optional_attr_dict())
    body = parser.parse_region()
    result_types: Sequence[Attribute] = ()
    if parser.parse_optional_punctuation("->"):
        delimited = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        if delimited is None:
            delimited = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        result_types = delimited
    op = GenericOp(
        inputs,
        outputs,
        body,
        cast("ArrayAttr[AffineMapAttr]", maps),
        [_iterator_type(i, parser, position) for i in cast("ArrayAttr[Attribute]", iterators).data],
        result_types,
        _string(trait.get("doc")),
        _string(trait.get("library_call")),
    )
    op.attributes.update(extra)
    return op


def _parse_operands(keyword: str, parser: Parser) -> Sequence[SSAValue]:
    position = parser.pos
    if not parser.parse_optional_characters(keyword):
        return ()
    parser.parse_punctuation("(")
    names = parser.parse_comma_separated_list(
        parser.Delimiter.NONE, parser.parse_unresolved_operand
    )
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return parser.resolve_operands(names, types, position)


def _iterator_type(attribute: Attribute, parser: Parser, position: int) -> IteratorTypeAttr:
    if isinstance(attribute, IteratorTypeAttr):
        return attribute
    if isinstance(attribute, StringAttr) and attribute.data in tuple(IteratorType):
        return IteratorTypeAttr(IteratorType(attribute.data))
    parser.raise_error(f"linalg.generic: unknown iterator type {attribute}", position, parser.pos)


def _string(attribute: Attribute | None) -> StringAttr | None:
    return attribute if isinstance(attribute, StringAttr) else None


class _GenericText(GenericOp):
    """What stands for `linalg.generic` in a text; whatever is read is a `GenericOp`."""

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """Parses what `GenericOp.print` prints."""
        return parse_generic(parser)

    @classmethod
    def create(cls, **parts: Any) -> Any:
        """Makes an operation from its generic form."""
        return GenericOp.create(**parts)


LINALG = Dialect(
    linalg.Linalg.name,
    [_GenericText if op is GenericOp else op for op in linalg.Linalg.operations],
    list(linalg.Linalg.attributes),
)
"""`linalg` whose `linalg.generic` parses what it prints."""
