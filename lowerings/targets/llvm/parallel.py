"""
Parallel loops on several threads.

What a loop does becomes a function of its own, the task. It takes the values that it uses from
around the loop, the number of the first iteration and that of the one after the last. These values
pass through a struct on the stack of the thread that starts the loop; trampolines, one for each
list of captured types, load them and call the task.

The runtime calls those (`lowerings/runtime/thread_pool.c`). On how many threads is looked up when
the loop starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from lowerings.ir.scalar_attributes import constant_integer
from lowerings.runtime import PARALLEL_FOR, SHARED_STARTS, start_of_words
from lowerings.targets.llvm.addressing import add, multiply
from lowerings.targets.llvm.attribute_groups import APART, GLUE
from lowerings.targets.llvm.constants import symbol
from lowerings.targets.llvm.emitter import Component, FunctionEmitter, View
from lowerings.targets.llvm.interface import THREADS
from lowerings.targets.llvm.loops import Bound, trip_count
from lowerings.targets.llvm.types import INDEX, POINTER
from xla_dialect.xdsl.traversal import free_values

EmitIterations: TypeAlias = Callable[[FunctionEmitter, Bound, Bound], object]
"""Prints the loops, the outermost from a first to below a last value of its variable."""


@dataclass(frozen=True)
class _Captured:
    """A register that a task is given: its type, its names outside and inside."""

    type: str
    outside: str
    inside: str
    parameter: int | None = None
    """Of a pointer, the argument of the enclosing function whose memory it points into."""


def emit_task(e: FunctionEmitter, op: scf.ParallelOp, emit_iterations: EmitIterations) -> None:
    """Prints a parallel loop without reductions as a task, and its start."""
    lower, upper, step = (
        Bound(e.values[values[0]], e.constants.get(values[0]))
        for values in (op.lowerBound, op.upperBound, op.step)
    )
    count = trip_count(lower, upper, step)
    if count is not None and count < 2:
        emit_iterations(e, lower, upper)
        return
    inner = FunctionEmitter(e.handlers, e.symbols, replace(e.function, is_task=True))
    captured = _capture(e, inner, op)
    lower, step = (
        Bound(inner.values[v[0]], b.known) for v, b in ((op.lowerBound, lower), (op.step, step))
    )
    first, last = inner.name(), inner.name()
    start, end = (Bound.of(_value_at(inner, lower, step, number)) for number in (first, last))
    profile = e.symbols.profile
    row = None if profile is None else profile.row_of_task(e)
    if profile is None or row is None:
        emit_iterations(inner, start, end)
    else:
        started = profile.start(inner)
        emit_iterations(inner, start, end)
        profile.end_task(inner, started, row)
    e.stored_parameters |= inner.stored_parameters
    e.stores_through_unknown |= inner.stores_through_unknown
    parameters = [f"{c.type} {_facts(inner, captured, c)}{c.inside}" for c in captured]
    parameters += [f"{INDEX.text} {first}", f"{INDEX.text} {last}"]
    task = e.symbols.new_symbol(f"{e.function.name}.task")
    e.symbols.define_task(
        [
            f"define internal void {task}({', '.join(parameters)}) {APART} {{",
            "entry:",
            *inner.stack_slots,
            *inner.lines,
            "  ret void",
            "}",
        ]
    )
    values = _structure(e, task, captured)
    number = str(count) if count is not None else _number_of_iterations(e, op)
    threads = e.temporary(f"load ptr, ptr {symbol(THREADS)}, align 8")
    threads = e.temporary(f"load i64, ptr {threads}, align 8")
    start = _start(e, [each.type for each in captured])
    e.symbols.declare(PARALLEL_FOR, f"declare void @{PARALLEL_FOR}(i64, ptr, ptr, i64)")
    e.emit(f"call void @{PARALLEL_FOR}(i64 {threads}, ptr {start}, ptr {values}, i64 {number})")
    if e.guards is not None:
        e.guards.after_task(e)


def is_task(op: scf.ParallelOp) -> bool:
    """
    Whether a loop is a task where there are threads: none that reduces, or is known to have less
    than two iterations.
    """
    first = (values[0] for values in (op.lowerBound, op.upperBound, op.step))
    count = trip_count(*(Bound("", constant_integer(value)) for value in first))
    return not op.initVals and (count is None or count > 1)


def _values_from_outside(op: scf.ParallelOp) -> Sequence[SSAValue]:
    """The values that the body of the loop captures, bounds of inner loops included."""
    bounds = (*op.lowerBound, *op.upperBound[1:], *op.step)
    return list(dict.fromkeys((*bounds, *free_values(op.body))))


def _capture(e: FunctionEmitter, inner: FunctionEmitter, op: scf.ParallelOp) -> list[_Captured]:
    """Makes captured values known inside of the task; returns the registers that it takes."""
    found: dict[str, _Captured] = {}

    def rename(component: Component, parameter: int | None = None) -> str:
        # Constants and globals are the same everywhere.
        outside = component.operand
        if not outside.startswith("%"):
            return outside
        if outside not in found:
            found[outside] = _Captured(component.type, outside, inner.name(), parameter)
        return found[outside].inside

    for value in _values_from_outside(op):
        if value in e.constants:
            inner.constants[value] = e.constants[value]
        if isinstance(value.type, MemRefType):
            view = e.view(value)
            pointer = rename(Component(POINTER, view.pointer), view.parameter)
            sizes, strides = (
                tuple(rename(Component(INDEX.text, number)) for number in numbers)
                for numbers in (view.sizes, view.strides)
            )
            inner.views[value] = View(view.layout, pointer, sizes, strides, view.parameter)
        else:
            (component,) = e.components(value)
            inner.values[value] = rename(component)
    return list(found.values())


def _facts(inner: FunctionEmitter, captured: Sequence[_Captured], own: _Captured) -> str:
    """
    What is known of a register that a task takes, with a space after it.

    A pointer into an argument of which it is promised that no other one overlaps it, reaches
    memory that no other pointer of the task does if it is the only one into that argument.
    """
    if own.type != POINTER:
        return ""
    facts = ["noundef"]
    sharing = [each for each in captured if each.parameter == own.parameter]
    if inner.function.arguments_do_not_alias and own.parameter is not None and len(sharing) == 1:
        facts.append("noalias")
        if not inner.stores_through_unknown and own.parameter not in inner.stored_parameters:
            facts.append("readonly")
    return " ".join([*facts, ""])


def _value_at(e: FunctionEmitter, lower: Bound, step: Bound, number: str) -> str:
    """The value of the loop's variable in the iteration of a number."""
    return add(e, lower.operand, multiply(e, number, step.operand))


def _number_of_iterations(e: FunctionEmitter, op: scf.ParallelOp) -> str:
    """`ceil((upper - lower) / step)` of the outermost loop, at least 0; the step is positive."""
    lower, upper, step = (e.values[v[0]] for v in (op.lowerBound, op.upperBound, op.step))
    distance = e.temporary(f"sub i64 {upper}, {lower}")
    before_next = e.temporary(f"sub i64 {step}, 1")
    rounded = e.temporary(f"add i64 {distance}, {before_next}")
    number = e.temporary(f"sdiv i64 {rounded}, {step}")
    return e.temporary(f"call i64 @llvm.smax.i64(i64 {number}, i64 0)")


def _structure(e: FunctionEmitter, task: str, captured: Sequence[_Captured]) -> str:
    """Stores a task and its captured values to a struct on the stack; returns the address."""
    type_, address = _structure_type([each.type for each in captured]), e.name()
    e.stack_slots.append(f"  {address} = alloca {type_}")
    fields = [f"{POINTER} {task}", *(f"{each.type} {each.outside}" for each in captured)]
    for number, field in enumerate(fields):
        place = e.temporary(f"getelementptr inbounds {type_}, ptr {address}, i32 0, i32 {number}")
        e.emit(f"store {field}, ptr {place}")
    return address


def _structure_type(types: Sequence[str]) -> str:
    """The LLVM struct type of a task and the captured values of these types (its closure)."""
    return f"{{ {', '.join(['ptr', *types])} }}"


def _start(e: FunctionEmitter, types: Sequence[str]) -> str:
    """
    The trampoline for tasks that capture values of these types.

    Those for words are the runtime's, as pointers and integers are passed alike: a function takes
    LLVM a third of a millisecond, whatever it does.
    """
    if not (0 < len(types) <= SHARED_STARTS and {POINTER, INDEX.text}.issuperset(types)):
        return e.symbols.task_start(types)
    name = start_of_words(len(types))
    e.symbols.declare(name, f"declare void @{name}(ptr, i64, i64)")
    return f"@{name}"


def task_start(start: str, types: Sequence[str]) -> list[str]:
    """
    The definition of a trampoline for tasks that capture values of these types: loads task and
    values from the struct and calls the task for a range of iterations.
    """
    structure = _structure_type(types)
    lines = [
        f"define internal void {start}(ptr %values, i64 %first, i64 %last) {GLUE} {{",
        "  %task = load ptr, ptr %values",
    ]
    for number, type_ in enumerate(types):
        place = f"getelementptr inbounds {structure}, ptr %values, i32 0, i32 {number + 1}"
        lines += [f"  %place{number} = {place}", f"  %v{number} = load {type_}, ptr %place{number}"]
    arguments = [f"{type_} %v{number}" for number, type_ in enumerate(types)]
    call = f"  call void %task({', '.join([*arguments, 'i64 %first', 'i64 %last'])})"
    return [*lines, call, "  ret void", "}"]


NUMBER_OF_THREADS = f"{symbol(THREADS)} = global ptr null, align 8"
"""The global that a module with tasks has once."""
