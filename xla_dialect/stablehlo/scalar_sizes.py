"""Numbers outside of arrays, of which shapes are made: operations of `tensor` and `arith`.

XLA has arrays only: a number of type `index` or `i32` is one without dimensions. What follows from
sizes that are known is computed while a program is read, as all shapes are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import ConcatenateOp, DynamicSliceOp, ReshapeOp
from xla_dialect.ops.dynamic_shapes import GetDimensionSizeOp
from xla_dialect.stablehlo.conversion import Conversion, Convert, Row, dimension_list, sizes_of
from xla_dialect.stablehlo.creation import parse_constant
from xla_dialect.stablehlo.dynamic_shapes import take_shape
from xla_dialect.stablehlo.shape_producers import (
    convert_arith_constant,
    convert_index_cast,
    is_of_index,
    parse_index_cast,
)
from xla_dialect.stablehlo.source import SourceOp, UnknownShape
from xla_dialect.stablehlo.syntax import arrow_types, form, same_type
from xla_dialect.types import S32, Array, ElementClass, array, as_array, element_class, fits, spell
from xla_dialect.xdsl.creation import create


def parse_arith_constant(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `arith.constant 2 : index`, or a constant array."""
    number = parser.parse_optional_integer()
    if number is None:
        return parse_constant(parser, op_class)
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    value = IntegerAttr(number, cast(Any, type_))
    return create(op_class, result_types=[type_], properties={"value": value})


def convert_number(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`arith.constant`, of a number or an array."""
    value = op.take("value")
    if not isinstance(value, IntegerAttr):
        return convert_arith_constant(op, conversion, value)
    number = cast("IntegerAttr[Any]", value)
    if number.type != op.results[0].type:
        op.fail(f"value is {value}, the result {op.results[0].type}")
    return [_constant(conversion, number.value.data, conversion.result_types(op)[0])]


def _constant(conversion: Conversion, number: int, type_: Attribute) -> SSAValue:
    literal = DenseIntOrFPElementsAttr.from_list(cast(Any, type_), [number])
    return conversion.emit(ConstantOp, (), [type_], {"value": literal})[0]


def parse_dim(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `tensor.dim %0, %1 : type`."""
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    return _parse_places(parser, op_class, operand, [parser.parse_unresolved_operand()])


def parse_extract(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `tensor.extract %0[%1, %2] : type`."""
    operand = parser.parse_unresolved_operand()
    places = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )
    return _parse_places(parser, op_class, operand, places)


def _parse_places(
    parser: Parser, op_class: type[SourceOp], operand: Any, places: Sequence[Any]
) -> SourceOp:
    attributes, type_, element = _parse_end(parser)
    return create(
        op_class,
        operands=[
            parser.resolve_operand(operand, type_),
            *(parser.resolve_operand(place, IndexType()) for place in places),
        ],
        result_types=[IndexType() if op_class.name.endswith(".dim") else element],
        attributes=attributes,
    )


def _parse_end(parser: Parser) -> tuple[dict[str, Attribute], Attribute, Attribute]:
    """Parses attributes and `: type`; what they are, and the type of the elements."""
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    return attributes, type_, getattr(type_, "element_type", IndexType())


def convert_dim(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`tensor.dim`: the size of an array in a dimension."""
    operand, place = conversion.operands(op)
    type_ = as_array(operand.type)
    if type_ is None or op.operands[1].type != IndexType() or op.results[0].type != IndexType():
        op.fail(f"takes {op.operands[0].type} and {op.operands[1].type}, not an array and an index")
    found = conversion.constant_integers(place)
    if found is None:
        raise UnknownShape(op, 1)
    sizes = type_.get_shape()
    if not 0 <= found[0] < len(sizes):
        op.fail(f"dimension {found[0]} of {spell(type_)}")
    if sizes[found[0]] != DYNAMIC_INDEX:
        return [_constant(conversion, sizes[found[0]], array(i64, ()))]
    if sizes_of(type_)[found[0]] == DYNAMIC_INDEX:
        raise UnknownShape(op, 0)
    dimension = {"dimension": IntegerAttr(found[0], i64)}
    size = conversion.emit(GetDimensionSizeOp, [operand], [array(S32, ())], dimension)
    return conversion.emit(ConvertOp, size, [array(i64, ())])


def convert_extract(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`tensor.extract`: an element of an array."""
    operand, *places = conversion.operands(op)
    type_ = as_array(operand.type)
    element = getattr(op.operands[0].type, "element_type", None)
    if type_ is None or len(places) != len(sizes_of(type_)) or op.results[0].type != element:
        op.fail(f"{len(places)} indices into {op.operands[0].type} give {op.results[0].type}")
    for position, (place, size) in enumerate(zip(places, sizes_of(type_), strict=True)):
        known = conversion.constant_integers(place)
        if op.operands[1 + position].type != IndexType() or (known and not 0 <= known[0] < size):
            op.fail(f"index {known or op.operands[1 + position].type} of {spell(type_)}")
    one = array(type_.element_type, (1,) * len(places))
    sizes = {"dynamic_slice_sizes": dimension_list((1,) * len(places))}
    found = conversion.emit(DynamicSliceOp, [operand, *places], [one], sizes)
    return conversion.emit(ReshapeOp, found, [array(type_.element_type, ())])


def parse_from_elements(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `tensor.from_elements %0, %1 : type`."""
    elements = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    attributes, type_, element = _parse_end(parser)
    return create(
        op_class,
        operands=[parser.resolve_operand(each, element) for each in elements or ()],
        result_types=[type_],
        attributes=attributes,
    )


def convert_from_elements(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`tensor.from_elements`: the array of some numbers, in row-major order."""
    declared = as_array(conversion.result_types(op)[0])
    operands = conversion.operands(op)
    element = getattr(op.results[0].type, "element_type", None)
    if (
        declared is None
        or DYNAMIC_INDEX in declared.get_shape()
        or prod(declared.get_shape()) != len(operands)
        or any(operand.type != element for operand in op.operands)
    ):
        op.fail(f"{len(operands)} numbers give {op.results[0].type}")
    if not operands:
        return conversion.emit(ConstantOp, (), [declared], {"value": _no_elements(declared)})
    one, row = array(declared.element_type, (1,)), array(declared.element_type, (len(operands),))
    rows = [conversion.emit(ReshapeOp, [operand], [one])[0] for operand in operands]
    dimension = {"dimension": IntegerAttr(0, i64)}
    joined = conversion.emit(ConcatenateOp, rows, [row], dimension)
    return joined if fits(row, declared) else conversion.emit(ReshapeOp, joined, [declared])


def _no_elements(type_: Array) -> Attribute:
    return DenseIntOrFPElementsAttr.from_list(cast(Any, type_), [])


def convert_tensor_cast(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`tensor.cast`: the same array, of which a type says more or less."""
    (operand,), (declared,) = conversion.operands(op), conversion.result_types(op)
    before, after = as_array(operand.type), as_array(declared)
    if before is None or after is None or not _may_be_one(before, after):
        op.fail(f"{op.operands[0].type} cannot be {op.results[0].type}")
    return [operand]


def _may_be_one(a: Array, b: Array) -> bool:
    sizes, others = a.get_shape(), b.get_shape()
    return (
        a.element_type == b.element_type
        and len(sizes) == len(others)
        and all(m == n or DYNAMIC_INDEX in (m, n) for m, n in zip(sizes, others, strict=True))
    )


def arithmetic(op_class: type[XlaOp]) -> Convert:
    """The conversion of an operation of `arith` on two numbers, or arrays of them."""

    def convert(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        op.take("overflowFlags")
        types = {value.type for value in (*op.operands, *op.results)}
        found = as_array(conversion.result_types(op)[0])
        signed = found is not None and element_class(found.element_type) == ElementClass.SIGNED
        if len(types) != 1 or not signed:
            op.fail(f"takes and returns integers of one type, found {', '.join(map(str, types))}")
        return conversion.emit(op_class, conversion.operands(op), conversion.result_types(op))

    return convert


def convert_num_elements(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.num_elements` of a list of sizes."""
    if not is_of_index(op.operands[0].type) or op.results[0].type != IndexType():
        op.fail(f"takes {op.operands[0].type} and gives {op.results[0].type}, not an index")
    return [_constant(conversion, prod(take_shape(op, conversion, 0)), array(i64, ()))]


def convert_width(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`arith.extsi` and `arith.trunci`: another width of integers."""
    (operand,), (declared,) = conversion.operands(op), conversion.result_types(op)
    before, after = (_bits(value.type) for value in (op.operands[0], op.results[0]))
    narrow, wide = (before, after) if op.name == "arith.extsi" else (after, before)
    if not 1 < narrow < wide:
        op.fail(f"{op.operands[0].type} to {op.results[0].type}")
    return conversion.emit(ConvertOp, [operand], [declared])


def _bits(type_: Attribute) -> int:
    """The width of integers, or of those in an array; 0 of anything else."""
    element = cast(Array, type_).element_type if isinstance(type_, TensorType) else type_
    is_integer = isinstance(element, IntegerType)
    return cast("IntegerType[Any]", element).width.data if is_integer else 0


_BINARY: Mapping[str, type[XlaOp]] = {
    "addi": binary.AddOp,
    "divsi": binary.DivideOp,
    "maxsi": binary.MaximumOp,
    "minsi": binary.MinimumOp,
    "muli": binary.MultiplyOp,
    "remsi": binary.RemainderOp,
    "subi": binary.SubtractOp,
}


def _row(parse: Any, convert: Convert, operands: int | None) -> Row:
    return Row(parse, convert, operands=operands, index_operands=0, gives_index=True)


ROWS: Mapping[str, Row] = {
    "arith.constant": _row(parse_arith_constant, convert_number, 0),
    "arith.index_cast": _row(parse_index_cast, convert_index_cast, 1),
    "arith.extsi": _row(parse_index_cast, convert_width, 1),
    "arith.trunci": _row(parse_index_cast, convert_width, 1),
    **{
        f"arith.{name}": _row(form(same_type), arithmetic(op_class), 2)
        for name, op_class in _BINARY.items()
    },
    "shape.num_elements": _row(form(arrow_types), convert_num_elements, 1),
    "tensor.cast": _row(parse_index_cast, convert_tensor_cast, 1),
    "tensor.dim": _row(parse_dim, convert_dim, 2),
    "tensor.extract": _row(parse_extract, convert_extract, None),
    "tensor.from_elements": _row(parse_from_elements, convert_from_elements, None),
}
