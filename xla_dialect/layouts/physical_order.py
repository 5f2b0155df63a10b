"""Where the elements of an array lie in the linear buffer that its layout makes of it, in numpy.

The rules are those of docs/specification/layouts.md#tiling. A linear index counts the elements of
the buffer from 0, with those of tiles and padding: some positions of a buffer hold no element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from xla_dialect.layout import Layout, LayoutError
from xla_dialect.layouts.type_layouts import row_major_strides

Array: TypeAlias = NDArray[Any]
DType: TypeAlias = np.dtype[Any]


def to_physical(array: Array, layout: Layout) -> Array:
    """
    The elements of `array` in memory order, padding included; rank 1, `buffer_elements` long.

    Padding holds zeros, or what the `padding_value` of the layout says. Raises LayoutError if the
    layout is not one for the sizes of the array, or splits it.
    """
    widths = _widths(layout, array.shape)
    filler = padding_element(layout.padding_value, array.dtype)
    array = _padded(array, widths, filler)
    for step in layout.steps(widths):
        if step.order is not None:
            array = array.transpose(step.order)
        elif step.pads:
            array = _padded(array, step.after, filler)
        else:
            array = array.reshape(step.after)
    flat = array.reshape(-1)
    tail = -flat.size % layout.tail_padding_alignment_in_elements
    return _padded(flat, (flat.size + tail,), filler)


def from_physical(buffer: Array, layout: Layout, sizes: Sequence[int]) -> Array:
    """
    The array of these sizes whose elements lie in `buffer`, the inverse of `to_physical`.

    Padding is not read. The result shares memory with the buffer where the layout allows. Raises
    LayoutError if the buffer has another number of elements, or the layout splits the array.
    """
    widths = _widths(layout, sizes)
    count = layout.buffer_elements(widths)
    if buffer.shape != (count,):
        raise LayoutError(
            f"a buffer of shape {list(buffer.shape)}, the layout has {count} elements"
        )
    shape = layout.physical_shape(widths)
    array = buffer[: math.prod(shape)].reshape(shape)
    for step in reversed(layout.steps(widths)):
        if step.order is not None:
            array = array.transpose(step.order_back)
        elif step.pads:
            array = array[tuple(map(slice, step.before))]
        else:
            array = array.reshape(step.before)
    return array[tuple(map(slice, sizes))]


def to_bytes(array: Array, layout: Layout) -> NDArray[np.uint8]:
    """
    The bytes of the buffer of `array`.

    Every element takes whole bytes, unless the layout's element size is below 8 bits: then as many
    as fit share a byte, the first one in its lowest bits. Bits above those of the type are 0.
    Raises LayoutError as `to_physical`, and for an element size that the type does not have.
    """
    width = _packed_width(layout, array.dtype)
    raw = np.ascontiguousarray(to_physical(array, layout)).view(np.uint8)
    if array.dtype in _VALUE_BITS:
        raw = raw & np.uint8((1 << _VALUE_BITS[array.dtype]) - 1)
    if width is None:
        return raw
    per_byte = 8 // width
    codes = np.zeros(-(-raw.size // per_byte) * per_byte, np.uint8)
    codes[: raw.size] = raw
    shifts = np.arange(0, 8, width, dtype=np.uint8)
    return np.bitwise_or.reduce(codes.reshape(-1, per_byte) << shifts, axis=1, dtype=np.uint8)


def from_bytes(
    data: NDArray[np.uint8], dtype: DType, layout: Layout, sizes: Sequence[int]
) -> Array:
    """
    The array of a type and sizes whose buffer has these bytes, the inverse of `to_bytes`.

    Raises LayoutError if there are not as many bytes as the layout has.
    """
    width = _packed_width(layout, dtype)
    count = layout.buffer_elements(_widths(layout, sizes))
    expected = count * dtype.itemsize if width is None else -(-count * width // 8)
    if data.size != expected:
        raise LayoutError(f"{data.size} bytes, the layout has {expected}")
    if width is not None:
        shifts = np.arange(0, 8, width, dtype=np.uint8)
        data = ((data[:, None] >> shifts) & np.uint8((1 << width) - 1)).reshape(-1)[:count]
    buffer = data != 0 if dtype == np.bool_ else data.view(dtype)
    return from_physical(buffer, layout, sizes)


def _widths(layout: Layout, sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes in memory: `padded_dimensions`, or else the bounds of dynamic dimensions."""
    _require_one_buffer(layout)
    if len(layout.minor_to_major) != len(sizes):
        raise LayoutError(f"the layout {layout} for sizes {list(sizes)}")
    bounds = layout.bounds or (None,) * len(sizes)
    widths = layout.padded_dimensions or tuple(
        size if bound is None else bound for size, bound in zip(sizes, bounds, strict=True)
    )
    if len(widths) != len(sizes) or any(w < n for w, n in zip(widths, sizes, strict=True)):
        raise LayoutError(f"sizes {list(sizes)} do not fit into {list(widths)}")
    return widths


def _padded(array: Array, sizes: Sequence[int], filler: Any) -> Array:
    """The array with `filler` appended along each dimension up to these sizes."""
    if array.shape == tuple(sizes):
        return array
    result = np.full(sizes, filler, array.dtype)
    result[tuple(map(slice, array.shape))] = array
    return result


def _packed_width(layout: Layout, dtype: DType) -> int | None:
    """The bits of an element that shares its byte with others, None if it has whole bytes."""
    width = layout.element_size_in_bits
    if width in (0, 8 * dtype.itemsize):
        return None
    if dtype.itemsize == 1 and width in (1, 2, 4) and width >= _VALUE_BITS.get(dtype, 8):
        return width
    raise LayoutError(f"elements of {dtype} do not take {width} bits")


_VALUE_BITS: dict[DType, int] = {
    np.dtype(np.bool_): 1,
    np.dtype(ml_dtypes.int1): 1,
    np.dtype(ml_dtypes.uint1): 1,
    np.dtype(ml_dtypes.int2): 2,
    np.dtype(ml_dtypes.uint2): 2,
    np.dtype(ml_dtypes.int4): 4,
    np.dtype(ml_dtypes.uint4): 4,
    np.dtype(ml_dtypes.float4_e2m1fn): 4,
}
"""The bits of the dtypes of which several can share a byte; 6 bits do not divide one."""


def padding_element(padding_value: str, dtype: DType) -> Any:
    """
    What padding holds if a layout names this `padding_value`; zero bits where it names none.

    Raises LayoutError for types without a lowest or highest value.
    """
    return _FILLERS[padding_value](dtype)


def _extreme(dtype: DType, sign: int) -> Any:
    """The lowest (sign -1) or highest value of a type, infinite where it has infinities."""
    if dtype == np.bool_:
        return sign > 0
    if np.issubdtype(dtype, np.complexfloating):
        raise LayoutError(f"{dtype} has no lowest and no highest value to pad with")
    try:
        limits = cast("Any", ml_dtypes.iinfo(dtype))
    except ValueError:
        infinity = np.array(sign * np.inf).astype(dtype)
        if np.isinf(infinity.astype(np.float64)):
            return infinity
        limits = cast("Any", ml_dtypes.finfo(dtype))
    return limits.min if sign < 0 else limits.max


def _zero(dtype: DType) -> Any:
    """All bits 0; f8e8m0fnu has no zero, and would become NaN if it were converted from one."""
    return np.zeros((), dtype)[()]


_FILLERS: dict[str, Callable[[DType], Any]] = {
    "": _zero,
    "UNKNOWN_PAD": _zero,
    "ZERO_PAD": _zero,
    "ONE_PAD": lambda dtype: dtype.type(1),
    "LOWEST_PAD": lambda dtype: _extreme(dtype, -1),
    "HIGHEST_PAD": lambda dtype: _extreme(dtype, 1),
}


Indices = NDArray[np.int64]


def linear_index(layout: Layout, sizes: Sequence[int], index: Sequence[Any]) -> Any:
    """
    The position in the buffer of an index, which is not checked.

    `index`: for each dimension an int, an array of ints, or anything else with `+`, and with `*`,
    `//` and `%` by a positive int. Raises LayoutError if the layout splits the array.
    """
    _require_one_buffer(layout)
    for step in layout.steps(sizes):
        if step.order is not None:
            index = [index[d] for d in step.order]
        elif not step.pads:
            index = unraveled(_raveled(index, step.before), step.after)
    return _raveled(index, layout.physical_shape(sizes))


def multidimensional_indices(
    layout: Layout, sizes: Sequence[int], linear: Indices
) -> tuple[Indices, NDArray[np.bool_]]:
    """
    The indices of the elements at positions of the buffer, with a new last dimension; and where
    there is one.

    Indices of padding are of no meaning. Raises LayoutError if the layout splits the array.
    """
    _require_one_buffer(layout)
    shape = layout.physical_shape(sizes)
    if 0 in shape:
        # In an array without elements the other sizes may exceed numpy's integers.
        return np.zeros((*linear.shape, len(sizes)), np.int64), np.zeros(linear.shape, np.bool_)
    is_element = (linear >= 0) & (linear < math.prod(shape))
    coordinates = unraveled(linear, shape)
    for step in reversed(layout.steps(sizes)):
        if step.order is not None:
            coordinates = [coordinates[d] for d in step.order_back]
        elif step.pads:
            for coordinate, size in zip(coordinates, step.before, strict=True):
                is_element &= coordinate < size
        else:
            coordinates = unraveled(_raveled(coordinates, step.after), step.before)
    index = np.zeros((*linear.shape, len(sizes)), np.int64)
    for dimension, coordinate in enumerate(coordinates):
        index[..., dimension] = coordinate
    return index, is_element


def _raveled(index: Sequence[Any], sizes: Sequence[int]) -> Any:
    """The place of an index among the elements of a dense row-major array."""
    terms = zip(index, row_major_strides(sizes), strict=True)
    return sum((coordinate * stride for coordinate, stride in terms), start=0)


def unraveled(place: Any, sizes: Sequence[int]) -> list[Any]:
    """The inverse of `_raveled`; the most major coordinate is not bounded."""
    strides = row_major_strides(sizes)
    return [
        place // (stride or 1) if number == 0 else place // (stride or 1) % (size or 1)
        for number, (stride, size) in enumerate(zip(strides, sizes, strict=True))
    ]


def _require_one_buffer(layout: Layout) -> None:
    if layout.split_configs:
        raise LayoutError("an array that is split into parts has no linear order")
