"""Operations that move elements without changing them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FixedBitwidthType, TensorType
from xdsl.ir import BlockArgument, Operation, SSAValue

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, storage
from lowerings.xla_to_linalg.structured import (
    array_type,
    clamped_start,
    empty,
    extract_scalar,
    extract_slice,
    fill,
    indexing_maps,
    insert_slice,
    pointwise,
)
from xla_dialect.op import decode
from xla_dialect.ops.data_movement import (
    BroadcastOp,
    ConcatenateOp,
    CopyOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from xla_dialect.shapes.size_arithmetic import ceil_div, without
from xla_dialect.types import Array, ElementClass, element_class, element_count
from xla_dialect.xdsl.traversal import tensor_shape


def first(_s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """The body that copies the first input."""
    return (elements[0],)


def is_signed(value: SSAValue) -> bool:
    """Whether an integer array is of a signed type."""
    return element_class(elements_of(value)) == ElementClass.SIGNED


def convert_regular(op: BroadcastOp | ReverseOp | TransposeOp, builder: ConversionBuilder) -> None:
    """Every result element is read where the operand's map says; an identity is left out."""
    maps = indexing_maps(op)
    if maps.operands == maps.results:
        builder.replace([op.operand])
        return
    source = ((op.operand, maps.operands[0]),)
    builder.replace([pointwise(builder, source, array_type(op.result), first)])


def convert_reshape(op: ReshapeOp, builder: ConversionBuilder) -> None:
    """Expands dimensions, collapses them, or both."""
    builder.replace([reshape(op.operand, tensor_shape(op.result), builder.op)])


def convert_slice(op: SliceOp, builder: ConversionBuilder) -> None:
    """`tensor.extract_slice`."""
    start, strides = decode(op.start_indices), decode(op.strides)
    builder.replace([extract_slice(builder, op.operand, start, tensor_shape(op.result), strides)])


def convert_concatenate(op: ConcatenateOp, builder: ConversionBuilder) -> None:
    """Every operand is inserted where it begins; empty ones are left out."""
    dimension = op.dimension.value.data
    inputs = [value for value in op.inputs if element_count(tensor_shape(value))]
    if len(inputs) == 1:
        builder.replace(inputs)
        return
    result = empty(builder, array_type(op.result))
    offsets = [0] * len(array_type(op.result).shape)
    for value in inputs:
        result = insert_slice(builder, value, result, offsets)
        offsets[dimension] += tensor_shape(value)[dimension]
    builder.replace([result])


def concatenated_part(value: SSAValue, dimension: int, index: int) -> tuple[SSAValue, int]:
    """
    An array and an index into a dimension, where a concatenated array has its elements at `index`
    from; the array itself where it is not concatenated.
    """
    while isinstance(insertion := value.owner, tensor.InsertSliceOp):
        sizes = insertion.static_sizes.get_values()
        whole = without(sizes, (dimension,)) == without(tensor_shape(value), (dimension,))
        if not whole or insertion.offsets or max(insertion.static_strides.get_values()) > 1:
            break
        first = insertion.static_offsets.get_values()[dimension]
        if first <= index < first + sizes[dimension]:
            value, index = insertion.source, index - first
        else:
            value = insertion.dest
    return value, index


@dataclass(frozen=True)
class StridedInsertion:
    """The elements along one dimension that are inserted at `offset + i * step` of another."""

    begin: int
    """The first element that is taken."""
    count: int
    offset: int
    step: int

    @staticmethod
    def of(size: int, low: int, step: int, width: int) -> StridedInsertion:
        """Element i of `size` lands at `low + i * step`, if that is in a dimension of `width`."""
        begin = ceil_div(-low, step) if low < 0 else 0
        # Element i is inside for i below this:
        end = min(size, max(0, ceil_div(width - low, step))) if width > low else 0
        count = max(0, end - begin)
        # `insert_slice` requires a step within bounds even for a single element.
        return StridedInsertion(begin, count, low + begin * step, step if count > 1 else 1)


def place(
    builder: ConversionBuilder,
    value: SSAValue,
    dimensions: Sequence[StridedInsertion],
    result: Array,
    background: Callable[[], SSAValue],
) -> SSAValue:
    """Scatters the elements of a tensor at constant steps into a splat (a generalized pad)."""
    counts = [d.count for d in dimensions]
    if not element_count(counts):
        return fill(builder, background(), result)
    inside = extract_slice(builder, value, [d.begin for d in dimensions], counts)
    if tuple(counts) == result.get_shape():
        return inside
    offsets, steps = [d.offset for d in dimensions], [d.step for d in dimensions]
    if element_count(result.get_shape()) < FRAMED_ELEMENTS or max(steps) > 1:
        around = fill(builder, background(), result)
        return insert_slice(builder, inside, around, offsets, steps)
    if _is_copied(builder, value) and _has_whole_vectors(inside, result):
        return _surrounded(builder, inside, offsets, result, background())
    return _framed(builder, inside, offsets, result, background())


FRAMED_ELEMENTS = 1 << 14
"""From this size on, only the elements that the insertion leaves are filled."""

VECTOR_BYTES = 32
"""Rows of at least this many bytes are copied with vectors."""


def _is_copied(builder: ConversionBuilder, value: SSAValue) -> bool:
    """Whether a tensor cannot be computed in place in the tensor that it is inserted into."""
    users: set[Operation] = {builder.op}
    while isinstance(value.owner, tensor.ExpandShapeOp | tensor.CollapseShapeOp):
        users.add(value.owner)
        value = value.owner.src
    return isinstance(value, BlockArgument) or any(use.operation not in users for use in value.uses)


def _has_whole_vectors(inside: SSAValue, result: Array) -> bool:
    """Whether the last dimension is not padded, and its rows are long enough for vectors."""
    last = _counted(result)[-1]
    width, element = result.get_shape()[last], storage(result.element_type)
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 0
    return tensor_shape(inside)[last] == width and width * bits >= 8 * VECTOR_BYTES


def _counted(result: Array) -> list[int]:
    """The dimensions with more than one element."""
    return [d for d, size in enumerate(result.get_shape()) if size > 1]


def _surrounded(
    builder: ConversionBuilder,
    inside: SSAValue,
    offsets: Sequence[int],
    result: Array,
    scalar: SSAValue,
) -> SSAValue:
    """
    A padded tensor as one generic, which selects between elements of `inside` and a scalar.

    Where the scalar is selected, any element is read. This makes one loop nest instead of several.
    """
    dimensions = _counted(result)
    counts = [tensor_shape(inside)[d] for d in dimensions]
    sizes = [result.get_shape()[d] for d in dimensions]
    source = reshape(inside, counts, builder.op)

    def body(s: ScalarBuilder, _elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        where = [s.index(d) for d in range(len(sizes))]
        conditions: list[SSAValue] = []
        for d, (count, size) in enumerate(zip(counts, sizes, strict=True)):
            if count == size:
                continue
            # Unsigned, negative positions are large: one comparison checks both bounds.
            offset = s.constant(offsets[dimensions[d]], INDEX)
            position = s.emit(arith.SubiOp, (where[d], offset))
            conditions.append(s.compare("ult", position, s.constant(count, INDEX)))
            where[d] = s.select(conditions[-1], position, s.constant(0, INDEX))
        element = s.emit(tensor.ExtractOp, (source, *where), storage(result.element_type))
        return (s.select(reduce(s.both, conditions), element, scalar),)

    squeezed = TensorType(result.element_type, sizes)
    return reshape(pointwise(builder, (), squeezed, body), result.get_shape(), builder.op)


def _framed(
    builder: ConversionBuilder,
    inside: SSAValue,
    offsets: Sequence[int],
    result: Array,
    scalar: SSAValue,
) -> SSAValue:
    """
    A padded tensor made of `inside` and fills of the slabs before and after it.

    The parts do not overlap, so each can be computed in place.
    """
    whole = empty(builder, result)
    starts, sizes = [0] * len(offsets), list(result.get_shape())
    for d, (offset, count) in enumerate(zip(offsets, tensor_shape(inside), strict=True)):
        for start, end in ((0, offset), (offset + count, sizes[d])):
            if start < end:
                slab = TensorType(result.element_type, [*sizes[:d], end - start, *sizes[d + 1 :]])
                filled = fill(builder, scalar, slab)
                place = [*starts[:d], start, *starts[d + 1 :]]
                whole = insert_slice(builder, filled, whole, place)
        starts[d], sizes[d] = offset, count
    return insert_slice(builder, inside, whole, offsets)


def convert_pad(op: PadOp, builder: ConversionBuilder) -> None:
    """The part of the operand that is left is inserted into a tensor full of the padding value."""
    result = array_type(op.result)
    dimensions = [
        StridedInsertion.of(size, low, interior + 1, width)
        for size, low, interior, width in zip(
            tensor_shape(op.operand),
            decode(op.edge_padding_low),
            decode(op.interior_padding),
            result.get_shape(),
            strict=True,
        )
    ]
    padding = op.padding_value
    builder.replace(
        [place(builder, op.operand, dimensions, result, lambda: extract_scalar(builder, padding))]
    )


def _starts(
    builder: ConversionBuilder,
    indices: Sequence[SSAValue],
    sizes: Sequence[int],
    slice_sizes: Sequence[int],
) -> list[int | SSAValue]:
    return [
        clamped_start(builder, index, size - slice_size, is_signed(index))
        for index, size, slice_size in zip(indices, sizes, slice_sizes, strict=True)
    ]


def convert_dynamic_slice(op: DynamicSliceOp, builder: ConversionBuilder) -> None:
    """`tensor.extract_slice` at clamped offsets."""
    sizes = cast("tuple[int, ...]", decode(op.dynamic_slice_sizes))
    starts = _starts(builder, op.start_indices, tensor_shape(op.operand), sizes)
    builder.replace([extract_slice(builder, op.operand, starts, sizes)])


def convert_dynamic_update_slice(op: DynamicUpdateSliceOp, builder: ConversionBuilder) -> None:
    """`tensor.insert_slice` at clamped offsets."""
    sizes, part = tensor_shape(op.operand), tensor_shape(op.update)
    if sizes == part or not element_count(part):
        builder.replace([op.update if sizes == part else op.operand])
        return
    starts = _starts(builder, op.start_indices, sizes, part)
    builder.replace([insert_slice(builder, op.update, op.operand, starts)])


def convert_copy(op: CopyOp, builder: ConversionBuilder) -> None:
    """The operand: at this level values have no layout."""
    builder.replace([op.operand])
