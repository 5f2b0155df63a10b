"""Memory that tensor values live in while a function is bufferized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IntegerType,
    MemRefType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.bufferize.strided import (
    Slice,
    collapsed_type,
    expanded_type,
    permuted_type,
    reassociation_groups,
    strides_and_offset,
    subview_type,
)
from xla_dialect.xdsl.creation import create

__all__ = [
    "Buffer",
    "Destination",
    "InsertSliceChain",
    "MemRef",
    "Permutation",
    "Reshape",
    "ReshapedDestination",
    "SliceDestination",
    "Storage",
    "WholeDestination",
    "make_collapse",
    "make_dense",
    "make_expand",
    "make_permuted",
    "make_subview",
    "memref_type",
]

MemRef: TypeAlias = MemRefType[Attribute]


def memref_type(value: SSAValue) -> MemRef:
    """The type of a value that is known to be a memref."""
    return cast(MemRef, value.type)


@dataclass(eq=False, slots=True)
class Storage:
    """
    One allocation, argument or constant, or a part of one that is set aside.

    Offsets in the types of its views count from the start of the allocation.
    """

    writable: bool
    live_until: int
    """The last position at which one of the tensor values that are in it now is used."""
    parent: Storage | None = None
    """The storage that this one is a part of."""

    def keep_until(self, position: int) -> None:
        """Keeps it, and what it is part of, from being overwritten up to a position."""
        storage: Storage | None = self
        while storage is not None:
            storage.live_until = max(storage.live_until, position)
            storage = storage.parent

    def allocation(self) -> Storage:
        """The storage that is not part of another one."""
        storage = self
        while storage.parent is not None:
            storage = storage.parent
        return storage


@dataclass(eq=False, slots=True)
class Buffer:
    """Where a tensor value is: a view of a storage."""

    memref: SSAValue
    storage: Storage

    @property
    def type(self) -> MemRef:
        return memref_type(self.memref)


@dataclass(frozen=True)
class Reshape:
    """An expansion or collapse of dimensions."""

    reassociation: ArrayAttr[Attribute]
    """Which dimensions of the larger rank belong to each of the smaller rank."""
    shape: tuple[int, ...]
    """The shape afterwards."""
    expands: bool

    def make(self, source: SSAValue) -> Operation | None:
        """The operation that views `source` in this shape; None if no view has it."""
        if self.expands:
            return make_expand(source, self.reassociation, self.shape)
        return make_collapse(source, self.reassociation)


@dataclass(frozen=True)
class Permutation:
    """Dimensions in another order."""

    dimensions: tuple[int, ...]
    """Dimension `i` afterwards is `dimensions[i]` before."""

    def make(self, source: SSAValue) -> Operation | None:
        """The operation that views `source` so; None if its offset is not known."""
        return make_permuted(source, self.dimensions)


@dataclass(frozen=True, eq=False)
class WholeDestination:
    """All of a buffer, in which a value or what becomes of it has to be in the end."""

    buffer: Buffer


@dataclass(eq=False)
class InsertSliceChain:
    """
    A tensor put together from slices that do not overlap, none of which is read before all are in
    place. Its parts can be computed directly where they belong.
    """

    result: SSAValue
    """The tensor with all parts in place."""
    buffer: Buffer | None = None
    """Set when the first part, or the tensor itself, needs memory."""


@dataclass(eq=False)
class SliceDestination:
    """The place of one part in a chain."""

    chain: InsertSliceChain
    slice: Slice
    shape: tuple[int, ...]
    """The part's own shape: that of the slice without some dimensions of size 1."""
    buffer: Buffer | None = None
    """Set when the part needs memory."""


@dataclass(frozen=True, eq=False)
class ReshapedDestination:
    """A destination seen in another shape: that of the value before it was reshaped."""

    base: Destination
    reshape: Reshape | Permutation


Destination: TypeAlias = WholeDestination | SliceDestination | ReshapedDestination


@lru_cache(maxsize=1024)
def _integers(values: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, values)


_CAST_SEGMENTS = DenseArrayBase.from_list(i32, (1, 0, 0, 0))


@lru_cache(maxsize=64)
def _subview_segments(dynamic_offsets: int) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i32, (1, dynamic_offsets, 0, 0))


def make_expand(
    source: SSAValue, reassociation: ArrayAttr[Attribute], shape: tuple[int, ...]
) -> Operation:
    """`memref.expand_shape` of `source` to `shape`."""
    result_type = expanded_type(memref_type(source), reassociation_groups(reassociation), shape)
    return create(
        memref.ExpandShapeOp,
        operands=(source,),
        result_types=(result_type,),
        properties={
            "reassociation": reassociation,
            "static_output_shape": _integers(shape),
        },
    )


def make_collapse(source: SSAValue, reassociation: ArrayAttr[Attribute]) -> Operation | None:
    """`memref.collapse_shape` of `source`; None if its elements are not evenly spaced."""
    result_type = collapsed_type(memref_type(source), reassociation_groups(reassociation))
    if result_type is None:
        return None
    return create(
        memref.CollapseShapeOp,
        operands=(source,),
        result_types=(result_type,),
        properties={"reassociation": reassociation},
    )


def make_permuted(source: SSAValue, dimensions: tuple[int, ...]) -> Operation | None:
    """
    `memref.reinterpret_cast` to a view whose dimension `i` is `dimensions[i]` of `source`; None if
    the offset of that is not known.
    """
    result_type = permuted_type(memref_type(source), dimensions)
    strides, offset = strides_and_offset(result_type)
    if offset is None:
        return None
    return _reinterpreted(source, result_type, strides, offset)


def make_dense(source: SSAValue, type: MemRef) -> Operation:
    """`memref.reinterpret_cast` of dense memory to a dense type with as many elements or less."""
    return _reinterpreted(source, type, *strides_and_offset(type))


def _reinterpreted(
    source: SSAValue, type: MemRef, strides: Sequence[int], offset: int | None
) -> Operation:
    assert offset is not None
    return create(
        memref.ReinterpretCastOp,
        operands=(source,),
        result_types=(type,),
        properties={
            "static_offsets": _integers((offset,)),
            "static_sizes": _integers(type.get_shape()),
            "static_strides": _integers(tuple(strides)),
            "operandSegmentSizes": _CAST_SEGMENTS,
        },
    )


def make_subview(
    source: SSAValue,
    slice: Slice,
    dynamic_offsets: Sequence[SSAValue],
    shape: tuple[int, ...],
) -> Operation:
    """
    `memref.subview` of `source`, rank-reduced to `shape`; `dynamic_offsets` are the values of the
    offsets that `slice` has as None.
    """
    offsets = tuple(DYNAMIC_INDEX if offset is None else offset for offset in slice.offsets)
    return create(
        memref.SubviewOp,
        operands=(source, *dynamic_offsets),
        result_types=(subview_type(memref_type(source), slice, shape),),
        properties={
            "static_offsets": _integers(offsets),
            "static_sizes": _integers(slice.sizes),
            "static_strides": _integers(slice.strides),
            "operandSegmentSizes": _subview_segments(len(dynamic_offsets)),
        },
    )
