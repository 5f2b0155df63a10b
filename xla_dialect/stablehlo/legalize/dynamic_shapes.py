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
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from xla_dialect.ops import dynamic_shapes as xla
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.data_movement import ConcatenateOp, DynamicSliceOp, ReshapeOp
from xla_dialect.ops.dynamic_shapes import GetDimensionSizeOp
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.stablehlo.attributes import integers_for_index, is_index, literal_of_integers
from xla_dialect.stablehlo.conversion import (
    Conversion,
    Legalize,
    dimension_list,
    sized_result,
    sizes_from_operand,
    sizes_of,
)
from xla_dialect.stablehlo.legalize.creation import emit_constant
from xla_dialect.stablehlo.legalize.data_movement import broadcast_in_dim
from xla_dialect.stablehlo.op import StableHloOp, UnknownShape, integers_of
from xla_dialect.stablehlo.ops import dynamic_shapes as stablehlo
from xla_dialect.stablehlo.ops import operations_of
from xla_dialect.stablehlo.ops.gather_scatter import DynamicGatherOp
from xla_dialect.types import (
    S32,
    Array,
    ElementClass,
    array,
    as_array,
    element_class,
    fits,
    is_unbounded,
    spell,
)
from xla_dialect.xdsl.operation_table import OperationTable


def convert_dynamic_reshape(
    op: stablehlo.DynamicReshapeOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_reshape`: static if the sizes are known, else to a bounded result."""
    operand, sizes = conversion.operands(op)
    type_ = as_array(sizes.type)
    if type_ is None or len(type_.get_shape()) != 1:
        op.fail(f"the sizes are {sizes.type}, not an array of rank 1")
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


def convert_dynamic_broadcast_in_dim(
    op: stablehlo.DynamicBroadcastInDimOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_broadcast_in_dim`; what it says to expand follows from the sizes."""
    result = sized_result(op, conversion, sizes_from_operand(op, conversion, 1))
    dimensions = integers_of(op.broadcast_dimensions) or ()
    return broadcast_in_dim(op, conversion, dimensions, result)


def convert_dynamic_iota(op: stablehlo.DynamicIotaOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_iota`."""
    result = sized_result(op, conversion, sizes_from_operand(op, conversion, 0))
    return conversion.emit(IotaOp, (), [result], op.properties)


def convert_lists(op: stablehlo.ListedOp, conversion: Conversion) -> Sequence[SSAValue]:
    """The operation whose lists are operands."""
    first = op.first_shape
    properties = {
        name: dimension_list(sizes_from_operand(op, conversion, first + i))
        for i, name in enumerate(op.LISTS)
    }
    operands, types = conversion.operands(op)[:first], conversion.result_types(op)
    return conversion.emit(op.APPLIED, operands, types, properties)


def convert_dynamic_gather(op: DynamicGatherOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_gather`, whose last operand has the slice sizes."""
    sizes = {"slice_sizes": dimension_list(sizes_from_operand(op, conversion, 2))}
    operands, types = conversion.operands(op)[:2], conversion.result_types(op)
    return conversion.emit(GatherOp, operands, types, op.xla_properties() | sizes)


# What makes shapes: `arith`, `shape` and `tensor`. MLIR has sizes of type `index`, for which XLA
# has no element type: they become 64-bit integers, and a single number an array without dimensions.
# What follows from sizes that are known is computed while a program is read.


def convert_dim(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
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
        return [conversion.constant(array(i64, ()), [sizes[found[0]]])]
    if sizes_of(type_)[found[0]] == DYNAMIC_INDEX:
        raise UnknownShape(op, 0)
    dimension = {"dimension": IntegerAttr(found[0], i64)}
    size = conversion.emit(GetDimensionSizeOp, [operand], [array(S32, ())], dimension)
    return conversion.emit(ConvertOp, size, [array(i64, ())])


def convert_extract(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
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


def convert_from_elements(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
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
        return [conversion.constant(declared, ())]
    one, row = array(declared.element_type, (1,)), array(declared.element_type, (len(operands),))
    rows = [conversion.emit(ReshapeOp, [operand], [one])[0] for operand in operands]
    dimension = {"dimension": IntegerAttr(0, i64)}
    joined = conversion.emit(ConcatenateOp, rows, [row], dimension)
    return joined if fits(row, declared) else conversion.emit(ReshapeOp, joined, [declared])


def convert_tensor_cast(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
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


def convert_num_elements(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.num_elements` of a list of sizes."""
    if not is_of_index(op.operands[0].type) or op.results[0].type != IndexType():
        op.fail(f"takes {op.operands[0].type} and gives {op.results[0].type}, not an index")
    return [conversion.constant(array(i64, ()), [prod(sizes_from_operand(op, conversion, 0))])]


def convert_width(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
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


def constant_shape(
    op: StableHloOp, conversion: Conversion, sizes: Sequence[int]
) -> Sequence[SSAValue]:
    """A list of sizes, as what an operation with one result of elements `index` becomes."""
    (result,) = op.results
    type_ = TensorType(i64, (len(sizes),))
    if not is_index(result.type) or not fits(type_, conversion.type(result.type, op)):
        op.fail(f"its result is {result.type}, not tensor<{len(sizes)}xindex>")
    return [conversion.constant(type_, sizes)]


def _is_castable(type_: Attribute) -> bool:
    """Whether a type is an array of integers with sign; truth values are cast in another way."""
    is_number = isinstance(type_, IntegerType)
    array = integers_for_index(cast(Attribute, type_)) if is_number else as_array(type_)
    return array is not None and element_class(array.element_type) == ElementClass.SIGNED


def is_of_index(type_: Attribute) -> bool:
    """Whether a type is MLIR's `index`, or an array of it."""
    return is_index(type_) and not isinstance(type_, IntegerType)


def convert_index_cast(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`arith.index_cast` of an array: between `index` and integers, with sign."""
    before, after = op.operands[0].type, op.results[0].type
    if is_of_index(before) == is_of_index(after) or not _is_castable(
        after if is_of_index(before) else before
    ):
        op.fail(
            f"casts between index and signless integers of several bits, not {before} to {after}"
        )
    return conversion.emit(ConvertOp, conversion.operands(op), conversion.result_types(op))


def convert_const_shape(op: stablehlo.ConstShapeOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`shape.const_shape` that is a list of sizes."""
    sizes = integers_of(op.shape)
    if sizes is None:
        op.fail(f"shape is {op.shape}, not a list of sizes")
    return constant_shape(op, conversion, sizes)


def convert_shape_of(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
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


def _extents(op: StableHloOp, conversion: Conversion) -> list[tuple[int, ...]]:
    """The shapes that the operands are, which have elements of type `index`."""
    for position, operand in enumerate(op.operands):
        if not is_of_index(operand.type):
            op.fail(f"operand {position} is {operand.type}, not a shape of type index")
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
        if any(b not in (1, size) for size, b in zip(found, aligned, strict=True)):
            op.fail(f"shapes {before} and {list(sizes)} do not broadcast")
    return constant_shape(op, conversion, found)


def convert_arithmetic(op: stablehlo.ArithmeticOp, conversion: Conversion) -> Sequence[SSAValue]:
    """An operation of `arith` on two numbers, or arrays of them."""
    types = {value.type for value in (*op.operands, *op.results)}
    found = as_array(conversion.result_types(op)[0])
    signed = found is not None and element_class(found.element_type) == ElementClass.SIGNED
    if len(types) != 1 or not signed:
        op.fail(f"takes and returns integers of one type, found {', '.join(map(str, types))}")
    return conversion.emit(op.APPLIED, conversion.operands(op), conversion.result_types(op))


def convert_number(op: stablehlo.ConstantOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`arith.constant`, of a number or an array."""
    value = op.value
    if isinstance(value, DenseIntOrFPElementsAttr):
        value = literal_of_integers(cast("DenseIntOrFPElementsAttr[Any]", value))
    if not isinstance(value, IntegerAttr):
        return emit_constant(op, value, conversion)
    number = cast("IntegerAttr[Any]", value)
    if number.type != op.output.type:
        op.fail(f"value is {value}, the result {op.output.type}")
    return [conversion.constant(conversion.result_types(op)[0], [number.value.data])]


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.DynamicReshapeOp, convert_dynamic_reshape)
    .add(stablehlo.DynamicBroadcastInDimOp, convert_dynamic_broadcast_in_dim)
    .add(stablehlo.DynamicIotaOp, convert_dynamic_iota)
    .add((stablehlo.DynamicPadOp, stablehlo.RealDynamicSliceOp), convert_lists)
    .add(DynamicGatherOp, convert_dynamic_gather)
    .add(stablehlo.ConstantOp, convert_number)
    .add(stablehlo.IndexCastOp, convert_index_cast)
    .add((stablehlo.ExtSIOp, stablehlo.TruncIOp), convert_width)
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
