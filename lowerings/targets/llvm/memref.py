"""`memref`: memory and views of it, addresses of elements, and elements as registers hold them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    SymbolRefAttr,
    UnrealizedConversionCastOp,
)
from xdsl.ir import SSAValue

from lowerings.targets.llvm.basic_blocks import emit_loop
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler, View, number_of
from lowerings.targets.llvm.types import I1, INDEX, MemRefLayout, UnsupportedType, ValueType
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import long_integers


def multiply(e: FunctionEmitter, lhs: str, rhs: str) -> str:
    """The product of two operands of type i64, computed now where both are numbers."""
    return "0" if "0" in (lhs, rhs) else _computed(e, "mul", operator.mul, "1", lhs, rhs)


def add(e: FunctionEmitter, lhs: str, rhs: str) -> str:
    """The sum of two operands of type i64, computed now where both are numbers."""
    return _computed(e, "add", operator.add, "0", lhs, rhs)


def subtract(e: FunctionEmitter, lhs: str, rhs: str) -> str:
    """The difference of two operands of type i64, computed now where both are numbers."""
    return lhs if rhs == "0" else _computed(e, "sub", operator.sub, "", lhs, rhs)


def _computed(
    e: FunctionEmitter,
    opcode: str,
    compute: Callable[[int, int], int],
    neutral: str,
    lhs: str,
    rhs: str,
) -> str:
    if neutral in (lhs, rhs):
        return rhs if lhs == neutral else lhs
    if not lhs.startswith("%") and not rhs.startswith("%"):
        return str(compute(int(lhs), int(rhs)))
    return e.temporary(f"{opcode} {INDEX.text} {lhs}, {rhs}")


def move_pointer(e: FunctionEmitter, pointee: str, pointer: str, steps: Sequence[str]) -> str:
    """
    The pointer moved by `steps`: the first counts whole `pointee`s, each further one elements of
    the nested arrays. Never leaves the object that the pointer points into.
    """
    if all(step == "0" for step in steps):
        return pointer
    indices = ", ".join(f"{INDEX.text} {step}" for step in steps)
    return e.temporary(f"getelementptr inbounds {pointee}, ptr {pointer}, {indices}")


def element_address(e: FunctionEmitter, view: View, indices: Sequence[str]) -> str:
    """The address of an element; `indices` are operands of type i64, one for each dimension."""
    start = _moved(e, view, [indices[dimension] for dimension in view.layout.moving])
    return move_pointer(e, view.layout.element.memory, start, [str(view.offset)])


def _moved(e: FunctionEmitter, view: View, steps: Sequence[str]) -> str:
    """The pointer of a view moved by so many steps along the dimensions that have several."""
    layout = view.layout
    if layout.step is not None:
        return move_pointer(e, layout.step, view.pointer, steps)
    distance = "0"
    for dimension, step in zip(layout.moving, steps, strict=True):
        distance = add(e, distance, multiply(e, step, view.strides[dimension]))
    return move_pointer(e, layout.element.memory, view.pointer, [distance])


def address(e: FunctionEmitter, view: View, indices: Sequence[SSAValue]) -> str:
    """
    The address of an element whose indices are values of the program.

    Addresses that differ by a known distance, as those of a register tile do, are that far from
    one that is computed once for each block: LLVM takes its time to find out by itself.
    """
    layout, distance = view.layout, view.offset
    steps: list[str] = []
    for dimension in layout.moving:
        start, more, stride = e.values[indices[dimension]], 0, layout.strides[dimension]
        if stride is not None:
            start, more = _start_and_more(e, indices[dimension])
            distance += more * stride
        steps.append(start)
    strides = [view.strides[dimension] for dimension in layout.moving]
    key = view.pointer, layout.element.memory, *strides, *steps
    start = e.addresses.get(key)
    if start is None:
        start = e.addresses[key] = _moved(e, view, steps)
    return move_pointer(e, layout.element.memory, start, [str(distance)])


def _start_and_more(e: FunctionEmitter, index: SSAValue) -> tuple[str, int]:
    """An index as a sum: an operand that is in bounds if the sum is, and a number."""
    operand = e.values[index]
    if operand.isdecimal():
        return "0", int(operand)
    op = index.owner
    if type(op) is arith.AddiOp:
        # The sum may be known in the body of a parallel loop where its terms are not.
        start, more = e.values.get(op.lhs), e.values.get(op.rhs, "")
        if start is not None and more.isdecimal() and _is_counted(e, op.lhs):
            return start, int(more)
    return operand, 0


def _is_counted(e: FunctionEmitter, index: SSAValue) -> bool:
    """Whether an index is a loop's counter, which is not negative, or a multiple of one."""
    op = index.owner
    if type(op) is arith.MuliOp and e.values.get(op.rhs, "").isdecimal():
        index = op.lhs
    return index in e.counters


def from_memory(e: FunctionEmitter, operand: str, type_: ValueType) -> str:
    """What was read from memory, as a register holds it."""
    if type_.text == type_.memory:
        return operand
    if type_.element is I1:
        # Any byte but 0 is true, as numpy has it.
        zero = "0" if type_.lanes is None else "zeroinitializer"
        return e.temporary(f"icmp ne {type_.memory} {operand}, {zero}")
    return e.temporary(f"trunc {type_.memory} {operand} to {type_.text}")


def to_memory(e: FunctionEmitter, operand: str, type_: ValueType) -> str:
    """What a register holds, as it is written to memory."""
    if type_.text == type_.memory:
        return operand
    return e.temporary(f"zext {type_.text} {operand} to {type_.memory}")


ALLOCATION_ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""


# ---- allocation


def _define_view(
    e: FunctionEmitter,
    result: SSAValue,
    pointer: str,
    sizes: Sequence[str],
    strides: Sequence[str],
    source: View | None = None,
    offset: int = 0,
) -> None:
    """
    Makes the view `result` known. Sizes and strides that its type states are taken from there,
    the others from `sizes` and `strides`.
    """
    layout = e.layout(result.type)
    e.views[result] = View(
        layout,
        pointer,
        _stated(layout.shape, sizes),
        _stated(layout.strides, strides),
        None if source is None else source.parameter,
        offset,
    )


def _stated(known: Sequence[int | None], found: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        operand if number is None else str(number)
        for number, operand in zip(known, found, strict=True)
    )


def _dense_numbers(
    e: FunctionEmitter, layout: MemRefLayout, dynamic_sizes: Sequence[SSAValue]
) -> tuple[list[str], list[str], str]:
    """Sizes and strides of a dense array, and the number of its elements."""
    unknown = iter(dynamic_sizes)
    sizes = [e.values[next(unknown)] if n is None else str(n) for n in layout.shape]
    strides: list[str] = []
    count = "1"
    for size in reversed(sizes):
        strides.append(count)
        count = multiply(e, count, size)
    strides.reverse()
    return sizes, strides, count


def emit_alloc(e: FunctionEmitter, op: memref.AllocOp) -> None:
    result = op.results[0]
    layout = e.layout(result.type)
    sizes, strides, count = _dense_numbers(e, layout, op.dynamic_sizes)
    size = multiply(e, count, str(layout.element.size))
    # aligned_alloc wants a multiple of the alignment.
    line = ALLOCATION_ALIGNMENT
    if size.startswith("%"):
        padded = e.temporary(f"add i64 {size}, {line - 1}")
        size = e.temporary(f"and i64 {padded}, {-line}")
    else:
        size = str((int(size) + line - 1) // line * line)
    e.symbols.declare("aligned_alloc", "declare noalias ptr @aligned_alloc(i64 allocalign, i64)")
    pointer = e.temporary(f"call align {line} ptr @aligned_alloc(i64 {line}, i64 {size})")
    _define_view(e, result, pointer, sizes, strides)


def emit_dealloc(e: FunctionEmitter, op: memref.DeallocOp) -> None:
    e.symbols.declare("free", "declare void @free(ptr)")
    e.emit(f"call void @free(ptr {e.view(op.operands[0]).pointer})")


def emit_alloca(e: FunctionEmitter, op: memref.AllocaOp) -> None:
    """A slot of the stack frame, allocated once in the entry block even for an alloca in a loop."""
    result = op.results[0]
    layout = e.layout(result.type)
    if not layout.is_static:
        raise UnsupportedType(f"memref.alloca of unknown size: {result.type}")
    pointer = e.name()
    e.stack_slots.append(
        f"  {pointer} = alloca i8, i64 {layout.span()}, align {ALLOCATION_ALIGNMENT}"
    )
    e.bind(result, [pointer])


def emit_get_global(e: FunctionEmitter, op: memref.GetGlobalOp) -> None:
    name = cast(SymbolRefAttr, op.properties["name"]).string_value()
    if name not in e.symbols.globals:
        raise UnsupportedType(f"there is no memref.global @{name}")
    pointer, is_address_variable = e.symbols.globals[name]
    if is_address_variable:
        node = e.symbols.metadata("!{}")
        alignment = e.symbols.metadata(f"!{{i64 {ALLOCATION_ALIGNMENT}}}")
        pointer = e.temporary(
            f"load ptr, ptr {pointer}, align 8, !invariant.load {node}, !nonnull {node}, "
            f"!align {alignment}"
        )
    e.bind(op.results[0], [pointer])


# ---- views


def mixed(
    e: FunctionEmitter, static: DenseArrayBase[Any], dynamic: Sequence[SSAValue]
) -> list[str]:
    """The operands of a list in which some numbers are known and others are values."""
    unknown = iter(dynamic)
    return [
        e.values[next(unknown)] if number == DYNAMIC_INDEX else str(number)
        for number in long_integers(static)
    ]


def slice_numbers(
    e: FunctionEmitter, op: memref.SubviewOp | memref.ReinterpretCastOp
) -> Sequence[list[str]]:
    """The operands that are the offsets, the sizes and the strides of a view."""
    static = op.static_offsets, op.static_sizes, op.static_strides
    if len(op.operands) == 1:
        return [[*map(str, long_integers(numbers))] for numbers in static]
    dynamic = op.offsets, op.sizes, op.strides
    return [mixed(e, numbers, values) for numbers, values in zip(static, dynamic, strict=True)]


def _kept_dimensions(op: memref.SubviewOp, shape: Sequence[int | None]) -> list[int]:
    """
    The dimensions of a subview that its type keeps, where the type may leave out any of size 1.
    Which one of several of size 1 makes no difference, for their index is always 0.
    """
    kept: list[int] = []
    sizes = long_integers(op.static_sizes)
    for dimension, size in enumerate(sizes):
        stated = shape[len(kept)] if len(kept) < len(shape) else -1
        if stated == (None if size == DYNAMIC_INDEX else size):
            kept.append(dimension)
        elif size != 1:
            break
    if len(kept) < len(shape):
        raise UnsupportedType(f"result type {op.result.type} for sizes {list(sizes)}")
    return kept


def emit_subview(e: FunctionEmitter, op: memref.SubviewOp) -> None:
    source, result = e.view(op.operands[0]), op.results[0]
    offsets, sizes, steps = slice_numbers(e, op)
    # The offset of a dimension of size 1 is 0, as its index is.
    pointer = element_address(e, source, offsets)
    layout = e.layout(result.type)
    kept = _kept_dimensions(op, layout.shape)
    strides = [
        multiply(e, source.strides[dimension], steps[dimension]) if stated is None else ""
        for dimension, stated in zip(kept, layout.strides, strict=True)
    ]
    _define_view(e, result, pointer, [sizes[dimension] for dimension in kept], strides, source)


def emit_view(e: FunctionEmitter, op: memref.ViewOp) -> None:
    source, result = e.view(op.source), op.results[0]
    pointer = element_address(e, source, [e.values[op.byte_shift]])
    sizes, strides, _ = _dense_numbers(e, e.layout(result.type), op.sizes)
    _define_view(e, result, pointer, sizes, strides, source)


def emit_cast(e: FunctionEmitter, op: memref.CastOp) -> None:
    source = e.view(op.operands[0])
    numbers = source.sizes, source.strides
    _define_view(e, op.results[0], source.pointer, *numbers, source, source.offset)


def emit_parts_of_complex(e: FunctionEmitter, op: UnrealizedConversionCastOp) -> None:
    """Views complex numbers as pairs of reals in the same memory; other casts are rejected."""
    source, result = op.operands[0], op.results[0]
    view = e.view(source)
    if view.layout.element.size != 2 * e.layout(result.type).element.size:
        raise UnsupportedType(f"a cast of {source.type} to {result.type}")
    strides = [multiply(e, stride, "2") for stride in view.strides[:-1]]
    numbers = [*view.sizes[:-1], ""], [*strides, "1"]
    _define_view(e, result, view.pointer, *numbers, view, 2 * view.offset)


def emit_reinterpret_cast(e: FunctionEmitter, op: memref.ReinterpretCastOp) -> None:
    """The new offset counts from the start of the memory, so the old one must be known."""
    source, result = e.view(op.source), op.results[0]
    if source.layout.offset is None:
        raise UnsupportedType(f"the source's offset must be static: {op.source.type}")
    (offset,), sizes, strides = slice_numbers(e, op)
    distance = add(e, offset, str(source.offset - source.layout.offset))
    pointer, number = source.pointer, number_of(distance)
    goes_on = all(stride is not None and stride >= 0 for stride in e.layout(result.type).strides)
    if number is None or number < 0 or not goes_on:
        pointer, number = move_pointer(e, source.layout.element.memory, pointer, [distance]), 0
    _define_view(e, result, pointer, sizes, strides, source, number)


def emit_extract_strided_metadata(e: FunctionEmitter, op: memref.ExtractStridedMetaDataOp) -> None:
    """The memory starts where the memref does, for its pointer is all that is known of it."""
    source = e.view(op.source)
    _define_view(e, op.base_buffer, source.pointer, (), (), source, source.offset)
    numbers = "0", *source.sizes, *source.strides
    e.values |= zip(op.results[1:], numbers, strict=True)


def groups(op: memref.CollapseShapeOp | memref.ExpandShapeOp) -> list[list[int]]:
    """The dimensions of the expanded shape that make up each one of the collapsed shape."""
    groups = cast("ArrayAttr[ArrayAttr[IntegerAttr[Any] | IntAttr]]", op.reassociation)
    return [
        [number.value.data if isinstance(number, IntegerAttr) else number.data for number in group]
        for group in groups
    ]


def emit_collapse_shape(e: FunctionEmitter, op: memref.CollapseShapeOp) -> None:
    source, result = e.view(op.src), op.results[0]
    sizes: list[str] = []
    strides: list[str] = []
    for group in groups(op):
        size = "1"
        for dimension in group:
            size = multiply(e, size, source.sizes[dimension])
        sizes.append(size)
        # The innermost dimension that moves states the step of the whole group.
        moving = [d for d in group if source.layout.shape[d] != 1] or group
        strides.append(source.strides[moving[-1]])
    _define_view(e, result, source.pointer, sizes, strides, source, source.offset)


def emit_expand_shape(e: FunctionEmitter, op: memref.ExpandShapeOp) -> None:
    source, result = e.view(op.src), op.results[0]
    sizes = mixed(e, op.static_output_shape, op.output_shape)
    strides = [""] * len(sizes)
    for dimension, group in enumerate(groups(op)):
        stride = source.strides[dimension]
        for inner in reversed(group):
            strides[inner] = stride
            stride = multiply(e, stride, sizes[inner])
    _define_view(e, result, source.pointer, sizes, strides, source, source.offset)


def emit_dim(e: FunctionEmitter, op: memref.DimOp) -> None:
    source, index = op.operands
    dimension = number_of(e.values[index])
    sizes = e.view(source).sizes
    if dimension is None or not 0 <= dimension < len(sizes):
        raise UnsupportedType("the dimension must be a constant below the rank")
    e.values[op.results[0]] = sizes[dimension]


def emit_assume_alignment(e: FunctionEmitter, op: memref.AssumeAlignmentOp) -> None:
    view, alignment = e.view(op.memref), op.alignment.value.data
    pointer = e.start_of(view)
    e.emit(f'call void @llvm.assume(i1 true) [ "align"(ptr {pointer}, i64 {alignment}) ]')
    e.views[op.results[0]] = replace(view, layout=e.layout(op.results[0].type))


# ---- copying


def emit_copy(e: FunctionEmitter, op: memref.CopyOp) -> None:
    """A loop over the outer dimensions; the inner ones that lie dense on both sides at once."""
    source, destination = (e.view(operand) for operand in op.operands)
    if 0 in source.layout.shape or 0 in destination.layout.shape:
        return
    dimensions = [d for d, size in enumerate(source.sizes) if size != "1"]
    run = 1
    while dimensions and _continues_run(source, destination, dimensions[-1], run):
        run *= int(source.sizes[dimensions.pop()])
    e.mark_stored(destination)
    _copy_runs(e, source, destination, dimensions, ["0"] * len(source.sizes), run)


def _continues_run(source: View, destination: View, dimension: int, run: int) -> bool:
    """Whether `run` adjacent elements are followed by those of the next index."""
    return (
        source.layout.shape[dimension] is not None
        and source.layout.strides[dimension] == run
        and destination.layout.strides[dimension] == run
    )


def _copy_runs(
    e: FunctionEmitter,
    source: View,
    destination: View,
    dimensions: Sequence[int],
    indices: list[str],
    run: int,
) -> None:
    if dimensions:
        dimension, *inner = dimensions

        def body(index: str, _: Sequence[str]) -> list[str]:
            inside = indices.copy()
            inside[dimension] = index
            _copy_runs(e, source, destination, inner, inside, run)
            return []

        emit_loop(e, INDEX, "0", source.sizes[dimension], "1", [], body)
        return
    element = source.layout.element
    read_from = element_address(e, source, indices)
    write_to = element_address(e, destination, indices)
    if run == 1:
        number = e.temporary(f"load {element.memory}, ptr {read_from}, align {element.alignment}")
        e.emit(f"store {element.memory} {number}, ptr {write_to}, align {element.alignment}")
        return
    e.emit(
        f"call void @llvm.memcpy.p0.p0.i64(ptr align {element.alignment} {write_to}, "
        f"ptr align {element.alignment} {read_from}, i64 {run * element.size}, i1 false)"
    )


VIEWS = (
    OperationTable[Handler]()
    .add(memref.SubviewOp, emit_subview)
    .add(memref.ViewOp, emit_view)
    .add(memref.CastOp, emit_cast)
    .add(memref.ReinterpretCastOp, emit_reinterpret_cast)
    .add(memref.ExtractStridedMetaDataOp, emit_extract_strided_metadata)
    .add(memref.CollapseShapeOp, emit_collapse_shape)
    .add(memref.ExpandShapeOp, emit_expand_shape)
)
"""The operations that do no more than say what lies where in memory."""

HANDLERS = (
    OperationTable[Handler](VIEWS)
    .add(memref.AllocOp, emit_alloc)
    .add(memref.DeallocOp, emit_dealloc)
    .add(memref.AllocaOp, emit_alloca)
    .add(memref.GetGlobalOp, emit_get_global)
    .add(UnrealizedConversionCastOp, emit_parts_of_complex)
    .add(memref.DimOp, emit_dim)
    .add(memref.AssumeAlignmentOp, emit_assume_alignment)
    .add(memref.CopyOp, emit_copy)
)
