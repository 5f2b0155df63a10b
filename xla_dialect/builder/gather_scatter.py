"""Indexed reads and writes (docs/generated/ops.md#gather-scatter)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from xla_dialect.builder.computations import Computation, Computations
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.types import array


class GatherScatterMethods(Computations):
    """Methods that read and write at computed places."""

    def gather(
        self,
        operand: XlaValue,
        start_indices: XlaValue,
        offset_dims: Sequence[int],
        collapsed_slice_dims: Sequence[int],
        slice_sizes: Sequence[int],
        start_index_map: Sequence[int],
        index_vector_dim: int,
        indices_are_sorted: bool = False,
        *,
        operand_batching_dims: Sequence[int] = (),
        start_indices_batching_dims: Sequence[int] = (),
    ) -> XlaValue:
        """
        Slices of sizes `slice_sizes` that start where `start_indices` says, stitched together.

        Each vector along `index_vector_dim` is a start; its k-th number is that of dimension
        `start_index_map[k]`. Starts are clamped so that the slices fit. `collapsed_slice_dims` of
        the slices, of size 1, are dropped; `offset_dims` are those of the result that run through
        a slice. Example: `b.gather(x, k, [1], [0], [1, 8], [0], 1)`, rows k of x.
        """
        return self._append_one(
            GatherOp,
            self._ssa(operand),
            self._ssa(start_indices, "start_indices"),
            offset_dims=offset_dims,
            collapsed_slice_dims=collapsed_slice_dims,
            operand_batching_dims=operand_batching_dims,
            start_indices_batching_dims=start_indices_batching_dims,
            start_index_map=start_index_map,
            index_vector_dim=index_vector_dim,
            slice_sizes=slice_sizes,
            indices_are_sorted=indices_are_sorted,
        )

    @overload
    def scatter(
        self,
        operands: XlaValue,
        scatter_indices: XlaValue,
        updates: XlaValue,
        update_computation: Computation,
        index_vector_dim: int,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        *,
        input_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
    ) -> XlaValue: ...

    @overload
    def scatter(
        self,
        operands: Sequence[XlaValue],
        scatter_indices: XlaValue,
        updates: Sequence[XlaValue],
        update_computation: Computation,
        index_vector_dim: int,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        *,
        input_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
    ) -> tuple[XlaValue, ...]: ...

    def scatter(
        self,
        operands: XlaValue | Sequence[XlaValue],
        scatter_indices: XlaValue,
        updates: XlaValue | Sequence[XlaValue],
        update_computation: Computation,
        index_vector_dim: int,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        *,
        input_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
    ) -> XlaValue | tuple[XlaValue, ...]:
        """
        The arrays, with updates combined into windows that start where `scatter_indices` says.

        `update_computation` takes the current values, then the updates; to overwrite, return the
        latter. The numbers are those of `gather`, the other way round; a window that does not lie
        inside as a whole is skipped.
        Example: `b.scatter(x, k, b.slice(y, [0, 0], [3, 8]), b.add, 1, [1], [0], [0])`.
        """
        inputs = [operands] if isinstance(operands, XlaValue) else list(operands)
        new = [updates] if isinstance(updates, XlaValue) else list(updates)
        scalars = [array(value.element_type, ()) for value in inputs]
        results = self._append(
            ScatterOp,
            self._all_ssa(inputs),
            self._ssa(scatter_indices, "scatter_indices"),
            self._all_ssa(new, "update"),
            index_vector_dim=index_vector_dim,
            update_window_dims=update_window_dims,
            inserted_window_dims=inserted_window_dims,
            scatter_dims_to_operand_dims=scatter_dims_to_operand_dims,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            input_batching_dims=input_batching_dims,
            scatter_indices_batching_dims=scatter_indices_batching_dims,
            regions=[self._region(update_computation, scalars * 2)],
        )
        return results[0] if isinstance(operands, XlaValue) else results
