"""Indexed reads (operations.md, section 32)."""

from __future__ import annotations

from collections.abc import Sequence

from xla_dialect.builder.recorder import Recorder
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.gather_scatter import GatherOp


class GatherScatterMethods(Recorder):
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
