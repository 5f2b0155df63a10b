"""Addresses of elements, and the difference between a register and the memory it is kept in."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from lowerings.targets.llvm.emitter import FunctionEmitter, View
from lowerings.targets.llvm.types import I1, INDEX, ValueType


def multiply(e: FunctionEmitter, lhs: str, rhs: str) -> str:
    """The product of two operands of type i64, computed now where both are numbers."""
    if lhs == "1" or rhs == "0":
        return rhs
    if rhs == "1" or lhs == "0":
        return lhs
    if not lhs.startswith("%") and not rhs.startswith("%"):
        return str(int(lhs) * int(rhs))
    return e.temporary(f"mul {INDEX.text} {lhs}, {rhs}")


def add(e: FunctionEmitter, lhs: str, rhs: str) -> str:
    """The sum of two operands of type i64, computed now where both are numbers."""
    if lhs == "0":
        return rhs
    if rhs == "0":
        return lhs
    if not lhs.startswith("%") and not rhs.startswith("%"):
        return str(int(lhs) + int(rhs))
    return e.temporary(f"add {INDEX.text} {lhs}, {rhs}")


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
    layout = view.layout
    stepping = layout.stepping
    if stepping is not None:
        steps = [indices[dimension] for dimension in stepping.dimensions]
        return move_pointer(e, stepping.pointee, view.pointer, steps)
    distance = "0"
    for size, stride, index in zip(layout.shape, view.strides, indices, strict=True):
        if size != 1:
            distance = add(e, distance, multiply(e, index, stride))
    return move_pointer(e, layout.element.memory, view.pointer, [distance])


def address(e: FunctionEmitter, view: View, indices: Sequence[SSAValue]) -> str:
    """
    The address of an element whose indices are values of the program.

    Addresses that differ by a known distance, as those of a register tile do, are that far from
    one that is computed once for each block: LLVM takes its time to find out by itself.
    """
    layout, values = view.layout, e.values
    stepping = layout.stepping
    if stepping is None:
        return element_address(e, view, [values[index] for index in indices])
    distance = 0
    steps: list[str] = []
    for dimension in stepping.dimensions:
        start, more = _start_and_more(e, indices[dimension])
        stride = layout.strides[dimension]
        assert stride is not None
        steps.append(start)
        distance += more * stride
    key = view.pointer, stepping.pointee, *steps
    start = e.addresses.get(key)
    if start is None:
        start = e.addresses[key] = move_pointer(e, stepping.pointee, view.pointer, steps)
    return move_pointer(e, layout.element.memory, start, [str(distance)])


def _start_and_more(e: FunctionEmitter, index: SSAValue) -> tuple[str, int]:
    """An index as a sum: an operand that is in bounds if the sum is, and a number."""
    known = e.constants.get(index)
    if known is not None and known >= 0:
        return "0", known
    op = index.owner
    if type(op) is arith.AddiOp and op.lhs in e.counters:
        more = e.constants.get(op.rhs)
        if more is not None and more >= 0:
            return e.values[op.lhs], more
    return e.values[index], 0


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


def load(e: FunctionEmitter, result: SSAValue, pointer: str) -> None:
    """Reads `result`, a scalar or vector whose elements lie side by side."""
    type_ = e.type_of(result)
    read = e.temporary(f"load {type_.memory}, ptr {pointer}, align {type_.element.alignment}")
    e.values[result] = from_memory(e, read, type_)


def store(e: FunctionEmitter, value: SSAValue, pointer: str, view: View) -> None:
    """Writes a scalar or vector whose elements lie side by side to memory of `view`."""
    type_ = e.type_of(value)
    operand = to_memory(e, e.values[value], type_)
    e.emit(f"store {type_.memory} {operand}, ptr {pointer}, align {type_.element.alignment}")
    e.mark_stored(view)
