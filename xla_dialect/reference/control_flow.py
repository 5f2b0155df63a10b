"""What calls, branches and loops compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Region

from xla_dialect.devices.process_grid import Process
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops import control_flow as ops
from xla_dialect.reference.computations import elements
from xla_dialect.reference.registration import ArrayFunctions, computes, method_of, unchanged
from xla_dialect.rules.constraints import flat_results
from xla_dialect.types import Array, sizes_of


@register_impls
@dataclass
class ControlFlowFunctions(ArrayFunctions):
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

    @computes(ops.CallOp)
    def call(
        self, arguments: PythonValues, *, to_apply: SymbolRefAttr, interpreter: Interpreter
    ) -> PythonValues:
        """The results of the function."""
        return interpreter.call_op(to_apply, arguments)

    @computes(ops.FusionOp)
    def fusion(
        self, arguments: PythonValues, *, calls: Region, interpreter: Interpreter
    ) -> PythonValues:
        """The results of the fused computation."""
        return interpreter.run_ssacfg_region(calls, arguments, "calls")

    @computes(ops.WhileOp)
    def while_loop(
        self, init: PythonValues, *, condition: Region, body: Region, interpreter: Interpreter
    ) -> PythonValues:
        """`x = init; while condition(x): x = body(x)`."""
        iterations = 0
        while interpreter.run_ssacfg_region(condition, init, "condition")[0]:
            if iterations == self.iteration_limit:
                raise XlaError(f"the loop has not ended after {iterations} iterations, the limit")
            self.process.grid.check()
            init = interpreter.run_ssacfg_region(body, init, "body")
            iterations += 1
        return init

    @computes(ops.ConditionalOp)
    def conditional(
        self,
        branch_index: NDArray[Any],
        branch_operands: PythonValues,
        *,
        branch: Sequence[Region],
        interpreter: Interpreter,
    ) -> PythonValues:
        """One branch on its operands: the last one for an index out of range."""
        index, last = int(branch_index), len(branch) - 1
        if branch_index.dtype == np.bool_:
            taken = 0 if index else 1
        else:
            taken = index if 0 <= index <= last else last
        counts = [len(region.block.args) for region in branch]
        first = sum(counts[:taken])
        operands = branch_operands[first : first + counts[taken]]
        return interpreter.run_ssacfg_region(branch[taken], operands, f"branch {taken}")

    @computes(ops.ScanOp)
    def scan(
        self,
        arguments: PythonValues,
        *,
        dimension: int,
        num_carries: int,
        is_reverse: bool,
        to_apply: Region,
        op: ops.ScanOp,
        interpreter: Interpreter,
    ) -> PythonValues:
        """`outputs[i], carries = f(inputs[i], carries)`, the outputs stacked."""
        count = len(arguments) - num_carries
        inputs = [np.moveaxis(x, dimension, 0) for x in arguments[:count]]
        carries = arguments[count:]
        outputs = cast("Sequence[Array]", flat_results(op.result_types))
        outputs = outputs[: -len(carries) or None]
        length = len(inputs[0]) if inputs else int(sizes_of(outputs[0])[dimension])
        produced: list[PythonValues] = []
        for step in range(length - 1, -1, -1) if is_reverse else range(length):
            slices = (x[step] for x in inputs)
            returned = interpreter.run_ssacfg_region(to_apply, (*slices, *carries), "to_apply")
            results = elements(returned, len(outputs) + len(carries))
            produced.append(results[: len(outputs)])
            carries = results[len(outputs) :]
        if is_reverse:
            produced.reverse()
        if not produced:
            return (*map(_empty, outputs), *carries)
        stacked = (np.stack(column, dimension) for column in zip(*produced, strict=True))
        return (*stacked, *carries)

    domain = computes(ops.DomainOp)(method_of(unchanged))
    optimization_barrier = computes(ops.OptBarrierOp)(method_of(unchanged))


def _empty(type_: Array) -> NDArray[Any]:
    return np.empty(sizes_of(type_), numpy_dtype(type_.element_type))
