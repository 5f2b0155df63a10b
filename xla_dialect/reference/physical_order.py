"""The order in which a layout puts the elements of an array in memory.

shapes_layouts_broadcasting, sections 2 and 3: the most minor dimension changes fastest; a tile
divides the most minor physical dimensions, its own dimensions become the most minor ones; padding
fills up tiles and, at the end, the tail.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import NoneAttr

from xla_dialect import types
from xla_dialect.diagnostics import XlaError
from xla_dialect.layout import COMBINE, Layout, LayoutAttr, Tile
from xla_dialect.reference.literal import (
    MEMORY_LIMIT,
    Array,
    MemoryLimitError,
    bits_of,
    numpy_dtype,
)
from xla_dialect.shapes import ceil_div


def layout_of(type_: types.Array) -> Layout:
    """The layout of an array type; raises XlaError where it says more than an order."""
    if isinstance(type_.encoding, NoneAttr):
        return Layout.default(len(type_.shape.data))
    layout = cast(LayoutAttr, type_.encoding).data
    if layout.split_configs or layout.dynamic_shape_metadata_prefix_bytes or layout.bounds:
        raise XlaError(f"the reference has no physical order for the layout {layout}")
    return layout


def physical(array: Array, layout: Layout) -> Array:
    """The elements in memory order, with zeros (all bits 0) as padding; rank 1."""
    if layout.padded_dimensions:
        widths = zip(layout.padded_dimensions, array.shape, strict=True)
        array = _padded(array, [(0, wide - size) for wide, size in widths])
    array = array.transpose(layout.minor_to_major[::-1])
    for tile in layout.tiles:
        array = _tiled(array, tile)
    flat = array.reshape(-1)
    tail = -flat.size % layout.tail_padding_alignment_in_elements
    return _padded(flat, [(0, tail)]) if tail else flat


def physical_size(sizes: Sequence[int], layout: Layout) -> int:
    """The number of elements of `physical`, padding included, without making them."""
    sizes = layout.padded_dimensions or sizes
    sizes = [sizes[d] for d in reversed(layout.minor_to_major)]
    for tile in layout.tiles:
        lead, tiled = _divided(sizes, tile)
        entries = _numbers(tile)
        counts = [ceil_div(size, entry) for size, entry in zip(tiled, entries, strict=True)]
        sizes = [*lead, *counts, *entries]
    alignment = layout.tail_padding_alignment_in_elements
    return ceil_div(math.prod(sizes), alignment) * alignment


def _padded(array: Array, widths: Sequence[tuple[int, int]]) -> Array:
    result = np.zeros(
        [size + low + high for size, (low, high) in zip(array.shape, widths, strict=True)],
        array.dtype,
    )
    result[tuple(slice(size) for size in array.shape)] = array
    return result


def _numbers(tile: Tile) -> list[int]:
    """The entries of a tile that are not `COMBINE`."""
    return [entry for entry in tile if entry is not None]


def _divided(sizes: Sequence[int], tile: Tile) -> tuple[list[int], list[int]]:
    """The leading sizes that a tile leaves alone, and those it divides, merged where it says *."""
    missing = len(tile) - len(sizes)
    sizes = [1] * missing + list(sizes)
    split = len(sizes) - len(tile)
    merged: list[int] = []
    run = 1
    for size, entry in zip(sizes[split:], tile, strict=True):
        run *= size
        if entry is not COMBINE:
            merged.append(run)
            run = 1
    return sizes[:split], merged


def _tiled(array: Array, tile: Tile) -> Array:
    """Tiled dimensions padded to multiples, each divided into (count, entry), entries minor."""
    lead, tiled = _divided(array.shape, tile)
    entries = _numbers(tile)
    counts = [ceil_div(size, entry) for size, entry in zip(tiled, entries, strict=True)]
    widths = [
        (0, count * entry - size) for count, entry, size in zip(counts, entries, tiled, strict=True)
    ]
    whole = _padded(array.reshape((*lead, *tiled)), [(0, 0)] * len(lead) + widths)
    pairs = [n for pair in zip(counts, entries, strict=True) for n in pair]
    first = len(lead)
    last = first + len(pairs)
    order = (*range(first), *range(first, last, 2), *range(first + 1, last, 2))
    return whole.reshape((*lead, *pairs)).transpose(order)


def reinterpreted(array: Array, source: types.Array, target: types.Array) -> Array:
    """
    The bytes of `array` in the order of its layout, read in the order of the target's layout.

    Every element takes whole bytes; padding reads as zero bits. Raises XlaError if the buffers
    differ in size, or if a layout has no physical order here.
    """
    mine, theirs = layout_of(source), layout_of(target)
    dtype = numpy_dtype(target.element_type)
    sizes = target.get_shape()
    expected = physical_size(sizes, theirs)
    found = physical_size(array.shape, mine)
    for size in (found * array.dtype.itemsize, expected * dtype.itemsize):
        if size > MEMORY_LIMIT:
            raise MemoryLimitError(f"a buffer of {size} bytes, the limit is {MEMORY_LIMIT} bytes")
    if found * array.dtype.itemsize != expected * dtype.itemsize:
        raise XlaError(
            f"a buffer of {found * array.dtype.itemsize} bytes is read as "
            f"{expected * dtype.itemsize} bytes"
        )
    buffer = np.ascontiguousarray(physical(array, mine))
    if dtype != array.dtype:
        buffer = bits_of(buffer) if array.dtype.kind == "V" else buffer
        buffer = buffer.view(np.uint8) != 0 if dtype == np.bool_ else buffer.view(dtype)
    if theirs == Layout.default(len(sizes)):
        return buffer.reshape(sizes)
    numbers = np.arange(1, math.prod(sizes) + 1).reshape(sizes)
    places = physical(numbers, theirs)
    result = np.empty(math.prod(sizes), dtype)
    result[places[places > 0] - 1] = buffer[places > 0]
    return result.reshape(sizes)
