"""Multi-dimensional indices, and where in memory they lie.

A linear index counts the elements of the buffer from 0, with those of tiles and padding: some
positions of a buffer hold no element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xla_dialect.layout import Layout, LayoutError, TileDivision
from xla_dialect.layouts.type_layouts import row_major_strides

Indices = NDArray[np.int64]


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
