"""`scf`: structured control flow as basic blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.targets.llvm.emitter import Component, FunctionEmitter, Handler
from lowerings.targets.llvm.errors import EmissionError, UnsupportedType
from lowerings.targets.llvm.loops import Bound, emit_loop
from lowerings.targets.llvm.parallel import emit_task
from lowerings.targets.llvm.types import INDEX
from xla_dialect.xdsl.operation_table import OperationTable

LOOP_PROPERTIES = {
    "xla.vectorize": '!"llvm.loop.vectorize.enable", i1 {}',
    "xla.unroll": '!"llvm.loop.unroll.count", i32 {}',
}
"""
What the attributes of a `scf.for` ask of LLVM, which without them is told nothing:
`xla.vectorize = true` turns LLVM's loop vectorizer on for this loop, `false` off;
`xla.unroll = 4 : i64` unrolls four times, `1` not at all. They are for those who run such passes on
the text of `-t llvm`: our own compilation runs none.
"""

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


def _bound(e: FunctionEmitter, value: SSAValue) -> Bound:
    return Bound(e.values[value], e.constants.get(value))


def loop_properties(op: Operation) -> list[str]:
    """What the attributes of a loop ask of LLVM, as metadata."""
    properties: list[str] = []
    for name, form in LOOP_PROPERTIES.items():
        attribute = op.attributes.get(name)
        if isinstance(attribute, IntegerAttr):
            number = cast("IntegerAttr[Any]", attribute).value.data
            properties.append(form.format(abs(number)))
        elif attribute is not None:
            raise EmissionError(op, f"{name} must be an integer or a boolean, found {attribute}")
    return properties


def emit_for(e: FunctionEmitter, op: scf.ForOp) -> None:
    block = op.body.block
    lower, upper, step = (_bound(e, value) for value in op.operands[:3])
    if step.known is not None and step.known <= 0:
        raise UnsupportedType(f"the step must be positive, found {step.known}")
    variable, *arguments = block.args

    def body(index: Bound, carried: Sequence[str]) -> list[str]:
        bind_counter(e, variable, index, lower)
        e.bind_all(arguments, carried)
        return _yielded(e, block)

    initial = _all_components(e, op.operands[3:])
    properties = loop_properties(op) if op.attributes else []
    (interval,) = _intervals(e, op, 1)
    results = emit_loop(
        e, e.type_of(variable), lower, upper, step, initial, body, properties, interval
    )
    e.bind_all(op.results, results)


def _intervals(e: FunctionEmitter, op: Operation, dimensions: int) -> Sequence[int]:
    """After how many iterations a loop polls, for each dimension: 0 if never."""
    found = () if e.guards is None else e.guards.intervals(op)
    return found or [0] * dimensions


def bind_counter(e: FunctionEmitter, variable: SSAValue, index: Bound, lowest: Bound) -> None:
    """Makes the variable of a loop known, which starts at `lowest`."""
    e.values[variable] = index.operand
    if index.known is not None:
        e.constants[variable] = index.known
    elif lowest.known is not None and lowest.known >= 0:
        e.counters.add(variable)


def emit_if(e: FunctionEmitter, op: scf.IfOp) -> None:
    otherwise = op.false_region.blocks
    condition = op.operands[0]
    known = e.constants.get(condition)
    if known is not None:
        if known:
            e.bind_all(op.results, _yielded(e, op.true_region.block))
        elif otherwise:
            e.bind_all(op.results, _yielded(e, op.false_region.block))
        return
    types = _component_types(e, op.result_types)
    then, end = e.new_label("then"), e.new_label("end")
    other = e.new_label("else") if otherwise else end
    e.emit(f"br i1 {e.values[condition]}, label %{then}, label %{other}")
    ways: list[tuple[list[str], str]] = []
    for label, region in ((then, op.true_region), (other, op.false_region)):
        if region.blocks:
            e.start_block(label)
            ways.append((_yielded(e, region.block), e.label))
            e.branch(end)
    e.start_block(end)
    _merge(e, op.results, types, ways)


def _merge(
    e: FunctionEmitter,
    results: Sequence[SSAValue],
    types: Sequence[str],
    ways: Sequence[tuple[Sequence[str], str]],
) -> None:
    """Binds the results to phis of the values from each predecessor block in `ways`."""
    merged = [
        e.temporary(
            f"phi {type_} "
            + ", ".join(f"[ {operands[number]}, %{label} ]" for operands, label in ways)
        )
        for number, type_ in enumerate(types)
    ]
    e.bind_all(results, merged)


def emit_index_switch(e: FunctionEmitter, op: scf.IndexSwitchOp) -> None:
    types = _component_types(e, op.result_types)
    end, default = e.new_label("end"), e.new_label("default")
    labels = [e.new_label("case") for _ in op.case_regions]
    cases = " ".join(
        f"{INDEX.text} {case}, label %{label}"
        for case, label in zip(op.cases.get_values(), labels, strict=True)
    )
    e.emit(f"switch {e.typed(op.arg)}, label %{default} [ {cases} ]")
    ways: list[tuple[list[str], str]] = []
    regions = [op.default_region, *op.case_regions]
    for label, region in zip([default, *labels], regions, strict=True):
        e.start_block(label)
        ways.append((_yielded(e, region.block), e.label))
        e.branch(end)
    e.start_block(end)
    _merge(e, op.results, types, ways)


def emit_while(e: FunctionEmitter, op: scf.WhileOp) -> None:
    before, after = op.before_region.block, op.after_region.block
    initial = _all_components(e, op.operands)
    origin = e.label
    head, again, leave = e.new_label("while"), e.new_label("do"), e.new_label("done")
    e.branch(head)
    e.start_block(head)
    inside = [e.name() for _ in initial]
    lines = [e.reserve_line() for _ in initial]
    e.bind_all(before.args, inside)
    if e.guards is not None:
        # The trip count of a `while` is unknown, so each iteration checks for a stop request.
        e.guards.poll(e)
    condition = _emit_region(e, before, scf.ConditionOp)
    passed = _operands(_all_components(e, condition.operands[1:]))
    e.emit(f"br i1 {e.values[condition.operands[0]]}, label %{again}, label %{leave}")
    e.start_block(again)
    e.bind_all(after.args, passed)
    yielded = _yielded(e, after)
    last = e.label
    e.branch(head)
    for line, name, component, operand in zip(lines, inside, initial, yielded, strict=True):
        e.fill_line(
            line,
            f"{name} = phi {component.type} "
            f"[ {component.operand}, %{origin} ], [ {operand}, %{last} ]",
        )
    e.start_block(leave)
    e.bind_all(op.results, passed)


def emit_parallel(e: FunctionEmitter, op: scf.ParallelOp) -> None:
    """
    A task for several threads if the module has them, for the outermost parallel loop.

    Otherwise, and where iterations are reduced, loops in order.
    """
    if e.symbols.has_threads and not e.function.is_task and not op.initVals:
        emit_task(e, op, lambda inner, first, last: _emit_iterations(inner, op, first, last))
        return
    first, last = (_bound(e, bounds[0]) for bounds in (op.lowerBound, op.upperBound))
    e.bind_all(op.results, _emit_iterations(e, op, first, last))


def _emit_iterations(
    e: FunctionEmitter, op: scf.ParallelOp, first: Bound, last: Bound
) -> Sequence[str]:
    """
    Loops inside each other, the outermost from `first` to below `last`.

    Reductions are carried from one iteration to the next; the registers that hold them.
    """
    block = op.body.block
    ranges = [
        (_bound(e, lower), _bound(e, upper))
        for lower, upper in zip(op.lowerBound[1:], op.upperBound[1:], strict=True)
    ]
    ranges.insert(0, (first, last))
    lowest = [_bound(e, value) for value in op.lowerBound]
    steps = [_bound(e, value) for value in op.step]
    intervals = _intervals(e, op, len(ranges))

    def nest(depth: int, carried: list[Component]) -> list[str]:
        if depth == len(ranges):
            return _reduced(e, block, carried)
        variable = block.args[depth]

        def body(index: Bound, inside: Sequence[str]) -> list[str]:
            bind_counter(e, variable, index, lowest[depth])
            return nest(
                depth + 1,
                [Component(c.type, name) for c, name in zip(carried, inside, strict=True)],
            )

        return emit_loop(
            e, INDEX, *ranges[depth], steps[depth], carried, body, interval=intervals[depth]
        )

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
