"""What calls, branches and loops compute, and how computations on scalars are run.

They are run on whole arrays at once where that is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation, Region, SSAValue

from xla_dialect import types
from xla_dialect.constraints import flat_results
from xla_dialect.devices.process_grid import Process
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, DType, numpy_dtype
from xla_dialect.ops import control_flow as ops
from xla_dialect.ops import conversion, creation, data_movement, tuples
from xla_dialect.reference.elementwise import FUNCTIONS
from xla_dialect.reference.registration import ArrayFunctions, computes, method_of, unchanged
from xla_dialect.types import flatten, is_scalar, sizes_of

POLYMORPHIC: frozenset[type[Operation]] = frozenset(
    (
        *FUNCTIONS,
        ops.OptBarrierOp,
        ops.ReturnOp,
        conversion.BitcastConvertOp,
        conversion.ConvertOp,
        conversion.ReducePrecisionOp,
        creation.ConstantOp,
        data_movement.CopyOp,
        tuples.GetTupleElementOp,
        tuples.TupleOp,
    )
)
"""Operations on scalars whose functions work on arrays just as well, element by element."""

ArrayFunction: TypeAlias = Callable[..., tuple[Array, ...]]
"""From arrays that broadcast to arrays of their common sizes."""


def is_elementwise(computation: Region) -> bool:
    """Whether a computation on scalars can be run on arrays, to the same effect per element."""
    return all(
        type(op) in POLYMORPHIC and _only_scalars(op.operands) and _only_scalars(op.results)
        for op in computation.block.ops
    )


def _only_scalars(values: Iterable[SSAValue]) -> bool:
    return all(is_scalar(leaf) for leaf in flatten([value.type for value in values]))


def returned_values(computation: Region) -> Sequence[SSAValue]:
    """What a computation returns."""
    return cast("ops.ReturnOp", computation.block.last_op).values


def result_dtypes(computation: Region) -> list[DType]:
    """The dtypes of the scalars that a computation returns, one by one or as a tuple."""
    found = flat_results([value.type for value in returned_values(computation)])
    return [numpy_dtype(cast("types.Array", type_).element_type) for type_ in found]


def on_arrays(interpreter: Interpreter, computation: Region, name: str) -> ArrayFunction:
    """
    A computation on scalars as a function of arrays, which are broadcast.

    It is run once on the arrays where it can be, else once per element. Results may be read-only
    or share memory with the operands.
    """
    count = len(result_dtypes(computation))

    def run(*operands: Array) -> tuple[Array, ...]:
        return elements(interpreter.run_ssacfg_region(computation, operands, name), count)

    def at_once(*operands: Array) -> tuple[Array, ...]:
        sizes = np.broadcast_shapes(*(np.shape(operand) for operand in operands))
        return tuple(np.broadcast_to(result, sizes) for result in run(*operands))

    def one_by_one(*operands: Array) -> tuple[Array, ...]:
        operands = np.broadcast_arrays(*operands)
        results = [np.empty(operands[0].shape, dtype) for dtype in result_dtypes(computation)]
        for place in np.ndindex(operands[0].shape):
            returned = run(*(operand[place] for operand in operands))
            for result, value in zip(results, returned, strict=True):
                result[place] = value
        return tuple(results)

    return at_once if is_elementwise(computation) else one_by_one


def elements(values: PythonValues, count: int) -> PythonValues:
    """The `count` values that a computation returned, one by one or as one tuple."""
    return values if len(values) == count else values[0]


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
        branch_index: Array,
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
        outputs = cast("Sequence[types.Array]", flat_results(op.result_types))
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


def _empty(type_: types.Array) -> Array:
    return np.empty(sizes_of(type_), numpy_dtype(type_.element_type))
