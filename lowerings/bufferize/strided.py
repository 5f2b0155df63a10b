"""
Strided memref types: the layouts of views, as `mlir-opt` infers them.

Strides and offsets count elements. An identity layout (row-major, dense, offset
0) is written by leaving the layout out; `None` as an offset is a dynamic one.
Beside them: how many bytes elements take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import gcd, prod
from typing import Any, cast, get_args

from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    ComplexType,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    ShapedType,
    StridedLayoutAttr,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue

from xla_dialect.xdsl.traversal import long_integers, shape_of

_FLOATS = frozenset(get_args(AnyFloat))


def element_bytes(type: Attribute) -> int | None:
    """
    The bytes that one element takes in memory; None for what has no size there.

    Elements of less than a byte take a whole one; integers of other widths as many as the next
    power of two.
    """
    if type.__class__ in _FLOATS:
        return max(1, cast(AnyFloat, type).bitwidth // 8)
    if isinstance(type, IntegerType):
        width = cast(IntegerType, type).width.data
        return max(1, (1 << (width - 1).bit_length()) // 8)
    if isinstance(type, IndexType):
        return 8
    if isinstance(type, ComplexType):
        part = element_bytes(cast(ComplexType[Any], type).element_type)
        return None if part is None else 2 * part
    return None


def static_bytes(type: Attribute) -> int:
    """
    The bytes of the elements of a tensor or memref, and of any other type as far as it has a size;
    0 for sizes that are not known.
    """
    if not isinstance(type, TensorType | MemRefType):
        return element_bytes(type) or 0
    shaped = cast("TensorType[Attribute] | MemRefType[Attribute]", type)
    shape = shape_of(shaped)
    return 0 if DYNAMIC_INDEX in shape else prod(shape) * (element_bytes(shaped.element_type) or 0)


_NONE = NoneAttr()


@lru_cache(maxsize=1024)
def identity_type(type: TensorType[Attribute]) -> MemRefType[Attribute]:
    """The memref with an identity layout that holds a tensor of this type."""
    return MemRefType[Attribute].new((type.shape, type.element_type, _NONE, _NONE))


def buffer_type(value: SSAValue) -> MemRefType[Attribute]:
    """The memref with an identity layout that holds this tensor value."""
    return identity_type(cast(TensorType[Attribute], value.type))


def strides_and_offset(
    type: MemRefType[Attribute],
) -> tuple[tuple[int, ...], int | None]:
    """
    The strides of each dimension, and the offset, None if it is dynamic.

    Raises ValueError where strides are dynamic or the layout is not strided:
    bufferization makes no such type.
    """
    strides = type.get_strides()
    if strides is None or None in strides:
        raise ValueError(f"{type} does not have static strides")
    return cast(tuple[int, ...], tuple(strides)), type.get_offset()


@lru_cache(4096)
def _memref(
    shape: tuple[int, ...],
    element_type: Attribute,
    layout: tuple[tuple[int, ...], int | None] | None,
    memory_space: Attribute,
) -> MemRefType[Attribute]:
    """
    A type with these strides and this offset, None for the identity's.

    Remembered: programs have few, and making one takes longer than making an operation.
    """
    strided = _NONE if layout is None else StridedLayoutAttr(*layout)
    sizes = ArrayAttr(IntAttr(size) for size in shape)
    return MemRefType[Attribute].new((sizes, element_type, strided, memory_space))


def _strided_type(
    source: MemRefType[Attribute],
    shape: Sequence[int],
    strides: Sequence[int],
    offset: int | None,
) -> MemRefType[Attribute]:
    layout = tuple(strides), offset
    return _memref(tuple(shape), source.element_type, layout, source.memory_space)


def _contiguous_type(source: MemRefType[Attribute], shape: Sequence[int]) -> MemRefType[Attribute]:
    """The type of this shape in default layout, else as `source`."""
    return _memref(tuple(shape), source.element_type, None, source.memory_space)


def _canonical_type(
    source: MemRefType[Attribute],
    shape: Sequence[int],
    strides: Sequence[int],
    offset: int | None,
) -> MemRefType[Attribute]:
    """A strided type; an identity layout where strides and offset are the identity's."""
    if offset == 0 and tuple(strides) == ShapedType.strides_for_shape(tuple(shape)):
        return _contiguous_type(source, shape)
    return _strided_type(source, shape, strides, offset)


def laid_out_type(
    type: TensorType[Attribute], strides: StridedLayoutAttr | None
) -> MemRefType[Attribute]:
    """The memref that holds a tensor of this type in these strides, or in identity layout."""
    identity = identity_type(type)
    if strides is None:
        return identity
    known = cast(tuple[int, ...], tuple(strides.get_strides()))
    return _canonical_type(identity, identity.get_shape(), known, 0)


def permuted_type(
    source: MemRefType[Attribute], permutation: Sequence[int]
) -> MemRefType[Attribute]:
    """The type of a view whose dimension `i` is dimension `permutation[i]` of the source."""
    source_strides, offset = strides_and_offset(source)
    sizes = source.get_shape()
    shape = tuple(sizes[d] for d in permutation)
    return _canonical_type(source, shape, [source_strides[d] for d in permutation], offset)


def has_identity_layout(type: MemRefType[Attribute]) -> bool:
    return isinstance(type.layout, NoneAttr)


def is_descending(type: MemRefType[Attribute]) -> bool:
    """Whether no dimension has a larger stride than the one before it; sizes of 1 do not matter."""
    if has_identity_layout(type):
        return True
    strides, _ = strides_and_offset(type)
    moving = [s for s, size in zip(strides, type.get_shape(), strict=True) if size != 1]
    return all(a >= b for a, b in pairwise(moving))


def descending_dimensions(type: MemRefType[Attribute]) -> tuple[int, ...] | None:
    """The dimensions of a strided type, the largest stride first; None if that is their order."""
    if is_descending(type):
        return None
    strides, _ = strides_and_offset(type)
    return tuple(sorted(range(len(strides)), key=lambda d: -strides[d]))


def is_same_memory(a: MemRefType[Attribute], b: MemRefType[Attribute]) -> bool:
    """
    Whether two views of one allocation certainly are the same elements in the
    same order. The strides of dimensions of size 1 do not matter.
    """
    if a.shape != b.shape:
        return False
    if a.layout == b.layout:
        return a.get_offset() is not None
    strides_a, offset_a = strides_and_offset(a)
    strides_b, offset_b = strides_and_offset(b)
    if offset_a is None or offset_a != offset_b:
        return False
    return all(
        size == 1 or stride_a == stride_b
        for size, stride_a, stride_b in zip(a.get_shape(), strides_a, strides_b, strict=True)
    )


def with_dynamic_offset(type: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """The same strided type with the offset left open (`offset: ?`)."""
    strides, _ = strides_and_offset(type)
    return _strided_type(type, type.get_shape(), strides, None)


@dataclass(frozen=True)
class Slice:
    """Offsets, sizes and strides of a slice; None for an offset known at run time."""

    offsets: tuple[int | None, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def covers(self, shape: Sequence[int]) -> bool:
        """Whether the slice certainly is the whole of an array of this shape."""
        return (
            self.sizes == tuple(shape)
            and all(offset == 0 for offset in self.offsets)
            and all(stride == 1 for stride in self.strides)
        )

    def is_disjoint_from(self, other: Slice) -> bool:
        """
        Whether the two slices of one array certainly share no element: along
        some dimension, the ranges they span do not meet, or their steps never coincide.
        """
        for a, b, size_a, size_b, stride_a, stride_b in zip(
            self.offsets,
            other.offsets,
            self.sizes,
            other.sizes,
            self.strides,
            other.strides,
            strict=True,
        ):
            if size_a == 0 or size_b == 0:
                return True
            if a is None or b is None:
                continue
            if a + (size_a - 1) * stride_a < b or b + (size_b - 1) * stride_b < a:
                return True
            if (a - b) % gcd(stride_a, stride_b):
                return True
        return False


def slice_of(op: tensor.ExtractSliceOp | tensor.InsertSliceOp | memref.SubviewOp) -> Slice:
    """The slice of an operation whose sizes and strides are static."""
    offsets = long_integers(op.static_offsets)
    return Slice(
        tuple([None if offset == DYNAMIC_INDEX else offset for offset in offsets]),
        long_integers(op.static_sizes),
        long_integers(op.static_strides),
    )


def kept_dimensions(sizes: Sequence[int], shape: Sequence[int | None]) -> tuple[int, ...]:
    """
    The dimensions of a slice of these sizes that make up a rank-reduced `shape`, of which None is
    not known; the others have size 1. Where several dimensions of size 1 could be the one
    that is dropped, the last is.

    Raises ValueError if `shape` is not a rank reduction of `sizes`.
    """
    kept: list[int] = []
    for dimension, size in enumerate(sizes):
        if len(kept) < len(shape) and shape[len(kept)] in (None, size):
            kept.append(dimension)
        elif size != 1:
            break
    if len(kept) != len(shape):
        raise ValueError(f"{tuple(shape)} is not a rank reduction of {tuple(sizes)}")
    return tuple(kept)


@lru_cache(maxsize=1024)
def subview_type(
    source: MemRefType[Attribute], slice: Slice, shape: tuple[int, ...]
) -> MemRefType[Attribute]:
    """
    The type of `memref.subview` of `source` with this slice, rank-reduced to
    `shape`. An identity layout results where strides and offset are the identity's.
    """
    source_strides, offset = strides_and_offset(source)
    for start, stride in zip(slice.offsets, source_strides, strict=True):
        # A stride of 0 (beside a dimension of size 0) hides an unknown start.
        if offset is not None and stride != 0:
            offset = None if start is None else offset + start * stride
    kept = kept_dimensions(slice.sizes, shape)
    strides = tuple(source_strides[k] * slice.strides[k] for k in kept)
    return _canonical_type(source, shape, strides, offset)


def reassociation_groups(
    reassociation: ArrayAttr[Attribute],
) -> tuple[tuple[int, ...], ...]:
    """The groups of a `reassociation` attribute as tuples of dimensions."""
    groups = cast(ArrayAttr[ArrayAttr[IntegerAttr]], reassociation)
    return tuple(tuple(index.value.data for index in group) for group in groups)


def expanded_type(
    source: MemRefType[Attribute],
    groups: Sequence[Sequence[int]],
    shape: Sequence[int],
) -> MemRefType[Attribute]:
    """The type of `memref.expand_shape` of `source` to `shape`; always a view."""
    # To MLIR the layout of a line from its start is the identity, and so is what it becomes.
    if has_identity_layout(source) or strides_and_offset(source) == ((1,), 0):
        return _contiguous_type(source, shape)
    source_strides, offset = strides_and_offset(source)
    strides = [1] * len(shape)
    for group, stride in zip(groups, source_strides, strict=True):
        for dimension in reversed(group):
            strides[dimension] = stride
            stride *= shape[dimension]
    return _strided_type(source, shape, strides, offset)


def collapsed_type(
    source: MemRefType[Attribute],
    groups: Sequence[Sequence[int]],
) -> MemRefType[Attribute] | None:
    """
    The type of `memref.collapse_shape` of `source`, each group of dimensions
    becoming one; None if the elements of a group are not evenly spaced, so that
    no view of them exists.
    """
    source_shape = source.get_shape()
    shape = [prod(source_shape[k] for k in group) for group in groups]
    if has_identity_layout(source):
        return _contiguous_type(source, shape)
    source_strides, offset = strides_and_offset(source)
    strides: list[int] = []
    for group in groups:
        # Dimensions of size 1 at the end have strides that mean nothing.
        last = len(group) - 1
        while last > 0 and source_shape[group[last]] == 1:
            last -= 1
        strides.append(source_strides[group[last]])
        expected = strides[-1]
        for inner, outer in pairwise(reversed(group)):
            expected *= source_shape[inner]
            if source_shape[outer] != 1 and expected != source_strides[outer]:
                return None
    return _strided_type(source, shape, strides, offset)
