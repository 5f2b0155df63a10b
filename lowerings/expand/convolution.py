"""
Convolutions whose base has many holes, as the gradients of those with a large stride.

Between two neighbours of the base, windows meet the same elements of it and others of the kernel.
So these windows are output features of one convolution without holes, which are put side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.shapes.size_arithmetic import ceil_div, permuted
from xla_dialect.shapes.window import Window, WindowDimension
from xla_dialect.types import Array


@dataclass(frozen=True)
class Holes:
    """The windows between two elements of a dilated base, in one spatial dimension."""

    count: int
    """How many there are; 1 without holes."""
    skipped: int
    """How many of the first element are before the result."""
    placements: int
    window: WindowDimension
    """How the elements that they share slide over the base without holes."""

    @staticmethod
    def of(dimension: WindowDimension, base: int) -> Holes:
        """Those of a dimension whose window size is a multiple of the dilation of the base."""
        holes, placements = dimension.base_dilation, dimension.placements(base)
        if holes == 1:
            return Holes(1, 0, placements, dimension)
        elements = dimension.size // holes
        first, skipped = divmod(-1 - dimension.padding_low, holes)
        starts = ceil_div(placements + skipped, holes)
        low = -1 - first
        window = WindowDimension(
            elements, padding_low=low, padding_high=starts - 1 + elements - base - low
        )
        return Holes(holes, skipped, placements, window)


def without_holes(
    b: XlaBuilder, op: ConvolutionOp, lhs: XlaValue, rhs: XlaValue
) -> Sequence[XlaValue]:
    """The windows between two elements of the base as output features of one convolution."""
    labels, result = op.dim_labels.data, cast(Array, op.result.type)
    sizes = permuted(lhs.shape, labels.lhs_order())[2:]
    dimensions = [
        Holes.of(d, size) for d, size in zip(op.window.data.dimensions, sizes, strict=True)
    ]
    counts = [each.count for each in dimensions]
    kernel_sizes: list[int] = []
    of_elements: dict[str, int] = {}
    of_holes: list[int] = [0] * len(counts)
    for label, size in zip(labels.rhs, rhs.shape, strict=True):
        of_elements[label] = len(kernel_sizes)
        if label.isdigit():
            of_holes[int(label)] = len(kernel_sizes) + 1
            kernel_sizes += (size // counts[int(label)], counts[int(label)])
        else:
            kernel_sizes.append(size)
    kernel = b.rev(b.reshape(rhs, kernel_sizes), of_holes)
    order: list[int] = []
    merged: list[int] = []
    for label in labels.rhs:
        order += (of_elements[label], *(of_holes if label == "o" else ()))
        merged.append(kernel_sizes[of_elements[label]] * (prod(counts) if label == "o" else 1))
    kernel = b.reshape(b.transpose(kernel, order), merged)
    sums = b.conv_general(
        lhs,
        kernel,
        Window(tuple(each.window for each in dimensions)),
        labels,
        op.feature_group_count.value.data,
        op.batch_group_count.value.data,
        preferred_element_type=result.element_type,
    )
    return [_side_by_side(b, sums, labels.result, dimensions)]


def _side_by_side(
    b: XlaBuilder, sums: XlaValue, labels: str, dimensions: Sequence[Holes]
) -> XlaValue:
    """Windows that are the inner part of the output features, where they are in the result."""
    counts = [each.count for each in dimensions]
    split: list[int] = []
    first: dict[str, int] = {}
    for label, size in zip(labels, sums.shape, strict=True):
        first[label] = len(split)
        split += (size // prod(counts), *counts) if label == "f" else (size,)
    order: list[int] = []
    merged, starts, limits = [list(sums.shape) for _ in range(3)]
    for at, label in enumerate(labels):
        order.append(first[label])
        starts[at] = 0
        if label == "f":
            merged[at] = limits[at] = split[first[label]]
        elif label.isdigit():
            each = dimensions[int(label)]
            order.append(first["f"] + 1 + int(label))
            merged[at] *= each.count
            starts[at], limits[at] = each.skipped, each.skipped + each.placements
    wide = b.reshape(b.transpose(b.reshape(sums, split), order), merged)
    return b.slice(wide, starts, limits)
