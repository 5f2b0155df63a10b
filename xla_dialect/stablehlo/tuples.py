"""Tuples of StableHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, TupleType, i32, i64
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.parser import Parser

from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.stablehlo.attributes import parse_i64
from xla_dialect.stablehlo.conversion import Conversion, Row
from xla_dialect.stablehlo.correspondence import Special, one_to_one
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import form, parse_attributes_and_types, tuple_type
from xla_dialect.xdsl.creation import create


def tuple_of(values: Sequence[SSAValue], conversion: Conversion) -> SSAValue:
    """Emits the tuple of some values."""
    types = tuple(cast(TypeAttribute, value.type) for value in values)
    return conversion.emit(TupleOp, values, [TupleType(types)])[0]


def elements_of(
    value: SSAValue, types: Sequence[Attribute], conversion: Conversion
) -> list[SSAValue]:
    """Emits the elements of a tuple, which have the given types."""
    return [
        conversion.emit(GetTupleElementOp, [value], [type_], {"index": IntegerAttr(i, i64)})[0]
        for i, type_ in enumerate(types)
    ]


def parse_get_tuple_element(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `stablehlo.get_tuple_element %0[1] : (tuple<a, b>) -> b`."""
    operand = parser.parse_unresolved_operand()
    with parser.in_square_brackets():
        index = IntegerAttr(parse_i64(parser), i32)
    attributes, operands, results = parse_attributes_and_types(parser, [operand])
    return create(
        op_class,
        operands=operands,
        result_types=results,
        properties={"index": index},
        attributes=attributes,
    )


def convert_get_tuple_element(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.get_tuple_element`."""
    index = IntegerAttr(op.integer("index", type_=i32), i64)
    return conversion.emit(
        GetTupleElementOp, conversion.operands(op), conversion.result_types(op), {"index": index}
    )


_TUPLE = one_to_one(TupleOp)


def convert_tuple(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.tuple`; in HLO one of one element may have the type of the element."""
    if not isinstance(op.results[0].type, TupleType):
        op.fail(f"the result is {op.results[0].type}, not a tuple")
    return _TUPLE(op, conversion)


ROWS: Mapping[str, Row] = {
    "stablehlo.tuple": Row(form(tuple_type), Special(_TUPLE, convert_tuple)),
    "stablehlo.get_tuple_element": Row(
        parse_get_tuple_element, convert_get_tuple_element, operands=1
    ),
}
