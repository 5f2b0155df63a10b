"""What layouts say of arrays; named as in XLA's `LayoutUtil`.

A layout is a `Layout`, that of a type its encoding or else the default one. Physical dimensions
count from the most major one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from operator import mul
from typing import TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType

from xla_dialect.layout import Layout, LayoutAttr, LayoutError, TileDivision
from xla_dialect.types import MAX_ELEMENTS, Array, extents, sizes_of


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


def make_descending_layout(rank: int) -> Layout:
    """The layout with dimension 0 major, row-major for rank 2: the default."""
    return Layout.default(rank)


def make_ascending_layout(rank: int) -> Layout:
    """The layout with dimension 0 minor, column-major for rank 2."""
    return Layout(tuple(range(rank)))


def is_monotonic_with_dim0_major(layout: Layout) -> bool:
    """Whether the dimensions descend from minor to major, as in the default."""
    return (
        layout.minor_to_major == make_descending_layout(len(layout.minor_to_major)).minor_to_major
    )


def is_monotonic_with_dim0_minor(layout: Layout) -> bool:
    """Whether the dimensions ascend from minor to major."""
    return layout.minor_to_major == make_ascending_layout(len(layout.minor_to_major)).minor_to_major


def is_order_only(layout: Layout) -> bool:
    """Whether the layout only orders the dimensions, and places them in some memory space.

    Then every element has one place, there is no padding, and dimensions have strides.
    """
    return layout == Layout(layout.minor_to_major, memory_space=layout.memory_space)


def minor(layout: Layout, position: int) -> int:
    """The dimension at a position counted from the most minor one, 0."""
    return layout.minor_to_major[_position(layout, position)]


def major(layout: Layout, position: int) -> int:
    """The dimension at a position counted from the most major one, 0."""
    return layout.minor_to_major[-1 - _position(layout, position)]


def _position(layout: Layout, position: int) -> int:
    rank = len(layout.minor_to_major)
    if not 0 <= position < rank:
        raise LayoutError(f"there is no position {position} among {rank} dimensions")
    return position


def make_logical_to_physical(layout: Layout) -> tuple[int, ...]:
    """For each dimension its place among the physical dimensions, 0 the most major."""
    rank = len(layout.minor_to_major)
    places = [0] * rank
    for position, dimension in enumerate(layout.minor_to_major):
        places[dimension] = rank - 1 - position
    return tuple(places)


def permuted_layout(layout: Layout, permutation: Sequence[int]) -> Layout:
    """
    The layout that keeps every element at its place when dimensions are permuted.

    Dimension `i` of the result is dimension `permutation[i]`, as in a transpose.
    """
    numbers = {old: new for new, old in enumerate(permutation)}
    return replace(
        layout,
        minor_to_major=tuple(numbers[d] for d in layout.minor_to_major),
        padded_dimensions=_permuted(layout.padded_dimensions, permutation),
        bounds=_permuted(layout.bounds, permutation),
    )


_Value = TypeVar("_Value")


def _permuted(values: Sequence[_Value], permutation: Sequence[int]) -> tuple[_Value, ...]:
    return tuple(values[p] for p in permutation) if values else ()


def physical_strides(type_: Array) -> tuple[int, ...]:
    """Strides of the physical dimensions after all tiles, in elements, the most major first."""
    return row_major_strides(layout_of(type_).physical_shape(sizes_of(type_)))


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
