"""Sorting in StableHLO and CHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.sorting import SortOp, TopkOp
from xla_dialect.shapes.size_arithmetic import compatible_sizes
from xla_dialect.stablehlo.attributes import parse_i64
from xla_dialect.stablehlo.conversion import Conversion, Row, sizes_of
from xla_dialect.stablehlo.correspondence import Special, flag, integer, named, same
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types
from xla_dialect.types import (
    BY_NAME,
    PRED,
    array,
    as_array,
    spell_all,
)
from xla_dialect.xdsl.creation import create

U8 = BY_NAME["u8"].type


def convert_sort(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.sort`; the dimension -1 is the last one."""
    operands = conversion.operands(op)
    if not operands:
        op.fail("has no operands")
    dimension = op.integer("dimension", -1)
    if dimension < 0:
        dimension += len(sizes_of(operands[0].type))
    types = [*(operand.type for operand in operands), *conversion.result_types(op)]
    if conversion.KEEPS_UNKNOWN_SIZES and not all(
        compatible_sizes(sizes_of(a), sizes_of(b)) for a, b in combinations(types, 2)
    ):
        op.fail(f"{spell_all(types)} differ in shape")
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
    "stablehlo.sort": Row(None, Special(_SORT, convert_sort), results=None, regions=1),
    "chlo.top_k": Row(parse_top_k, Special(_TOP_K, convert_top_k), operands=1, results=2),
}
