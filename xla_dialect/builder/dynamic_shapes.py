"""Dimensions whose size is known at run time only (docs/generated/ops.md#dynamic-shapes)."""

from __future__ import annotations

from collections.abc import Sequence

from xla_dialect.builder.recorder import Recorder, normalized
from xla_dialect.builder.type_spelling import TypeLike, as_array_type
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.dynamic_shapes import (
    DynamicReshapeOp,
    GetDimensionSizeOp,
    SetDimensionSizeOp,
)
from xla_dialect.types import S32


class DynamicShapeMethods(Recorder):
    """Methods that read and set sizes at run time."""

    def get_dimension_size(self, operand: XlaValue, dimension: int) -> XlaValue:
        """The size of a dimension as `s32[]`. Example: `b.get_dimension_size(x, 0)`."""
        ssa = self._checked_array(operand)
        number = normalized(dimension, operand.rank)
        return self._append_one(GetDimensionSizeOp, ssa, dimension=number)

    def set_dimension_size(
        self, operand: XlaValue, size: XlaValue | int, dimension: int
    ) -> XlaValue:
        """
        The array, with `size` as the size at run time of the dimension.

        Example: `b.set_dimension_size(x, i, 0)`.
        """
        ssa = self._checked_array(operand)
        count = self._operand(size, S32, "size")
        number = normalized(dimension, operand.rank)
        return self._append_one(SetDimensionSizeOp, ssa, count, dimension=number)

    def dynamic_reshape(
        self, operand: XlaValue, dim_sizes: Sequence[XlaValue | int], shape: TypeLike
    ) -> XlaValue:
        """
        The elements in row-major order, in an array of computed sizes that `shape` bounds.

        Example: `b.dynamic_reshape(x, [i, 8], "f32[<=4,8]")`.
        """
        ssa = self._checked_array(operand)
        sizes = [self._operand(size, S32, f"size {d}") for d, size in enumerate(dim_sizes)]
        return self._append_one(DynamicReshapeOp, ssa, sizes, result_types=[as_array_type(shape)])
