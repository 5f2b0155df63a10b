"""What the indexed reads and writes compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.utils.str_enum import StrEnum

from xla_dialect.dynamic_dimensions import whole_windows
from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, Array
from xla_dialect.ops import gather_scatter as ops
from xla_dialect.reference.data_movement import integers
from xla_dialect.reference.dynamic_shapes import bounds, filled
from xla_dialect.reference.indexed_updates import update_at
from xla_dialect.reference.tuples import as_results
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.dynamic_size import DynamicSize
from xla_dialect.types import ElementClass


class OutOfBounds(StrEnum):
    """What a scatter skips where a window is not inside as a whole."""

    WINDOW = "window"
    """The whole window, as XLA does."""
    ELEMENT = "element"
    """Only the elements that are outside, as StableHLO says."""


def as_signed(indices: Array) -> Array:
    """Indices as s64, read as signed or unsigned by their type; what is larger becomes 2^63 - 1."""
    if ELEMENT_OF_DTYPE[indices.dtype].element_class == ElementClass.UNSIGNED:
        return np.minimum(indices.astype(np.uint64), np.uint64(2**63 - 1)).astype(np.int64)
    return indices.astype(np.int64)


def window_starts(
    indices: Array,
    index_vector_dim: int,
    index_map: Sequence[int],
    rank: int,
    batching: Sequence[tuple[int, int]],
) -> list[Array]:
    """
    Where windows start: per dimension of the operand an array over the batch dimensions.

    `index_map[k]` is the dimension that entry k of an index vector is for, `rank` the number of
    dimensions, `batching` pairs a dimension of the operand with one of the indices.
    """
    if index_vector_dim == indices.ndim:
        indices = indices[..., None]
    vectors = np.moveaxis(indices, index_vector_dim, 0)
    batch = vectors.shape[1:]
    starts: list[Array] = [np.zeros((), np.int64) for _ in range(rank)]
    for vector, dimension in zip(vectors, index_map, strict=True):
        starts[dimension] = as_signed(vector)
    for dimension, index_dim in batching:
        position = index_dim - (index_dim > index_vector_dim)
        along = np.arange(int(batch[position]))
        starts[dimension] = along.reshape((-1, *(1 for _ in batch[position + 1 :])))
    return [np.broadcast_to(start, batch) for start in starts]


def added_offsets(
    starts: Sequence[Array], window: Sequence[int], sizes: Sequence[int], positions: Sequence[int]
) -> list[Array]:
    """
    Per dimension of the operand the index of every element of every window.

    `starts`: as `window_starts` has them. `window[k]` is the dimension of the operand along which
    windows have `sizes[k]` elements, at `positions[k]` among the dimensions of the result.
    """
    index = [np.expand_dims(start, tuple(positions)) for start in starts]
    rank = len(positions) + (starts[0].ndim if starts else 0)
    for dimension, size, position in zip(window, sizes, positions, strict=True):
        trailing = (1 for _ in range(position + 1, rank))
        index[dimension] = index[dimension] + np.arange(size).reshape((-1, *trailing))
    return index


def scatter_places(
    op: ops.ScatterOp,
    shape: Sequence[int],
    indices: Array,
    updates: Sequence[int],
    rule: OutOfBounds,
) -> tuple[Array, Array]:
    """
    The flat index in an array of this shape that each update goes to, and which are not skipped.

    Both have the sizes of the updates.
    """
    batching = integers(op.input_batching_dims)
    starts = window_starts(
        indices,
        op.index_vector_dim.value.data,
        integers(op.scatter_dims_to_operand_dims),
        len(shape),
        list(zip(batching, integers(op.scatter_indices_batching_dims), strict=True)),
    )
    positions = integers(op.update_window_dims)
    dropped = (*integers(op.inserted_window_dims), *batching)
    window = shapes.without(range(len(shape)), dropped)
    sizes = [updates[position] for position in positions]
    extents = dict(zip(window, sizes, strict=True))
    if rule == OutOfBounds.ELEMENT:
        # Starts far outside would overflow when offsets are added.
        starts = [np.clip(s, -extents.get(d, 1), shape[d]) for d, s in enumerate(starts)]
        index = added_offsets(starts, window, sizes, positions)
        inside = _all_inside(index, shape, [1] * len(shape))
    else:
        ends = [extents.get(d, 1) for d in range(len(shape))]
        inside = np.expand_dims(_all_inside(starts, shape, ends), positions)
        starts = [np.clip(s, 0, shape[d] - ends[d]) for d, s in enumerate(starts)]
        index = added_offsets(starts, window, sizes, positions)
    flat = np.zeros((), np.int64)
    for along, size in zip(index, shape, strict=True):
        flat = flat * size + along
    return np.broadcast_to(flat, updates), np.broadcast_to(inside, updates)


def _all_inside(starts: Sequence[Array], shape: Sequence[int], extents: Sequence[int]) -> Array:
    """Where `0 <= start <= size - extent` in all dimensions."""
    inside = np.ones((), np.bool_)
    for start, size, extent in zip(starts, shape, extents, strict=True):
        inside = inside & (start >= 0) & (start <= size - extent)
    return inside


def _fitting(op: ops.ScatterOp, update: Array, shape: Sequence[int]) -> Array:
    """Updates cut to the sizes at run time of the inputs' dynamic dimensions, given as `shape`."""
    box = [slice(None)] * update.ndim
    for place, dimension in whole_windows(op).items():
        box[place] = slice(shape[dimension])
    return update[tuple(box)]


def _whole_slices(
    op: ops.GatherOp, operand: Array, dropped: Sequence[int]
) -> tuple[Array, tuple[int, ...]]:
    """
    The operand of a gather and the slice sizes, as they are at run time.

    Slices of all of a dynamic dimension have its elements; slices of a part have zeros where there
    are none.
    """
    sizes = integers(op.slice_sizes)
    whole = [
        bound if d not in dropped and size == bound else int(bound)
        for d, (size, bound) in enumerate(zip(sizes, bounds(op.operand), strict=True))
    ]
    operand = filled(operand, whole)
    return operand, tuple(
        have if isinstance(bound, DynamicSize) else size
        for have, size, bound in zip(operand.shape, sizes, whole, strict=True)
    )


@register_impls
@dataclass
class GatherScatterFunctions(InterpreterFunctions):
    """Reads and writes at computed places."""

    out_of_bounds: OutOfBounds = OutOfBounds.WINDOW
    """What a scatter skips."""

    @impl(ops.GatherOp)
    def run_gather(
        self, interpreter: Interpreter, op: ops.GatherOp, args: PythonValues
    ) -> PythonValues:
        """`result[Out] = operand[Oin + Sin]`, see the operation."""
        operand, indices = args
        offset_dims, batching = integers(op.offset_dims), integers(op.operand_batching_dims)
        dropped = (*integers(op.collapsed_slice_dims), *batching)
        operand, slice_sizes = _whole_slices(op, operand, dropped)
        vector_dim = op.index_vector_dim.value.data
        extended = shapes.with_index_vector(indices.shape, vector_dim)
        sizes = shapes.gathered(extended, vector_dim, slice_sizes, dropped, offset_dims)
        if operand.size == 0 or 0 in sizes:
            # From an empty operand only dropped dimensions of slice size 0 give elements: zeros.
            return (np.zeros(sizes, operand.dtype),)
        starts = window_starts(
            indices,
            vector_dim,
            integers(op.start_index_map),
            operand.ndim,
            list(zip(batching, integers(op.start_indices_batching_dims), strict=True)),
        )
        # A dropped dimension of slice size 0 is read like one of slice size 1.
        rooms = [d - max(s, 1) for d, s in zip(operand.shape, slice_sizes, strict=True)]
        window = shapes.without(range(operand.ndim), dropped)
        places = dict(zip(window, offset_dims, strict=True))
        # Dimensions that are read from end to end need no index.
        whole = [d for d in window if rooms[d] == 0]
        indexed = shapes.without(range(operand.ndim), whole)
        kept = shapes.without(range(len(sizes)), [places[d] for d in whole])
        windowed = [d for d in window if d not in whole]
        index = added_offsets(
            [np.clip(starts[d], 0, rooms[d]) for d in indexed],
            [indexed.index(d) for d in windowed],
            [slice_sizes[d] for d in windowed],
            [kept.index(places[d]) for d in windowed],
        )
        found = operand.transpose((*indexed, *whole))[tuple(index)]
        order = [*kept, *(places[d] for d in whole)]
        if not indexed:
            found = np.broadcast_to(found, [sizes[d] for d in order])
        return (found if order == sorted(order) else found.transpose(np.argsort(order)),)

    @impl(ops.ScatterOp)
    def run_scatter(
        self, interpreter: Interpreter, op: ops.ScatterOp, args: PythonValues
    ) -> PythonValues:
        """`result[I] = f(result[I], updates[U])` in row-major order of U, see the operation."""
        count = len(args) // 2
        inputs, indices = args[:count], args[count]
        updates = [_fitting(op, update, inputs[0].shape) for update in args[count + 1 :]]
        totals: list[Array] = [np.array(array, order="C").reshape(-1) for array in inputs]
        if updates[0].size:
            shape = inputs[0].shape
            rule = self.out_of_bounds
            places, inside = scatter_places(op, shape, indices, updates[0].shape, rule)
            update_at(
                interpreter,
                op.to_apply,
                "to_apply",
                totals,
                places[inside],
                [update[inside] for update in updates],
            )
        return as_results(op, tuple(total.reshape(inputs[0].shape) for total in totals))
