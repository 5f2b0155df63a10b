"""
`scf`: structured control flow as basic blocks, and parallel loops on several threads.

What a parallel loop does becomes a function of its own, the task. It takes the values that it uses
from around the loop, the number of the first iteration and that of the one after the last. These
values pass through a struct on the stack of the thread that starts the loop; trampolines, one for
each list of captured types, load them and call the task. The runtime calls those
(`lowerings/runtime/thread_pool.c`). On how many threads is looked up when the loop starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lowerings.ir.independent_loops import parallel_bounds
from lowerings.ir.scalar_attributes import constant_integer, number_of_iterations
from lowerings.runtime import PARALLEL_FOR, START_WITH_WORDS, TASK_WORDS
from lowerings.targets.llvm.basic_blocks import Join, emit_loop, trip_count
from lowerings.targets.llvm.constants import symbol
from lowerings.targets.llvm.emitter import (
    Component,
    FunctionEmitter,
    Handler,
    number_of,
)
from lowerings.targets.llvm.interface import THREADS
from lowerings.targets.llvm.machine import APART, GLUE
from lowerings.targets.llvm.memref import add, multiply
from lowerings.targets.llvm.profiling import START
from lowerings.targets.llvm.types import INDEX, POINTER, EmissionError, UnsupportedType
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import free_values

TerminatorT = TypeVar("TerminatorT", bound=Operation)


def _emit_region(e: FunctionEmitter, block: Block, expected: type[TerminatorT]) -> TerminatorT:
    """Prints a block of a structured operation; returns its terminator."""
    terminator = e.emit_block(block)
    if not isinstance(terminator, expected):
        raise EmissionError(terminator, f"the block must end with {expected.name}")
    return terminator


def _yielded(e: FunctionEmitter, block: Block) -> list[str]:
    """Prints a block that ends with `scf.yield`; returns the registers of what it yields."""
    return _operands(_all_components(e, _emit_region(e, block, scf.YieldOp).operands))


def _all_components(e: FunctionEmitter, values: Sequence[SSAValue]) -> list[Component]:
    return [component for value in values for component in e.components(value)]


def _operands(components: Sequence[Component]) -> list[str]:
    return [component.operand for component in components]


def _component_types(e: FunctionEmitter, types: Sequence[Attribute]) -> list[str]:
    return [text for type_ in types for text in e.component_types(type_)]


def emit_for(e: FunctionEmitter, op: scf.ForOp) -> None:
    block = op.body.block
    lower, upper, step = (e.values[value] for value in op.operands[:3])
    known = number_of(step)
    if known is not None and known <= 0:
        raise UnsupportedType(f"the step must be positive, found {step}")
    variable, *arguments = block.args

    def body(index: str, carried: Sequence[str]) -> list[str]:
        bind_counter(e, variable, index, lower)
        e.bind_all(arguments, carried)
        return _yielded(e, block)

    initial = _all_components(e, op.operands[3:])
    (interval,) = _intervals(e, op, 1)
    results = emit_loop(e, e.type_of(variable), lower, upper, step, initial, body, interval)
    e.bind_all(op.results, results)


def _intervals(e: FunctionEmitter, op: Operation, dimensions: int) -> Sequence[int]:
    """After how many iterations a loop polls, for each dimension: 0 if never."""
    guards = e.symbols.guards
    found = () if guards is None else guards.plan.intervals.get(op, ())
    return found or [0] * dimensions


def bind_counter(e: FunctionEmitter, variable: SSAValue, index: str, lowest: str) -> None:
    """Makes the variable of a loop known, which starts at `lowest`."""
    e.values[variable] = index
    if index.startswith("%") and lowest.isdecimal():
        e.counters.add(variable)


def emit_if(e: FunctionEmitter, op: scf.IfOp) -> None:
    condition = e.values[op.operands[0]]
    regions = {"then": op.true_region, "else": op.false_region}
    if not condition.startswith("%"):
        region = regions["then" if condition == "true" else "else"]
        if region.blocks:
            e.bind_all(op.results, _yielded(e, region.block))
        return
    then = e.new_label("then")
    end = Join(e, "end", _component_types(e, op.result_types))
    other = e.new_label("else") if op.false_region.blocks else end.label
    e.emit(f"br i1 {condition}, label %{then}, label %{other}")
    _merge(e, op, end, zip((then, other), regions.values(), strict=True))


def _merge(
    e: FunctionEmitter, op: Operation, end: Join, ways: Iterable[tuple[str, Region]]
) -> None:
    """Prints regions at their labels, and where they come together."""
    for label, region in ways:
        if region.blocks:
            e.start_block(label)
            e.branch(end.add_way(_yielded(e, region.block)))
    end.start()
    e.bind_all(op.results, end.finish())


def emit_index_switch(e: FunctionEmitter, op: scf.IndexSwitchOp) -> None:
    end = Join(e, "end", _component_types(e, op.result_types))
    default, *labels = (e.new_label(word) for word in ("default", *["case"] * len(op.case_regions)))
    cases = " ".join(
        f"{INDEX.text} {case}, label %{label}"
        for case, label in zip(op.cases.get_values(), labels, strict=True)
    )
    e.emit(f"switch {e.typed(op.arg)}, label %{default} [ {cases} ]")
    regions = (op.default_region, *op.case_regions)
    _merge(e, op, end, zip((default, *labels), regions, strict=True))


def emit_while(e: FunctionEmitter, op: scf.WhileOp) -> None:
    before, after = op.before_region.block, op.after_region.block
    initial = _all_components(e, op.operands)
    head = Join(e, "while", [component.type for component in initial])
    again, leave = e.new_label("do"), e.new_label("done")
    e.branch(head.add_way(_operands(initial)))
    e.bind_all(before.args, head.start())
    # The trip count of a `while` is unknown, so each iteration checks for a stop request.
    e.poll()
    condition = _emit_region(e, before, scf.ConditionOp)
    passed = _operands(_all_components(e, condition.operands[1:]))
    e.emit(f"br i1 {e.values[condition.operands[0]]}, label %{again}, label %{leave}")
    e.start_block(again)
    e.bind_all(after.args, passed)
    e.branch(head.add_way(_yielded(e, after)))
    head.finish()
    e.start_block(leave)
    e.bind_all(op.results, passed)


def emit_parallel(e: FunctionEmitter, op: scf.ParallelOp) -> None:
    """
    A task for several threads if the module has them, for the outermost parallel loop.

    Otherwise, and where iterations are reduced, loops in order.
    """
    if e.symbols.has_threads and not e.is_task and not op.initVals:
        emit_task(e, op)
        return
    first, last, _ = (e.values[bounds[0]] for bounds in parallel_bounds(op))
    e.bind_all(op.results, _emit_iterations(e, op, first, last))


def _emit_iterations(
    e: FunctionEmitter, op: scf.ParallelOp, first: str, last: str
) -> Sequence[str]:
    """
    Loops inside each other, the outermost from `first` to below `last`.

    Reductions are carried from one iteration to the next; the registers that hold them.
    """
    block = op.body.block
    lower, upper, step = parallel_bounds(op)
    lowest, highest, steps = (
        [e.values[value] for value in values] for values in (lower, upper[1:], step)
    )
    firsts, lasts = [first, *lowest[1:]], [last, *highest]
    intervals = _intervals(e, op, len(steps))

    def nest(depth: int, carried: list[Component]) -> Sequence[str]:
        if depth == len(steps):
            return _reduced(e, block, carried)
        variable = block.args[depth]

        def body(index: str, inside: Sequence[str]) -> Sequence[str]:
            bind_counter(e, variable, index, lowest[depth])
            return nest(
                depth + 1,
                [Component(c.type, name) for c, name in zip(carried, inside, strict=True)],
            )

        bounds = firsts[depth], lasts[depth], steps[depth]
        return emit_loop(e, INDEX, *bounds, carried, body, intervals[depth])

    return nest(0, _all_components(e, op.initVals))


def _reduced(e: FunctionEmitter, block: Block, carried: Sequence[Component]) -> list[str]:
    """Prints one iteration of a parallel loop; returns the reductions with its part added."""
    reduce = _emit_region(e, block, scf.ReduceOp)
    results: list[str] = []
    for value, region, so_far in zip(reduce.args, reduce.reductions, carried, strict=True):
        lhs, rhs = region.block.args
        e.bind(lhs, [so_far.operand])
        e.bind(rhs, [component.operand for component in e.components(value)])
        combined = _emit_region(e, region.block, scf.ReduceReturnOp)
        results.extend(_operands(e.components(combined.operands[0])))
    return results


HANDLERS = (
    OperationTable[Handler]()
    .add(scf.ForOp, emit_for)
    .add(scf.IfOp, emit_if)
    .add(scf.IndexSwitchOp, emit_index_switch)
    .add(scf.WhileOp, emit_while)
    .add(scf.ParallelOp, emit_parallel)
)


@dataclass(frozen=True)
class _Captured:
    """A register that a task is given: its type, its names outside and inside."""

    type: str
    outside: str
    inside: str
    parameter: int | None = None
    """Of a pointer, the argument of the enclosing function whose memory it points into."""


def emit_task(e: FunctionEmitter, op: scf.ParallelOp) -> None:
    """Prints a parallel loop without reductions as a task, and its start."""
    lower, upper, step = (e.values[v[0]] for v in parallel_bounds(op))
    count = trip_count(lower, upper, step)
    if count is not None and count < 2:
        _emit_iterations(e, op, lower, upper)
        return
    inner = FunctionEmitter(e.symbols, e.function, e.arguments_do_not_alias, is_task=True)
    captured = _capture(e, inner, op)
    first_index, _, distance = parallel_bounds(op)
    inner_lower, inner_step = (inner.values[v[0]] for v in (first_index, distance))
    first, last = inner.name(), inner.name()
    start, end = (_value_at(inner, inner_lower, inner_step, number) for number in (first, last))
    profile = e.symbols.profile
    row = None if profile is None else profile.row_of_task(e.function)
    started = "" if row is None else inner.temporary(START)
    _emit_iterations(inner, op, start, end)
    if profile is not None and row is not None:
        inner.emit(profile.end_task(started, row))
    e.stored_parameters |= inner.stored_parameters
    e.stores_through_unknown |= inner.stores_through_unknown
    parameters = [f"{INDEX.text} {first}", f"{INDEX.text} {last}"]
    parameters += [f"{c.type} {_facts(inner, captured, c)}{c.inside}" for c in captured]
    task = symbol(e.symbols.unused(f"xla.{e.function}.task"))
    e.symbols.task_lines += [
        f"define internal void {task}({', '.join(parameters)}) {APART} {{",
        "entry:",
        *inner.stack_slots,
        *inner.lines,
        "  ret void",
        "}",
    ]
    values = _structure(e, task, captured)
    number = str(count) if count is not None else _count_iterations(e, lower, upper, step)
    threads = e.temporary(f"load ptr, ptr {symbol(THREADS)}, align 8")
    threads = e.temporary(f"load i64, ptr {threads}, align 8")
    start = _start(e, [each.type for each in captured])
    e.symbols.declare(PARALLEL_FOR, f"declare void @{PARALLEL_FOR}(i64, ptr, ptr, i64)")
    e.emit(f"call void @{PARALLEL_FOR}(i64 {threads}, ptr {start}, ptr {values}, i64 {number})")
    e.after_task()


def is_task(op: scf.ParallelOp) -> bool:
    """
    Whether a loop is a task where there are threads: none that reduces, or is known to have less
    than two iterations.
    """
    first = (values[0] for values in parallel_bounds(op))
    count = number_of_iterations(*map(constant_integer, first))
    return not op.initVals and (count is None or count > 1)


def _values_from_outside(op: scf.ParallelOp) -> Sequence[SSAValue]:
    """The values that the body of the loop captures, bounds of inner loops included."""
    lower, upper, step = parallel_bounds(op)
    bounds = (*lower, *upper[1:], *step)
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
        if isinstance(value.type, MemRefType):
            view = e.view(value)
            pointer = rename(Component(POINTER, view.pointer), view.parameter)
            sizes, strides = (
                tuple(rename(Component(INDEX.text, number)) for number in numbers)
                for numbers in (view.sizes, view.strides)
            )
            inner.views[value] = replace(view, pointer=pointer, sizes=sizes, strides=strides)
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
    if inner.arguments_do_not_alias and own.parameter is not None and len(sharing) == 1:
        facts.append("noalias")
        if not inner.stores_through_unknown and own.parameter not in inner.stored_parameters:
            facts.append("readonly")
    return " ".join([*facts, ""])


def _value_at(e: FunctionEmitter, lower: str, step: str, number: str) -> str:
    """The value of the loop's variable in the iteration of a number."""
    return add(e, lower, multiply(e, number, step))


def _count_iterations(e: FunctionEmitter, lower: str, upper: str, step: str) -> str:
    """`ceil((upper - lower) / step)`, at least 0; the step is positive."""
    distance = e.temporary(f"sub i64 {upper}, {lower}")
    before_next = e.temporary(f"sub i64 {step}, 1")
    rounded = e.temporary(f"add i64 {distance}, {before_next}")
    number = e.temporary(f"sdiv i64 {rounded}, {step}")
    return e.call("smax", INDEX, number, "0")


def _structure(e: FunctionEmitter, task: str, captured: Sequence[_Captured]) -> str:
    """Stores a task and its captured values to a struct on the stack; returns the address."""
    type_, address = _structure_type([each.type for each in captured]), e.name()
    e.stack_slots.append(f"  {address} = alloca {type_}")
    fields = [f"{POINTER} {task}", *(f"{each.type} {each.outside}" for each in captured)]
    for number, field in enumerate(fields):
        place = e.temporary(f"getelementptr inbounds {type_}, ptr {address}, i32 0, i32 {number}")
        e.emit(f"store {field}, ptr {place}")
    return address


def _are_words(types: Sequence[str]) -> bool:
    """Whether the runtime can start tasks that capture values of these types."""
    return len(types) <= TASK_WORDS and {POINTER, INDEX.text}.issuperset(types)


def _structure_type(types: Sequence[str]) -> str:
    """The LLVM struct type of a task and the captured values of these types (its closure)."""
    missing = TASK_WORDS - len(types) if _are_words(types) else 0
    return f"{{ {', '.join(['ptr', *types, *[INDEX.text] * missing])} }}"


def _start(e: FunctionEmitter, types: Sequence[str]) -> str:
    """
    The trampoline for tasks that capture values of these types.

    That for words is the runtime's, as pointers and integers are passed alike: a function takes
    LLVM a third of a millisecond, whatever it does.
    """
    if _are_words(types):
        e.symbols.declare(START_WITH_WORDS, f"declare void @{START_WITH_WORDS}(ptr, i64, i64)")
        return f"@{START_WITH_WORDS}"
    key = tuple(types)
    if key not in e.symbols.task_starts:
        start = e.symbols.task_starts[key] = symbol(e.symbols.unused("xla.start"))
        e.symbols.task_lines += task_start(start, types)
    return e.symbols.task_starts[key]


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
    call = f"  call void %task({', '.join(['i64 %first', 'i64 %last', *arguments])})"
    return [*lines, call, "  ret void", "}"]


NUMBER_OF_THREADS = f"{symbol(THREADS)} = global ptr null, align 8"
"""The global that a module with tasks has once."""
