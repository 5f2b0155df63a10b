"""The part of an array and of its buffer that a page can show: some rows, some columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from xla_dialect.layouts.physical_order import linear_index, multidimensional_indices
from xla_dialect.layouts.type_layouts import layout_of
from xla_dialect.types import Array, sizes_of

MOST_COLUMNS = 16
MOST_ROWS = 16
MOST_SLICES = 6
_ROWS_OF_SLICES = 8
_FEWEST_IN_A_ROW = 4
_WRAPPED = 8
"""Cells of a row where the whole array would be one long row."""

Index = tuple[int, ...]


def shown(count: int, limit: int) -> list[int | None]:
    """The numbers below `count`; of more than `limit` the first and the last, None between them."""
    if count <= limit:
        return list(range(count))
    return [*range(limit - 3), None, count - 2, count - 1]


@dataclass(frozen=True)
class Cell:
    """One element of the buffer."""

    position: int
    index: Index | None
    """The element that lies there; None for padding."""


@dataclass(frozen=True)
class MemoryView:
    """The buffer of an array, cut into rows: a row is a tile, or a line of an untiled array."""

    row_length: int
    count: int
    """Elements of the buffer, padding included."""
    columns: list[int | None]
    rows: list[tuple[int, list[Cell | None]] | None]
    """Row numbers with a cell per column; None stands for what is left out."""

    def goes_on(self, row: int, column: int) -> bool:
        """Whether cells of a row are left out where `columns` has None at this place."""
        before = self.columns[column - 1]
        return before is not None and row * self.row_length + before + 1 < self.count

    @staticmethod
    def of(type_: Array, most_columns: int = MOST_COLUMNS) -> MemoryView:
        """The view of an array's buffer; the array is not split and its sizes are known."""
        layout, sizes = layout_of(type_), sizes_of(type_)
        count = layout.buffer_elements(sizes)
        length = _row_length(type_, count)
        columns = shown(min(length, count), most_columns)
        numbers = shown(-(-count // length), MOST_ROWS)
        positions = [
            row * length + column
            for row in numbers
            for column in columns
            if row is not None and column is not None and row * length + column < count
        ]
        indices, is_element = multidimensional_indices(
            layout, sizes, np.array(positions, dtype=np.int64)
        )
        cells = {
            position: Cell(position, tuple(index) if is_there else None)
            for position, index, is_there in zip(
                positions, indices.tolist(), is_element.tolist(), strict=True
            )
        }

        def row(number: int) -> list[Cell | None]:
            return [None if c is None else cells.get(number * length + c) for c in columns]

        rows = [None if number is None else (number, row(number)) for number in numbers]
        return MemoryView(length, count, columns, rows)


def _row_length(type_: Array, count: int) -> int:
    """How many cells to put side by side: a tile if that is few, else a line of it."""
    layout, sizes = layout_of(type_), sizes_of(type_)
    shape = [size for size in layout.physical_shape(sizes) if size > 1]
    divisions = layout.divisions(sizes)
    if divisions:
        outside = len(divisions[0].lead) + len(divisions[0].counts)
        tile = math.prod(layout.physical_shape(sizes)[outside + _prepended_later(type_) :])
        if 1 < tile <= MOST_COLUMNS:
            return tile
    length = 1
    while shape and length < _FEWEST_IN_A_ROW:
        length *= shape.pop()
        if not divisions:
            break
    if length > MOST_COLUMNS and length >= count:
        return _WRAPPED
    return max(1, length)


def _prepended_later(type_: Array) -> int:
    """The number of dimensions of size 1 that tiles after the first one prepend."""
    divisions = layout_of(type_).divisions(sizes_of(type_))
    return sum(division.prepended for division in divisions[1:])


@dataclass(frozen=True)
class SliceView:
    """A slice of an array along its last two dimensions, every element with its position."""

    leading: Index
    """The indices of the dimensions in front of the last two."""
    rows: list[int | None]
    columns: list[int | None]
    positions: dict[tuple[int, int], int]

    def index(self, row: int, column: int, rank: int) -> Index:
        """The index of an element of the slice."""
        return (*self.leading, row, column)[-rank:] if rank else ()


def slices_of(type_: Array, most_columns: int = MOST_COLUMNS) -> list[SliceView | None]:
    """The slices of an array that a page can show; None stands for those that are left out."""
    layout, sizes = layout_of(type_), sizes_of(type_)
    matrix = [int(n) for n in (1, 1, *sizes)[-2:]]
    leading = [int(n) for n in sizes[:-2]]
    count = math.prod(leading)
    rows = shown(matrix[0], MOST_ROWS if count == 1 else _ROWS_OF_SLICES)
    columns = shown(matrix[1], most_columns)
    places = [(r, c) for r, c in product(rows, columns) if r is not None and c is not None]
    found: list[SliceView | None] = []
    for number in shown(count if places else 0, MOST_SLICES):
        if number is None:
            found.append(None)
            continue
        outer = _unraveled(number, leading)
        indices = [(*outer, *place)[-len(sizes) :] if sizes else () for place in places]
        table = np.array(indices, dtype=np.int64).reshape(len(indices), len(sizes)).T
        linear = linear_index(layout, sizes, list(table)) if sizes else 0
        numbers: Sequence[int] = np.broadcast_to(linear, len(places)).tolist()
        found.append(SliceView(outer, rows, columns, dict(zip(places, numbers, strict=True))))
    return found


def _unraveled(number: int, sizes: Sequence[int]) -> Index:
    index: list[int] = []
    for size in reversed(sizes):
        number, rest = divmod(number, size)
        index.append(rest)
    return tuple(reversed(index))
