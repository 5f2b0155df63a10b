"""What a layout does to an array, told in short sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, TupleType
from xdsl.ir import Attribute

from xla_dialect.layout import MEMORY_SPACES, Layout, TileDivision
from xla_dialect.layouts.physical_order import (
    linear_index,
    multidimensional_indices,
    unraveled,
)
from xla_dialect.layouts.type_layouts import (
    bits_per_element,
    byte_size_of,
    human_string_with_layout,
    layout_of,
    row_major_strides,
    strides,
)
from xla_dialect.shapes.size_arithmetic import DynamicSize
from xla_dialect.types import Array, element_count, element_name, extents, sizes_of

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


LEFT_OUT = "..."


@dataclass(frozen=True)
class Grid:
    """Rows of cells as they are shown; `LEFT_OUT` is in the place of several."""

    heads: list[str]
    """Above the columns."""
    rows: Sequence[tuple[str, Sequence[Cell | str]]]
    """Each with what stands in front of it; of what is left out nothing does."""
    leading: Index = ()
    """Of a slice, the indices of the dimensions in front of its two."""

    @property
    def cells(self) -> Iterator[Cell]:
        """All that are shown."""
        return (cell for _, row in self.rows for cell in row if isinstance(cell, Cell))


@dataclass(frozen=True)
class MemoryView(Grid):
    """The buffer of an array, cut into rows: a row is a tile, or a line of an untiled array."""

    row_length: int = 0
    count: int = 0
    """Elements of the buffer, padding included."""

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

        def row(start: int) -> list[Cell | str]:
            return [
                LEFT_OUT * (start + place < count)
                if column is None
                else cells.get(start + column, "")
                for place, column in enumerate(columns)
            ]

        heads = ["" if column is None else f"+{column}" for column in columns]
        rows = [
            ("", [LEFT_OUT]) if each is None else (str(each * length), row(each * length))
            for each in numbers
        ]
        return MemoryView(heads, rows, row_length=length, count=count)


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


def slices_of(type_: Array, most_columns: int = MOST_COLUMNS) -> list[Grid | None]:
    """
    The slices of an array along its last two dimensions that a page can show; None stands for those
    that are left out.
    """
    layout, sizes = layout_of(type_), sizes_of(type_)
    matrix = [int(n) for n in (1, 1, *sizes)[-2:]]
    leading = [int(n) for n in sizes[:-2]]
    rows = shown(matrix[0], MOST_ROWS if math.prod(leading) == 1 else _ROWS_OF_SLICES)
    columns = shown(matrix[1], most_columns)
    heads = [str(column) if sizes and column is not None else "" for column in columns]

    def grid(outer: Index) -> Grid:
        def row(number: int) -> list[Cell | str]:
            indices = [(*outer, number, column or 0)[-len(sizes) :] for column in columns]
            table = np.array(indices, dtype=np.int64).T
            positions = linear_index(layout, sizes, list(table)).tolist() if sizes else [0]
            return [
                LEFT_OUT if column is None else Cell(position, index if sizes else ())
                for column, position, index in zip(columns, positions, indices, strict=True)
            ]

        found = [
            ("", [LEFT_OUT for _ in columns])
            if number is None
            else (str(number) if len(sizes) > 1 else "", row(number))
            for number in rows
        ]
        return Grid(heads, found, outer)

    return [
        None if number is None else grid(tuple(unraveled(number, leading)))
        for number in shown(math.prod(leading) if rows and columns else 0, MOST_SLICES)
    ]


MOST_LEAVES = 16
"""Arrays of a tuple that are told of one by one."""
_MARGIN = 18
"""Where sentences begin, after what they explain."""
_WIDTH = 88
"""Characters for the cells of a row of memory."""
_FEWEST_COLUMNS = 6
_LONGEST_INDEX = 60

_PADDING = {
    "": "of no particular value",
    "ZERO_PAD": "zeros",
    "ONE_PAD": "ones",
    "LOWEST_PAD": "the lowest value of the type",
    "HIGHEST_PAD": "the highest value of the type",
    "UNKNOWN_PAD": "of no particular value",
}


def leaves_of(type_: Attribute) -> Iterator[tuple[tuple[int, ...], Attribute]]:
    """The leaves of nested tuples, each with its index path; a type that is no tuple is a leaf."""
    stack: list[tuple[tuple[int, ...], Attribute]] = [((), type_)]
    while stack:
        way, shape = stack.pop()
        if isinstance(shape, TupleType):
            inside = [((*way, i), each) for i, each in enumerate(shape.types.data)]
            stack.extend(reversed(inside))
        else:
            yield way, shape


def report(type_: Attribute) -> str:
    """The text on a shape; every array of a tuple has a part of its own."""
    parts: list[str] = []
    if isinstance(type_, TupleType):
        parts.append("\n".join(_tuple_report(type_)))
    rest = 0
    for number, (way, leaf) in enumerate(leaves_of(type_)):
        if number >= MOST_LEAVES:
            rest += 1
            continue
        place = f"Element {{{','.join(map(str, way))}}} of the tuple: " if way else ""
        lines = [place + human_string_with_layout(leaf), ""]
        lines += array_report(leaf) if isinstance(leaf, TensorType) else _token_report()
        parts.append("\n".join(lines))
    if rest:
        parts.append(f"{rest} more elements are left out.\n")
    return "\n".join(parts)


def _tuple_report(type_: TupleType) -> list[str]:
    count = len(type_.types.data)
    lines = [
        f"A tuple of {_count(count, 'element')}.",
        "A tuple has no layout: each of its arrays has one of its own.",
        "In memory it is a table of pointers to its elements.",
    ]
    if all(_is_known(leaf) for _, leaf in leaves_of(type_)):
        total = sum(
            byte_size_of(cast(Array, leaf))
            for _, leaf in leaves_of(type_)
            if isinstance(leaf, TensorType)
        )
        lines.append(f"Its arrays take {_count(total, 'byte')}, pointers not counted.")
    return [*lines, ""]


def _token_report() -> list[str]:
    return [
        "A token holds no data and takes no memory.",
        "It puts operations with side effects in an order.",
        "",
    ]


def array_report(type_: Array) -> list[str]:
    """The parts on one array: what it is, what its layout says, what comes of it, the order."""
    lines = described(type_)
    if not _is_known(type_) or layout_of(type_).split_configs:
        return lines
    return [*lines, "The linear order", *_order_lines(type_), ""]


def described(type_: Array) -> list[str]:
    """What an array is, what its layout says and what comes of it, without any single element."""
    lines = ["The array", *_array_lines(type_), "", "The layout", *_layout_lines(type_), ""]
    if not _is_known(type_):
        return [*lines, "The size is known only when the program runs, and so is the memory.", ""]
    return [*lines, "In memory", *_memory_lines(type_), ""]


def _is_known(type_: Attribute) -> bool:
    return not isinstance(type_, TensorType) or DYNAMIC_INDEX not in extents(type_)


def _is_bounded(type_: Array) -> bool:
    return any(isinstance(size, DynamicSize) for size in extents(type_))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _by(sizes: Sequence[int]) -> str:
    return " x ".join(str(int(size)) for size in sizes)


def _told(word: str, *sentences: str) -> Iterator[str]:
    """A word and what there is to say about it, one sentence per line."""
    for number, sentence in enumerate(sentences):
        head = word if number == 0 else ""
        gap = " " * max(2, _MARGIN - 2 - len(head))
        if number == 0 and len(head) > _MARGIN - 4:
            yield f"  {head}"
            head, gap = "", " " * (_MARGIN - 2)
        yield f"  {head}{gap}{sentence}"


def _array_lines(type_: Array) -> Iterator[str]:
    bits = bits_per_element(type_)
    width = _count(bits, "bit") if bits % 8 else _count(bits // 8, "byte")
    yield from _told("element type", f"{element_name(type_.element_type)}, {width} each")
    sizes = extents(type_)
    yield from _told(
        "dimensions",
        *(_dimension(number, size) for number, size in enumerate(sizes)),
        *(["none: the array is one number, a scalar"] if not sizes else []),
    )
    if _is_known(type_):
        count = element_count(sizes_of(type_))
        at_most = "at most " if _is_bounded(type_) else ""
        size = _count(-(-count * bits // 8), "byte")
        yield from _told("elements", f"{at_most}{count}: {size}, if there were no padding")


def _dimension(number: int, size: int) -> str:
    if size == DYNAMIC_INDEX:
        return f"dimension {number} has a size that is not known here"
    at_most = "at most " if isinstance(size, DynamicSize) else ""
    return f"dimension {number} has size {at_most}{int(size)}"


def _layout_lines(type_: Array) -> Iterator[str]:
    layout = layout_of(type_)
    yield "  A layout says where in memory each element lies."
    yield from _order_sentences(layout)
    if layout.padded_dimensions:
        yield from _told(
            "padding",
            f"The dimensions are padded to {_by(layout.padded_dimensions)}.",
            f"The padding is {_PADDING[layout.padding_value]}.",
        )
    for tile, division in zip(layout.tiles, _divisions(type_), strict=False):
        spelled = ",".join("*" if entry is None else str(entry) for entry in tile)
        yield from _told(f"tile ({spelled})", *_tile_sentences(division, tile))
    if layout.tail_padding_alignment_in_elements != 1:
        yield from _told(
            f"L({layout.tail_padding_alignment_in_elements})",
            "The tail is padded: the number of elements of the buffer becomes a multiple of "
            f"{layout.tail_padding_alignment_in_elements}.",
        )
    if layout.element_size_in_bits:
        yield from _told(
            f"E({layout.element_size_in_bits})",
            f"Every element takes {_count(layout.element_size_in_bits, 'bit')} of memory.",
        )
    if layout.memory_space:
        space = layout.memory_space
        yield from _told(
            f"S({space})",
            f"It lies in {MEMORY_SPACES.get(space, 'memory that the device knows')}.",
        )
    for position, indices in layout.split_configs:
        yield from _told(
            f"SC({position}:{','.join(map(str, indices))})",
            f"Physical dimension {position} is cut at {', '.join(map(str, indices))}.",
            f"Each of the {len(indices) + 1} parts has a buffer of its own.",
            "What follows is said of the largest one.",
        )
    if prefix := layout.dynamic_shape_metadata_prefix_bytes:
        yield from _told(
            f"M({prefix})",
            f"In front of the buffer {_count(prefix, 'byte')} hold the sizes of this run.",
        )


def _order_sentences(layout: Layout) -> Iterator[str]:
    order = layout.minor_to_major
    word = f"{{{','.join(map(str, order))}}}"
    if len(order) < 2:
        yield from _told(
            word, "There is only one order." if order else "There is nothing to order."
        )
        return
    changes = "would change" if layout.tiles else "changes"
    sentences = [
        f"The dimensions from minor to major: {', '.join(map(str, order))}.",
        f"Dimension {order[0]} is the most minor: its index {changes} fastest in memory.",
        f"Dimension {order[-1]} is the most major: its index {changes} slowest.",
    ]
    if order == tuple(reversed(range(len(order)))):
        sentences.append("Dimension 0 is major: the default, for matrices row-major.")
    if order == tuple(range(len(order))):
        sentences.append("Dimension 0 is minor: for matrices column-major.")
    if layout.tiles:
        sentences.append("But tiles change that: each one lies in memory in one piece.")
    yield from _told(word, *sentences)


def _divisions(type_: Array) -> tuple[TileDivision, ...]:
    return layout_of(type_).divisions(sizes_of(type_)) if _is_known(type_) else ()


def _tile_sentences(division: TileDivision, tile: Sequence[int | None]) -> Iterator[str]:
    if division.prepended:
        sizes = [*division.lead, *(size for run in division.runs for size in run)]
        yield f"The tile has more dimensions than there are: sizes of 1 in front make {_by(sizes)}."
    if len(division.runs) < len(tile):
        joined = ", ".join(f"({_by(run)})" for run in division.runs)
        yield f"A star joins a dimension with the next one: {joined} become {_by(division.merged)}."
    tiles = "1 tile" if set(division.counts) == {1} else f"{_by(division.counts)} tiles"
    yield f"It cuts {_by(division.merged)} into {tiles} of {_by(division.entries)}."
    if any(n % e for n, e in zip(division.merged, division.entries, strict=True)):
        yield "Tiles at the edge are filled up with padding."
    yield f"The sizes in memory become {_by(division.sizes)}."


def size_and_waste(type_: Array) -> str:
    """One sentence on the size of a buffer and the part of it that is padding."""
    count, waste = layout_of(type_).buffer_elements(sizes_of(type_)), _waste(type_)
    size = f"{_count(count, 'element')} of memory, {_count(byte_size_of(type_), 'byte')}"
    if not count:
        return "The array has no elements and takes no memory."
    return f"{size}; {_share(waste, count) if waste else 'none of it is padding'}."


def _waste(type_: Array) -> int:
    return layout_of(type_).buffer_elements(sizes_of(type_)) - element_count(sizes_of(type_))


def _share(waste: int, count: int) -> str:
    share = float(Fraction(100 * waste, count))
    return f"{_count(waste, 'element')} of padding, {share:.1f} %"


def _memory_lines(type_: Array) -> Iterator[str]:
    layout, sizes = layout_of(type_), sizes_of(type_)
    shape = layout.physical_shape(sizes)
    if shape:
        yield from _told("physical shape", f"{_by(shape)}, the most major size first")
        steps = ", ".join(map(str, row_major_strides(shape)))
        yield from _told("its strides", f"{steps}: elements of memory per step along each")
    if not layout.split_configs:
        for number, (size, stride) in enumerate(zip(sizes, strides(type_), strict=True)):
            if size > 1:
                yield from _told(f"dimension {number}", _stride(stride, bits_per_element(type_)))
    count = layout.buffer_elements(sizes)
    yield from _told("buffer", f"{_count(count, 'element')}, {_count(byte_size_of(type_), 'byte')}")
    if not layout.split_configs:
        waste = _waste(type_)
        said = f"{_share(waste, count)} of the buffer" if waste else "none: there is no padding"
        yield from _told("waste", said)


def _stride(stride: int | None, bits: int) -> str:
    if stride is None:
        return "tiles cut it: it has no stride of its own"
    bytes_ = f", {_count(stride * bits // 8, 'byte')}" if stride * bits % 8 == 0 else ""
    return f"a step along it is {_count(stride, 'element')} of memory{bytes_}"


def _order_lines(type_: Array) -> Iterator[str]:
    label = len(spell_index([max(0, size - 1) for size in sizes_of(type_)]))
    view = MemoryView.of(type_, max(_FEWEST_COLUMNS, min(MOST_COLUMNS, _WIDTH // (label + 2))))
    if not view.count:
        yield "  The array has no elements, so memory holds none."
        return
    yield "  Read memory row by row, from left to right."
    yield "  In front of a row stands the position of its first cell."
    yield "  A cell shows the index of the element that lies there; a dot is padding."
    yield ""
    table = [(head, list(map(_spelled, cells))) for head, cells in view.rows]
    whole = [[head, *cells] for head, cells in table if head]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    for head, cells in table:
        padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths[1:], strict=False))
        bar = f" | {'  '.join(padded)}" if head else ""
        yield f"  {head or LEFT_OUT:>{widths[0]}}{bar}".rstrip()


def _spelled(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return cell
    return "." if cell.index is None else spell_index(cell.index)


def spell_index(index: Sequence[int]) -> str:
    """An index in parentheses; of a very long one the beginning and the end."""
    text = ",".join(map(str, index))
    if len(text) > _LONGEST_INDEX:
        text = f"{text[: _LONGEST_INDEX // 2]}...{text[-_LONGEST_INDEX // 2 :]}"
    return f"({text})"
