"""
Views of memrefs that make loops simple: several dimensions as one, unit strides last.

`memref.reinterpret_cast` makes them. It counts from the start of the memory that a memref is in,
which `memref.extract_strided_metadata` gives where only the running program knows the distance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    UnrealizedConversionCastOp,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.dialects.schedule import ScheduleError
from lowerings.loops.access import Access
from lowerings.loops.builder import Index, LoopBuilder
from lowerings.loops.constants import integer_array, part_type
from lowerings.loops.nest import Nest


def collapse_dense(nest: Nest, fixed: frozenset[int]) -> tuple[Nest, tuple[tuple[int, ...], ...]]:
    """
    The nest with all dimensions merged that every access walks through as if they were one, and
    the groups that were.

    `fixed` are dimensions that must stay, because the body asks for their index. Reductions are
    merged in row-major order only, so that the order of their terms stays.
    """
    groups: dict[int, tuple[int, ...]] = {}
    movable = [d for d, size in enumerate(nest.extents) if size > 1 and d not in fixed]
    merged = True
    while merged:
        merged = False
        for inner in movable:
            for outer in movable:
                if outer == inner:
                    continue
                result = merge_dimensions(nest, outer, inner)
                if result is not None:
                    nest, merged = result, True
                    own = groups.pop(outer, (outer,))
                    groups[inner] = (*own, *groups.get(inner, (inner,)))
    return nest, tuple(groups.values())


def collapse_groups(nest: Nest, groups: Iterable[Sequence[int]]) -> Nest:
    """
    The nest with groups of dimensions merged, each given from the outermost in, into the last one.

    Raises ScheduleError where accesses do not walk through two of them as if they were one.
    """
    for group in groups:
        *others, inner = group
        for outer in reversed(others):
            merged = merge_dimensions(nest, outer, inner)
            if merged is None:
                raise ScheduleError(
                    f"(SR1) d{outer} and d{inner} do not follow each other in every operand"
                )
            nest = merged
    return nest


def merge_dimensions(nest: Nest, outer: int, inner: int) -> Nest | None:
    """`nest` with dimension `outer` merged into `inner`; None where they must stay two."""
    extents = nest.extents
    if extents[outer] <= 1 or extents[inner] <= 1:
        return None
    if nest.is_reduction[outer] != nest.is_reduction[inner]:
        return None
    if nest.is_reduction[outer] and not _follow_each_other(nest, outer, inner):
        return None
    merged: dict[Access, Access] = {}
    for access in nest.accesses:
        result = _merge_access(access, outer, inner, extents)
        if result is None:
            return None
        merged[access] = result
    new_extents = list(extents)
    new_extents[inner] *= extents[outer]
    new_extents[outer] = 1
    return replace(nest.map_accesses(merged.__getitem__), extents=tuple(new_extents))


def _follow_each_other(nest: Nest, outer: int, inner: int) -> bool:
    """Whether `inner` is the next reduced dimension with several iterations after `outer`."""
    between = range(outer + 1, inner)
    return outer < inner and all(nest.extents[d] == 1 or not nest.is_reduction[d] for d in between)


def _merge_access(
    access: Access, outer: int, inner: int, extents: tuple[int, ...]
) -> Access | None:
    strides = access.strides
    if strides is None or strides[outer] != strides[inner] * extents[inner]:
        return None
    used = {d for index in access.indices for d in index.used_dims()}
    if not used & {outer, inner}:
        return access
    strides = tuple(0 if d == outer else s for d, s in enumerate(strides))
    return replace(access, strides=strides, recast=True)


def reaches_by_last_index(access: Access, dimension: int | None) -> bool:
    """Whether a dimension that moves an access by one element moves the last index alone."""
    if access.recast or access.layout is None or access.layout[0][-1] != 1:
        return False
    return not any(dimension in index.used_dims() for index in access.indices[:-1])


def materialize_view(
    access: Access,
    extents: tuple[int, ...],
    last: int | None,
    builder: LoopBuilder,
    following: int = 0,
) -> Access:
    """
    The access through the memref that it describes, which is written as a view where needed.

    `last` is the dimension of the nest that moves the last index of a reinterpreted memref. That
    memref has unit stride there: where `last` itself steps wider, so does the index. It reaches so
    many elements further, `following` the last one of the access.
    """
    memory = builder.made(access.memref)
    if memory is not access.memref:
        access = replace(access, memref=memory)
    return _reinterpret(access, extents, last, builder, following) if access.recast else access


def _reinterpret(
    access: Access,
    extents: tuple[int, ...],
    last: int | None,
    builder: LoopBuilder,
    following: int,
) -> Access:
    strides, offset = access.strides, access.offset
    assert strides is not None
    moving = [d for d, stride in enumerate(strides) if stride != 0 and extents[d] > 1]
    moving.sort(key=lambda d: (d != last, abs(strides[d])), reverse=True)
    sizes, view_strides, indices = list[int](), list[int](), list[AffineExpr]()
    for d in moving:
        size, step = extents[d], abs(strides[d])
        index: AffineExpr = AffineExpr.dimension(d)
        if strides[d] < 0:
            offset += strides[d] * (size - 1)
            index = index * -1 + (size - 1)
        if d == last:
            size, index, step = (size - 1) * step + 1 + following, index * step, 1
        sizes.append(size)
        indices.append(index)
        view_strides.append(step)
    view = strided_view(access.memref, offset, sizes, view_strides, builder)
    type_ = cast("MemRefType[Attribute]", view.type)
    return replace(access, memref=view, type=type_, indices=tuple(indices), recast=False)


def strided_view(
    memory: SSAValue,
    offset: int,
    sizes: Sequence[int],
    strides: Sequence[int],
    builder: LoopBuilder,
) -> SSAValue:
    """The elements of a memref from so many behind its first one on, at other strides."""
    source = cast("MemRefType[Attribute]", memory.type)
    first, operands = source.get_offset(), [memory]
    if first is None:
        start = builder.shared(
            (memref.ExtractStridedMetaDataOp, memory),
            lambda: builder.add(memref.ExtractStridedMetaDataOp(memory)).offset,
        )
        assert isinstance(start.owner, memref.ExtractStridedMetaDataOp)
        operands = [start.owner.base_buffer, builder.materialize(Index(start, offset))]
    else:
        first += offset
    dense = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    is_identity = first == 0 and strides == dense
    layout = NoneAttr() if is_identity else StridedLayoutAttr(strides, first)
    view_type = MemRefType(source.element_type, sizes, layout, source.memory_space)
    properties = {
        "static_offsets": integer_array((DYNAMIC_INDEX if first is None else first,)),
        "static_sizes": integer_array(tuple(sizes)),
        "static_strides": integer_array(tuple(strides)),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, (1, len(operands) - 1, 0, 0)),
    }
    write = partial(builder.write, memref.ReinterpretCastOp, operands, view_type, properties)
    return builder.shared((memory, offset, *sizes, *strides), write)


def as_parts(value: SSAValue, builder: LoopBuilder) -> SSAValue:
    """
    Complex numbers, dense along their last dimension, as twice as many reals: both parts in turn.

    MLIR has no view between the two; what a conversion cannot do is a cast that it leaves to the
    target, for which complex numbers are pairs in memory.
    """
    source = cast("MemRefType[Attribute]", value.type)
    *sizes, last = source.get_shape()
    layout = source.layout
    if isinstance(layout, StridedLayoutAttr):
        *strides, _ = layout.get_strides()
        offset = layout.get_offset()
        layout = StridedLayoutAttr(
            [*(None if stride is None else 2 * stride for stride in strides), 1],
            None if offset is None else 2 * offset,
        )
    view_type = MemRefType(
        part_type(source.element_type), [*sizes, 2 * last], layout, source.memory_space
    )
    return builder.add(UnrealizedConversionCastOp.get([value], [view_type])).results[0]
