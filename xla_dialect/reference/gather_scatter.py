"""What the indexed reads compute."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from xla_dialect import shapes
from xla_dialect.ops import gather_scatter as ops
from xla_dialect.reference.data_movement import array_type, integers
from xla_dialect.reference.literal import ELEMENT_OF_DTYPE, Array
from xla_dialect.types import ElementClass


def clamped(indices: Array, highest: int) -> Array:
    """Indices in `[0, highest]` as s64, read as signed or unsigned by their type."""
    if ELEMENT_OF_DTYPE[indices.dtype].element_class == ElementClass.UNSIGNED:
        return np.minimum(indices.astype(np.uint64), np.uint64(highest)).astype(np.int64)
    return np.clip(indices.astype(np.int64), 0, highest)


def window_starts(
    indices: Array,
    index_vector_dim: int,
    index_map: Sequence[int],
    rooms: Sequence[int],
    batching: Sequence[tuple[int, int]],
) -> list[Array]:
    """
    Where windows start: per dimension of the operand an array over the batch dimensions.

    `index_map[k]` is the dimension that entry k of an index vector is for, `rooms` has the
    highest start of every dimension, `batching` pairs a dimension of the operand with one of the
    indices.
    """
    if index_vector_dim == indices.ndim:
        indices = indices[..., None]
    vectors = np.moveaxis(indices, index_vector_dim, 0)
    batch = vectors.shape[1:]
    starts: list[Array] = [np.zeros((), np.int64) for _ in rooms]
    for vector, dimension in zip(vectors, index_map, strict=True):
        starts[dimension] = clamped(vector, rooms[dimension])
    for dimension, index_dim in batching:
        position = index_dim - (index_dim > index_vector_dim)
        along = np.arange(int(batch[position]))
        starts[dimension] = along.reshape((-1, *(1 for _ in batch[position + 1 :])))
    return [np.broadcast_to(start, batch) for start in starts]


@register_impls
class GatherScatterFunctions(InterpreterFunctions):
    """Reads at computed places."""

    @impl(ops.GatherOp)
    def run_gather(
        self, interpreter: Interpreter, op: ops.GatherOp, args: PythonValues
    ) -> PythonValues:
        """`result[Out] = operand[Oin + Sin]`, see the operation."""
        operand, indices = args
        sizes = array_type(op.result).get_shape()
        if operand.size == 0 or 0 in sizes:
            # Only dropped dimensions of slice size 0 read from an empty operand: there is nothing.
            return (np.zeros(sizes, operand.dtype),)
        slice_sizes, offset_dims = integers(op.slice_sizes), integers(op.offset_dims)
        # A dropped dimension of slice size 0 is read like one of slice size 1.
        rooms = [d - max(s, 1) for d, s in zip(operand.shape, slice_sizes, strict=True)]
        batching = integers(op.operand_batching_dims)
        index = [
            np.expand_dims(start, offset_dims)
            for start in window_starts(
                indices,
                op.index_vector_dim.value.data,
                integers(op.start_index_map),
                rooms,
                list(zip(batching, integers(op.start_indices_batching_dims), strict=True)),
            )
        ]
        dropped = (*integers(op.collapsed_slice_dims), *batching)
        window = shapes.without(range(operand.ndim), dropped)
        for dimension, offset_dim in zip(window, offset_dims, strict=True):
            offset = np.arange(slice_sizes[dimension])
            trailing = (1 for _ in sizes[offset_dim + 1 :])
            index[dimension] = index[dimension] + offset.reshape((-1, *trailing))
        return (np.broadcast_to(operand[tuple(index)], sizes),)
