"""What the operations that move elements compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
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
from xla_dialect.ops import data_movement as ops
from xla_dialect.reference.dynamic_shapes import bounds, filled
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.dynamic_reshapes import reshaped_sizes


def integers(attribute: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """The numbers of a list property."""
    return tuple(attribute.get_values())


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


def pad(
    operand: Array,
    value: Array,
    low: Sequence[int],
    interior: Sequence[int],
    sizes: Sequence[int],
) -> Array:
    """`result[low + i * (interior + 1)] = operand[i]` where that is inside, all else `value`."""
    result = np.full(sizes, value, operand.dtype)
    into: list[slice] = []
    taken: list[slice] = []
    for count, size, first, gap in zip(operand.shape, sizes, low, interior, strict=True):
        step = gap + 1
        begin = max(0, -(first // step))
        end = max(begin, min(count, -((first - size) // step)))
        taken.append(slice(begin, end))
        into.append(slice(first + begin * step, max(first + (end - 1) * step + 1, 0), step))
        if begin == end:
            return result
    result[tuple(into)] = operand[tuple(taken)]
    return result


@register_impls
class DataMovementFunctions(InterpreterFunctions):
    """The operations that move elements; most results are views."""

    @impl(ops.BroadcastOp)
    def run_broadcast(
        self, interpreter: Interpreter, op: ops.BroadcastOp, args: PythonValues
    ) -> PythonValues:
        """Operand dimension k becomes `dimensions[k]`."""
        sizes, dimensions = list(bounds(op.result)), integers(op.dimensions)
        for size, dimension in zip(args[0].shape, dimensions, strict=True):
            sizes[dimension] = size
        return (broadcast(args[0], dimensions, sizes),)

    @impl(ops.ReshapeOp)
    def run_reshape(
        self, interpreter: Interpreter, op: ops.ReshapeOp, args: PythonValues
    ) -> PythonValues:
        """Row-major order, refilled."""
        sizes = reshaped_sizes(args[0].shape, bounds(op.operand), bounds(op.result))
        return (args[0].reshape(sizes),)

    @impl(ops.TransposeOp)
    def run_transpose(
        self, interpreter: Interpreter, op: ops.TransposeOp, args: PythonValues
    ) -> PythonValues:
        """`result[o] = operand[x]` with `x[dimensions[i]] = o[i]`."""
        return (args[0].transpose(integers(op.dimensions)),)

    @impl(ops.SliceOp)
    def run_slice(
        self, interpreter: Interpreter, op: ops.SliceOp, args: PythonValues
    ) -> PythonValues:
        """`result[i] = operand[start + i * stride]`."""
        ranges = zip(
            integers(op.start_indices),
            integers(op.limit_indices),
            integers(op.strides),
            strict=True,
        )
        return (filled(args[0][tuple(slice(*part) for part in ranges)], bounds(op.result)),)

    @impl(ops.ConcatenateOp)
    def run_concatenate(
        self, interpreter: Interpreter, op: ops.ConcatenateOp, args: PythonValues
    ) -> PythonValues:
        """One after the other."""
        return (np.concatenate(args, axis=op.dimension.value.data),)

    @impl(ops.PadOp)
    def run_pad(self, interpreter: Interpreter, op: ops.PadOp, args: PythonValues) -> PythonValues:
        """Interior padding first, then the edges."""
        operand, value = args
        low, interior = integers(op.edge_padding_low), integers(op.interior_padding)
        sizes = shapes.padded(operand.shape, low, integers(op.edge_padding_high), interior)
        return (pad(operand, value, low, interior, [max(size, 0) for size in sizes]),)

    @impl(ops.ReverseOp)
    def run_reverse(
        self, interpreter: Interpreter, op: ops.ReverseOp, args: PythonValues
    ) -> PythonValues:
        """The named dimensions backwards."""
        return (np.flip(args[0], integers(op.dimensions)),)

    @impl(ops.DynamicSliceOp)
    def run_dynamic_slice(
        self, interpreter: Interpreter, op: ops.DynamicSliceOp, args: PythonValues
    ) -> PythonValues:
        """`result[k] = operand[start + k]`."""
        operand, *starts = args
        sizes = integers(op.dynamic_slice_sizes)
        first = clamped_starts(starts, bounds(op.operand), sizes)
        return (filled(operand[box(first, sizes)], bounds(op.result)),)

    @impl(ops.DynamicUpdateSliceOp)
    def run_dynamic_update_slice(
        self, interpreter: Interpreter, op: ops.DynamicUpdateSliceOp, args: PythonValues
    ) -> PythonValues:
        """The operand with a box overwritten."""
        operand, update, *starts = args
        result = np.array(operand)
        place = box(clamped_starts(starts, bounds(op.operand), bounds(op.update)), update.shape)
        room = result[place].shape
        result[place] = update[tuple(slice(size) for size in room)]
        return (result,)

    @impl(ops.CopyOp)
    def run_copy(
        self, interpreter: Interpreter, op: ops.CopyOp, args: PythonValues
    ) -> PythonValues:
        """The same values."""
        return args

    @impl(ops.BitcastOp)
    def run_bitcast(
        self, interpreter: Interpreter, op: ops.BitcastOp, args: PythonValues
    ) -> PythonValues:
        """The bytes in memory, read by another type and layout."""
        return (reinterpreted(args[0], array_type(op.operand), array_type(op.result)),)
