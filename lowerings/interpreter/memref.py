"""`memref`: memory, and views of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntAttr,
    IntegerAttr,
    UnrealizedConversionCastOp,
)
from xdsl.ir import SSAValue

from lowerings.bufferize import strided
from lowerings.interpreter.elements import Number, UndefinedBehavior, dense_values
from lowerings.interpreter.machine import (
    Dialect,
    Frame,
    FrameFunction,
    Function,
    StructuredMaker,
    Translator,
    ValueMaker,
    of_one,
)
from lowerings.interpreter.memory import Memref, TypedView, byte_count, dense
from xla_dialect.diagnostics import XlaError
from xla_dialect.layouts.type_layouts import row_major_strides
from xla_dialect.xdsl.operation_table import OperationTable

ALIGNMENT = 64
"""Bytes that the place of a view in an arena is a multiple of."""


def named(value: SSAValue) -> str:
    """An array as messages call it."""
    return f"%{value.name_hint}" if value.name_hint else str(value.type)


def load(op: memref.LoadOp) -> Function:
    """The number at an index."""
    what = named(op.memref)

    def run(source: Memref, *indices: Number) -> Number:
        return source.load(indices, what)

    return run


def store(op: memref.StoreOp) -> Function:
    """Writes one number."""
    what = named(op.memref)

    def run(value: Number, target: Memref, *indices: Number) -> None:
        target.store(value, indices, what)

    return run


# Allocation


def allocate(translator: Translator, op: memref.AllocOp | memref.AllocaOp) -> FrameFunction:
    """Memory that holds anything."""
    view = TypedView(op.memref.type)
    machine = translator.machine

    def run(_frame: Frame, *dynamic: Number) -> Memref:
        sizes = filled(view.sizes, dynamic)
        memory = machine.arbitrary_bytes(byte_count(view.element, sizes))
        return view.checked(dense(memory, view.element, sizes))

    return run


def filled(sizes: Sequence[int | None], dynamic: Sequence[Number]) -> list[int]:
    """The sizes, those that are not stated from operands."""
    rest = iter(dynamic)
    return [int(next(rest)) if size is None else size for size in sizes]


def get_global(translator: Translator, op: memref.GetGlobalOp) -> FrameFunction:
    """A constant in memory: a copy for each use, so that a write has no effect on others."""
    name = op.name_.string_value()
    found = translator.machine.globals.get(name)
    if found is None or not isinstance(found.initial_value, DenseIntOrFPElementsAttr):
        raise XlaError(f"there is no global @{name} with a value")
    view = TypedView(op.memref.type)
    literal = cast("DenseIntOrFPElementsAttr[Any]", found.initial_value)
    values = view.element.stored(dense_values(literal))

    def run(_frame: Frame) -> Memref:
        memory = np.array(values, order="C").reshape(-1).view(np.uint8)
        return view.checked(dense(memory, view.element, values.shape))

    return run


def dealloc(_op: memref.DeallocOp) -> Function:
    """A no-op: memory is freed when the last reference to it is dropped."""
    return of_one(lambda source: None)


# Views


def mixed(static: Any, dynamic: Sequence[Any]) -> Callable[[Sequence[Number]], list[int]]:
    """Numbers of which some are known and others are operands, by the operands' values."""
    known = cast("DenseArrayBase[Any]", static).get_values()
    if not dynamic:
        fixed = [int(number) for number in known]
        return lambda _values: fixed

    def fill(values: Sequence[Number]) -> list[int]:
        rest = iter(values)
        return [int(next(rest)) if number == DYNAMIC_INDEX else int(number) for number in known]

    return fill


def slices(
    op: memref.SubviewOp | memref.ReinterpretCastOp | tensor.ExtractSliceOp | tensor.InsertSliceOp,
) -> Callable[[Sequence[Number]], tuple[list[int], list[int], list[int]]]:
    """Offsets, sizes and strides of a slice, from the operands that are not known before."""
    counts = [len(op.offsets), len(op.sizes)]
    offsets = mixed(op.static_offsets, op.offsets)
    sizes = mixed(op.static_sizes, op.sizes)
    strides = mixed(op.static_strides, op.strides)
    first, second = counts[0], counts[0] + counts[1]

    def numbers(values: Sequence[Number]) -> tuple[list[int], list[int], list[int]]:
        return offsets(values[:first]), sizes(values[first:second]), strides(values[second:])

    return numbers


def require_slice(
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    bounds: Sequence[int],
    what: str,
) -> None:
    """Raises UndefinedBehavior for a slice with elements outside of an array of these sizes."""
    for axis, (offset, size, stride, bound) in enumerate(
        zip(offsets, sizes, strides, bounds, strict=True)
    ):
        last = offset + (size - 1) * stride
        if size < 0 or (size and not (0 <= offset < bound and 0 <= last < bound)):
            raise UndefinedBehavior(
                f"the slice from {offset} of {size} elements, stride {stride}, is out of bounds of "
                f"{what} in dimension {axis}, whose sizes are {list(bounds)}"
            )


def kept_dimensions(sizes: Sequence[int], result: Sequence[int | None]) -> Sequence[int]:
    """The dimensions of a slice that its type keeps, which may leave out any of size 1."""
    try:
        return strided.kept_dimensions(sizes, result)
    except ValueError:
        raise UndefinedBehavior(f"a slice of sizes {list(sizes)} for {list(result)}") from None


def subview(op: memref.SubviewOp) -> Function:
    """A slice of a view."""
    numbers, view = slices(op), TypedView(op.result.type)
    what = named(op.source)

    def run(source: Memref, *values: Number) -> Memref:
        offsets, sizes, steps = numbers(values)
        require_slice(offsets, sizes, steps, source.sizes, what)
        start = sum(o * s for o, s in zip(offsets, source.strides, strict=True))
        if len(view.sizes) == len(sizes):
            strides = [s * step for s, step in zip(source.strides, steps, strict=True)]
            return view.checked(source.view(start, sizes, strides))
        kept = kept_dimensions(sizes, view.sizes)
        strides = [source.strides[d] * steps[d] for d in kept]
        return view.checked(source.view(start, [sizes[d] for d in kept], strides))

    return run


def view(op: memref.ViewOp) -> Function:
    """An array at a byte of an arena."""
    typed = TypedView(op.result.type)

    def run(source: Memref, shift: Number, *dynamic: Number) -> Memref:
        sizes = filled(typed.sizes, dynamic)
        place = int(shift)
        if place % ALIGNMENT:
            raise UndefinedBehavior(f"byte {place} is not a multiple of {ALIGNMENT}")
        if place < 0 or place + byte_count(typed.element, sizes) > source.sizes[0]:
            raise UndefinedBehavior(
                f"sizes {list(sizes)} at byte {place} reach beyond {source.sizes[0]} bytes"
            )
        return typed.checked(dense(source.memory, typed.element, sizes, source.start + place))

    return run


def cast_view(op: memref.CastOp) -> Function:
    """The same view under a type that says more or less."""
    typed = TypedView(op.dest.type)
    return typed.checked


def reinterpret_cast(op: memref.ReinterpretCastOp) -> Function:
    """Any view of the memory that the source's offset counts from."""
    numbers, typed = slices(op), TypedView(op.result.type)

    def run(source: Memref, *values: Number) -> Memref:
        (offset,), sizes, strides = numbers(values)
        return typed.checked(source.view(offset - source.offset, sizes, strides))

    return run


def parts_of_complex(op: UnrealizedConversionCastOp) -> Function:
    """Complex numbers as twice as many reals along the last dimension."""
    typed = TypedView(op.results[0].type)
    part = typed.element.storage.itemsize

    def run(source: Memref) -> Memref:
        if 2 * part != source.element.storage.itemsize:
            raise UndefinedBehavior(f"{source} is cast to {op.results[0].type}")
        *sizes, last = source.sizes
        strides = [*(2 * stride for stride in source.strides[:-1]), 1]
        parts = Memref(
            source.memory, source.base, source.start, typed.element, [*sizes, 2 * last], strides
        )
        return typed.checked(parts)

    return run


def reassociation(
    op: memref.CollapseShapeOp
    | memref.ExpandShapeOp
    | tensor.CollapseShapeOp
    | tensor.ExpandShapeOp,
) -> list[list[int]]:
    """The dimensions of the expanded shape that make up each one of the collapsed shape."""
    groups = cast("ArrayAttr[ArrayAttr[IntegerAttr[Any] | IntAttr]]", op.reassociation)
    return [
        [number.value.data if isinstance(number, IntegerAttr) else number.data for number in group]
        for group in groups
    ]


def collapse_shape(op: memref.CollapseShapeOp) -> Function:
    """Dimensions that lie dense in each other as one."""
    groups, typed = reassociation(op), TypedView(op.results[0].type)

    def run(source: Memref) -> Memref:
        sizes: list[int] = []
        strides: list[int] = []
        for group in groups:
            moving = [d for d in group if source.sizes[d] != 1]
            stride = source.strides[(moving or group)[-1]]
            step, size = stride, 1
            for dimension in reversed(moving):
                if source.strides[dimension] != step and 0 not in source.sizes:
                    raise UndefinedBehavior(f"dimensions {group} of {source} are not one")
                step *= source.sizes[dimension]
            for dimension in group:
                size *= source.sizes[dimension]
            sizes.append(size)
            strides.append(stride)
        return typed.checked(source.view(0, sizes, strides))

    return run


def expand_shape(op: memref.ExpandShapeOp) -> Function:
    """A dimension as several."""
    groups, typed = reassociation(op), TypedView(op.results[0].type)
    numbers = mixed(op.static_output_shape, op.output_shape)

    def run(source: Memref, *values: Number) -> Memref:
        sizes = numbers(values)
        if not groups:
            return typed.checked(source.view(0, sizes, [1] * len(sizes)))
        strides = list(row_major_strides(tuple(sizes)))
        for dimension, group in enumerate(groups):
            stride = source.strides[dimension]
            for inner in reversed(group):
                strides[inner] = stride
                stride *= sizes[inner]
        return typed.checked(source.view(0, sizes, strides))

    return run


def dim(_op: memref.DimOp) -> Function:
    """The size of a dimension."""

    def run(source: Memref, index: Number) -> Number:
        if not 0 <= index < len(source.sizes):
            raise UndefinedBehavior(f"there is no dimension {index} of {source}")
        return np.int64(source.sizes[int(index)])

    return run


def rank(_op: memref.RankOp) -> Function:
    """The number of dimensions."""
    return of_one(lambda source: np.int64(len(source.sizes)))


def same_view(_op: memref.AssumeAlignmentOp) -> Function:
    """The operand: every allocation is aligned."""
    return of_one(lambda source: source)


def copy(_op: memref.CopyOp) -> Function:
    """Copies elements to memory that none of them lies in."""

    def run(source: Memref, target: Memref) -> None:
        if source.overlaps(target) and not source.is_same(target):
            raise UndefinedBehavior("source and target overlap")
        target.array[...] = source.array

    return run


VALUES = (
    OperationTable[ValueMaker]()
    .add(memref.LoadOp, load)
    .add(memref.StoreOp, store)
    .add(memref.DeallocOp, dealloc)
    .add(memref.SubviewOp, subview)
    .add(memref.ViewOp, view)
    .add(memref.CastOp, cast_view)
    .add(memref.ReinterpretCastOp, reinterpret_cast)
    .add(UnrealizedConversionCastOp, parts_of_complex)
    .add(memref.CollapseShapeOp, collapse_shape)
    .add(memref.ExpandShapeOp, expand_shape)
    .add(memref.DimOp, dim)
    .add(memref.RankOp, rank)
    .add(memref.AssumeAlignmentOp, same_view)
    .add(memref.CopyOp, copy)
)

STRUCTURED = (
    OperationTable[StructuredMaker]()
    .add(memref.AllocOp, allocate)
    .add(memref.AllocaOp, allocate)
    .add(memref.GetGlobalOp, get_global)
)

MEMREF = Dialect(VALUES, STRUCTURED)
