"""What calls, branches and loops compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)

from xla_dialect.devices.process_grid import Process
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops import control_flow as ops
from xla_dialect.reference.tuples import as_results, elements
from xla_dialect.rules.constraints import flat_results
from xla_dialect.types import PRED, Array, is_scalar, sizes_of


@register_impls
@dataclass
class ControlFlowFunctions(InterpreterFunctions):
    """Running computations."""

    iteration_limit: int | None = None
    """How often the body of one loop may run; None for no limit."""
    process: Process = field(default_factory=Process)
    """The process that runs here; a loop ends when another process fails."""

    @impl_terminator(ops.ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: ops.ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """The operands are the results of the computation."""
        return ReturnedValues(args), ()

    @impl(ops.CallOp)
    def run_call(
        self, interpreter: Interpreter, op: ops.CallOp, args: PythonValues
    ) -> PythonValues:
        """The results of the function."""
        return as_results(op, interpreter.call_op(op.to_apply, args))

    @impl(ops.FusionOp)
    def run_fusion(
        self, interpreter: Interpreter, op: ops.FusionOp, args: PythonValues
    ) -> PythonValues:
        """The results of the fused computation."""
        return as_results(op, interpreter.run_ssacfg_region(op.calls, args, "calls"))

    @impl(ops.WhileOp)
    def run_while(
        self, interpreter: Interpreter, op: ops.WhileOp, args: PythonValues
    ) -> PythonValues:
        """`x = init; while condition(x): x = body(x)`."""
        iterations = 0
        while interpreter.run_ssacfg_region(op.condition, args, "condition")[0]:
            if iterations == self.iteration_limit:
                raise XlaError(f"the loop has not ended after {iterations} iterations, the limit")
            self.process.grid.check()
            args = interpreter.run_ssacfg_region(op.body, args, "body")
            iterations += 1
        return as_results(op, args)

    @impl(ops.ConditionalOp)
    def run_conditional(
        self, interpreter: Interpreter, op: ops.ConditionalOp, args: PythonValues
    ) -> PythonValues:
        """One branch on its operands: the last one for an index out of range."""
        index = int(args[0])
        last = len(op.branch) - 1
        if is_scalar(op.branch_index.type, PRED):
            taken = 0 if index else 1
        else:
            taken = index if 0 <= index <= last else last
        counts = [len(region.block.args) for region in op.branch]
        first = 1 + sum(counts[:taken])
        operands = args[first : first + counts[taken]]
        returned = interpreter.run_ssacfg_region(op.branch[taken], operands, f"branch {taken}")
        return as_results(op, returned)

    @impl(ops.ScanOp)
    def run_scan(
        self, interpreter: Interpreter, op: ops.ScanOp, args: PythonValues
    ) -> PythonValues:
        """`outputs[i], carries = f(inputs[i], carries)`, the outputs stacked."""
        axis, count = op.dimension.value.data, len(args) - op.num_carries.value.data
        inputs, carries = [np.moveaxis(x, axis, 0) for x in args[:count]], args[count:]
        outputs = cast("Sequence[Array]", flat_results([result.type for result in op.results]))
        outputs = outputs[: -len(carries) or None]
        length = len(inputs[0]) if inputs else int(sizes_of(outputs[0])[axis])
        produced: list[PythonValues] = []
        for step in range(length - 1, -1, -1) if op.is_reverse.value.data else range(length):
            slices = (x[step] for x in inputs)
            returned = interpreter.run_ssacfg_region(op.to_apply, (*slices, *carries), "to_apply")
            results = elements(returned, len(outputs) + len(carries))
            produced.append(results[: len(outputs)])
            carries = results[len(outputs) :]
        if op.is_reverse.value.data:
            produced.reverse()
        if not produced:
            return as_results(op, (*map(_empty, outputs), *carries))
        stacked = (np.stack(column, axis) for column in zip(*produced, strict=True))
        return as_results(op, (*stacked, *carries))

    @impl(ops.DomainOp)
    def run_domain(
        self, interpreter: Interpreter, op: ops.DomainOp, args: PythonValues
    ) -> PythonValues:
        """The operand."""
        return args

    @impl(ops.OptBarrierOp)
    def run_opt_barrier(
        self, interpreter: Interpreter, op: ops.OptBarrierOp, args: PythonValues
    ) -> PythonValues:
        """The operand."""
        return args


def _empty(type_: Array) -> NDArray[Any]:
    return np.empty(sizes_of(type_), numpy_dtype(type_.element_type))
