"""What the operations that move elements compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.ir import SSAValue

from xla_dialect import types
from xla_dialect.diagnostics import XlaError
from xla_dialect.layout import LayoutError
from xla_dialect.layouts.physical_order import from_bytes, to_bytes
from xla_dialect.layouts.type_layouts import byte_size_of, layout_of
from xla_dialect.literals.arrays import (
    MEMORY_LIMIT,
    Array,
    MemoryLimitError,
    numpy_dtype,
)
from xla_dialect.op import Ints
from xla_dialect.ops import data_movement as ops
from xla_dialect.reference.dynamic_shapes import bounds, filled
from xla_dialect.reference.registration import registration, unchanged
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.size_arithmetic import reshaped_sizes


def array_type(value: SSAValue) -> types.Array:
    """The type of a value that is an array."""
    return cast("types.Array", value.type)


def reinterpreted(array: Array, source: types.Array, target: types.Array) -> Array:
    """
    The bytes of `array` in the order of its layout, read in the order of the target's layout.

    Padding reads as zero bits; the buffers have as many bytes. Raises XlaError if a layout has no
    physical order.
    """
    for type_ in (source, target):
        layout = layout_of(type_)
        if layout.dynamic_shape_metadata_prefix_bytes or layout.bounds:
            raise XlaError(f"the reference has no physical order for the layout {layout}")
    if (size := byte_size_of(source)) > MEMORY_LIMIT:
        raise MemoryLimitError(f"a buffer of {size} bytes, the limit is {MEMORY_LIMIT} bytes")
    dtype = numpy_dtype(target.element_type)
    try:
        data = to_bytes(array, layout_of(source))
        return from_bytes(data, dtype, layout_of(target), target.get_shape())
    except LayoutError as error:
        raise XlaError(f"the reference has no physical order: {error}") from None


def clamped_starts(
    starts: Sequence[Array], sizes: Sequence[int], slice_sizes: Sequence[int]
) -> tuple[int, ...]:
    """Every start in `[0, size - slice size]`, read as signed or unsigned by its type."""
    return tuple(
        min(max(int(start), 0), size - slice_size)
        for start, size, slice_size in zip(starts, sizes, slice_sizes, strict=True)
    )


def box(starts: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    """The slices of a box of these sizes that begins at `starts`."""
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))


def broadcast(operand: Array, dimensions: Sequence[int], sizes: Sequence[int]) -> Array:
    """`result[o] = operand[(o[dimensions[k]])_k]`, without copying."""
    order = sorted(range(operand.ndim), key=dimensions.__getitem__)
    mapped = set(dimensions)
    spread = [size if d in mapped else 1 for d, size in enumerate(sizes)]
    return np.broadcast_to(operand.transpose(order).reshape(spread), sizes)


def broadcast_in_dim(operand: Array, *, dimensions: Ints, op: ops.BroadcastOp) -> Array:
    """Operand dimension k becomes `dimensions[k]`."""
    sizes = list(bounds(op.result))
    for size, dimension in zip(operand.shape, dimensions, strict=True):
        sizes[dimension] = size
    return broadcast(operand, dimensions, sizes)


def reshape(operand: Array, *, op: ops.ReshapeOp) -> Array:
    """Row-major order, refilled."""
    return operand.reshape(reshaped_sizes(operand.shape, bounds(op.operand), bounds(op.result)))


def transpose(operand: Array, *, dimensions: Ints) -> Array:
    """`result[o] = operand[x]` with `x[dimensions[i]] = o[i]`."""
    return operand.transpose(dimensions)


def strided_slice(
    operand: Array, *, start_indices: Ints, limit_indices: Ints, strides: Ints, op: ops.SliceOp
) -> Array:
    """`result[i] = operand[start + i * stride]`."""
    taken = operand[tuple(map(slice, start_indices, limit_indices, strides))]
    return filled(taken, bounds(op.result))


def concatenate(inputs: Sequence[Array], *, dimension: int) -> Array:
    """One after the other."""
    return np.concatenate(inputs, axis=dimension)


def pad(
    operand: Array,
    value: Array,
    *,
    edge_padding_low: Ints,
    edge_padding_high: Ints,
    interior_padding: Ints,
) -> Array:
    """`result[low + i * (interior + 1)] = operand[i]` where that is inside, all else `value`."""
    padded = shapes.padded(operand.shape, edge_padding_low, edge_padding_high, interior_padding)
    sizes = [max(size, 0) for size in padded]
    result = np.full(sizes, value, operand.dtype)
    into: list[slice] = []
    taken: list[slice] = []
    for count, size, first, gap in zip(
        operand.shape, sizes, edge_padding_low, interior_padding, strict=True
    ):
        step = gap + 1
        begin = max(0, -(first // step))
        end = max(begin, min(count, -((first - size) // step)))
        taken.append(slice(begin, end))
        into.append(slice(first + begin * step, max(first + (end - 1) * step + 1, 0), step))
        if begin == end:
            return result
    result[tuple(into)] = operand[tuple(taken)]
    return result


def reverse(operand: Array, *, dimensions: Ints) -> Array:
    """The named dimensions backwards."""
    return np.flip(operand, dimensions)


def dynamic_slice(
    operand: Array,
    start_indices: Sequence[Array],
    *,
    dynamic_slice_sizes: Ints,
    op: ops.DynamicSliceOp,
) -> Array:
    """`result[k] = operand[start + k]`."""
    first = clamped_starts(start_indices, bounds(op.operand), dynamic_slice_sizes)
    return filled(operand[box(first, dynamic_slice_sizes)], bounds(op.result))


def dynamic_update_slice(
    operand: Array,
    update: Array,
    start_indices: Sequence[Array],
    *,
    op: ops.DynamicUpdateSliceOp,
) -> Array:
    """The operand with a box overwritten."""
    result = np.array(operand)
    starts = clamped_starts(start_indices, bounds(op.operand), bounds(op.update))
    place = box(starts, update.shape)
    room = result[place].shape
    result[place] = update[tuple(slice(size) for size in room)]
    return result


def bitcast(operand: Array, *, op: ops.BitcastOp) -> Array:
    """The bytes in memory, read by another type and layout."""
    return reinterpreted(operand, array_type(op.operand), array_type(op.result))


DataMovementFunctions = registration(
    "DataMovementFunctions",
    {
        ops.BroadcastOp: broadcast_in_dim,
        ops.ReshapeOp: reshape,
        ops.TransposeOp: transpose,
        ops.SliceOp: strided_slice,
        ops.ConcatenateOp: concatenate,
        ops.PadOp: pad,
        ops.ReverseOp: reverse,
        ops.DynamicSliceOp: dynamic_slice,
        ops.DynamicUpdateSliceOp: dynamic_update_slice,
        ops.CopyOp: unchanged,
        ops.BitcastOp: bitcast,
    },
)
"""The operations that move elements; most results are views."""
