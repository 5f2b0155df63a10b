"""How an array lies in memory, as far as lowering follows its layout, and the way there and back.

The order of the dimensions and the tiles decide where elements are; the padding of the older form
is the size that dimensions have in memory. The rest of a layout moves no element: memory spaces (a
processor has one), the size of packed elements (every element takes whole bytes here), and padding
behind the last element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xla_dialect.layout import Layout, Tile
from xla_dialect.layouts.type_layouts import layout_of, row_major_strides
from xla_dialect.literals.arrays import from_numpy, numpy_dtype
from xla_dialect.op import decode
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import CopyOp, PadOp, ReshapeOp, SliceOp, TransposeOp
from xla_dialect.shapes.size_arithmetic import permuted
from xla_dialect.types import Array, array
from xla_dialect.xdsl.linking import insert_before
from xla_dialect.xdsl.traversal import tensor_shape

OperationT = TypeVar("OperationT", bound=Operation)
Insert: TypeAlias = "Callable[[Any], Any]"
"""Puts an operation into its block, and returns it."""

Sizes = tuple[int, ...]

BUFFER_LAYOUT = "bufferization.buffer_layout"
"""The attribute of parameters and results that says the strides of their memref, as in MLIR."""
TILED_ARRAY = "xla.array"
"""
The attribute of parameters and results that are passed as their tiles: the array that callers see,
spelled as in HLO.
"""


class LayoutNotLowered(Exception):
    """A layout whose places in memory lowering cannot follow; the message says why."""


@dataclass(frozen=True)
class MemoryOrder:
    """Where the elements of an array are in memory."""

    major_to_minor: Sizes
    """Dimension numbers, that with the largest stride first."""
    tiles: tuple[Tile, ...] = ()
    """As in a layout."""
    widths: Sizes = ()
    """What each dimension is padded to at its end; empty for its size."""

    @staticmethod
    @lru_cache(256)
    def default(rank: int) -> MemoryOrder:
        """Row-major and dense."""
        return MemoryOrder(tuple(range(rank)))

    @property
    def is_default(self) -> bool:
        """Whether it is row-major and dense."""
        return self.has_default_order and not self.widths

    @property
    def has_default_order(self) -> bool:
        """Whether elements follow each other in row-major order, with or without padding."""
        return not self.tiles and self.major_to_minor == tuple(range(len(self.major_to_minor)))

    @property
    def without_padding(self) -> MemoryOrder:
        """The order alone: what matters where nobody else sees the memory."""
        return replace(self, widths=()) if self.widths else self

    @cached_property
    def layout(self) -> Layout:
        """The layout with this order, tiling and padding, and defaults for everything else."""
        minor_to_major = self.major_to_minor[::-1]
        return Layout(minor_to_major, self.tiles, padded_dimensions=self.widths)

    def place_of(self, dimension: int) -> int:
        """Which one a dimension is in memory, counted from the most major."""
        return self.major_to_minor.index(dimension)

    def physical_sizes(self, sizes: Sequence[int]) -> Sizes:
        """The sizes, most major first, of the dense array that holds an array of these sizes."""
        return self.layout.physical_shape(sizes)

    def strides(self, sizes: Sequence[int]) -> Sizes:
        """The distance, in elements, to the next index of each dimension; of an untiled array."""
        assert not self.tiles
        steps = row_major_strides(self.physical_sizes(sizes))
        return tuple(steps[self.place_of(d)] for d in range(len(sizes)))


def memory_order(type_: Array) -> MemoryOrder:
    """The order of an array, without padding behind its last element; raises LayoutNotLowered."""
    if isinstance(type_.encoding, NoneAttr):
        return MemoryOrder.default(len(type_.shape.data))
    sizes = type_.get_shape()
    order = order_of_layout(layout_of(type_))
    if order.widths:
        first = order.major_to_minor[0]
        widths = tuple(sizes[d] if d == first else n for d, n in enumerate(order.widths))
        order = replace(order, widths=() if widths == sizes else widths)
    return canonical(order, sizes)


@lru_cache(1024)
def canonical(order: MemoryOrder, sizes: Sizes) -> MemoryOrder:
    """
    The one of all orders in which an array of these sizes lies the same, but for tiles and padding.

    Dimensions of size 1 stand in front of those that follow them by number.
    """
    if order.tiles or order.widths:
        return order
    if 0 in sizes:
        return MemoryOrder.default(len(sizes))
    found: list[int] = []
    for dimension in order.major_to_minor:
        if sizes[dimension] != 1:
            ones = dimension
            while ones and sizes[ones - 1] == 1:
                ones -= 1
            found.extend(range(ones, dimension + 1))
    return MemoryOrder((*found, *(d for d in range(len(sizes)) if d not in found)))


@lru_cache(1024)
def order_of_layout(layout: Layout) -> MemoryOrder:
    """The order that a layout says, with all its padding; raises LayoutNotLowered."""
    if layout.bounds:
        raise LayoutNotLowered("dynamic sizes are not lowered yet")
    if layout.split_configs:
        raise LayoutNotLowered(f"the layout {layout} splits dimensions between memories")
    if layout.dynamic_shape_metadata_prefix_bytes:
        raise LayoutNotLowered(f"the layout {layout} puts sizes in front of the elements")
    if layout.index_type or layout.pointer_type:
        raise LayoutNotLowered(f"the layout {layout} is that of a sparse array")
    return MemoryOrder(layout.minor_to_major[::-1], layout.tiles, layout.padded_dimensions)


# Arrays in memory order, as operations of the xla dialect


def to_memory(insert: Insert, value: SSAValue, order: MemoryOrder, filler: Any = None) -> SSAValue:
    """
    The dense array of `order.physical_sizes`.

    Padding holds `filler`, a number of the element type; zero bits if none is given.
    """
    for step in order.layout.steps(tensor_shape(value)):
        if step.order is not None:
            value = transposed(insert, value, step.order)
        elif step.pads:
            value = padded(insert, value, step.after, filler)
        else:
            value = reshaped(insert, value, step.after)
    return value


def from_memory(
    insert: Insert, value: SSAValue, order: MemoryOrder, sizes: Sequence[int]
) -> SSAValue:
    """The array of these sizes that `to_memory` made the value from."""
    for step in reversed(order.layout.steps(sizes)):
        if step.order is not None:
            value = transposed(insert, value, step.order_back)
        elif step.pads:
            value = cut(insert, value, step.before)
        else:
            value = reshaped(insert, value, step.before)
    return value


def inverse(permutation: Sequence[int]) -> Sizes:
    """The permutation that undoes one."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def transposed(insert: Insert, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
    """The value, transposed; a transpose of a transpose starts from what that starts from."""
    identity = tuple(range(len(permutation)))
    owner = value.owner
    if isinstance(owner, TransposeOp) and tuple(permutation) != identity:
        before = cast(Sizes, decode(owner.dimensions))
        value, permutation = owner.operand, permuted(before, permutation)
    if tuple(permutation) == identity:
        return value
    return insert(TransposeOp(value, dimensions=tuple(permutation))).result


def reshaped(insert: Insert, value: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """The value with these sizes."""
    if tensor_shape(value) == tuple(sizes):
        return value
    type_ = array(_element_type(value), sizes)
    return insert(ReshapeOp(value, result_types=[type_])).result


def padded(insert: Insert, value: SSAValue, sizes: Sequence[int], filler: Any = None) -> SSAValue:
    """The value with `filler`, or zero bits, behind each dimension up to these sizes."""
    before = tensor_shape(value)
    if before == tuple(sizes):
        return value
    type_ = array(_element_type(value), ())
    scalar = np.zeros((), numpy_dtype(type_.element_type))
    if filler is not None:
        scalar[()] = filler
    constant = insert(ConstantOp.make((), {"value": from_numpy(scalar, type_)})).result
    none = (0,) * len(before)
    high = tuple(n - size for n, size in zip(sizes, before, strict=True))
    pad = PadOp(
        value, constant, edge_padding_low=none, edge_padding_high=high, interior_padding=none
    )
    return insert(pad).result


def cut(insert: Insert, value: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """The value up to these sizes."""
    if tensor_shape(value) == tuple(sizes):
        return value
    rank = len(sizes)
    op = SliceOp(value, start_indices=(0,) * rank, limit_indices=tuple(sizes), strides=(1,) * rank)
    return insert(op).result


def _element_type(value: SSAValue) -> Attribute:
    return cast(Array, value.type).element_type


def in_layout(value: SSAValue, type_: Attribute, before: Operation) -> SSAValue:
    """A value, copied into the layout that another type of it has, in front of an operation."""
    if value.type == type_:
        return value
    return insert_before(CopyOp.make([value], {}, result_types=[type_]), before).result
