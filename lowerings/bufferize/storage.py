"""Memory that tensor values are put in, as the analysis of a function sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, cast

from xdsl.dialects import memref, tensor
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

from lowerings.bufferize.liveness import NEVER
from lowerings.bufferize.strided import (
    Slice,
    collapsed_type,
    expanded_type,
    permuted_type,
    reassociation_groups,
    static_bytes,
    strides_and_offset,
    subview_type,
)
from lowerings.ir.scalar_attributes import constant_integer
from xla_dialect.xdsl.creation import create

MemRef: TypeAlias = MemRefType[Attribute]


def memref_type(value: SSAValue) -> MemRef:
    """The type of a value that is known to be a memref."""
    return cast(MemRef, value.type)


def planned_extent(view: memref.ViewOp) -> tuple[int, int] | None:
    """
    The bytes, from the first to behind the last element, that a view has of what it views; None
    where that is not known.
    """
    start = constant_integer(view.byte_shift)
    return None if start is None else (start, start + static_bytes(view.results[0].type))


@dataclass(eq=False, slots=True)
class Storage:
    """
    One allocation, argument or constant, or a part of one that is set aside.

    Offsets in the types of its views count from the start of the allocation.
    """

    writable: bool
    live_until: int = NEVER
    """The last position at which one of the tensor values that are in it now is used."""
    parent: Storage | None = None
    """The storage that this one is a part of."""
    kept_by: SSAValue | Operation | None = None
    """The value that is used at that position, or the operation that the memory is held for."""

    def keep_until(self, position: int, by: SSAValue | Operation | None = None) -> None:
        """Keeps it, and what it is part of, from being overwritten up to a position."""
        storage: Storage | None = self
        while storage is not None:
            if position > storage.live_until:
                storage.live_until, storage.kept_by = position, by
            storage = storage.parent

    def allocation(self) -> Storage:
        """The storage that is not part of another one."""
        storage = self
        while storage.parent is not None:
            storage = storage.parent
        return storage


@dataclass(frozen=True)
class Reshape:
    """An expansion or collapse of dimensions."""

    reassociation: ArrayAttr[Attribute]
    """Which dimensions of the larger rank belong to each of the smaller rank."""
    shape: tuple[int, ...]
    """The shape afterwards."""
    expands: bool

    def type_of(self, source: MemRef) -> MemRef | None:
        """The type of this view of a memref; None if its elements are not evenly spaced."""
        groups = reassociation_groups(self.reassociation)
        if self.expands:
            return expanded_type(source, groups, self.shape)
        return collapsed_type(source, groups)

    def make(self, source: SSAValue, type: MemRef) -> Operation:
        """`memref.expand_shape` or `memref.collapse_shape`."""
        properties: dict[str, Attribute] = {"reassociation": self.reassociation}
        if self.expands:
            properties["static_output_shape"] = _integers(self.shape)
        return create(
            memref.ExpandShapeOp if self.expands else memref.CollapseShapeOp,
            operands=(source,),
            result_types=(type,),
            properties=properties,
        )


@dataclass(frozen=True)
class Permutation:
    """Dimensions in another order."""

    dimensions: tuple[int, ...]
    """Dimension `i` afterwards is `dimensions[i]` before."""

    def type_of(self, source: MemRef) -> MemRef | None:
        """The type of this view of a memref; None if its offset is not known."""
        type = permuted_type(source, self.dimensions)
        return None if strides_and_offset(type)[1] is None else type

    def make(self, source: SSAValue, type: MemRef) -> Operation:
        """`memref.reinterpret_cast`."""
        return make_dense(source, type)


@dataclass(frozen=True, eq=False)
class Subview:
    """A slice, without some dimensions of size 1."""

    slice: Slice
    shape: tuple[int, ...]
    op: tensor.ExtractSliceOp | tensor.InsertSliceOp | None = None
    """Has the offsets that the slice does not know."""

    def type_of(self, source: MemRef) -> MemRef:
        """The type of this view of a memref."""
        return subview_type(source, self.slice, self.shape)

    def make(self, source: SSAValue, type: MemRef) -> Operation:
        """`memref.subview`."""
        slice, dynamic = self.slice, () if self.op is None else tuple(self.op.offsets)
        offsets = tuple(DYNAMIC_INDEX if offset is None else offset for offset in slice.offsets)
        return create(
            memref.SubviewOp,
            operands=(source, *dynamic),
            result_types=(type,),
            properties={
                "static_offsets": _integers(offsets),
                "static_sizes": _integers(slice.sizes),
                "static_strides": _integers(slice.strides),
                "operandSegmentSizes": _subview_segments(len(dynamic)),
            },
        )


@dataclass(eq=False, slots=True)
class Buffer:
    """Where a tensor value is: all of a storage, or a view of another buffer."""

    type: MemRef
    storage: Storage
    source: Buffer | None = None
    view: Reshape | Permutation | Subview | None = None
    """How it is a view of `source`."""
    name_hint: str | None = None


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
    part: Subview
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


def make_permuted(source: SSAValue, dimensions: tuple[int, ...]) -> Operation | None:
    """The view of `source` whose dimension `i` is `dimensions[i]` of it, if its offset is known."""
    permutation = Permutation(dimensions)
    type = permutation.type_of(memref_type(source))
    return None if type is None else permutation.make(source, type)


def make_dense(source: SSAValue, type: MemRef) -> Operation:
    """`memref.reinterpret_cast` to a type with known strides and offset."""
    strides, offset = strides_and_offset(type)
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
