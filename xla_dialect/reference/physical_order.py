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
from xla_dialect.layout import Layout, LayoutAttr, Tile, TileDivision
from xla_dialect.reference.literal import (
    MEMORY_LIMIT,
    Array,
    MemoryLimitError,
    bit_width,
    bits_of,
    numpy_dtype,
)


def layout_of(type_: types.Array) -> Layout:
    """The layout of an array type; raises XlaError where it says more than an order."""
    if isinstance(type_.encoding, NoneAttr):
        return Layout.default(len(type_.shape.data))
    layout = cast(LayoutAttr, type_.encoding).data
    bits = types.BY_TYPE[type_.element_type].bits
    if (
        layout.split_configs
        or layout.dynamic_shape_metadata_prefix_bytes
        or layout.bounds
        or layout.element_size_in_bits not in (0, max(8, bits))
    ):
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


def _padded(array: Array, widths: Sequence[tuple[int, int]]) -> Array:
    result = np.zeros(
        [size + low + high for size, (low, high) in zip(array.shape, widths, strict=True)],
        array.dtype,
    )
    result[tuple(slice(size) for size in array.shape)] = array
    return result


def _tiled(array: Array, tile: Tile) -> Array:
    """Tiled dimensions padded to multiples, each divided into (count, entry), entries minor."""
    division = TileDivision.of(array.shape, tile)
    counts, entries = division.counts, division.entries
    widths = [
        (0, count * entry - size)
        for count, entry, size in zip(counts, entries, division.merged, strict=True)
    ]
    lead = division.lead
    merged = array.reshape((*lead, *division.merged))
    whole = _padded(merged, [(0, 0)] * len(lead) + widths)
    pairs = [n for pair in zip(counts, entries, strict=True) for n in pair]
    first, last = len(lead), len(lead) + len(pairs)
    order = (*range(first), *range(first, last, 2), *range(first + 1, last, 2))
    return whole.reshape((*lead, *pairs)).transpose(order)


def reinterpreted(array: Array, source: types.Array, target: types.Array) -> Array:
    """
    The bytes of `array` in the order of its layout, read in the order of the target's layout.

    Every element takes whole bytes; padding reads as zero bits; the buffers have as many bytes.
    Raises XlaError if a layout has no physical order here.
    """
    mine, theirs = layout_of(source), layout_of(target)
    dtype = numpy_dtype(target.element_type)
    sizes = target.get_shape()
    size = mine.buffer_elements(array.shape) * array.dtype.itemsize
    if size > MEMORY_LIMIT:
        raise MemoryLimitError(f"a buffer of {size} bytes, the limit is {MEMORY_LIMIT} bytes")
    buffer = np.ascontiguousarray(physical(array, mine))
    if dtype != array.dtype:
        raw = bits_of(buffer) if bit_width(array.dtype) < 8 else buffer.view(np.uint8)
        buffer = raw != 0 if dtype == np.bool_ else raw.view(dtype)
    if theirs == Layout.default(len(sizes)):
        return buffer.reshape(sizes)
    numbers = np.arange(1, math.prod(sizes) + 1).reshape(sizes)
    places = physical(numbers, theirs)
    result = np.empty(math.prod(sizes), dtype)
    result[places[places > 0] - 1] = buffer[places > 0]
    return result.reshape(sizes)
