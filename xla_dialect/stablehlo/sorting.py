"""The largest elements, in CHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.stablehlo.attributes import parse_i64
from xla_dialect.stablehlo.conversion import Conversion, Row, sizes_of
from xla_dialect.stablehlo.correspondence import Special, integer, named, same
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types
from xla_dialect.types import (
    BY_NAME,
    PRED,
    array,
    as_array,
)
from xla_dialect.xdsl.creation import create

U8 = BY_NAME["u8"].type


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


_TOP_K = same(TopkOp, named(integer("k")))


def convert_top_k(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`chlo.top_k`; truth values count as 1 and 0."""
    (operand,), declared = conversion.operands(op), conversion.result_types(op)
    source, values = as_array(operand.type), as_array(declared[0])
    if source is None or values is None or {source.element_type, values.element_type} != {PRED}:
        return _TOP_K(op, conversion)
    numbers = conversion.emit(ConvertOp, [operand], [array(U8, sizes_of(source))])
    types = [array(U8, sizes_of(values)), declared[1]]
    found, places = conversion.emit(TopkOp, numbers, types, _TOP_K.taken(op))
    return [conversion.emit(ConvertOp, [found], [values])[0], places]


ROWS: Mapping[str, Row] = {
    "chlo.top_k": Row(parse_top_k, Special(_TOP_K, convert_top_k), operands=1, results=2),
}
