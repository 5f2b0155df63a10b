"""`tensor`: arrays that never change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute

from lowerings.interpreter.elements import Number, UndefinedBehavior, element_of, require_inside
from lowerings.interpreter.machine import (
    Dialect,
    Frame,
    FrameFunction,
    Function,
    StructuredMaker,
    Translator,
    ValueMaker,
    single_block,
)
from lowerings.interpreter.memory import byte_count
from lowerings.interpreter.memref import (
    filled,
    kept_dimensions,
    mixed,
    named,
    reassociation,
    require_slice,
    slices,
)
from xla_dialect.literals.arrays import Array
from xla_dialect.xdsl.operation_table import OperationTable


def sizes_of(type_: Attribute) -> tuple[int | None, ...]:
    """The sizes that a type states."""
    sizes = cast("TensorType[Attribute]", type_).get_shape()
    return tuple(None if size == DYNAMIC_INDEX else size for size in sizes)


def empty(translator: Translator, op: tensor.EmptyOp) -> FrameFunction:
    """A tensor of arbitrary elements."""
    machine, element = translator.machine, element_of(op.tensor.type)
    stated = sizes_of(op.tensor.type)

    def run(_frame: Frame, *dynamic: Number) -> Array:
        sizes = filled(stated, dynamic)
        memory = machine.arbitrary_bytes(byte_count(element, sizes))
        if element.dtype.kind == "b":
            memory &= np.uint8(1)
        return element.loaded(memory.view(element.storage)).reshape(sizes)

    return run


def extract(op: tensor.ExtractOp) -> Function:
    """The number at an index."""
    what = named(op.tensor)

    def run(source: Array, *indices: Number) -> Number:
        require_inside(indices, source.shape, what)
        return source[indices]

    return run


def insert(op: tensor.InsertOp) -> Function:
    """The tensor with one other number."""
    what = named(op.dest)

    def run(scalar: Number, target: Array, *indices: Number) -> Array:
        require_inside(indices, target.shape, what)
        result = np.array(target)
        result[indices] = scalar
        return result

    return run


def _places(
    offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> tuple[slice, ...]:
    return tuple(
        slice(o, o + (n - 1) * s + 1, s) if n else slice(0, 0)
        for o, n, s in zip(offsets, sizes, strides, strict=True)
    )


def extract_slice(op: tensor.ExtractSliceOp) -> Function:
    """A slice, perhaps without some dimensions of size 1."""
    numbers, stated, what = slices(op), sizes_of(op.result.type), named(op.source)

    def run(source: Array, *values: Number) -> Array:
        offsets, sizes, strides = numbers(values)
        require_slice(offsets, sizes, strides, source.shape, what)
        kept = kept_dimensions(sizes, stated)
        return source[_places(offsets, sizes, strides)].reshape([sizes[d] for d in kept])

    return run


def insert_slice(op: tensor.InsertSliceOp) -> Function:
    """The tensor with a slice replaced."""
    numbers, what = slices(op), named(op.dest)

    def run(source: Array, target: Array, *values: Number) -> Array:
        offsets, sizes, strides = numbers(values)
        require_slice(offsets, sizes, strides, target.shape, what)
        kept_dimensions(sizes, source.shape)
        result = np.array(target)
        result[_places(offsets, sizes, strides)] = source.reshape(sizes)
        return result

    return run


def collapse_shape(op: tensor.CollapseShapeOp) -> Function:
    """Neighbouring dimensions as one."""
    groups = reassociation(op)

    def run(source: Array) -> Array:
        sizes = [int(np.prod([source.shape[d] for d in group])) for group in groups]
        return source.reshape(sizes)

    return run


def expand_shape(op: tensor.ExpandShapeOp) -> Function:
    """A dimension as several."""
    numbers = mixed(op.static_output_shape, op.dynamic_output_shape)

    def run(source: Array, *values: Number) -> Array:
        return source.reshape(numbers(values))

    return run


def reshape(_op: tensor.ReshapeOp) -> Function:
    """The same elements in row-major order of other sizes."""

    def run(source: Array, shape: Array) -> Array:
        sizes = [int(size) for size in shape]
        if int(np.prod(sizes)) != source.size:
            raise UndefinedBehavior(f"{source.size} elements as {sizes}")
        return source.reshape(sizes)

    return run


def cast_tensor(op: tensor.CastOp) -> Function:
    """The same tensor under a type that says more or less."""
    stated = sizes_of(op.dest.type)

    def run(source: Array) -> Array:
        if any(n is not None and n != m for n, m in zip(stated, source.shape, strict=True)):
            raise UndefinedBehavior(f"sizes {list(source.shape)} as {op.dest.type}")
        return source

    return run


def concat(op: tensor.ConcatOp) -> Function:
    """Tensors one after the other."""
    axis = op.dim.value.data

    def run(*sources: Array) -> Array:
        return np.concatenate(sources, axis)

    return run


def dim(_op: tensor.DimOp) -> Function:
    """The size of a dimension."""

    def run(source: Array, index: Number) -> Number:
        if not 0 <= index < source.ndim:
            raise UndefinedBehavior(f"there is no dimension {index} of rank {source.ndim}")
        return np.int64(source.shape[int(index)])

    return run


def from_elements(op: tensor.FromElementsOp) -> Function:
    """The tensor of scalars in row-major order."""
    dtype, sizes = element_of(op.result.type).dtype, filled(sizes_of(op.result.type), ())

    def run(*elements: Number) -> Array:
        return np.array(elements, dtype).reshape(sizes)

    return run


def splat(op: tensor.SplatOp) -> Function:
    """One scalar everywhere."""
    dtype, stated = element_of(op.result.type).dtype, sizes_of(op.result.type)

    def run(scalar: Number, *dynamic: Number) -> Array:
        return np.full(filled(stated, dynamic), scalar, dtype)

    return run


def pad(translator: Translator, op: tensor.PadOp) -> FrameFunction:
    """The tensor with a frame, whose elements are computed from their indices."""
    low, high = mixed(op.static_low, op.low), mixed(op.static_high, op.high)
    count = len(op.low)
    code = translator.block(single_block(op.region))
    dtype = element_of(op.result.type).dtype

    def run(frame: Frame, source: Array, *values: Number) -> Array:
        before, after = low(values[:count]), high(values[count:])
        if any(width < 0 for width in (*before, *after)):
            raise UndefinedBehavior(f"padding {before} and {after}")
        sizes = [b + n + a for b, n, a in zip(before, source.shape, after, strict=True)]
        (padding,) = code.run(frame, np.indices(sizes, np.int64, sparse=True))
        result = np.empty(sizes, dtype)
        result[...] = padding
        result[_places(before, source.shape, [1] * source.ndim)] = source
        return result

    return run


VALUES = (
    OperationTable[ValueMaker]()
    .add(tensor.CastOp, cast_tensor)
    .add(tensor.CollapseShapeOp, collapse_shape)
    .add(tensor.ConcatOp, concat)
    .add(tensor.DimOp, dim)
    .add(tensor.ExpandShapeOp, expand_shape)
    .add(tensor.ExtractOp, extract)
    .add(tensor.ExtractSliceOp, extract_slice)
    .add(tensor.FromElementsOp, from_elements)
    .add(tensor.InsertOp, insert)
    .add(tensor.InsertSliceOp, insert_slice)
    .add(tensor.ReshapeOp, reshape)
    .add(tensor.SplatOp, splat)
)

STRUCTURED = OperationTable[StructuredMaker]().add(tensor.EmptyOp, empty).add(tensor.PadOp, pad)

TENSOR = Dialect(VALUES, STRUCTURED, frozenset({"tensor.yield"}))
