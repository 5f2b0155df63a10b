"""`memref`: memory, and views of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, UnrealizedConversionCastOp

from lowerings.interpreter.elements import (
    Number,
    UndefinedBehavior,
    dense_values,
    require_inside,
)
from lowerings.interpreter.machine import (
    Dialect,
    Frame,
    FrameFunction,
    Function,
    ModuleInterpreter,
    StructuredMaker,
    ValueMaker,
    of_one,
)
from lowerings.interpreter.memory import Memref, TypedView, byte_count, dense, memref_at
from lowerings.interpreter.views import VIEWS, filled, named, slices
from xla_dialect.diagnostics import XlaError
from xla_dialect.xdsl.operation_table import OperationTable

ALIGNMENT = 64
"""Bytes that the place of a view in an arena is a multiple of."""


def load(op: memref.LoadOp) -> Function:
    """The number at an index."""
    what = named(op.memref)

    def run(source: Memref, *indices: Number) -> Number:
        require_inside(indices, source.array.shape, what)
        return source.element.loaded(source.array[indices])

    return run


def store(op: memref.StoreOp) -> Function:
    """Writes one number."""
    what = named(op.memref)

    def run(value: Number, target: Memref, *indices: Number) -> None:
        require_inside(indices, target.array.shape, what)
        target.put(indices, value)

    return run


# Allocation


def allocate(machine: ModuleInterpreter, op: memref.AllocOp | memref.AllocaOp) -> FrameFunction:
    """Memory that holds anything."""
    view = TypedView(op.memref.type)

    def run(_frame: Frame, *dynamic: Number) -> Memref:
        sizes = filled(view.sizes, dynamic)
        memory = machine.arbitrary_bytes(byte_count(view.element, sizes))
        return view.checked(dense(memory, view.element, sizes))

    return run


def get_global(machine: ModuleInterpreter, op: memref.GetGlobalOp) -> FrameFunction:
    """A constant in memory: a copy for each use, so that a write has no effect on others."""
    name = op.name_.string_value()
    found = machine.globals.get(name)
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


# Views of memory that tensors have not


def view(op: memref.ViewOp) -> Function:
    """An array at a byte of an arena."""
    typed = TypedView(op.result.type)

    def run(source: Memref, shift: Number, *dynamic: Number) -> Memref:
        sizes = filled(typed.sizes, dynamic)
        place, arena = int(shift), source.array
        if place % ALIGNMENT:
            raise UndefinedBehavior(f"byte {place} is not a multiple of {ALIGNMENT}")
        if place < 0 or place + byte_count(typed.element, sizes) > arena.size:
            raise UndefinedBehavior(
                f"sizes {list(sizes)} at byte {place} reach beyond {arena.size} bytes"
            )
        return typed.checked(dense(arena[place:].view(np.uint8), typed.element, sizes))

    return run


def reinterpret_cast(op: memref.ReinterpretCastOp) -> Function:
    """Any view of the memory that the source's offset counts from."""
    numbers, typed = slices(op), TypedView(op.result.type)

    def run(source: Memref, *values: Number) -> Memref:
        (offset,), sizes, strides = numbers(values)
        return typed.checked(memref_at(source.memory, source.element, offset, sizes, strides))

    return run


def strided_metadata(_op: memref.ExtractStridedMetaDataOp) -> Function:
    """Where the offset of a view counts from, and its layout."""

    def run(source: Memref) -> Sequence[Memref | int]:
        base = memref_at(source.memory, source.element, 0, (), ())
        return base, source.offset, *source.array.shape, *source.strides

    return run


def parts_of_complex(op: UnrealizedConversionCastOp) -> Function:
    """Complex numbers as twice as many reals along the last dimension."""
    typed = TypedView(op.results[0].type)
    part = typed.element

    def run(source: Memref) -> Memref:
        if 2 * part.storage.itemsize != source.array.itemsize:
            raise UndefinedBehavior(f"complex numbers are cast to {op.results[0].type}")
        return typed.checked(replace(source, array=source.array.view(part.storage), element=part))

    return run


def rank(_op: memref.RankOp) -> Function:
    """The number of dimensions."""
    return of_one(lambda source: np.int64(source.array.ndim))


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
    OperationTable[ValueMaker](VIEWS)
    .add(memref.LoadOp, load)
    .add(memref.StoreOp, store)
    .add(memref.DeallocOp, dealloc)
    .add(memref.ViewOp, view)
    .add(memref.ReinterpretCastOp, reinterpret_cast)
    .add(memref.ExtractStridedMetaDataOp, strided_metadata)
    .add(UnrealizedConversionCastOp, parts_of_complex)
    .add(memref.RankOp, rank)
    .add(memref.AssumeAlignmentOp, same_view)
    .add(memref.CopyOp, copy)
)

STRUCTURED = (
    OperationTable[StructuredMaker]()
    .add((memref.AllocOp, memref.AllocaOp), allocate)
    .add(memref.GetGlobalOp, get_global)
)

MEMREF = Dialect(VALUES, STRUCTURED)
