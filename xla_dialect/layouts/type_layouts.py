"""What layouts say of arrays; named as in XLA's `LayoutUtil` and `ShapeUtil`.

A layout is a `Layout`, that of a type its encoding or else the default one. Physical dimensions
count from the most major one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from operator import mul
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute

from xla_dialect.layout import Layout, LayoutAttr, LayoutError, TileDivision
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.types import (
    BY_TYPE,
    MAX_ELEMENTS,
    Array,
    extents,
    sizes_of,
    spell,
    tuple_elements,
)


def layout_of(type_: Array) -> Layout:
    """The layout of an array type: its encoding, or the default layout of its rank."""
    encoding = type_.encoding
    if isinstance(encoding, LayoutAttr):
        return encoding.data
    return Layout.default(len(type_.shape.data))


def with_layout(type_: Array, layout: Layout) -> Array:
    """
    The array type in another layout; the default one is no encoding, bounds stay those of `type_`.

    Raises LayoutError if the layout does not fit.
    """
    shape = type_.get_shape()
    layout = replace(layout, bounds=layout_of(type_).bounds)
    result: Array = TensorType(type_.element_type, shape, LayoutAttr(layout))
    validate_layout_for_shape(result)
    return TensorType(type_.element_type, shape) if layout.is_default else result


def validate_layout_for_shape(type_: Array) -> None:
    """
    Checks the layout of an array type: (C1) to (C8), and that the buffer can be counted.

    Raises LayoutError that names the rule.
    """
    if not isinstance(type_.encoding, LayoutAttr):
        return
    layout = type_.encoding.data
    layout.validate(type_.get_shape())
    sizes = extents(type_)
    if DYNAMIC_INDEX not in sizes and layout.buffer_elements(sizes) > MAX_ELEMENTS:
        raise LayoutError("(Size) padding makes the buffer larger than 2^63 - 1 elements")


def bits_per_element(type_: Array) -> int:
    """The bits an element takes in memory: its layout's element size, or else whole bytes."""
    return layout_of(type_).element_size_in_bits or max(8, BY_TYPE[type_.element_type].bits)


def byte_size_of(type_: Array) -> int:
    """
    The bytes of the buffer: padding of every kind included, of a split array the largest part.

    A bounded dynamic dimension counts as its bound. The sizes of a dynamic array that lie in front
    of its buffer (`dynamic_shape_metadata_prefix_bytes`) do not count, as in XLA. Raises Violation
    for an unbounded dimension.
    """
    elements = layout_of(type_).buffer_elements(sizes_of(type_))
    return ceil_div(elements * bits_per_element(type_), 8)


def human_string_with_layout(type_: Attribute) -> str:
    """
    A shape as HLO text spells it, every array of a rank above 0 with its layout: `f32[2]{0}`.

    Padding of the older form has no spelling there and is left out.
    """
    elements = tuple_elements(type_)
    if elements is not None:
        return f"({', '.join(map(human_string_with_layout, elements))})"
    text = spell(type_)
    if not isinstance(type_, TensorType):
        return text
    layout = str(layout_of(cast(Array, type_)))
    return text if layout == "{}" else text + layout


def make_logical_to_physical(layout: Layout) -> tuple[int, ...]:
    """For each dimension its place among the physical dimensions, 0 the most major."""
    order = layout.minor_to_major[::-1]
    return tuple(map(order.index, range(len(order))))


def strides(type_: Array) -> tuple[int | None, ...]:
    """
    For each dimension how many elements of memory lie between neighbours along it.

    None where that is not one number, because a tile divides the dimension; with several levels of
    tiles that merge dimensions (`*`) some constant strides are not found either. A dimension of at
    most one element has the stride that a longer one would have inside its tile. Raises LayoutError
    for splits.
    """
    layout, sizes = layout_of(type_), sizes_of(type_)
    if layout.split_configs:
        raise LayoutError("an array that is split into parts has no strides")
    physical: Sequence[int | None] = row_major_strides(layout.physical_shape(sizes))
    divisions = layout.divisions(sizes)
    reaches = _reaches(divisions, [sizes[d] for d in reversed(layout.minor_to_major)])
    for division, reach in zip(reversed(divisions), reversed(reaches), strict=True):
        physical = _strides_before(division, reach, physical)
    places = make_logical_to_physical(layout)
    return tuple(physical[place] for place in places)


def row_major_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Strides of a dense row-major array, in elements."""
    return tuple(accumulate(reversed(sizes), mul, initial=1))[-2::-1]


def _reaches(divisions: Sequence[TileDivision], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """For each tile the sizes that it divides, without the padding by earlier tiles."""
    reaches: list[tuple[int, ...]] = []
    for division in divisions:
        sizes = (1,) * division.prepended + tuple(sizes)
        reaches.append(sizes)
        merged = _merged_reach(division, sizes)
        pairs = list(zip(merged, division.entries, strict=True))
        counts = (-(-size // entry) for size, entry in pairs)
        sizes = (*sizes[: len(division.lead)], *counts, *(min(pair) for pair in pairs))
    return reaches


def _merged_reach(division: TileDivision, reach: Sequence[int]) -> list[int]:
    """One more than the largest index of each merged run."""
    rest = iter(reach[len(division.lead) :])
    merged: list[int] = []
    for run in division.runs:
        used = [(next(rest), stride) for stride in row_major_strides(run)]
        is_empty = any(size == 0 for size, _ in used)
        merged.append(0 if is_empty else 1 + sum((size - 1) * stride for size, stride in used))
    return merged


def _strides_before(
    division: TileDivision, reach: Sequence[int], physical: Sequence[int | None]
) -> list[int | None]:
    """The strides of the dimensions before a tile divides them, from the strides after it."""
    first, number = len(division.lead), len(division.entries)
    counts, entries = physical[first : first + number], physical[first + number :]
    found = list(physical[:first])
    runs = zip(
        division.runs,
        division.entries,
        _merged_reach(division, reach),
        counts,
        entries,
        strict=True,
    )
    for run, entry, size, across, inside in runs:
        whole = inside if size <= entry else across if entry == 1 else None
        if inside is not None and across == entry * inside:
            whole = inside
        for length, step in zip(run, row_major_strides(run), strict=True):
            if whole is not None:
                found.append(whole * step)
            elif inside is not None and entry % max(1, length * step) == 0:
                found.append(inside * step)
            elif across is not None and step % entry == 0:
                found.append(across * (step // entry))
            else:
                found.append(None)
    return found[division.prepended :]
