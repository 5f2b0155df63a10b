"""Constants and iota of StableHLO."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser

from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.stablehlo.conversion import NO_DIMENSIONS, Conversion, Row
from xla_dialect.stablehlo.correspondence import integer, named, same
from xla_dialect.stablehlo.source import SourceError, SourceOp
from xla_dialect.stablehlo.syntax import form, integer_clause, same_type
from xla_dialect.types import Array
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.dense_literals import is_splat
from xla_dialect.xdsl.text import parse_literal


def parse_constant(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `stablehlo.constant {attributes} dense<...> : type`, or what stands for numbers."""
    if parser.parse_optional_punctuation("(") is not None:
        return _parse_stored(parser, op_class)
    attributes = parser.parse_optional_attr_dict()
    position = parser.pos
    value = parse_literal(parser)
    type_ = _type_of_literal(value)
    if type_ is None:
        parser.raise_error("expected dense<...> or dense_resource<...>", position)
    return create(
        op_class, result_types=[type_], properties={"value": value}, attributes=attributes
    )


def _parse_stored(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `) <{value = dense<...> : integers}> : () -> type`, of a quantized type."""
    parser.parse_punctuation(")")
    properties: dict[str, Attribute] = {}
    if parser.parse_optional_punctuation("<") is not None:
        properties = parser.parse_optional_attr_dict()
        parser.parse_punctuation(">")
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    type_ = parser.parse_function_type()
    return create(
        op_class,
        result_types=type_.outputs.data,
        properties=properties,
        attributes=attributes,
    )


def _type_of_literal(value: Attribute) -> Attribute | None:
    if isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr):
        return cast(Attribute, cast(Any, value).type)
    return None


def convert_constant(
    op: SourceOp,
    conversion: Conversion,
    wanted: Attribute | None = None,
    one_value: Attribute | None = None,
) -> Sequence[SSAValue]:
    """A constant, see `emit_constant`."""
    return emit_constant(op, op.take("value"), conversion, wanted, one_value)


def emit_constant(
    op: Operation,
    value: Attribute | None,
    conversion: Conversion,
    wanted: Attribute | None = None,
    one_value: Attribute | None = None,
) -> Sequence[SSAValue]:
    """
    The constant that an operation is; one value everywhere becomes a scalar that is broadcast.

    `wanted`: the type, if not the declared one; `one_value`: the scalar type of a value that stands
    for an array of it.
    """
    if isinstance(value, DenseResourceAttr):
        value = conversion.literal_of_resource(value, op)
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise SourceError(op, f"value is {value}, not a dense literal")
    value = cast("DenseIntOrFPElementsAttr[Any]", value)
    declared = conversion.result_types(op) if wanted is None else [wanted]
    found = conversion.type(cast(Attribute, value.type), op)
    if found not in (declared[0], one_value):
        raise SourceError(op, f"value has type {found}, the result {declared[0]}")
    type_ = cast(Array, declared[0])
    if found == type_ and (math.prod(type_.get_shape()) == 1 or not is_splat(value)):
        return conversion.emit(ConstantOp, (), declared, {"value": value})
    scalar = TensorType(type_.element_type, ())
    element = value.data.data[: value.get_element_type().compile_time_size]
    literal = DenseIntOrFPElementsAttr(cast(Any, scalar), BytesAttr(element))
    constant = conversion.emit(ConstantOp, (), [scalar], {"value": literal})
    return conversion.emit(BroadcastOp, constant, declared, {"dimensions": NO_DIMENSIONS})


ROWS: Mapping[str, Row] = {
    "stablehlo.constant": Row(parse_constant, convert_constant, operands=0),
    "stablehlo.iota": Row(
        form(same_type, dim=integer_clause("iota_dimension")),
        same(IotaOp, named(integer("iota_dimension"))),
        operands=0,
    ),
}
