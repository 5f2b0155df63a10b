"""`scf`: loops and branches, in order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import scf

from lowerings.interpreter.batching import NotAtOnce, at_once
from lowerings.interpreter.elements import (
    IterationLimitReached,
    Number,
    UndefinedBehavior,
    element_of,
)
from lowerings.interpreter.machine import (
    Code,
    Dialect,
    Frame,
    FrameFunction,
    ModuleInterpreter,
    StructuredMaker,
    of_two,
    single_block,
)
from xla_dialect.xdsl.operation_table import OperationTable


def _results(values: Sequence[Any]) -> Any:
    """Results as a step has them: the only one itself."""
    return values[0] if len(values) == 1 else values


def _range(lower: Number, upper: Number, step: Number) -> range:
    if any(map(np.ndim, (lower, upper, step))):
        raise NotAtOnce
    if step <= 0:
        raise UndefinedBehavior(f"the step must be positive, found {step}")
    return range(int(lower), int(upper), int(step))


def loop(machine: ModuleInterpreter, op: scf.ForOp) -> FrameFunction:
    """A counted loop, with its iterations at once where they do not depend on each other."""
    return at_once(machine, op, loop_in_order(machine, op))


def loop_in_order(machine: ModuleInterpreter, op: scf.ForOp) -> FrameFunction:
    """A counted loop, one iteration after the other."""
    code = machine.code(single_block(op.body))
    number = element_of(op.lb.type).dtype.type

    def run(frame: Frame, lower: Number, upper: Number, step: Number, *carried: Any) -> Any:
        values: Sequence[Any] = carried
        for index in _range(lower, upper, step):
            machine.check_time()
            values = code.run(frame, (number(index), *values))
        return _results(values)

    return run


def while_loop(machine: ModuleInterpreter, op: scf.WhileOp) -> FrameFunction:
    """A loop that ends when its condition says so; raises IterationLimitReached."""
    before = machine.code(single_block(op.before_region))
    after = machine.code(single_block(op.after_region))
    limit = machine.iteration_limit

    def run(frame: Frame, *carried: Any) -> Any:
        values: Sequence[Any] = carried
        for count in itertools.count():
            if limit is not None and count > limit:
                raise IterationLimitReached(f"a loop runs more than {limit} times")
            machine.check_time()
            condition, *passed = before.run(frame, values)
            if not condition:
                return _results(passed)
            values = after.run(frame, passed)
        raise AssertionError("counting ends")

    return run


def branch(machine: ModuleInterpreter, op: scf.IfOp) -> FrameFunction:
    """One of two regions."""
    then, otherwise = (
        machine.code(single_block(region)) if region.blocks else None
        for region in (op.true_region, op.false_region)
    )

    def run(frame: Frame, condition: Number) -> Any:
        taken = then if condition else otherwise
        return None if taken is None else _results(taken.run(frame))

    return run


def index_switch(machine: ModuleInterpreter, op: scf.IndexSwitchOp) -> FrameFunction:
    """The region of a number, or the default."""
    cases = {
        int(case): machine.code(single_block(region))
        for case, region in zip(op.cases.get_values(), op.case_regions, strict=True)
    }
    default = machine.code(single_block(op.default_region))
    return of_two(lambda frame, index: _results(cases.get(int(index), default).run(frame)))


def parallel(machine: ModuleInterpreter, op: scf.ParallelOp) -> FrameFunction:
    """A parallel loop, in batches of iterations where batching supports its body."""
    return at_once(machine, op, parallel_in_order(machine, op))


def parallel_in_order(machine: ModuleInterpreter, op: scf.ParallelOp) -> FrameFunction:
    """Loops in each other, in order; what their iterations reduce is folded in that order."""
    block = single_block(op.body)
    code = machine.code(block)
    reductions: list[Code] = []
    if isinstance(block.last_op, scf.ReduceOp):
        reductions = [machine.code(single_block(r)) for r in block.last_op.reductions]
    rank = len(op.lowerBound)

    def run(frame: Frame, *operands: Any) -> Any:
        bounds = zip(*(operands[k * rank : (k + 1) * rank] for k in range(3)), strict=True)
        totals = list(operands[3 * rank :])
        for place in itertools.product(*(_range(*each) for each in bounds)):
            found = code.run(frame, [np.int64(index) for index in place])
            for number, (reduction, value) in enumerate(zip(reductions, found, strict=True)):
                (totals[number],) = reduction.run(frame, (totals[number], value))
        return _results(totals)

    return run


STRUCTURED = (
    OperationTable[StructuredMaker]()
    .add(scf.ForOp, loop)
    .add(scf.IfOp, branch)
    .add(scf.IndexSwitchOp, index_switch)
    .add(scf.ParallelOp, parallel)
    .add(scf.WhileOp, while_loop)
)

SCF = Dialect(
    {}, STRUCTURED, frozenset({"scf.condition", "scf.reduce", "scf.reduce.return", "scf.yield"})
)
