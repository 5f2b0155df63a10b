"""Shapes that are operands: XLA has no such operations, they become static ones.

That is possible where the operands are constants; `Conversion.constant_integers` computes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    TensorType,
    i64,
)
from xdsl.ir import SSAValue

from xla_dialect.ops import dynamic_shapes as xla
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.data_movement import ConcatenateOp, DynamicSliceOp, ReshapeOp
from xla_dialect.ops.dynamic_shapes import GetDimensionSizeOp
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.stablehlo.attributes import is_index, literal_of_integers
from xla_dialect.stablehlo.conversion import (
    Conversion,
    Legalize,
    sized_result,
    sizes_from_operand,
    sizes_of,
)
from xla_dialect.stablehlo.legalize.creation import emit_constant
from xla_dialect.stablehlo.op import StableHloOp, UnknownShape, integers_of
from xla_dialect.stablehlo.ops import dynamic_shapes as stablehlo
from xla_dialect.stablehlo.ops import operations_of
from xla_dialect.types import (
    S32,
    Array,
    array,
    as_array,
    fits,
    is_unbounded,
    spell,
)
from xla_dialect.violations import check
from xla_dialect.xdsl.operation_table import OperationTable


def convert_dynamic_reshape(
    op: stablehlo.DynamicReshapeOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_reshape`: static if the sizes are known, else to a bounded result."""
    operand, sizes = conversion.operands(op)
    type_ = cast(Array, sizes.type)
    declared = conversion.result_types(op)[0]
    is_known = conversion.constant_integers(sizes) is not None
    if is_unbounded(declared) or (is_known and not is_dynamic(sizes_of(declared))):
        result = sized_result(op, conversion, sizes_from_operand(op, conversion, 1))
        return conversion.emit(ReshapeOp, [operand], [result])
    scalars: list[SSAValue] = []
    for d in range(type_.get_shape()[0]):
        scalar = conversion.element(sizes, d)
        if type_.element_type != S32:
            (scalar,) = conversion.emit(ConvertOp, [scalar], [array(S32, ())])
        scalars.append(scalar)
    return conversion.emit(xla.DynamicReshapeOp, [operand, *scalars], [declared])


def convert_shaped(op: stablehlo.ShapedOp, conversion: Conversion) -> Sequence[SSAValue]:
    """What the operation becomes that it is for the values of its shapes."""
    places = range(op.first_shape, len(op.operands))
    shapes = [conversion.known_integers(op, place) for place in places]
    types = [] if op.SHAPES else [sized_result(op, conversion, shapes[0])]
    types = types or conversion.result_types(op)
    static = op.static(shapes, op.operands[: op.first_shape], types)
    results = conversion.by_pattern(static)
    static.erase()
    return results


# What makes shapes: `arith`, `shape` and `tensor`. MLIR has sizes of type `index`, for which XLA
# has no element type: they become 64-bit integers, and a single number an array without dimensions.
# What follows from sizes that are known is computed while a program is read.


def convert_dim(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`tensor.dim`: the size of an array in a dimension."""
    operand, found = conversion.operands(op)[0], conversion.known_integers(op, 1)
    type_ = cast(Array, operand.type)
    sizes = type_.get_shape()
    check(0 <= found[0] < len(sizes), "dimension {} of {}", found[0], spell(type_))
    if sizes[found[0]] != DYNAMIC_INDEX:
        return [conversion.constant(array(i64, ()), [sizes[found[0]]])]
    if sizes_of(type_)[found[0]] == DYNAMIC_INDEX:
        raise UnknownShape(op, 0)
    size = conversion.made(GetDimensionSizeOp(operand, dimension=found[0]))
    return conversion.emit(ConvertOp, [size], [array(i64, ())])


def convert_extract(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`tensor.extract`: an element of an array."""
    operand, *places = conversion.operands(op)
    type_ = cast(Array, operand.type)
    for place, size in zip(places, sizes_of(type_), strict=True):
        known = conversion.constant_integers(place)
        check(not known or 0 <= known[0] < size, "index {} of {}", known, spell(type_))
    sizes = [1] * len(places)
    found = conversion.made(DynamicSliceOp(operand, places, dynamic_slice_sizes=sizes))
    return [conversion.reshaped(found, ())]


def convert_from_elements(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`tensor.from_elements`: the array of some numbers, in row-major order."""
    declared = cast(Array, conversion.result_types(op)[0])
    operands = conversion.operands(op)
    if not operands:
        return [conversion.constant(declared, ())]
    joined = conversion.made(
        ConcatenateOp([conversion.reshaped(value, (1,)) for value in operands], dimension=0)
    )
    if fits(joined.type, declared):
        return [joined]
    return conversion.emit(ReshapeOp, [joined], [declared])


def convert_tensor_cast(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`tensor.cast`: the same array, of which a type says more or less."""
    return conversion.operands(op)


def convert_num_elements(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.num_elements` of a list of sizes."""
    return [conversion.constant(array(i64, ()), [prod(sizes_from_operand(op, conversion, 0))])]


def convert_cast(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`arith.index_cast`, `arith.extsi` and `arith.trunci`: another type of integers."""
    return conversion.replaced(op, ConvertOp)


def constant_shape(
    op: StableHloOp, conversion: Conversion, sizes: Sequence[int]
) -> Sequence[SSAValue]:
    """A list of sizes, as what an operation with one result of elements `index` becomes."""
    (result,) = op.results
    type_ = TensorType(i64, (len(sizes),))
    check(
        is_index(result.type) and fits(type_, conversion.type(result.type, op)),
        "its result is {}, not tensor<{}xindex>",
        result.type,
        len(sizes),
    )
    return [conversion.constant(type_, sizes)]


def convert_const_shape(op: stablehlo.ConstShapeOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.const_shape` that is a list of sizes."""
    return constant_shape(op, conversion, integers_of(op.shape) or ())


def convert_shape_of(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.shape_of` an array."""
    type_ = as_array(conversion.operands(op)[0].type)
    if type_ is None or DYNAMIC_INDEX in type_.get_shape():
        raise UnknownShape(op, 0)
    return constant_shape(op, conversion, type_.get_shape())


def _extents(op: StableHloOp, conversion: Conversion) -> list[tuple[int, ...]]:
    """The shapes that the operands are, which have elements of type `index`."""
    return [sizes_from_operand(op, conversion, position) for position in range(len(op.operands))]


def convert_shape_concat(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.concat`: the sizes of one shape after those of another."""
    left, right = _extents(op, conversion)
    return constant_shape(op, conversion, (*left, *right))


def convert_shape_broadcast(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.broadcast`: the shape that arrays of these shapes have together, as in numpy."""
    found: list[int] = []
    for sizes in _extents(op, conversion):
        before = [1] * (len(sizes) - len(found)) + found
        aligned = [1] * (len(before) - len(sizes)) + list(sizes)
        found = [b if a == 1 else a for a, b in zip(before, aligned, strict=True)]
        check(
            all(b in (1, size) for size, b in zip(found, aligned, strict=True)),
            "shapes {} and {} do not broadcast",
            before,
            list(sizes),
        )
    return constant_shape(op, conversion, found)


def convert_arithmetic(op: stablehlo.ArithmeticOp, conversion: Conversion) -> Sequence[SSAValue]:
    """An operation of `arith` on two numbers, or arrays of them."""
    return conversion.replaced(op, op.APPLIED)


def convert_number(op: stablehlo.ConstantOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`arith.constant`, of a number or an array."""
    value = op.value
    if isinstance(value, DenseIntOrFPElementsAttr):
        value = literal_of_integers(cast("DenseIntOrFPElementsAttr[Any]", value))
    if not isinstance(value, IntegerAttr):
        return emit_constant(op, value, conversion)
    number = cast("IntegerAttr[Any]", value).value.data
    return [conversion.constant(conversion.result_types(op)[0], [number])]


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.DynamicReshapeOp, convert_dynamic_reshape)
    .add((stablehlo.DynamicBroadcastInDimOp, stablehlo.DynamicIotaOp), convert_shaped)
    .add((stablehlo.DynamicPadOp, stablehlo.RealDynamicSliceOp), convert_shaped)
    .add(stablehlo.DynamicGatherOp, convert_shaped)
    .add(stablehlo.ConstantOp, convert_number)
    .add((stablehlo.IndexCastOp, stablehlo.ExtSIOp, stablehlo.TruncIOp), convert_cast)
    .add(
        tuple(op for op in operations_of(stablehlo) if issubclass(op, stablehlo.ArithmeticOp)),
        convert_arithmetic,
    )
    .add(stablehlo.ConstShapeOp, convert_const_shape)
    .add(stablehlo.ShapeOfOp, convert_shape_of)
    .add(stablehlo.ConcatOp, convert_shape_concat)
    .add(stablehlo.BroadcastOp, convert_shape_broadcast)
    .add(stablehlo.NumElementsOp, convert_num_elements)
    .add(stablehlo.TensorCastOp, convert_tensor_cast)
    .add(stablehlo.DimOp, convert_dim)
    .add(stablehlo.ExtractOp, convert_extract)
    .add(stablehlo.FromElementsOp, convert_from_elements)
)
