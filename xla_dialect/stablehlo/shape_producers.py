"""Operations of `arith` and `shape` that compute shape operands of StableHLO's operations.

MLIR has sizes of type `index`, for which XLA has no element type: they become 64-bit integers,
constants as soon as the sizes of arrays are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.stablehlo.array_types import (
    integers_for_index,
    is_index,
    literal_of_integers,
)
from xla_dialect.stablehlo.attributes import parse_i64
from xla_dialect.stablehlo.conversion import Conversion, Row, sizes_of
from xla_dialect.stablehlo.creation import convert_constant
from xla_dialect.stablehlo.dynamic_shapes import take_shape
from xla_dialect.stablehlo.source import SourceOp, UnknownShape, integers_of
from xla_dialect.stablehlo.syntax import arrow_types, form
from xla_dialect.types import ElementClass, as_array, element_class, fits, spell
from xla_dialect.xdsl.creation import create


def parse_const_shape(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `shape.const_shape {attributes} [1, 2] : tensor<2xindex>`."""
    attributes = parser.parse_optional_attr_dict()
    sizes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_i64(parser))
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    shape = DenseIntOrFPElementsAttr.from_list(TensorType(IndexType(), (len(sizes),)), sizes)
    return create(
        op_class, result_types=[type_], properties={"shape": shape}, attributes=attributes
    )


def parse_index_cast(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `arith.index_cast %0 {attributes} : tensor<2xi32> to tensor<2xindex>`."""
    operand = parser.parse_unresolved_operand()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    before = parser.parse_type()
    parser.parse_keyword("to")
    return create(
        op_class,
        operands=[parser.resolve_operand(operand, before)],
        result_types=[parser.parse_type()],
        attributes=attributes,
    )


def constant_shape(
    op: SourceOp, conversion: Conversion, sizes: Sequence[int]
) -> Sequence[SSAValue]:
    """A list of sizes, as what an operation with one result of elements `index` becomes."""
    (result,) = op.results
    type_ = TensorType(i64, (len(sizes),))
    if not is_index(result.type) or not fits(type_, conversion.type(result.type, op)):
        op.fail(f"its result is {result.type}, not tensor<{len(sizes)}xindex>")
    value = DenseIntOrFPElementsAttr.from_list(type_, sizes)
    return conversion.emit(ConstantOp, (), [type_], {"value": value})


def convert_arith_constant(
    op: SourceOp, conversion: Conversion, value: Attribute | None
) -> Sequence[SSAValue]:
    """`arith.constant` of an array, with this value."""
    if isinstance(value, DenseIntOrFPElementsAttr):
        value = literal_of_integers(cast("DenseIntOrFPElementsAttr[Any]", value))
    if value is not None:
        op.properties["value"] = value
    return convert_constant(op, conversion)


def _is_castable(type_: Attribute) -> bool:
    """Whether a type is an array of integers with sign; truth values are cast in another way."""
    is_number = isinstance(type_, IntegerType)
    array = integers_for_index(cast(Attribute, type_)) if is_number else as_array(type_)
    return array is not None and element_class(array.element_type) == ElementClass.SIGNED


def is_of_index(type_: Attribute) -> bool:
    """Whether a type is MLIR's `index`, or an array of it."""
    return is_index(type_) and not isinstance(type_, IntegerType)


def convert_index_cast(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`arith.index_cast` of an array: between `index` and integers, with sign."""
    before, after = op.operands[0].type, op.results[0].type
    if is_of_index(before) == is_of_index(after) or not _is_castable(
        after if is_of_index(before) else before
    ):
        op.fail(
            f"casts between index and signless integers of several bits, not {before} to {after}"
        )
    return conversion.emit(ConvertOp, conversion.operands(op), conversion.result_types(op))


def convert_const_shape(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.const_shape` that is a list of sizes."""
    value = op.take("shape")
    sizes = None if value is None else integers_of(value)
    if sizes is None:
        op.fail(f"shape is {value}, not a list of sizes")
    return constant_shape(op, conversion, sizes)


def convert_shape_of(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.shape_of` an array."""
    (operand,) = conversion.operands(op)
    type_ = as_array(operand.type)
    if type_ is None:
        op.fail(f"operand 0 is {spell(operand.type)}, not an array")
    declared, rank = as_array(conversion.result_types(op)[0]), len(type_.get_shape())
    if not is_of_index(op.results[0].type) or declared is None or sizes_of(declared) != (rank,):
        op.fail(f"its result is {op.results[0].type}, not tensor<{rank}xindex>")
    if DYNAMIC_INDEX in type_.get_shape():
        raise UnknownShape(op, 0)
    return constant_shape(op, conversion, type_.get_shape())


def _take_extents(op: SourceOp, conversion: Conversion) -> list[tuple[int, ...]]:
    """The shapes that the operands are, which have elements of type `index`."""
    for position, operand in enumerate(op.operands):
        if not is_of_index(operand.type):
            op.fail(f"operand {position} is {operand.type}, not a shape of type index")
    return [take_shape(op, conversion, position) for position in range(len(op.operands))]


def convert_shape_concat(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.concat`: the sizes of one shape after those of another."""
    left, right = _take_extents(op, conversion)
    return constant_shape(op, conversion, (*left, *right))


def convert_shape_broadcast(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.broadcast`: the shape that arrays of these shapes have together, as in numpy."""
    op.take("error")
    found: list[int] = []
    for sizes in _take_extents(op, conversion):
        before = [1] * (len(sizes) - len(found)) + found
        aligned = [1] * (len(before) - len(sizes)) + list(sizes)
        found = [b if a == 1 else a for a, b in zip(before, aligned, strict=True)]
        if any(b not in (1, size) for size, b in zip(found, aligned, strict=True)):
            op.fail(f"shapes {before} and {list(sizes)} do not broadcast")
    return constant_shape(op, conversion, found)


ROWS: Mapping[str, Row] = {
    "shape.const_shape": Row(parse_const_shape, convert_const_shape, operands=0, gives_index=True),
    "shape.shape_of": Row(
        form(arrow_types), convert_shape_of, operands=1, index_operands=0, gives_index=True
    ),
    "shape.concat": Row(
        form(arrow_types), convert_shape_concat, operands=2, index_operands=0, gives_index=True
    ),
    "shape.broadcast": Row(
        form(arrow_types), convert_shape_broadcast, index_operands=0, gives_index=True
    ),
}
