"""Sorting in StableHLO and CHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.ops.sorting import SortOp, TopkOp
from xla_dialect.stablehlo.attributes import parse_i64
from xla_dialect.stablehlo.conversion import Conversion, Row, sizes_of
from xla_dialect.stablehlo.correspondence import Special, flag, integer, named, same
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types
from xla_dialect.xdsl.creation import create


def convert_sort(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.sort`; the dimension -1 is the last one."""
    operands = conversion.operands(op)
    if not operands:
        op.fail("has no operands")
    dimension = op.integer("dimension", -1)
    if dimension < 0:
        dimension += len(sizes_of(operands[0].type))
    properties: Mapping[str, Attribute] = {
        "dimension": IntegerAttr(dimension, i64),
        "is_stable": BoolAttr.from_bool(op.flag("is_stable")),
    }
    return conversion.emit(
        SortOp, operands, conversion.result_types(op), properties, conversion.regions(op)
    )


def parse_top_k(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `chlo.top_k(%0, k = 2) : a -> (b, c)`."""
    with parser.in_parens():
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("k")
        parser.parse_punctuation("=")
        k = IntegerAttr(parse_i64(parser), i64)
    attributes, operands, results = parse_attributes_and_types(parser, [operand])
    return create(
        op_class,
        operands=operands,
        result_types=results,
        properties={"k": k},
        attributes=attributes,
    )


_SORT = same(SortOp, named(integer("dimension", -1), flag("is_stable")))

ROWS: Mapping[str, Row] = {
    "stablehlo.sort": Row(None, Special(_SORT, convert_sort), results=None, regions=1),
    "chlo.top_k": Row(parse_top_k, same(TopkOp, named(integer("k"))), operands=1, results=2),
}
