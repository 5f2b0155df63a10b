"""Multi-dimensional indices, and where in memory they lie; named as in XLA's `IndexUtil`.

A linear index counts the elements of the buffer from 0. Unlike XLA's functions of these names, ours
know tiles and padding: some positions of a buffer then hold no element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xla_dialect.layout import Layout, LayoutError, TileDivision
from xla_dialect.layouts.type_layouts import layout_of, row_major_strides, strides
from xla_dialect.types import Array, sizes_of

Indices = NDArray[np.int64]


def multidimensional_index_to_linear_index(type_: Array, index: Sequence[int]) -> int:
    """
    The position in the buffer of the element at `index`, one number per dimension.

    Raises IndexError if there is no such element, LayoutError if the layout splits the array.
    """
    if not index_in_bounds(type_, index):
        raise IndexError(f"index {list(index)} lies outside of {list(sizes_of(type_))}")
    return linear_index(layout_of(type_), sizes_of(type_), index)


def linear_index_to_multidimensional_index(
    type_: Array, linear_index: int
) -> tuple[int, ...] | None:
    """
    The index of the element at a position of the buffer; None if that is padding.

    Raises IndexError outside of the buffer, LayoutError if the layout splits the array.
    """
    layout, sizes = layout_of(type_), sizes_of(type_)
    count = layout.buffer_elements(sizes)
    if not 0 <= linear_index < count:
        raise IndexError(f"position {linear_index} lies outside of a buffer of {count} elements")
    index, is_element = multidimensional_indices(layout, sizes, np.array([linear_index]))
    return tuple(index[0].tolist()) if is_element[0] else None


def index_in_bounds(type_: Array, index: Sequence[int]) -> bool:
    """Whether an index has one number per dimension, each at least 0 and below the size."""
    sizes = sizes_of(type_)
    return len(index) == len(sizes) and all(
        0 <= i < size for i, size in zip(index, sizes, strict=True)
    )


def bump_indices(type_: Array, index: list[int]) -> bool:
    """
    Steps an index to the next one in row-major order, whatever the layout.

    False after the last one; the index is then all zeros again.
    """
    sizes = sizes_of(type_)
    for dimension in reversed(range(len(sizes))):
        index[dimension] += 1
        if index[dimension] < sizes[dimension]:
            return True
        index[dimension] = 0
    return False


def get_dimension_stride(type_: Array, dimension: int) -> int | None:
    """
    How many elements of memory lie between neighbours along a dimension; see `strides`.

    None if that is not one number. Raises IndexError if there is no such dimension.
    """
    found = strides(type_)
    if not 0 <= dimension < len(found):
        raise IndexError(f"there is no dimension {dimension} among {len(found)}")
    return found[dimension]


def linear_index(layout: Layout, sizes: Sequence[int], index: Sequence[Any]) -> Any:
    """
    The position in the buffer of an index, which is not checked.

    `index`: for each dimension an int, an array of ints, or anything else with `+`, and with `*`,
    `//` and `%` by a positive int. Raises LayoutError if the layout splits the array.
    """
    _require_one_buffer(layout)
    coordinates = [index[d] for d in reversed(layout.minor_to_major)]
    for division in layout.divisions(sizes):
        coordinates = _into_tiles(division, coordinates)
    terms = zip(coordinates, row_major_strides(layout.physical_shape(sizes)), strict=True)
    return sum((coordinate * stride for coordinate, stride in terms), start=0)


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
    strides = row_major_strides(shape)
    is_element = (linear >= 0) & (linear < (strides[0] * shape[0] if shape else 1))
    coordinates = [linear // stride % size for stride, size in zip(strides, shape, strict=True)]
    for division in reversed(layout.divisions(sizes)):
        coordinates, is_inside = _out_of_tiles(division, coordinates)
        is_element &= is_inside
    index = np.zeros((*linear.shape, len(sizes)), np.int64)
    for dimension, coordinate in zip(reversed(layout.minor_to_major), coordinates, strict=True):
        index[..., dimension] = coordinate
    return index, is_element & (index < np.array(sizes, np.int64)).all(-1)


def _require_one_buffer(layout: Layout) -> None:
    if layout.split_configs:
        raise LayoutError("an array that is split into parts has no linear order")


def _into_tiles(division: TileDivision, index: Sequence[Any]) -> list[Any]:
    """Where an index lies after a tile."""
    index = [0] * division.prepended + list(index)
    first = len(division.lead)
    rest = iter(index[first:])
    merged = [
        sum((next(rest) * stride for stride in row_major_strides(run)), start=0)
        for run in division.runs
    ]
    pairs = list(zip(merged, division.entries, strict=True))
    return [*index[:first], *(n // entry for n, entry in pairs), *(n % entry for n, entry in pairs)]


def _out_of_tiles(
    division: TileDivision, index: Sequence[Indices]
) -> tuple[list[Indices], NDArray[np.bool_]]:
    """The inverse of `_into_tiles`, and where the index is none of padding."""
    first, number = len(division.lead), len(division.entries)
    found = list(index[:first])
    is_inside = np.ones((), np.bool_)
    counts, insides = index[first : first + number], index[first + number :]
    parts = zip(division.runs, division.merged, division.entries, counts, insides, strict=True)
    for run, size, entry, count, inside in parts:
        merged = count * entry + inside
        is_inside = is_inside & (merged < size)
        pairs = zip(run, row_major_strides(run), strict=True)
        found.extend(merged // stride % length for length, stride in pairs)
    return found[division.prepended :], is_inside
