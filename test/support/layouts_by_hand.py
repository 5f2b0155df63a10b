"""Layouts for tests, random and small; and what they do to an array, told in another way."""

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import BY_NAME, Array, array

PADDING = -1
"""What `memory_by_hand` has where no element is."""


def shape(text: str) -> Any:
    """The type that HLO text spells."""
    return parse_type(text)


def typed(name: str, sizes: tuple[int, ...], layout: Layout) -> Array:
    """An array type in a layout, whatever it says."""
    return array(BY_NAME[name].type, sizes, LayoutAttr(layout))


def memory_by_hand(sizes: tuple[int, ...], layout: Layout) -> list[int]:
    """
    For every position of the buffer the row-major number of its element, or PADDING.

    As the rules are told: pad every dimension to a multiple of its tile, divide it, move the tile's
    dimensions to the end, read row by row.
    """
    numbers: Any = np.arange(int(np.prod(sizes))).reshape(sizes)
    if layout.padded_dimensions:
        widths = zip(layout.padded_dimensions, sizes, strict=True)
        numbers = _pad(numbers, [wide - size for wide, size in widths])
    numbers = np.transpose(numbers, list(reversed(layout.minor_to_major)))
    for tile in layout.tiles:
        numbers = _tile(numbers, tile)
    flat = [int(n) for n in numbers.ravel()]
    while len(flat) % layout.tail_padding_alignment_in_elements:
        flat.append(PADDING)
    return flat


def _pad(numbers: Any, amounts: list[int]) -> Any:
    return np.pad(numbers, [(0, amount) for amount in amounts], constant_values=PADDING)


def _tile(numbers: Any, tile: tuple[int | None, ...]) -> Any:
    while numbers.ndim < len(tile):
        numbers = numbers[None]
    first = numbers.ndim - len(tile)
    entries: list[int] = []
    axis = first
    for entry in tile:
        if entry is None:
            merged = numbers.shape[axis] * numbers.shape[axis + 1]
            numbers = numbers.reshape((*numbers.shape[:axis], merged, *numbers.shape[axis + 2 :]))
        else:
            entries.append(entry)
            axis += 1
    numbers = _pad(
        numbers,
        [0] * first + [-size % e for size, e in zip(numbers.shape[first:], entries, strict=True)],
    )
    for position, entry in enumerate(entries):
        # The tile's dimensions that are already at the end stay in front of this one.
        axis = first + position
        parts = (numbers.shape[axis] // entry, entry)
        numbers = numbers.reshape((*numbers.shape[:axis], *parts, *numbers.shape[axis + 1 :]))
        numbers = np.moveaxis(numbers, axis + 1, -1)
    return numbers


@st.composite
def tiles(draw: st.DrawFn, *, merged: bool = True) -> tuple[int | None, ...]:
    """One tile of up to three entries, `*` among them if `merged`."""
    entry = st.integers(1, 4)
    leading = st.lists(st.none() | entry if merged else entry, max_size=2)
    return (*draw(leading), draw(entry))


@st.composite
def laid_out(draw: st.DrawFn, *, merged: bool = True) -> tuple[tuple[int, ...], Layout]:
    """Sizes up to rank 5 and a layout for them: tiles of several levels, or the older padding."""
    sizes = tuple(draw(st.lists(st.integers(0, 5), max_size=5)))
    order = tuple(draw(st.permutations(range(len(sizes)))))
    tail = draw(st.sampled_from([1, 1, 2, 7, 64]))
    if draw(st.booleans()):
        found = tuple(draw(st.lists(tiles(merged=merged), max_size=3)))
        return sizes, Layout(order, found, tail)
    padded = tuple(size + draw(st.integers(0, 2)) for size in sizes)
    return sizes, Layout(order, (), tail, padded_dimensions=padded)


def orders() -> list[tuple[int, ...]]:
    """Every permutation of up to five dimensions."""
    return [order for rank in range(6) for order in itertools.permutations(range(rank))]
