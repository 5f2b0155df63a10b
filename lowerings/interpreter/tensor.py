"""`tensor`: arrays that never change."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import tensor

from lowerings.interpreter.elements import Number, UndefinedBehavior, element_of, require_inside
from lowerings.interpreter.machine import (
    Dialect,
    Frame,
    FrameFunction,
    Function,
    ModuleInterpreter,
    StructuredMaker,
    ValueMaker,
    single_block,
)
from lowerings.interpreter.memory import byte_count
from lowerings.interpreter.views import (
    VIEWS,
    box,
    filled,
    kept_dimensions,
    mixed,
    named,
    sizes_of,
    slices,
)
from xla_dialect.literals.arrays import Array
from xla_dialect.xdsl.operation_table import OperationTable


def empty(machine: ModuleInterpreter, op: tensor.EmptyOp) -> FrameFunction:
    """A tensor of arbitrary elements."""
    element = element_of(op.tensor.type)
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


def insert_slice(op: tensor.InsertSliceOp) -> Function:
    """The tensor with a slice replaced."""
    numbers, what = slices(op), named(op.dest)

    def run(source: Array, target: Array, *values: Number) -> Array:
        offsets, sizes, strides = numbers(values)
        places = box(offsets, sizes, strides, target.shape, what)
        kept_dimensions(sizes, source.shape)
        result = np.array(target)
        result[places] = source.reshape(sizes)
        return result

    return run


def reshape(_op: tensor.ReshapeOp) -> Function:
    """The same elements in row-major order of other sizes."""

    def run(source: Array, shape: Array) -> Array:
        sizes = [int(size) for size in shape]
        if int(np.prod(sizes)) != source.size:
            raise UndefinedBehavior(f"{source.size} elements as {sizes}")
        return source.reshape(sizes)

    return run


def concat(op: tensor.ConcatOp) -> Function:
    """Tensors one after the other."""
    axis = op.dim.value.data

    def run(*sources: Array) -> Array:
        return np.concatenate(sources, axis)

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


def pad(machine: ModuleInterpreter, op: tensor.PadOp) -> FrameFunction:
    """The tensor with a frame, whose elements are computed from their indices."""
    low, high = mixed(op.static_low, op.low), mixed(op.static_high, op.high)
    count = len(op.low)
    code = machine.code(single_block(op.region))
    dtype = element_of(op.result.type).dtype

    def run(frame: Frame, source: Array, *values: Number) -> Array:
        before, after = low(values[:count]), high(values[count:])
        if any(width < 0 for width in (*before, *after)):
            raise UndefinedBehavior(f"padding {before} and {after}")
        sizes = [b + n + a for b, n, a in zip(before, source.shape, after, strict=True)]
        (padding,) = code.run(frame, np.indices(sizes, np.int64, sparse=True))
        result = np.empty(sizes, dtype)
        result[...] = padding
        result[box(before, source.shape, [1] * source.ndim, sizes, "the result")] = source
        return result

    return run


VALUES = (
    OperationTable[ValueMaker](VIEWS)
    .add(tensor.ConcatOp, concat)
    .add(tensor.ExtractOp, extract)
    .add(tensor.FromElementsOp, from_elements)
    .add(tensor.InsertOp, insert)
    .add(tensor.InsertSliceOp, insert_slice)
    .add(tensor.ReshapeOp, reshape)
    .add(tensor.SplatOp, splat)
)

STRUCTURED = OperationTable[StructuredMaker]().add(tensor.EmptyOp, empty).add(tensor.PadOp, pad)

TENSOR = Dialect(VALUES, STRUCTURED, frozenset({"tensor.yield"}))
