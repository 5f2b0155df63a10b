"""
Arrays on devices: put there, read, copied. What only reads a field is in C.

Each shape has one record, that C compares by its address.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from lowerings.pjrt import plugin
from lowerings.pjrt.c_api import (
    COPIED_BYTES,
    DELETED,
    ELEMENT_TYPES,
    HOST_ALIGNMENT,
    IMMUTABLE_ZERO_COPY,
    BufferRecord,
    ErrorCode,
    LayoutForm,
    LayoutRecord,
    MemoryLayout,
    ShapeRecord,
    StridedLayout,
    address,
    required_size,
)
from lowerings.pjrt.client import DEVICES, MEMORIES, MemorySpace
from lowerings.pjrt.events import event_of, lend
from lowerings.pjrt.functions import PluginError, implements, numbers, text
from xla_dialect.element_types import NUMPY_TYPES, Array, DType

_NUMBERS = {name: number for number, name in enumerate(ELEMENT_TYPES)}

TOKEN = "token"
"""The element type of what only orders operations; such a buffer has no bytes."""


@dataclass(frozen=True)
class Shape:
    """The type of an array: elements, sizes and the order of its dimensions in memory."""

    element_type: str
    sizes: tuple[int, ...]
    minor_to_major: tuple[int, ...]
    dtype: DType
    byte_size: int
    record: Any
    _kept: tuple[Any, ...]

    def __str__(self) -> str:
        layout = ",".join(map(str, self.minor_to_major))
        return f"{self.element_type}[{','.join(map(str, self.sizes))}]{{{layout}}}"

    @property
    def handle(self) -> int:
        """Where its record lies."""
        return address(self.record)

    @property
    def physical_sizes(self) -> tuple[int, ...]:
        """The sizes in the order of the memory, the slowest first."""
        return tuple(self.sizes[d] for d in reversed(self.minor_to_major))

    def at(self, data: int | None) -> Array:
        """The array of this shape at an address, without a copy, its dimensions in their order."""
        if not self.byte_size:
            return np.empty(self.sizes, self.dtype)
        memory: Any = (ctypes.c_uint8 * self.byte_size).from_address(data or 0)
        flat = np.frombuffer(memory, self.dtype).reshape(self.physical_sizes)
        return flat.transpose(np.argsort(self.minor_to_major[::-1]))


_by_handle: dict[int, Shape] = {}


def row_major(rank: int) -> tuple[int, ...]:
    """The default order of dimensions: the last is the fastest."""
    return tuple(reversed(range(rank)))


def shape_of(
    element_type: str, sizes: tuple[int, ...], minor_to_major: tuple[int, ...] | None = None
) -> Shape:
    """The shape; row-major unless said otherwise. Raises PluginError."""
    order = row_major(len(sizes)) if minor_to_major is None else minor_to_major
    return _shape_of(element_type, sizes, order)


@cache
def _shape_of(element_type: str, sizes: tuple[int, ...], order: tuple[int, ...]) -> Shape:
    if element_type == TOKEN:
        dtype, count = np.dtype(np.bool_), 0
    elif element_type in NUMPY_TYPES:
        dtype = NUMPY_TYPES[element_type]
        count = int(np.prod(sizes, dtype=object)) if sizes else 1
    else:
        raise PluginError(
            ErrorCode.INVALID_ARGUMENT, f"there are no arrays of type '{element_type}'"
        )
    rank = len(sizes)
    dimensions = (ctypes.c_int64 * max(rank, 1))(*sizes)
    places = (ctypes.c_int64 * max(rank, 1))(*order)
    layout = MemoryLayout(
        required_size(MemoryLayout), None, 56, None, address(places), rank, None, None, 0
    )
    byte_size = count * dtype.itemsize
    number = _NUMBERS[element_type]
    named = address(_named_layout(() if element_type == TOKEN else order))
    record = ShapeRecord(
        address(dimensions), rank, byte_size, layout, number, dtype.itemsize, named
    )
    kept = (dimensions, places)
    shape = Shape(element_type, sizes, order, dtype, byte_size, record, kept)
    _by_handle[shape.handle] = shape
    return shape


@cache
def _named_layout(order: tuple[int, ...]) -> Any:
    _, place, size = text("{" + ",".join(map(str, order)) + "}")
    return LayoutRecord(place, size)


def shape_at(handle: int) -> Shape:
    """The shape whose record lies at an address."""
    return _by_handle[handle]


def shape_from(element_type: int, sizes: int | None, rank: int, layout: int | None = None) -> Shape:
    """The shape that arguments of the API describe; raises PluginError."""
    if not 0 <= element_type < len(ELEMENT_TYPES):
        raise PluginError(ErrorCode.INVALID_ARGUMENT, f"there is no element type {element_type}")
    return shape_of(ELEMENT_TYPES[element_type], numbers(sizes, rank), order_of(layout, rank))


def order_of(layout: int | None, rank: int) -> tuple[int, ...] | None:
    """The order of dimensions of a layout in tiled form; None for the default."""
    if not layout:
        return None
    found = MemoryLayout.from_address(layout)
    if found.type != LayoutForm.TILED or found.num_tiles:
        raise PluginError(ErrorCode.UNIMPLEMENTED, "arrays on devices have no tiles or strides")
    order = numbers(found.minor_to_major, found.minor_to_major_size)
    if sorted(order) != list(range(rank)):
        raise PluginError(ErrorCode.INVALID_ARGUMENT, f"{order} is no layout of rank {rank}")
    return order


def strides_of(layout: int | None, shape: Shape) -> tuple[int, ...]:
    """The distance of elements in the host's memory, in bytes: row-major where nothing is said."""
    if layout and MemoryLayout.from_address(layout).type == LayoutForm.STRIDES:
        found = StridedLayout.from_address(layout)
        return numbers(found.byte_strides, found.num_byte_strides)
    order = order_of(layout, len(shape.sizes))
    return dense_strides(shape, row_major(len(shape.sizes)) if order is None else order)


def dense_strides(shape: Shape, minor_to_major: Sequence[int]) -> tuple[int, ...]:
    """The strides of an array without gaps, in bytes."""
    strides = [0] * len(shape.sizes)
    step = shape.dtype.itemsize
    for dimension in minor_to_major:
        strides[dimension] = step
        step *= max(shape.sizes[dimension], 1)
    return tuple(strides)


def strided_at(shape: Shape, start: int | None, strides: tuple[int, ...]) -> Array:
    """The array of a shape that begins at an address of the host and has these strides."""
    if not shape.byte_size:
        return np.empty(shape.sizes, shape.dtype)
    steps = list(zip(shape.sizes, strides, strict=True))
    before = sum((size - 1) * -stride for size, stride in steps if stride < 0)
    after = sum((size - 1) * stride for size, stride in steps if stride > 0)
    length = before + after + shape.dtype.itemsize
    memory: Any = (ctypes.c_uint8 * length).from_address((start or 0) - before)
    return np.ndarray(shape.sizes, shape.dtype, memory, before, strides)


def new_buffer(shape: Shape, memory: MemorySpace, data: int | None = None) -> int:
    """The handle of a new array, in new memory unless it has `data`; raises PluginError."""
    handle = plugin.new_buffer(shape.handle, data, memory.device.handle, memory.handle)
    if not handle:
        raise PluginError(
            ErrorCode.RESOURCE_EXHAUSTED, f"no memory for an array of {shape.byte_size} bytes"
        )
    return handle


def buffer_at(handle: int | None) -> Any:
    """The record of an array that is not deleted; raises PluginError."""
    if not handle:
        raise PluginError(ErrorCode.INVALID_ARGUMENT, "there is no array")
    buffer = BufferRecord.from_address(handle)
    if buffer.state & DELETED:
        raise PluginError(ErrorCode.INVALID_ARGUMENT, "the array has been deleted or donated")
    return buffer


def values_at(handle: int) -> Array:
    """The elements of an array on a device, without a copy."""
    buffer = buffer_at(handle)
    return shape_at(buffer.shape).at(buffer.data)


def put(values: Array, shape: Shape, memory: MemorySpace) -> int:
    """The handle of a new array with these elements."""
    handle = new_buffer(shape, memory)
    np.copyto(values_at(handle), values)
    return handle


def memory_of(device: int | None, memory: int | None) -> MemorySpace:
    """
    The memory that arguments of the API name for a new array: the default of the device if only
    that is said; raises PluginError.
    """
    found: MemorySpace = MEMORIES[memory] if memory else DEVICES[device].memories[0]
    return found


@implements("Client_BufferFromHostBuffer")
def buffer_from_host(args: Any) -> None:
    """An array of the host: a copy, or the very array if that is lent to us, aligned and large."""
    shape = shape_from(args.type, args.dims, args.num_dims, args.device_layout)
    memory = memory_of(args.device, args.memory)
    strides = numbers(args.byte_strides, args.num_byte_strides) or strides_of(None, shape)
    given = strided_at(shape, args.data, strides)
    is_dense = given.transpose(shape.minor_to_major[::-1]).flags.c_contiguous
    is_lent = args.host_buffer_semantics >= IMMUTABLE_ZERO_COPY and shape.byte_size > COPIED_BYTES
    args.done_with_host_buffer = plugin.HAPPENED
    if is_dense and is_lent and not args.data % HOST_ALIGNMENT:
        args.buffer = new_buffer(shape, memory, args.data)
        record = BufferRecord.from_address(args.buffer)
        record.release = plugin.GIVE_BACK
        args.done_with_host_buffer = record.release_argument = lend()
    else:
        args.buffer = put(given, shape, memory)


@implements("Buffer_ToHostBuffer")
def buffer_to_host(args: Any) -> None:
    """Copies an array into the host's memory, as its layout there says; or says how large it is."""
    buffer = buffer_at(args.src)
    require_ready(buffer)
    shape = shape_at(buffer.shape)
    if not args.dst:
        args.dst_size = shape.byte_size
        return
    if args.dst_size < shape.byte_size:
        raise PluginError(
            ErrorCode.INVALID_ARGUMENT,
            f"the host has {args.dst_size} bytes for an array of {shape.byte_size}",
        )
    values = shape.at(buffer.data)
    np.copyto(strided_at(shape, args.dst, strides_of(args.host_layout, shape)), values)
    args.event = plugin.HAPPENED


def require_ready(buffer: Any) -> None:
    """Raises the error that an array is instead of one."""
    if buffer.ready != plugin.HAPPENED:
        event_of(buffer.ready).wait()


@implements("Buffer_CopyToMemory")
def buffer_copy_to_memory(args: Any) -> None:
    """A copy in a memory."""
    buffer = buffer_at(args.buffer)
    require_ready(buffer)
    shape = shape_at(buffer.shape)
    args.dst_buffer = new_buffer(shape, MEMORIES[args.dst_memory])
    if shape.byte_size:
        copy = BufferRecord.from_address(args.dst_buffer)
        ctypes.memmove(copy.data, buffer.data, shape.byte_size)


@implements("Client_CreateViewOfDeviceBuffer")
def create_view_of_device_buffer(args: Any) -> None:
    """An array in memory of the caller, who is told when it is not needed any more."""
    shape = shape_from(args.element_type, args.dims, args.num_dims, args.layout)
    data = args.device_buffer_ptr or 0
    if shape.byte_size and data % HOST_ALIGNMENT:
        # These words tell JAX to make a copy, where it may.
        raise PluginError(
            ErrorCode.INVALID_ARGUMENT,
            f"Can't create a view of buffer with unaligned data, ptr: {data:#x} is not aligned to "
            f"{HOST_ALIGNMENT} bytes.",
        )
    args.buffer = new_buffer(
        shape, memory_of(args.device, args.memory), args.device_buffer_ptr or None
    )
    record = BufferRecord.from_address(args.buffer)
    if args.device_buffer_ptr:
        record.release = args.on_delete_callback
        record.release_argument = args.on_delete_callback_arg
