"""Windows as callers of the builder give them: lists of numbers, and words for padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from xla_dialect.builder.caller import build_error
from xla_dialect.shapes.size_arithmetic import ceil_div, dilated
from xla_dialect.shapes.window import Window
from xla_dialect.spelling import SpellingError

Padding: TypeAlias = Literal["SAME", "VALID", "kSame", "kValid"] | Sequence[tuple[int, int]]
"""A word (the k is optional), or one pair (low, high) per dimension."""


def same_padding(size: int, window: int, stride: int) -> tuple[int, int]:
    """
    The padding (low, high) with which a window fits `⌈size / stride⌉` times.

    What is left over by halving goes to the high side. `stride >= 1`.
    """
    total = max((ceil_div(size, stride) - 1) * stride + window - size, 0)
    return total // 2, total - total // 2


def make_window(
    method: str,
    label: str,
    sizes: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Padding,
    base_dilations: Sequence[int] = (),
    window_dilations: Sequence[int] = (),
) -> Window:
    """
    The window over a base of these sizes; an empty list is one of defaults.

    `label`: of the rule that lists have one entry per dimension, by which BuildErrors are raised.
    With dilations, "SAME" pads for the dilated sizes.
    """

    def full(values: Sequence[int]) -> Sequence[int]:
        return values or [1] * len(window_dimensions)

    lists = (window_strides, base_dilations, window_dilations)
    columns = [sizes, window_dimensions, *map(full, lists)]
    if len({len(column) for column in columns}) > 1:
        raise build_error(
            f"{method}: ({label}) {len(sizes)} dimensions, but lists of "
            f"{', '.join(str(len(column)) for column in columns[1:])} entries"
        )
    if padding in ("SAME", "kSame"):
        pairs = [
            (0, 0)
            if stride < 1
            else same_padding(dilated(size, base), dilated(window, dilation), stride)
            for size, window, stride, base, dilation in zip(*columns, strict=True)
        ]
    elif padding in ("VALID", "kValid"):
        pairs = []
    elif any(len(pair) != 2 for pair in padding):
        raise build_error(f"{method}: padding {padding!r} is neither SAME, nor VALID, nor pairs")
    else:
        pairs = [(int(low), int(high)) for low, high in padding]
    try:
        return Window.of(
            window_dimensions,
            stride=window_strides,
            padding=pairs,
            base_dilation=base_dilations,
            window_dilation=window_dilations,
        )
    except SpellingError as error:
        raise build_error(f"{method}: ({label}) {error}") from None
