"""Memory and views of it: a memref is a numpy array over the bytes of its allocation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    NoneAttr,
    ShapedType,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute

from lowerings.interpreter.elements import (
    Element,
    Number,
    UndefinedBehavior,
    element_of,
)
from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import require_rank
from xla_dialect.layouts.type_layouts import row_major_strides
from xla_dialect.literals.arrays import Array

_EXACT_OVERLAP_WORK = 1 << 14
"""How long to look for a common element of two views whose extents overlap."""


@dataclass(frozen=True, eq=False)
class Memref:
    """A view of memory: a numpy array that shares it with all other views of the allocation."""

    array: Array
    """The elements, as memory holds them."""
    memory: Array
    """The bytes from where offsets count on, up to the end of the allocation."""
    element: Element

    @property
    def strides(self) -> tuple[int, ...]:
        """The distances between neighbours in each dimension, in elements."""
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    @property
    def offset(self) -> int:
        """Elements from where offsets count from to the first one."""
        return (address(self.array) - address(self.memory)) // self.array.itemsize

    def put(self, places: Sequence[Number], values: Number, lanes: int | None = None) -> None:
        """Writes a number, or a vector of some lanes, to places that are inside."""
        self.array[tuple(places)] = self.element.stored(values)

    def read(self) -> Array:
        """All elements as numbers: a copy, for what follows may write this memory."""
        return np.array(self.element.loaded(self.array))

    def write(self, values: Number) -> None:
        """Writes all elements."""
        self.array[...] = self.element.stored(np.asarray(values))

    def overlaps(self, other: Memref) -> bool:
        """Whether a byte belongs to elements of both."""
        try:
            return np.shares_memory(
                self.array, other.array, max_work=cast(Any, _EXACT_OVERLAP_WORK)
            )
        except (np.exceptions.TooHardError, OverflowError):
            return False

    def is_same(self, other: Memref) -> bool:
        """Whether both have the same elements at the same indices."""
        return self.array.__array_interface__ == other.array.__array_interface__


def address(array: Array) -> int:
    """Where the first element is."""
    return array.__array_interface__["data"][0]


def memref_at(
    memory: Array, element: Element, offset: int, sizes: Sequence[int], strides: Sequence[int]
) -> Memref:
    """
    The memref of these sizes and strides from an element of an allocation on.

    Raises UndefinedBehavior for a view that reaches beyond the allocation.
    """
    require_rank(len(sizes))
    size = element.storage.itemsize
    if 0 in sizes:
        return Memref(np.empty(sizes, element.storage), memory, element)
    start = offset * size
    try:
        array = np.ndarray(sizes, element.storage, memory, start, [s * size for s in strides])
    except (ValueError, TypeError) as error:
        raise UndefinedBehavior(
            f"a view of sizes {list(sizes)} and strides {list(strides)} at byte {start} reaches "
            f"beyond its allocation of {memory.size} bytes"
        ) from error
    return Memref(array, memory, element)


def dense(memory: Array, element: Element, sizes: Sequence[int]) -> Memref:
    """The row-major array at the start of an allocation."""
    return memref_at(memory, element, 0, sizes, row_major_strides(tuple(sizes)))


def byte_count(element: Element, sizes: Sequence[int]) -> int:
    """Bytes of a dense array; raises XlaError for negative sizes."""
    if any(size < 0 for size in sizes):
        raise UndefinedBehavior(f"an array of sizes {list(sizes)}")
    return math.prod(sizes) * element.storage.itemsize


def layout_of(type_: Attribute) -> tuple[tuple[int | None, ...], int | None]:
    """The strides and the offset that a memref type states; None where it leaves one open."""
    memref = cast("MemRefType[Attribute]", type_)
    layout = memref.layout
    if isinstance(layout, StridedLayoutAttr):
        return tuple(layout.get_strides()), layout.get_offset()
    if not isinstance(layout, NoneAttr):
        raise XlaError(f"only strided layouts are interpreted, not {type_}")
    sizes = memref.get_shape()
    if DYNAMIC_INDEX not in sizes:
        return row_major_strides(sizes), 0
    strides: list[int | None] = [1]
    for size in reversed(sizes[1:]):
        last = strides[-1]
        strides.append(None if last is None or size == DYNAMIC_INDEX else last * size)
    return tuple(reversed(strides)), 0


def extent(type_: Attribute, layout: StridedLayoutAttr | None = None) -> int:
    """Bytes of the memory that `argument` is given for a type. Raises XlaError as that does."""
    sizes, strides = _places(type_, layout)
    reach = 0 if 0 in sizes else 1 + sum(s * (n - 1) for n, s in zip(sizes, strides, strict=True))
    return reach * element_of(type_).storage.itemsize


def argument(array: Array, type_: Attribute, layout: StridedLayoutAttr | None = None) -> Memref:
    """
    The view of a memref's, a tensor's or a scalar's type on an array as it lies in memory.

    `layout`: the strides of a tensor, if it is not row-major. Raises XlaError for unknown sizes.
    """
    memory = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return memref_at(memory, element_of(type_), 0, *_places(type_, layout))


def _places(
    type_: Attribute, layout: StridedLayoutAttr | None
) -> tuple[Sequence[int], Sequence[int]]:
    """The sizes and the strides of an argument."""
    if not isinstance(type_, ShapedType):
        return (), ()
    sizes = type_.get_shape()
    strides: Sequence[int | None] = row_major_strides(sizes)
    if layout is not None:
        strides = tuple(layout.get_strides())
    elif isinstance(type_, MemRefType):
        strides, _ = layout_of(cast(Attribute, type_))
    if None in strides or DYNAMIC_INDEX in sizes:
        raise XlaError(f"an entry takes arrays of known sizes, not {type_}")
    return sizes, cast("Sequence[int]", strides)


class TypedView:
    """Checks that views are what the type of a value says; made once for each operation."""

    def __init__(self, type_: Attribute):
        """Raises XlaError for a type that is not interpreted."""
        self.type = cast("MemRefType[Attribute]", type_)
        self.element = element_of(type_)
        self.strides, self.offset = layout_of(type_)
        self.sizes = tuple(
            None if size == DYNAMIC_INDEX else size for size in self.type.get_shape()
        )

    def checked(self, view: Memref) -> Memref:
        """The view; raises UndefinedBehavior where its type states something else."""
        sizes, strides = view.array.shape, view.strides
        stated: list[tuple[str, Sequence[int | None], Sequence[int]]] = [
            ("sizes", self.sizes, sizes)
        ]
        if 0 not in sizes:
            # The stride of a dimension of size 1 is never used.
            used = [d for d, size in enumerate(sizes) if size != 1]
            stated.append(("strides", [self.strides[d] for d in used], [strides[d] for d in used]))
            stated.append(("offset", [self.offset], [view.offset]))
        for what, numbers, found in stated:
            if any(n is not None and n != m for n, m in zip(numbers, found, strict=True)):
                raise UndefinedBehavior(
                    f"the result has {what} {list(found)}, its type is {self.type}"
                )
        return view
