"""What the operations on tuples compute; a tuple is a Python tuple."""

from __future__ import annotations

from xdsl.dialects.builtin import TupleType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from xla_dialect.ops import tuples as ops


@register_impls
class TupleFunctions(InterpreterFunctions):
    """Making tuples and taking them apart."""

    @impl(ops.TupleOp)
    def run_tuple(
        self, interpreter: Interpreter, op: ops.TupleOp, args: PythonValues
    ) -> PythonValues:
        """The operands in order."""
        return (args,)

    @impl(ops.GetTupleElementOp)
    def run_get_tuple_element(
        self, interpreter: Interpreter, op: ops.GetTupleElementOp, args: PythonValues
    ) -> PythonValues:
        """Element `index`."""
        return (args[0][op.index.value.data],)


def as_results(op: Operation, values: PythonValues) -> PythonValues:
    """
    What a computation returned, as the results of an operation.

    One tuple and its elements stand for each other: `values` may have either form, and so may the
    results of `op`.
    """
    if len(op.results) == len(values):
        is_element = isinstance(op.results[0].type, TupleType) if op.results else False
        return (values,) if is_element and not isinstance(values[0], tuple) else values
    return (values,) if len(op.results) == 1 else values[0]


def elements(values: PythonValues, count: int) -> PythonValues:
    """The `count` values that a computation returned, one by one or as one tuple."""
    return values if len(values) == count else values[0]
