"""
Views of memrefs that make loops simple: several dimensions as one, unit strides last.

Two operations make them: `memref.collapse_shape` where consecutive dimensions of the memref
merge in their order, and `memref.reinterpret_cast` for everything else, which needs an offset
that is statically known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    UnrealizedConversionCastOp,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from lowerings.dialects.schedule import ScheduleError
from lowerings.loops.access import Access, linear_form
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import integer_array, part_type
from lowerings.loops.nest import Nest
from xla_dialect.xdsl.traversal import shape_of

_CAST_SEGMENTS = DenseArrayBase.from_list(i32, (1, 0, 0, 0))


@cache
def _number(dimension: int) -> Attribute:
    return IntegerAttr(dimension, i64)


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
    if not access.recast and not used & {outer, inner}:
        return access
    strides = tuple(0 if d == outer else s for d, s in enumerate(strides))
    if not access.recast:
        grouped = _group_indices(access, outer, inner, extents)
        if grouped is not None:
            return replace(grouped, strides=strides)
    if access.offset is None:
        return None
    return replace(access, strides=strides, recast=True)


def _group_indices(
    access: Access, outer: int, inner: int, extents: tuple[int, ...]
) -> Access | None:
    """The access with the memref's dimensions of both loops as one group, if they are adjacent."""
    by_dimension = {
        index.position: position
        for position, index in enumerate(access.indices)
        if isinstance(index, AffineDimExpr)
    }
    if outer not in by_dimension or inner not in by_dimension:
        return None
    first, last = by_dimension[outer], by_dimension[inner]
    used = [d for index in access.indices for d in index.used_dims()]
    sizes = group_sizes(access)
    if (
        first > last
        or used.count(outer) > 1
        or used.count(inner) > 1
        or sizes[first] != extents[outer]
        or sizes[last] != extents[inner]
        or any(size != 1 for size in sizes[first + 1 : last])
    ):
        return None
    group = tuple(d for part in access.groups[first : last + 1] for d in part)
    return replace(
        access,
        groups=(*access.groups[:first], group, *access.groups[last + 1 :]),
        indices=(*access.indices[:first], access.indices[last], *access.indices[last + 1 :]),
    )


def group_sizes(access: Access) -> list[int]:
    """The number of elements that each index of the access counts."""
    shape = shape_of(access.type)
    return [prod(shape[d] for d in group) for group in access.groups]


def without_unit_dimensions(access: Access) -> Access:
    """The access with each dimension of size 1 in one group with a neighbour that is larger."""
    sizes = group_sizes(access)
    groups: list[tuple[int, ...]] = []
    indices: list[AffineExpr] = []
    leading: tuple[int, ...] = ()
    for size, group, index in zip(sizes, access.groups, access.indices, strict=True):
        if size != 1:
            groups.append(leading + group)
            indices.append(index)
            leading = ()
        elif groups:
            groups[-1] += group
        else:
            leading += group
    if not groups:
        return access
    return replace(access, groups=tuple(groups), indices=tuple(indices))


def reaches_by_last_index(access: Access, dimension: int) -> bool:
    """Whether steps in `dimension` move the last index, and no other, by one element."""
    if access.recast or access.strides is None or not access.indices:
        return False
    if abs(access.strides[dimension]) != 1:
        return False
    layout = access.layout
    if layout is None or layout[0][access.groups[-1][-1]] != 1:
        return False
    *others, last = access.indices
    if any(dimension in index.used_dims() for index in others):
        return False
    form = linear_form(last)
    return form is not None and abs(form.coefficients.get(dimension, 0)) == 1


def with_unit_stride(access: Access, dimension: int) -> Access | None:
    """The access in a form that moves its last index with `dimension`; None if there is none."""
    if reaches_by_last_index(access, dimension):
        return access
    if access.strides is None or abs(access.strides[dimension]) != 1:
        return None
    if access.offset is not None:
        return replace(access, recast=True)
    dropped = without_unit_dimensions(access)
    return dropped if reaches_by_last_index(dropped, dimension) else None


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
    if access.recast:
        return _reinterpret(access, extents, last, builder, following)
    if any(len(group) > 1 for group in access.groups):
        return _collapse(access, builder)
    return access


def _direct(access: Access, view: SSAValue, indices: tuple[AffineExpr, ...]) -> Access:
    view_type = view.type
    assert isinstance(view_type, MemRefType)
    groups = tuple((position,) for position in range(len(indices)))
    return replace(
        access, memref=view, type=view_type, indices=indices, groups=groups, recast=False
    )


def _reinterpret(
    access: Access,
    extents: tuple[int, ...],
    last: int | None,
    builder: LoopBuilder,
    following: int,
) -> Access:
    strides, offset = access.strides, access.offset
    assert strides is not None
    assert offset is not None
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
    dense = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    is_identity = offset == 0 and view_strides == dense
    layout = NoneAttr() if is_identity else StridedLayoutAttr(view_strides, offset)
    view_type = MemRefType(access.type.element_type, sizes, layout, access.type.memory_space)
    properties = {
        "static_offsets": integer_array((offset,)),
        "static_sizes": integer_array(tuple(sizes)),
        "static_strides": integer_array(tuple(view_strides)),
        "operandSegmentSizes": _CAST_SEGMENTS,
    }
    view = builder.write(memref.ReinterpretCastOp, [access.memref], view_type, properties)
    return _direct(access, view, tuple(indices))


def _collapse(access: Access, builder: LoopBuilder) -> Access:
    source = access.type
    shape = source.get_shape()
    layout = source.layout
    if isinstance(layout, StridedLayoutAttr):
        last_moving = [
            next((d for d in reversed(group) if shape[d] != 1), group[0]) for group in access.groups
        ]
        layout = StridedLayoutAttr([layout.strides.data[d] for d in last_moving], layout.offset)
    view_type = MemRefType(source.element_type, group_sizes(access), layout, source.memory_space)
    reassociation = ArrayAttr([ArrayAttr(map(_number, group)) for group in access.groups])
    properties = {"reassociation": reassociation}
    view = builder.write(memref.CollapseShapeOp, [access.memref], view_type, properties)
    return _direct(access, view, access.indices)


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
