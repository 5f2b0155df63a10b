"""What the indexed reads and writes compute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, register_impls
from xdsl.ir import Region
from xdsl.utils.str_enum import StrEnum

from xla_dialect.analysis.computations import accumulates, adds_long_sums
from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, Array, DType
from xla_dialect.op import Ints
from xla_dialect.ops import gather_scatter as ops
from xla_dialect.ops.dynamic_shapes import whole_windows
from xla_dialect.reference.control_flow import on_arrays
from xla_dialect.reference.dynamic_shapes import bounds, filled
from xla_dialect.reference.registration import ArrayFunctions, computes
from xla_dialect.reference.rounding import DOUBLE_DTYPES, rounded, widened
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.size_arithmetic import DynamicSize
from xla_dialect.types import ElementClass

# Combining updates into an array at given indices, in the order of the updates.

MORE_PRECISE: dict[DType, DType] = DOUBLE_DTYPES | {
    np.dtype(np.float64): np.dtype(np.longdouble),
    np.dtype(np.complex128): np.dtype(np.clongdouble),
}
"""The types in which long sums are kept."""


def update_at(
    interpreter: Interpreter,
    computation: Region,
    name: str,
    totals: Sequence[Array],
    places: Array,
    updates: Sequence[Array],
) -> None:
    """
    `totals[..][places[u]] = computation(totals[..][places[u]], updates[..][u])` for u in order.

    All arrays are flat, one total and one update for each accumulator of the computation.
    """
    if adds_long_sums(computation.block, places.size, totals[0].size):
        (total,), (update,) = totals, updates
        precise = MORE_PRECISE.get(total.dtype)
        wide = widened(total) if precise is None else total.astype(precise)
        np.add.at(wide, places, update.astype(wide.dtype))
        total[...] = rounded(wide, total.dtype)
        return
    function = on_arrays(interpreter, computation, name)
    accumulators, updates = (in_accumulator(computation, arrays) for arrays in (totals, updates))
    for chosen in _rounds(places):
        here = places[chosen]
        found = function(*(each[here] for each in accumulators), *(u[chosen] for u in updates))
        for accumulator, value in zip(accumulators, found, strict=True):
            accumulator[here] = value
    for total, accumulator in zip(totals, accumulators, strict=True):
        total[...] = rounded(accumulator, total.dtype)


def in_accumulator(computation: Region, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The arrays in the type that a computation accumulates them in."""
    return tuple(map(widened, arrays) if accumulates(computation.block) else arrays)


def _rounds(places: Array) -> Iterator[Array]:
    """The updates that are the first to their index, those that are the second, and so on."""
    if not places.size:
        return
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    index = np.arange(order.size)
    is_first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    turn = index - np.maximum.accumulate(np.where(is_first, index, 0))
    by_turn = order[np.argsort(turn, kind="stable")]
    end = 0
    for count in np.bincount(turn):
        begin, end = end, end + int(count)
        yield by_turn[begin:end]


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
    shape: Sequence[int],
    indices: Array,
    updates: Sequence[int],
    rule: OutOfBounds,
    *,
    index_vector_dim: int,
    scatter_dims_to_operand_dims: Ints,
    update_window_dims: Ints,
    inserted_window_dims: Ints,
    input_batching_dims: Ints,
    scatter_indices_batching_dims: Ints,
    **_promises: bool,
) -> tuple[Array, Array]:
    """
    The flat index in an array of this shape that each update goes to, and which are not skipped.

    Both have the sizes of the updates.
    """
    starts = window_starts(
        indices,
        index_vector_dim,
        scatter_dims_to_operand_dims,
        len(shape),
        list(zip(input_batching_dims, scatter_indices_batching_dims, strict=True)),
    )
    positions = update_window_dims
    dropped = (*inserted_window_dims, *input_batching_dims)
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
    operand: Array, sizes: Sequence[int], dropped: Sequence[int], declared: Sequence[int]
) -> tuple[Array, tuple[int, ...]]:
    """
    The operand of a gather, which is declared with such sizes, and the slices as they come out.

    Slices of all of a dynamic dimension have its elements; slices of a part have zeros where there
    are none.
    """
    whole = [
        bound if d not in dropped and size == bound else int(bound)
        for d, (size, bound) in enumerate(zip(sizes, declared, strict=True))
    ]
    operand = filled(operand, whole)
    return operand, tuple(
        have if isinstance(bound, DynamicSize) else size
        for have, size, bound in zip(operand.shape, sizes, whole, strict=True)
    )


@register_impls
@dataclass
class GatherScatterFunctions(ArrayFunctions):
    """Reads and writes at computed places."""

    out_of_bounds: OutOfBounds = OutOfBounds.WINDOW
    """What a scatter skips."""

    @computes(ops.GatherOp)
    def gather(
        self,
        operand: Array,
        start_indices: Array,
        *,
        offset_dims: Ints,
        collapsed_slice_dims: Ints,
        operand_batching_dims: Ints,
        start_indices_batching_dims: Ints,
        start_index_map: Ints,
        index_vector_dim: int,
        slice_sizes: Ints,
        op: ops.GatherOp,
    ) -> Array:
        """`result[Out] = operand[Oin + Sin]`, see the operation."""
        dropped = (*collapsed_slice_dims, *operand_batching_dims)
        operand, lengths = _whole_slices(operand, slice_sizes, dropped, bounds(op.operand))
        extended = shapes.with_index_vector(start_indices.shape, index_vector_dim)
        sizes = shapes.gathered(extended, index_vector_dim, lengths, dropped, offset_dims)
        if operand.size == 0 or 0 in sizes:
            # From an empty operand only dropped dimensions of slice size 0 give elements: zeros.
            return np.zeros(sizes, operand.dtype)
        starts = window_starts(
            start_indices,
            index_vector_dim,
            start_index_map,
            operand.ndim,
            list(zip(operand_batching_dims, start_indices_batching_dims, strict=True)),
        )
        # A dropped dimension of slice size 0 is read like one of slice size 1.
        rooms = [d - max(s, 1) for d, s in zip(operand.shape, lengths, strict=True)]
        window = shapes.without(range(operand.ndim), dropped)
        index = added_offsets(
            [np.clip(start, 0, room) for start, room in zip(starts, rooms, strict=True)],
            window,
            [lengths[d] for d in window],
            offset_dims,
        )
        return np.broadcast_to(operand[tuple(index)], sizes)

    @computes(ops.ScatterOp)
    def scatter(
        self,
        inputs: Sequence[Array],
        scatter_indices: Array,
        updates: Sequence[Array],
        *,
        to_apply: Region,
        op: ops.ScatterOp,
        interpreter: Interpreter,
        **numbers: Any,
    ) -> tuple[Array, ...]:
        """`result[I] = f(result[I], updates[U])` in row-major order of U, see the operation."""
        shape, rule = inputs[0].shape, self.out_of_bounds
        updates = [_fitting(op, update, shape) for update in updates]
        totals: list[Array] = [np.array(array, order="C").reshape(-1) for array in inputs]
        if updates[0].size:
            places, inside = scatter_places(
                shape, scatter_indices, updates[0].shape, rule, **numbers
            )
            update_at(
                interpreter,
                to_apply,
                "to_apply",
                totals,
                places[inside],
                [update[inside] for update in updates],
            )
        return tuple(total.reshape(shape) for total in totals)
