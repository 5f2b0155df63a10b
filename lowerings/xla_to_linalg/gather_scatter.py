"""Indexed reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.data_movement import is_signed
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, storage
from lowerings.xla_to_linalg.structured import (
    affine_map,
    array_type,
    clamped_index,
    pointwise,
    sizes_of,
)
from xla_dialect.op import Ints, decode
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.shapes.size_arithmetic import without


@dataclass(frozen=True)
class GatherIndices:
    """How the index into the operand follows from the index of a result element."""

    offset_of: dict[int, int]
    """From a dimension of the operand to the result dimension that is the offset there."""
    batch_of: dict[int, int]
    """From a batching dimension of the operand to the result dimension of the batch."""
    start_maps: dict[int, AffineMapAttr]
    """From a dimension of the operand with a start index to the map that reads that index."""

    @staticmethod
    def of(op: GatherOp) -> GatherIndices:
        """The indices of a `gather`, by the formula of docs/generated/ops.md#gather."""
        rank = len(array_type(op.result).shape)
        offset_dims = cast(Ints, decode(op.offset_dims))
        collapsed = cast(Ints, decode(op.collapsed_slice_dims))
        batching = cast(Ints, decode(op.operand_batching_dims))
        index_vector_dim = op.index_vector_dim.value.data
        index_rank = len(sizes_of(op.start_indices))
        window = without(range(len(sizes_of(op.operand))), (*collapsed, *batching))
        batch_dims = without(range(rank), offset_dims)

        def batch(dimension: int) -> int:
            """The result dimension of a dimension of the indices."""
            return batch_dims[dimension - (dimension > index_vector_dim)]

        def start_map(component: int) -> AffineMapAttr:
            expressions = [
                AffineExpr.constant(component)
                if d == index_vector_dim
                else AffineExpr.dimension(batch(d))
                for d in range(index_rank)
            ]
            return affine_map(rank, tuple(expressions))

        return GatherIndices(
            dict(zip(window, offset_dims, strict=True)),
            {
                d: batch(b)
                for d, b in zip(batching, decode(op.start_indices_batching_dims), strict=True)
            },
            {d: start_map(k) for k, d in enumerate(decode(op.start_index_map))},
        )


def convert_gather(op: GatherOp, builder: ConversionBuilder) -> None:
    """
    A generic over the result whose body clamps the start indices and reads the operand.

    A dimension that is taken whole is indexed by its loop alone, so rows stay contiguous.
    """
    result = array_type(op.result)
    indices = GatherIndices.of(op)
    limits = [
        size - slice_size
        for size, slice_size in zip(sizes_of(op.operand), decode(op.slice_sizes), strict=True)
    ]
    # A limit of 0 clamps every start to 0: such a start need not be read.
    indexed = [d for d in indices.start_maps if limits[d]]
    signed = is_signed(op.start_indices)

    def position(s: ScalarBuilder, dimension: int, starts: dict[int, SSAValue]) -> SSAValue:
        if dimension in indices.batch_of:
            return s.index(indices.batch_of[dimension])
        loop = indices.offset_of.get(dimension)
        start = starts.get(dimension)
        if start is None:
            return s.constant(0, INDEX) if loop is None else s.index(loop)
        clamped = clamped_index(s, start, limits[dimension], signed)
        return clamped if loop is None else s.emit(arith.AddiOp, (clamped, s.index(loop)))

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        starts = dict(zip(indexed, elements, strict=False))
        where = [position(s, d, starts) for d in range(len(limits))]
        element_type = storage(result.element_type)
        return (s.emit(tensor.ExtractOp, (op.operand, *where), element_type),)

    inputs = [(op.start_indices, indices.start_maps[d]) for d in indexed]
    builder.replace([pointwise(builder, inputs, result, body)])
