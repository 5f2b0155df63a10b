"""What asynchronous operations compute: a start begins an operation, a done waits for it.

The context of a start is the Python tuple that its type says, with a `Pending` for the result.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Operation

from xla_dialect import types
from xla_dialect.devices.process_grid import Pending
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import TOKEN, Value, numpy_dtype
from xla_dialect.ops import asynchronous as ops
from xla_dialect.places import described
from xla_dialect.reference.collectives import CollectiveFunctions, Write, as_arrays, new_arrays
from xla_dialect.reference.computations import on_arrays
from xla_dialect.reference.tuples import as_results


def leaves_of(values: Sequence[object]) -> list[object]:
    """All values in tuples, at every depth."""
    found: list[object] = []
    for value in values:
        if isinstance(value, tuple):
            found.extend(leaves_of(cast("tuple[object, ...]", value)))
        else:
            found.append(value)
    return found


def pending_in(context: PythonValues) -> Pending[PythonValues]:
    """The pending result in a context; raises XlaError where there is none."""
    for value in leaves_of(context):
        if isinstance(value, Pending):
            return cast("Pending[PythonValues]", value)
    raise XlaError("the operand is not the context of a start")


def blank(type_: Attribute) -> Value:
    """Zeros of a type, for the elements of a context besides operands and results."""
    elements = types.tuple_elements(type_)
    if elements is not None:
        return tuple(map(blank, elements))
    if isinstance(type_, types.TokenType):
        return TOKEN
    array = cast("types.Array", type_)
    return np.zeros(types.extents(array), numpy_dtype(array.element_type))


def context_of(
    op: Operation, args: PythonValues, pending: Pending[PythonValues] | None
) -> PythonValues:
    """
    The results of a start: operands, pending results, and zeros for further elements.

    They are one tuple, its elements or its leaves, as the operation declares.
    """
    declared = op.result_types
    whole = types.tuple_elements(declared[0]) if len(declared) == 1 else None
    elements = declared if whole is None else whole
    if isinstance(elements[0], types.TupleType):
        context = (args, pending, *map(blank, elements[2:]))
    elif len(args) == 1:
        context = (args[0], pending, *map(blank, elements[2:]))
    else:
        operands = leaves_of(args)
        context = (*operands, *[pending] * (len(elements) - len(operands)))
    return context if whole is None else (context,)


@register_impls
@dataclass
class AsynchronousFunctions(InterpreterFunctions):
    """Starts and dones."""

    collectives: CollectiveFunctions

    @impl(ops.AsyncStartOp)
    def run_async_start(
        self, interpreter: Interpreter, op: ops.AsyncStartOp, args: PythonValues
    ) -> PythonValues:
        """The computation runs in a thread, with the values that it sees now, if it has all."""
        return context_of(op, args, self.begun(interpreter, op, args))

    def begun(
        self, interpreter: Interpreter, op: ops.AsyncStartOp, args: PythonValues
    ) -> Pending[PythonValues] | None:
        """What a computation gives, which runs from here on; None as long as it lacks operands."""
        if len(args) < len(op.calls.block.args):
            return None
        beside = copy.copy(interpreter)
        return self.collectives.process.start(
            lambda: beside.run_ssacfg_region(op.calls, args, "calls"), described(op)
        )

    def bound(
        self, interpreter: Interpreter, op: ops.AsyncUpdateOp | ops.AsyncDoneOp, args: PythonValues
    ) -> PythonValues:
        """The context with what an operation binds; the computation runs once it has all."""
        start = ops.open_start(op)
        if start is None:
            return args
        ((operands, pending, *rest), *late) = args
        wanted = len(start.calls.block.args) - len(operands)
        operands = (*operands, *late[:wanted])
        if pending is None:
            pending = self.begun(interpreter, start, operands)
        return ((operands, pending, *rest),)

    @impl(ops.AsyncUpdateOp)
    def run_async_update(
        self, interpreter: Interpreter, op: ops.AsyncUpdateOp, args: PythonValues
    ) -> PythonValues:
        """The context."""
        return self.bound(interpreter, op, args)

    @impl(ops.AsyncDoneOp)
    def run_async_done(
        self, interpreter: Interpreter, op: ops.AsyncDoneOp, args: PythonValues
    ) -> PythonValues:
        """The result of the computation."""
        return finished(op, self.bound(interpreter, op, args))

    @impl(ops.CopyStartOp)
    def run_copy_start(
        self, interpreter: Interpreter, op: ops.CopyStartOp, args: PythonValues
    ) -> PythonValues:
        """The operand twice."""
        return as_results(op, (args[0], args[0], np.uint32(0)))

    @impl(ops.CopyDoneOp)
    def run_copy_done(
        self, interpreter: Interpreter, op: ops.CopyDoneOp, args: PythonValues
    ) -> PythonValues:
        """The destination."""
        return (leaves_of(args)[0],)

    @impl(ops.AllGatherStartOp)
    def run_all_gather_start(
        self, interpreter: Interpreter, op: ops.AllGatherStartOp, args: PythonValues
    ) -> PythonValues:
        """As `all_gather`."""
        leaves = types.flatten(op.result_types)[len(args) : 2 * len(args)]
        return context_of(op, args, written(self.collectives.begin(op, as_arrays(args)), leaves))

    @impl(ops.AllGatherDoneOp)
    def run_all_gather_done(
        self, interpreter: Interpreter, op: ops.AllGatherDoneOp, args: PythonValues
    ) -> PythonValues:
        """The concatenations."""
        return finished(op, args)

    @impl(ops.AllReduceStartOp)
    def run_all_reduce_start(
        self, interpreter: Interpreter, op: ops.AllReduceStartOp, args: PythonValues
    ) -> PythonValues:
        """As `all_reduce`; the context has the form of the results."""
        function = on_arrays(interpreter, op.to_apply, "to_apply")
        found = self.collectives.reduced(op, function, as_arrays(args))
        return as_results(op, (written(found, op.operand_types),) * len(args))

    @impl(ops.AllReduceDoneOp)
    def run_all_reduce_done(
        self, interpreter: Interpreter, op: ops.AllReduceDoneOp, args: PythonValues
    ) -> PythonValues:
        """The folds."""
        return finished(op, args)

    @impl(ops.CollectivePermuteStartOp)
    def run_collective_permute_start(
        self, interpreter: Interpreter, op: ops.CollectivePermuteStartOp, args: PythonValues
    ) -> PythonValues:
        """As `collective_permute`."""
        held = args[: op.held]
        leaves = as_arrays(tuple(leaves_of(args)))
        count = len(leaves_of(held))
        results = types.flatten(op.result_types)[count : 2 * count]
        return context_of(op, held, written(self.collectives.begin(op, leaves), results))

    @impl(ops.CollectivePermuteDoneOp)
    def run_collective_permute_done(
        self, interpreter: Interpreter, op: ops.CollectivePermuteDoneOp, args: PythonValues
    ) -> PythonValues:
        """What the source brings."""
        return finished(op, args)


def written(write: Write, declared: Sequence[Attribute]) -> Pending[PythonValues]:
    """What is to be written into new arrays of these types."""

    def result() -> PythonValues:
        results = new_arrays(declared)
        write(results)
        return tuple(results)

    return Pending(result)


def finished(op: Operation, args: PythonValues) -> PythonValues:
    """Waits for the results that a context is for, as the results of a done."""
    values = pending_in(args).result()
    leaves = leaves_of(values)
    return tuple(leaves) if len(leaves) == len(op.results) > 1 else as_results(op, values)
