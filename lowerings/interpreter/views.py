"""Views of arrays: of tensors, which never change, and of memory, whose views share it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    MemRefType,
    ShapedType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.bufferize import strided
from lowerings.interpreter.elements import Number, UndefinedBehavior
from lowerings.interpreter.machine import Function, ValueMaker
from lowerings.interpreter.memory import Memref, TypedView
from xla_dialect.literals.arrays import Array
from xla_dialect.xdsl.operation_table import OperationTable

Slice: TypeAlias = (
    memref.SubviewOp | memref.ReinterpretCastOp | tensor.ExtractSliceOp | tensor.InsertSliceOp
)


def named(value: SSAValue) -> str:
    """An array as messages call it."""
    return f"%{value.name_hint}" if value.name_hint else str(value.type)


def sizes_of(type_: Attribute) -> tuple[int | None, ...]:
    """The sizes that a type states."""
    sizes = cast(ShapedType, type_).get_shape()
    return tuple(None if size == DYNAMIC_INDEX else size for size in sizes)


def filled(sizes: Sequence[int | None], dynamic: Sequence[Number]) -> list[int]:
    """The sizes, those that are not stated from operands."""
    rest = iter(dynamic)
    return [int(next(rest)) if size is None else size for size in sizes]


def mixed(static: Any, dynamic: Sequence[Any]) -> Callable[[Sequence[Number]], list[int]]:
    """Numbers of which some are known and others are operands, by the operands' values."""
    known = [
        None if dynamic and number == DYNAMIC_INDEX else int(number)
        for number in cast("DenseArrayBase[Any]", static).get_values()
    ]
    return lambda values: filled(known, values)


def slices(
    op: Slice,
) -> Callable[[Sequence[Number]], tuple[list[int], list[int], list[int]]]:
    """Offsets, sizes and strides of a slice, from the operands that are not known before."""
    offsets = mixed(op.static_offsets, op.offsets)
    sizes = mixed(op.static_sizes, op.sizes)
    strides = mixed(op.static_strides, op.strides)
    first = len(op.offsets)
    second = first + len(op.sizes)
    return lambda values: (
        offsets(values[:first]),
        sizes(values[first:second]),
        strides(values[second:]),
    )


def box(
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    bounds: Sequence[int],
    what: str,
) -> tuple[slice, ...]:
    """The index of a slice; raises UndefinedBehavior for elements outside of these bounds."""
    found: list[slice] = []
    for axis, (offset, size, stride, bound) in enumerate(
        zip(offsets, sizes, strides, bounds, strict=True)
    ):
        last = offset + (size - 1) * stride
        if size < 0 or (size and not (0 <= offset < bound and 0 <= last < bound)):
            raise UndefinedBehavior(
                f"the slice from {offset} of {size} elements, stride {stride}, is out of bounds of "
                f"{what} in dimension {axis}, whose sizes are {list(bounds)}"
            )
        end = last + (1 if stride > 0 else -1)
        found.append(slice(offset, None if end < 0 else end, stride) if size else slice(0, 0))
    return tuple(found)


def kept_dimensions(sizes: Sequence[int], result: Sequence[int | None]) -> Sequence[int]:
    """The dimensions of a slice that its type keeps, which may leave out any of size 1."""
    try:
        return strided.kept_dimensions(sizes, result)
    except ValueError:
        raise UndefinedBehavior(f"a slice of sizes {list(sizes)} for {list(result)}") from None


def slice_of(op: memref.SubviewOp | tensor.ExtractSliceOp) -> Function:
    """A slice, perhaps without some dimensions of size 1."""
    numbers, stated, what = slices(op), sizes_of(op.result.type), named(op.source)

    def run(source: Array, *values: Number) -> Array:
        offsets, sizes, strides = numbers(values)
        places = box(offsets, sizes, strides, source.shape, what)
        kept = kept_dimensions(sizes, stated)
        index = (place if d in kept else offsets[d] for d, place in enumerate(places))
        # The ellipsis makes numpy return a view, not a scalar, where all dimensions are left out.
        return source[(*index, ...)]

    return run


def reassociation(op: Any) -> list[list[int]]:
    """The dimensions of the expanded shape that make up each one of the collapsed shape."""
    groups = cast("ArrayAttr[ArrayAttr[IntegerAttr[Any] | IntAttr]]", op.reassociation)
    return [
        [number.value.data if isinstance(number, IntegerAttr) else number.data for number in group]
        for group in groups
    ]


def collapsed(op: memref.CollapseShapeOp | tensor.CollapseShapeOp) -> Function:
    """Neighbouring dimensions as one; of memory, such that lie dense in each other."""
    groups = reassociation(op)
    copy = False if isinstance(op, memref.CollapseShapeOp) else None

    def run(source: Array) -> Array:
        sizes = [int(np.prod([source.shape[d] for d in group])) for group in groups]
        try:
            return source.reshape(sizes, copy=copy)
        except ValueError:
            raise UndefinedBehavior(
                f"{list(source.shape)} with strides of {list(source.strides)} bytes is not {sizes}"
            ) from None

    return run


def expanded(op: memref.ExpandShapeOp | tensor.ExpandShapeOp) -> Function:
    """A dimension as several."""
    dynamic = op.output_shape if isinstance(op, memref.ExpandShapeOp) else op.dynamic_output_shape
    numbers = mixed(op.static_output_shape, dynamic)

    def run(source: Array, *values: Number) -> Array:
        return source.reshape(numbers(values))

    return run


def same(op: memref.CastOp | tensor.CastOp) -> Function:
    """The same elements under a type that says more or less."""
    stated = sizes_of(op.results[0].type)

    def run(source: Array) -> Array:
        if any(n is not None and n != m for n, m in zip(stated, source.shape, strict=True)):
            raise UndefinedBehavior(f"sizes {list(source.shape)} as {op.results[0].type}")
        return source

    return run


def dim(_op: memref.DimOp | tensor.DimOp) -> Function:
    """The size of a dimension."""

    def run(source: Array | Memref, index: Number) -> Number:
        sizes = source.array.shape if isinstance(source, Memref) else source.shape
        if not 0 <= index < len(sizes):
            raise UndefinedBehavior(f"there is no dimension {index} of rank {len(sizes)}")
        return np.int64(sizes[int(index)])

    return run


def view(make: Callable[[Any], Function]) -> ValueMaker:
    """What an operation does to an array, of tensors or of memory, which is as its type says."""

    def maker(op: Operation) -> Function:
        function, type_ = make(op), op.results[0].type
        if not isinstance(type_, MemRefType):
            return function
        typed = TypedView(cast(Attribute, type_))

        def run(source: Memref, *values: Number) -> Memref:
            return typed.checked(replace(source, array=function(source.array, *values)))

        return run

    return maker


VIEWS = (
    OperationTable[ValueMaker]()
    .add((memref.SubviewOp, tensor.ExtractSliceOp), view(slice_of))
    .add((memref.CollapseShapeOp, tensor.CollapseShapeOp), view(collapsed))
    .add((memref.ExpandShapeOp, tensor.ExpandShapeOp), view(expanded))
    .add((memref.CastOp, tensor.CastOp), view(same))
    .add((memref.DimOp, tensor.DimOp), dim)
)
