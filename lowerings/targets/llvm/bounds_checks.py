"""
Checks of what operations do with memory, for `--check-bounds`.

Every access must lie inside of the memref that it names, and every view inside of what it is a view
of, as their types and sizes say; so no access leaves its buffer. `CHECKS` has a function for each
operation that reads or writes memory or makes a view; `UNCHECKED` says why others need none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from xdsl.dialects import func, memref, vector
from xdsl.ir import Operation, SSAValue

from lowerings.dialects.vector_extension import GatherOp, ScatterOp
from lowerings.ir.memref_views import viewed_by
from lowerings.targets.llvm.emitter import FunctionEmitter
from lowerings.targets.llvm.memref import add, groups, mixed, multiply
from lowerings.targets.llvm.types import INDEX, ValueType, layout_of
from lowerings.targets.llvm.vector import splat, steps
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import function_of

Check: TypeAlias = Callable[[FunctionEmitter, Operation], None]
"""Prints what is to be checked before an operation."""


# ---- conditions, which are operands of type i1: a register, or a word where they are known


def _compare(e: FunctionEmitter, predicate: str, lhs: str, rhs: str) -> str:
    """A comparison of two operands of type i64, of signed integers but for `eq` and `ult`."""
    if lhs.startswith("%") or rhs.startswith("%"):
        return e.temporary(f"icmp {predicate} i64 {lhs}, {rhs}")
    a, b = int(lhs), int(rhs)
    holds = {"eq": a == b, "sge": a >= b, "sle": a <= b, "ult": 0 <= a < b}[predicate]
    return "true" if holds else "false"


def _both(e: FunctionEmitter, lhs: str, rhs: str) -> str:
    if "false" in (lhs, rhs):
        return "false"
    if lhs == "true":
        return rhs
    return lhs if rhs == "true" else e.temporary(f"and i1 {lhs}, {rhs}")


def _either(e: FunctionEmitter, lhs: str, rhs: str) -> str:
    if "true" in (lhs, rhs):
        return "true"
    if lhs == "false":
        return rhs
    return lhs if rhs == "false" else e.temporary(f"or i1 {lhs}, {rhs}")


def _difference(e: FunctionEmitter, lhs: str, rhs: str) -> str:
    if not lhs.startswith("%") and not rhs.startswith("%"):
        return str(int(lhs) - int(rhs))
    return lhs if rhs == "0" else e.temporary(f"sub i64 {lhs}, {rhs}")


def _where(op: Operation) -> str:
    """An operation and its function, as messages begin."""
    function = function_of(op)
    return op.name if function is None else f"{op.name} in @{function}"


def _braced(text: object) -> str:
    """A text that `str.format` leaves as it is."""
    return str(text).replace("{", "{{").replace("}", "}}")


# ---- accesses


def _check_leading(
    e: FunctionEmitter,
    op: Operation,
    memory: SSAValue,
    indices: Sequence[str],
    unless: str = "false",
) -> None:
    """The indices of the first dimensions of a memref are inside, unless nothing is accessed."""
    view = e.view(memory)
    for dimension, (index, size) in enumerate(zip(indices, view.sizes, strict=False)):
        inside = _either(e, unless, _compare(e, "ult", index, size))
        message = f"{_braced(_where(op))}: index {{found}} in dimension {dimension} of "
        message += f"{_braced(memory.type)}, whose size is {{limit}}"
        e.require(op, inside, message, index, size)


def _check_run(
    e: FunctionEmitter,
    op: Operation,
    memory: SSAValue,
    indices: Sequence[SSAValue],
    lanes: int,
) -> None:
    """So many elements from an index on along the last dimension are inside."""
    view = e.view(memory)
    numbers = [e.values[index] for index in indices]
    if not numbers:
        if lanes > 1:
            _fail(e, op, f"{lanes} elements of {memory.type}")
        return
    _check_leading(e, op, memory, numbers[:-1])
    index, size = numbers[-1], view.sizes[-1]
    room = _difference(e, size, str(lanes))
    inside = _both(e, _compare(e, "sge", index, "0"), _compare(e, "sle", index, room))
    what = "index {found}" if lanes == 1 else f"{lanes} elements from index {{found}}"
    message = f"{_braced(_where(op))}: {what} in dimension {len(numbers) - 1} of "
    message += f"{_braced(memory.type)}, whose size is {{limit}}"
    e.require(op, inside, message, index, size)


def _fail(e: FunctionEmitter, op: Operation, what: str) -> None:
    e.require(op, "false", f"{_braced(_where(op))}: {_braced(what)}")


def _check_lanes(
    e: FunctionEmitter,
    op: Operation,
    memory: SSAValue,
    indices: Sequence[SSAValue],
    mask: str,
    distances: str,
    type_: ValueType,
) -> None:
    """
    The lanes of a mask are inside. `distances`: of the lanes from the index in the last dimension,
    a vector of `type_`, whose elements are i64.
    """
    view = e.view(memory)
    numbers = [e.values[index] for index in indices]
    lanes = type_.lanes or 1
    first, size = (numbers[-1], view.sizes[-1]) if numbers else ("0", "1")
    flags = f"<{lanes} x i1>"
    any_lane = e.temporary(f"call i1 @llvm.vector.reduce.or.v{lanes}i1({flags} {mask})")
    none = e.temporary(f"xor i1 {any_lane}, true")
    _check_leading(e, op, memory, numbers[:-1], none)
    places = e.temporary(f"add {type_.text} {distances}, {splat(e, first, type_)}")
    outside = e.temporary(f"icmp uge {type_.text} {places}, {splat(e, size, type_)}")
    wrong = e.temporary(f"and {flags} {outside}, {mask}")
    any_wrong = e.temporary(f"call i1 @llvm.vector.reduce.or.v{lanes}i1({flags} {wrong})")
    inside = e.temporary(f"xor i1 {any_wrong}, true")
    # The first lane that is outside; any where there is none.
    bits = e.temporary(f"bitcast {flags} {wrong} to i{lanes}")
    lane = e.temporary(f"call i{lanes} @llvm.cttz.i{lanes}(i{lanes} {bits}, i1 false)")
    bounded = e.temporary(f"urem i{lanes} {lane}, {lanes}") if lanes > 1 else "0"
    found = e.temporary(f"extractelement {type_.text} {places}, i{lanes} {bounded}")
    message = f"{_braced(_where(op))}: index {{found}} of a lane in dimension "
    message += f"{max(len(numbers), 1) - 1} of {_braced(memory.type)}, whose size is {{limit}}"
    e.require(op, inside, message, found, size)


def _counters(e: FunctionEmitter, value: SSAValue) -> ValueType:
    """The type of one i64 for each lane of a vector."""
    return e.type_of(value).with_element(INDEX.element)


def _check_load(e: FunctionEmitter, op: memref.LoadOp) -> None:
    source, *indices = op.operands
    _check_run(e, op, source, indices, 1)


def _check_store(e: FunctionEmitter, op: memref.StoreOp) -> None:
    _, destination, *indices = op.operands
    _check_run(e, op, destination, indices, 1)


def _check_vector_load(e: FunctionEmitter, op: vector.LoadOp) -> None:
    source, *indices = op.operands
    _check_run(e, op, source, indices, e.type_of(op.results[0]).lanes or 1)


def _check_vector_store(e: FunctionEmitter, op: vector.StoreOp) -> None:
    value, destination, *indices = op.operands
    _check_run(e, op, destination, indices, e.type_of(value).lanes or 1)


def _check_masked_load(e: FunctionEmitter, op: vector.MaskedLoadOp) -> None:
    source, *indices, mask, otherwise = op.operands
    type_ = _counters(e, otherwise)
    _check_lanes(e, op, source, indices, e.values[mask], steps(type_), type_)


def _check_masked_store(e: FunctionEmitter, op: vector.MaskedStoreOp) -> None:
    destination, *indices, mask, value = op.operands
    type_ = _counters(e, value)
    _check_lanes(e, op, destination, indices, e.values[mask], steps(type_), type_)


def _check_scattered(e: FunctionEmitter, op: GatherOp | ScatterOp) -> None:
    memory, *indices, distances, mask, _ = op.operands
    type_ = _counters(e, distances)
    moves = e.values[distances]
    narrow = e.type_of(distances)
    if narrow is not type_:
        moves = e.temporary(f"sext {narrow.text} {moves} to {type_.text}")
    _check_lanes(e, op, memory, indices, e.values[mask], moves, type_)


def _check_transfer(e: FunctionEmitter, op: vector.TransferReadOp | vector.TransferWriteOp) -> None:
    value = op.results[0] if isinstance(op, vector.TransferReadOp) else op.vector
    type_ = _counters(e, value)
    (in_bounds,) = op.in_bounds.data
    if in_bounds.value.data and op.mask is None:
        _check_run(e, op, op.source, op.indices, type_.lanes or 1)
        return
    mask = "splat (i1 true)" if op.mask is None else e.values[op.mask]
    if not in_bounds.value.data:
        # Lanes beyond the end are not accessed.
        index, size = e.values[op.indices[-1]], e.view(op.source).sizes[-1]
        flags = f"<{type_.lanes} x i1>"
        room = splat(e, _difference(e, size, index), type_)
        near = e.temporary(f"icmp slt {type_.text} {steps(type_)}, {room}")
        mask = e.temporary(f"and {flags} {near}, {mask}")
    _check_lanes(e, op, op.source, op.indices, mask, steps(type_), type_)


def _check_copy(e: FunctionEmitter, op: memref.CopyOp) -> None:
    source, destination = (e.view(operand) for operand in op.operands)
    _check_same_sizes(e, op, source.sizes, destination.sizes)


def _check_same_sizes(
    e: FunctionEmitter,
    op: Operation,
    found: Sequence[str],
    stated: Sequence[str],
    what: str = "size",
) -> None:
    for dimension, (lhs, rhs) in enumerate(zip(found, stated, strict=True)):
        same = "true" if lhs == rhs else _compare(e, "eq", lhs, rhs)
        message = f"{_braced(_where(op))}: {what} {{found}} of dimension {dimension}, "
        e.require(op, same, message + "where {limit} is stated", lhs, rhs)


# ---- views


def _check_subview(e: FunctionEmitter, op: memref.SubviewOp) -> None:
    """Each dimension, unless the view has no elements."""
    source = e.view(op.source)
    offsets = mixed(e, op.static_offsets, op.offsets)
    sizes = mixed(e, op.static_sizes, op.sizes)
    strides = mixed(e, op.static_strides, op.strides)
    empty = "false"
    for size in sizes:
        empty = _either(e, empty, _compare(e, "eq", size, "0"))
    for dimension, (offset, size, step, whole) in enumerate(
        zip(offsets, sizes, strides, source.sizes, strict=True)
    ):
        last = add(e, offset, multiply(e, _difference(e, size, "1"), step))
        inside = _both(e, _compare(e, "ult", offset, whole), _compare(e, "ult", last, whole))
        inside = _both(e, inside, _in_range(e, size, whole))
        message = f"{_braced(_where(op))}: element {{found}} in dimension {dimension} of "
        message += f"{_braced(op.source.type)}, whose size is {{limit}}"
        e.require(op, _either(e, empty, inside), message, last, whole)


def _in_range(e: FunctionEmitter, size: str, whole: str) -> str:
    """Whether a size is not negative and not above another; then sums of both do not overflow."""
    return _both(e, _compare(e, "sge", size, "0"), _compare(e, "sle", size, whole))


def _check_view(e: FunctionEmitter, op: memref.ViewOp) -> None:
    """The bytes from the shift on are as many as a dense array takes."""
    (whole,) = e.view(op.source).sizes
    shift = e.values[op.byte_shift]
    layout = layout_of(op.results[0].type)
    unknown = iter(op.sizes)
    sizes = [e.values[next(unknown)] if n is None else str(n) for n in layout.shape]
    needed, fits = str(layout.element.size), "true"
    for size in sizes:
        if size.startswith("%"):
            fits = _both(e, fits, _in_range(e, size, whole))
        needed, exact = _product(e, needed, size)
        fits = _both(e, fits, exact)
    room = _difference(e, whole, shift)
    fits = _both(e, fits, _compare(e, "sge", shift, "0"))
    fits = _both(e, fits, _both(e, _compare(e, "sge", room, "0"), _compare(e, "sle", needed, room)))
    message = f"{_braced(_where(op))}: byte {{found}} as the first of "
    message += f"{_braced(op.results[0].type)} in {{limit}} bytes"
    e.require(op, fits, message, shift, whole)


def _product(e: FunctionEmitter, lhs: str, rhs: str) -> tuple[str, str]:
    """The product of two numbers that are not negative, and whether it is below 2^63."""
    if not lhs.startswith("%") and not rhs.startswith("%"):
        product = int(lhs) * int(rhs)
        return (str(product), "true") if product < 1 << 63 else ("0", "false")
    pair = e.temporary(f"call {{ i64, i1 }} @llvm.smul.with.overflow.i64(i64 {lhs}, i64 {rhs})")
    wraps = e.temporary(f"extractvalue {{ i64, i1 }} {pair}, 1")
    return (
        e.temporary(f"extractvalue {{ i64, i1 }} {pair}, 0"),
        e.temporary(f"xor i1 {wraps}, true"),
    )


def _extent(e: FunctionEmitter, sizes: Sequence[str], strides: Sequence[str]) -> tuple[str, str]:
    """The places of the lowest and the highest element, counted from the first."""
    lowest, highest = "0", "0"
    for size, stride in zip(sizes, strides, strict=True):
        way = multiply(e, _difference(e, size, "1"), stride)
        lowest = add(e, lowest, _bounded(e, "smin", way))
        highest = add(e, highest, _bounded(e, "smax", way))
    return lowest, highest


def _bounded(e: FunctionEmitter, which: str, operand: str) -> str:
    """The smaller or the larger one of an operand and 0."""
    if operand.startswith("%"):
        return e.temporary(f"call i64 @llvm.{which}.i64(i64 {operand}, i64 0)")
    return str(min(int(operand), 0) if which == "smin" else max(int(operand), 0))


_STRIDED_VIEWS = (memref.SubviewOp, memref.CastOp, memref.ReinterpretCastOp)
"""Views whose offsets count from where those of their source do."""


def _check_reinterpret_cast(e: FunctionEmitter, op: memref.ReinterpretCastOp) -> None:
    """The new view stays between the lowest and the highest element of the underlying memref."""
    base_value = viewed_by(op.source, _STRIDED_VIEWS)
    base = e.view(base_value)
    if base.layout.offset is None:
        # Such an operation cannot be printed as LLVM IR either.
        return
    (offset,) = mixed(e, op.static_offsets, op.offsets)
    sizes = mixed(e, op.static_sizes, op.sizes)
    strides = mixed(e, op.static_strides, op.strides)
    empty, inside = "false", "true"
    for size in sizes:
        empty = _either(e, empty, _compare(e, "eq", size, "0"))
        inside = _both(e, inside, _compare(e, "sge", size, "0"))
    first = _difference(e, offset, str(base.layout.offset))
    lowest, highest = (add(e, first, way) for way in _extent(e, sizes, strides))
    start, end = _extent(e, base.sizes, base.strides)
    inside = _both(e, inside, _compare(e, "sge", lowest, start))
    inside = _either(e, empty, _both(e, inside, _compare(e, "sle", highest, end)))
    message = f"{_braced(_where(op))}: an element at {{found}}, the last of "
    message += f"{_braced(base_value.type)} is at {{limit}}"
    e.require(op, inside, message, highest, end)


def _check_cast(e: FunctionEmitter, op: memref.CastOp) -> None:
    """What the result's type states that the source's leaves open."""
    source, stated = e.view(op.operands[0]), layout_of(op.results[0].type)
    for what, found, numbers in (
        ("size", source.sizes, stated.shape),
        ("stride", source.strides, stated.strides),
    ):
        wanted = [f if n is None else str(n) for f, n in zip(found, numbers, strict=True)]
        _check_same_sizes(e, op, found, wanted, what)


def _check_collapse(e: FunctionEmitter, op: memref.CollapseShapeOp) -> None:
    """The dimensions that become one follow each other without a gap."""
    source = e.view(op.src)
    for group in groups(op):
        moving = [d for d in group if source.sizes[d] != "1"]
        for outer, inner in pairwise(moving):
            step = multiply(e, source.strides[inner], source.sizes[inner])
            found = source.strides[outer]
            same = "true" if step == found else _compare(e, "eq", found, step)
            same = _either(e, same, _compare(e, "eq", source.sizes[outer], "1"))
            same = _either(e, same, _compare(e, "eq", source.sizes[inner], "1"))
            for size in source.sizes:
                same = _either(e, same, _compare(e, "eq", size, "0"))
            message = f"{_braced(_where(op))}: stride {{found}} of dimension {outer}, "
            e.require(op, same, message + "where {limit} is needed", found, step)


def _check_expand(e: FunctionEmitter, op: memref.ExpandShapeOp) -> None:
    """As many elements as there were."""
    source = e.view(op.src)
    sizes = mixed(e, op.static_output_shape, op.output_shape)
    for dimension, group in enumerate(groups(op)):
        product = "1"
        for inner in group:
            product = multiply(e, product, sizes[inner])
        whole = source.sizes[dimension]
        same = "true" if product == whole else _compare(e, "eq", product, whole)
        message = f"{_braced(_where(op))}: {{found}} elements for dimension {dimension}, "
        e.require(op, same, message + "which has {limit}", product, whole)


CHECKS = (
    OperationTable[Check]()
    .add(memref.LoadOp, _check_load)
    .add(memref.StoreOp, _check_store)
    .add(memref.CopyOp, _check_copy)
    .add(memref.SubviewOp, _check_subview)
    .add(memref.ViewOp, _check_view)
    .add(memref.ReinterpretCastOp, _check_reinterpret_cast)
    .add(memref.CastOp, _check_cast)
    .add(memref.CollapseShapeOp, _check_collapse)
    .add(memref.ExpandShapeOp, _check_expand)
    .add(vector.LoadOp, _check_vector_load)
    .add(vector.StoreOp, _check_vector_store)
    .add(vector.MaskedLoadOp, _check_masked_load)
    .add(vector.MaskedStoreOp, _check_masked_store)
    .add(vector.TransferReadOp, _check_transfer)
    .add(vector.TransferWriteOp, _check_transfer)
    .add(GatherOp, _check_scattered)
    .add(ScatterOp, _check_scattered)
)

UNCHECKED: dict[type[Operation], str] = {
    memref.AllocOp: "makes memory",
    memref.AllocaOp: "makes memory",
    memref.GetGlobalOp: "has the type of the global",
    memref.DeallocOp: "accesses no element",
    memref.DimOp: "accesses no element",
    memref.AssumeAlignmentOp: "accesses no element",
    func.CallOp: "passes memrefs of the types that the function has",
}
"""Operations on memrefs that need no check, and why."""
