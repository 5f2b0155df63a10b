"""Operations that move elements without changing them (docs/generated/ops.md#data-movement)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xla_dialect.builder.caller import build_error
from xla_dialect.builder.computations import Computations
from xla_dialect.builder.operation_methods import appends
from xla_dialect.builder.properties import all_normalized
from xla_dialect.builder.recorder import violated
from xla_dialect.builder.type_spelling import (
    ElementTypeLike,
    TypeLike,
    as_array_type,
    as_element_type,
    as_sizes,
)
from xla_dialect.builder.value import Operand, XlaValue
from xla_dialect.ops import data_movement as ops
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.dynamic_shapes import DynamicReshapeOp, SetDimensionSizeOp
from xla_dialect.shapes.size_arithmetic import is_ascending
from xla_dialect.types import S32, array, array_like
from xla_dialect.violations import Violation, require


class PaddingDimension(NamedTuple):
    """How `pad` treats one dimension; negative edge padding removes elements."""

    edge_padding_low: int = 0
    edge_padding_high: int = 0
    interior_padding: int = 0
    """How many copies of the padding value come between two neighbouring elements."""


class DataMovementMethods(Computations):
    """Methods that copy, repeat, rearrange, cut and join."""

    @appends(ops.BroadcastOp)
    def broadcast(self, operand: XlaValue, broadcast_sizes: Sequence[int]) -> XlaValue:
        """
        The array, repeated along new leading dimensions. (C2) their sizes are not negative.

        Example: `b.broadcast(v, [2, 3])`.
        """
        before, new = operand.shape, as_sizes(broadcast_sizes)
        if any(size < 0 for size in new):
            raise build_error(f"broadcast: (C2) broadcast_sizes are {list(new)}")
        result = array(operand.element_type, (*new, *before))
        return self._append(
            ops.BroadcastOp,
            operand,
            dimensions=range(len(new), len(new) + len(before)),
            result_types=[result],
        )

    @appends(ops.BroadcastOp)
    def broadcast_in_dim(
        self,
        operand: XlaValue,
        out_dim_size: Sequence[int],
        broadcast_dimensions: Sequence[int],
    ) -> XlaValue:
        """
        The array of sizes `out_dim_size`; dimension i becomes `broadcast_dimensions[i]`.

        Size 1 is stretched, and values are repeated along the other dimensions.

        (C1) there is an entry for each dimension of the operand. (C2) the rank does not get less.
        (C3) entries are dimensions of the result, and ascend. (C4) sizes are 1, or those of the
        result. (C5) sizes of the result are not negative.

        Example: `b.broadcast_in_dim(v, [4, 8], [1])`.
        """
        self._ssa(operand)
        sizes = as_sizes(out_dim_size)
        try:
            _require_in_dim(operand.shape, sizes, broadcast_dimensions)
        except Violation as violation:
            raise violated("broadcast_in_dim", violation) from None
        return self._expanded(operand, sizes, broadcast_dimensions)

    @appends(ops.ReshapeOp)
    def collapse(self, operand: XlaValue, dimensions: Sequence[int]) -> XlaValue:
        """
        The array with neighbouring dimensions made one, the first of them slowest.

        (C1) the dimensions are neighbours, in order.

        Example: `b.collapse(x, [0, 1])`.
        """
        sizes = operand.shape
        found = all_normalized(dimensions, len(sizes))
        self._ssa(operand)
        first, last = (found[0], found[-1]) if found else (0, -1)
        if found != tuple(range(first, last + 1)) or first < 0 or last >= len(sizes):
            raise build_error(
                f"collapse: (C1) {list(dimensions)} are not neighbouring dimensions, in order, "
                f"of rank {len(sizes)}"
            )
        if len(found) < 2:
            return operand
        collapsed = (*sizes[:first], prod(sizes[first : last + 1]), *sizes[last + 1 :])
        result = array(operand.element_type, collapsed)
        return self._append(ops.ReshapeOp, operand, result_types=[result])

    @appends(ops.ReshapeOp)
    def reshape(self, operand: XlaValue, dimensions: Sequence[int]) -> XlaValue:
        """
        The elements in row-major order, in an array of sizes `dimensions`.

        (C1) these are not negative.

        Example: `b.reshape(x, [2, 2, 8])`.
        """
        sizes = as_sizes(dimensions)
        if any(size < 0 for size in sizes):
            raise build_error(f"reshape: (C1) sizes are {list(sizes)}")
        result = array(operand.element_type, sizes)
        return self._append(ops.ReshapeOp, operand, result_types=[result])

    @appends(ops.SliceOp)
    def slice(
        self,
        operand: XlaValue,
        start_indices: Sequence[int],
        limit_indices: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> XlaValue:
        """
        Every `strides[d]`-th element from start to before limit, per dimension.

        Example: `b.slice(x, [0, 2], [4, 8], [1, 2])`.
        """
        return self._append(
            ops.SliceOp,
            operand,
            start_indices=start_indices,
            limit_indices=limit_indices,
            strides=[1] * operand.rank if strides is None else strides,
        )

    @appends(ops.PadOp)
    def pad(
        self,
        operand: XlaValue,
        padding_value: Operand,
        padding_config: Sequence[PaddingDimension | tuple[int, int] | tuple[int, int, int]],
    ) -> XlaValue:
        """
        The array with copies of `padding_value` around and between its elements.

        `padding_config`: (C2) per dimension (low, high) or (low, high, interior), as
        `PaddingDimension` names them. Example: `b.pad(x, 0, [(1, 1), (0, 2, 1)])`.
        """
        value = self._operand(padding_value, operand.element_type, "padding_value")
        if any(len(entry) not in (2, 3) for entry in padding_config):
            raise build_error(f"pad: (C2) entries of {list(padding_config)} are no (low, high)")
        config = [PaddingDimension(*entry) for entry in padding_config]
        return self._append(
            ops.PadOp,
            operand,
            value,
            edge_padding_low=[entry.edge_padding_low for entry in config],
            edge_padding_high=[entry.edge_padding_high for entry in config],
            interior_padding=[entry.interior_padding for entry in config],
        )

    @appends(ops.DynamicSliceOp)
    def dynamic_slice(
        self,
        operand: XlaValue,
        start_indices: Sequence[XlaValue | int],
        size_indices: Sequence[int],
    ) -> XlaValue:
        """
        The box of sizes `size_indices` at a start that is computed, and clamped to fit.

        One scalar, or Python integer, per dimension. Example: `b.dynamic_slice(x, [i, 0], [2, 8])`.
        """
        return self._append(
            ops.DynamicSliceOp,
            operand,
            self._start_indices(start_indices),
            dynamic_slice_sizes=size_indices,
        )

    @appends(ops.DynamicUpdateSliceOp)
    def dynamic_update_slice(
        self, operand: XlaValue, update: XlaValue, start_indices: Sequence[XlaValue | int]
    ) -> XlaValue:
        """
        The array with the box at a computed start replaced by `update`.

        The start is clamped so that the box fits. Example: `b.dynamic_update_slice(x, x, [i, 0])`.
        """
        return self._append(
            ops.DynamicUpdateSliceOp,
            operand,
            update,
            self._start_indices(start_indices),
        )

    def _start_indices(self, indices: Sequence[XlaValue | int]) -> list[XlaValue]:
        """Scalars; Python integers have the type of the other indices, s32 if there are none."""
        given = (index.element_type for index in indices if isinstance(index, XlaValue))
        element_type = next(given, S32)
        return [
            self._operand(index, element_type, f"start index {i}")
            for i, index in enumerate(indices)
        ]

    @appends(SetDimensionSizeOp)
    def set_dimension_size(
        self, operand: XlaValue, size: XlaValue | int, dimension: int
    ) -> XlaValue:
        """Example: `b.set_dimension_size(x, i, 0)`."""
        count = self._operand(size, S32, "size")
        return self._append(SetDimensionSizeOp, operand, count, dimension=dimension)

    @appends(DynamicReshapeOp)
    def dynamic_reshape(
        self, operand: XlaValue, dim_sizes: Sequence[XlaValue | int], shape: TypeLike
    ) -> XlaValue:
        """
        The elements in row-major order, in an array of computed sizes that `shape` bounds.

        Example: `b.dynamic_reshape(x, [i, 8], "f32[<=4,8]")`.
        """
        sizes = [self._operand(size, S32, f"size {d}") for d, size in enumerate(dim_sizes)]
        return self._append(DynamicReshapeOp, operand, sizes, result_types=[as_array_type(shape)])

    @appends(ConvertOp)
    def convert_element_type(
        self, operand: XlaValue, new_element_type: ElementTypeLike
    ) -> XlaValue:
        """Example: `b.convert_element_type(x, "bf16")`."""
        result = array_like(operand.array_type, as_element_type(new_element_type))
        return self._append(ConvertOp, operand, result_types=[result])


def _require_in_dim(
    before: Sequence[int], after: Sequence[int], broadcast_dimensions: Sequence[int]
) -> None:
    """The constraints of `broadcast_in_dim`; raises Violation (C1) to (C5)."""
    dimensions = list(broadcast_dimensions)
    rank = len(after)
    require(
        len(dimensions) == len(before),
        "C1",
        "broadcast_dimensions {} for an array of rank {}",
        dimensions,
        len(before),
    )
    require(len(before) <= rank, "C2", "an array of rank {} becomes one of {}", len(before), rank)
    require(
        all(0 <= d < rank for d in dimensions) and is_ascending(dimensions),
        "C3",
        "broadcast_dimensions {} are not ascending dimensions of rank {}",
        dimensions,
        rank,
    )
    require(all(size >= 0 for size in after), "C5", "out_dim_size is {}", list(after))
    for size, d in zip(before, dimensions, strict=True):
        require(
            size in (1, after[d]), "C4", "size {} becomes {} in dimension {}", size, after[d], d
        )
