"""Where the elements of a sliding window meet the base, one element of the window at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from xla_dialect.shapes.window import Window, WindowDimension

Box = tuple[slice, ...]


@dataclass(frozen=True)
class WindowOverlap:
    """
    Where one element of a window dimension meets elements of the base, and not padding or holes.

    Placement `placements[j]` of the window has base element `base[j]` at this element.
    """

    element: int
    placements: slice
    base: slice


def meetings(dimension: WindowDimension, size: int) -> list[WindowOverlap]:
    """What each element of a window dimension meets, in order; none for those that meet nothing."""
    count = dimension.placements(size)
    if not count or not size:
        return []
    found = (_meeting(dimension, size, count, k) for k in _candidates(dimension, size, count))
    return [meeting for meeting in found if meeting is not None]


def _meeting(
    dimension: WindowDimension, size: int, count: int, element: int
) -> WindowOverlap | None:
    """
    All (p, i) with `p * stride + element * window_dilation - padding_low = i * base_dilation`.

    Placements p have the distance `base_dilation / gcd`, base elements i `stride / gcd`.
    """
    stride, holes = dimension.stride, dimension.base_dilation
    shift = element * dimension.window_dilation - dimension.padding_low
    divisor = math.gcd(stride, holes)
    if shift % divisor:
        return None
    step = holes // divisor
    residue = -shift // divisor * pow(stride // divisor, -1, step) % step
    lowest = max(0, -(shift // stride))
    first = lowest + (residue - lowest) % step
    last = min(count - 1, ((size - 1) * holes - shift) // stride)
    if first > last:
        return None
    last -= (last - first) % step
    begin, end = ((p * stride + shift) // holes for p in (first, last))
    taken = slice(begin, end + 1, stride // divisor)
    return WindowOverlap(element, slice(first, last + 1, step), taken)


def _candidates(dimension: WindowDimension, size: int, count: int) -> Iterable[int]:
    """
    The elements of a window dimension that may meet the base, ascending.

    Windows much larger than the base are legal, so the elements are not simply counted.
    """
    low, dilation = dimension.padding_low, dimension.window_dilation
    begin = max(0, -(((count - 1) * dimension.stride - low) // dilation))
    end = min(dimension.size, ((size - 1) * dimension.base_dilation + low) // dilation + 1)
    if end - begin <= count * size:
        return range(begin, end)
    places = np.arange(size, dtype=object) * dimension.base_dilation + low
    starts = np.arange(count, dtype=object) * dimension.stride
    distances = set(np.subtract.outer(places, starts).reshape(-1).tolist())
    elements = (distance // dilation for distance in distances if distance % dilation == 0)
    return sorted(element for element in elements if begin <= element < end)


def boxes(window: Window, sizes: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Box, Box]]:
    """
    For every element of a window, in row-major order: its index, placements, and base elements.

    Elements that meet nothing of a base of these sizes are left out.
    """
    rows = [meetings(d, size) for d, size in zip(window.dimensions, sizes, strict=True)]
    for row in itertools.product(*rows):
        yield (
            tuple(meeting.element for meeting in row),
            tuple(meeting.placements for meeting in row),
            tuple(meeting.base for meeting in row),
        )
