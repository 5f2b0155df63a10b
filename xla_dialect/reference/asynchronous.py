"""What asynchronous operations compute: a start begins an operation, a done waits for it.

The context of a start is the Python tuple that its type says, with a `Pending` for the result.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, register_impls
from xdsl.ir import Attribute, Operation, Region

from xla_dialect import types
from xla_dialect.devices.process_grid import Pending
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import TOKEN, Array, Value, leaves_of, numpy_dtype
from xla_dialect.ops import asynchronous as ops
from xla_dialect.reference.collectives import CollectiveFunctions, Write, as_arrays, new_arrays
from xla_dialect.reference.control_flow import on_arrays
from xla_dialect.reference.registration import ArrayFunctions, computes, method_of
from xla_dialect.violations import described


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


def written(write: Write, declared: Sequence[Attribute]) -> Pending[PythonValues]:
    """What is to be written into new arrays of these types."""

    def result() -> PythonValues:
        results = new_arrays(declared)
        write(results)
        return tuple(results)

    return Pending(result)


def finished(context: PythonValues, *, op: Operation) -> PythonValues:
    """Waits for the results that a context is for, as the results of a done."""
    values = pending_in(context).result()
    leaves = leaves_of(values)
    return tuple(leaves) if len(leaves) == len(op.results) > 1 else values


@register_impls
@dataclass
class AsynchronousFunctions(ArrayFunctions):
    """Starts and dones."""

    collectives: CollectiveFunctions

    @computes(ops.AsyncStartOp)
    def async_start(
        self, inputs: PythonValues, *, op: ops.AsyncStartOp, interpreter: Interpreter
    ) -> PythonValues:
        """The computation runs in a thread, with the values that it sees now, if it has all."""
        return context_of(op, inputs, self.begun(interpreter, op, inputs))

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

    @computes(ops.AsyncUpdateOp)
    def async_update(
        self, context: PythonValues, *, op: ops.AsyncUpdateOp, interpreter: Interpreter
    ) -> PythonValues:
        """The context."""
        return self.bound(interpreter, op, context)

    @computes(ops.AsyncDoneOp)
    def async_done(
        self, context: PythonValues, *, op: ops.AsyncDoneOp, interpreter: Interpreter
    ) -> PythonValues:
        """The result of the computation."""
        return finished(self.bound(interpreter, op, context), op=op)

    @computes(ops.CopyStartOp)
    def copy_start(self, operand: Array) -> PythonValues:
        """The operand twice."""
        return (operand, operand, np.uint32(0))

    @computes(ops.CopyDoneOp)
    def copy_done(self, context: PythonValues) -> PythonValues:
        """The destination."""
        return (leaves_of(context)[0],)

    @computes(ops.AllGatherStartOp)
    def all_gather_start(self, inputs: PythonValues, *, op: ops.AllGatherStartOp) -> PythonValues:
        """As `all_gather`."""
        leaves = types.flatten(op.result_types)[len(inputs) : 2 * len(inputs)]
        begun = self.collectives.begin(op, as_arrays(inputs))
        return context_of(op, inputs, written(begun, leaves))

    @computes(ops.AllReduceStartOp)
    def all_reduce_start(
        self,
        inputs: PythonValues,
        *,
        to_apply: Region,
        op: ops.AllReduceStartOp,
        interpreter: Interpreter,
    ) -> PythonValues:
        """As `all_reduce`; the context has the form of the results."""
        function = on_arrays(interpreter, to_apply, "to_apply")
        found = self.collectives.reduced(op, function, as_arrays(inputs))
        return (written(found, op.operand_types),) * len(inputs)

    @computes(ops.CollectivePermuteStartOp)
    def collective_permute_start(
        self, inputs: PythonValues, *, op: ops.CollectivePermuteStartOp
    ) -> PythonValues:
        """As `collective_permute`."""
        held = inputs[: op.held]
        leaves = as_arrays(tuple(leaves_of(inputs)))
        count = len(leaves_of(held))
        results = types.flatten(op.result_types)[count : 2 * count]
        return context_of(op, held, written(self.collectives.begin(op, leaves), results))

    all_gather_done = computes(ops.AllGatherDoneOp)(method_of(finished))
    all_reduce_done = computes(ops.AllReduceDoneOp)(method_of(finished))
    collective_permute_done = computes(ops.CollectivePermuteDoneOp)(method_of(finished))
