"""How functions of arrays become functions of xDSL's interpreter.

A function is called as `infer` of the class is: with the operands, those of a list as a tuple, and
by keyword with the properties as Python values and with the regions, as far as it takes them; a
parameter `**name` takes all other properties. It may also take the operation, as `op`, whose types
say what results it declares, and the `interpreter`, which runs regions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import TupleType
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    OpImpl,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Operation
from xdsl.irdl import VariadicDef

from xla_dialect.literals.arrays import Value
from xla_dialect.op import Keywords, XlaOp

Implementation: TypeAlias = OpImpl[InterpreterFunctions, XlaOp]


@dataclass
class ArrayFunctions(InterpreterFunctions):
    """Functions that are called with operands, and by keyword with the rest of an operation."""

    given: dict[XlaOp, Mapping[str, Any]] = field(
        default_factory=dict[XlaOp, Mapping[str, Any]], init=False, repr=False
    )
    """The keywords of operations, which loops run in every iteration."""


def registration(
    name: str, functions: Mapping[type[XlaOp], Callable[..., Any]]
) -> type[ArrayFunctions]:
    """A class of registrations for operations that functions without a state compute."""
    members: dict[str, Any] = {
        operation.__name__: computes(operation)(method_of(function))
        for operation, function in functions.items()
    }
    bases = (ArrayFunctions,)
    return register_impls(cast("type[ArrayFunctions]", type(name, bases, members)))


def unchanged(value: Value) -> Value:
    """The operand; several of a list are the elements of a tuple."""
    return value


def method_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as a method of registrations, whose state it does not need."""

    @wraps(function)
    def call(_functions: InterpreterFunctions, *operands: Any, **keywords: Any) -> Any:
        return function(*operands, **keywords)

    return call


def computes(operation: type[XlaOp]) -> Callable[..., Any]:
    """
    Makes a method the function of an operation.

    It returns the value of the result, or a tuple for an operation with any number of results.
    """
    definition = operation.get_irdl_definition()
    names = [name for name, _ in definition.operands]
    has_lists = any(isinstance(part, VariadicDef) for _, part in definition.operands)
    is_one = bool(definition.results) and not isinstance(definition.results[0][1], VariadicDef)

    def implementation(method: Callable[..., Any]) -> Implementation:
        taken = inspect.signature(method).parameters
        keywords = Keywords.of(method, definition)
        takes_interpreter = "interpreter" in taken

        def keywords_of(op: XlaOp) -> Mapping[str, Any]:
            found = operation.contract().values(keywords, op.properties, op.regions)
            return {**found, "op": op} if "op" in taken else found

        def run(
            functions: InterpreterFunctions, interpreter: Interpreter, op: XlaOp, args: PythonValues
        ) -> PythonValues:
            known = cast(ArrayFunctions, functions).given
            given = known.get(op)
            if given is None:
                given = known[op] = keywords_of(op)
            if takes_interpreter:
                given = {**given, "interpreter": interpreter}
            operands = operation.contract().grouped(names, args) if has_lists else args
            found = method(functions, *operands, **given)
            return (found,) if is_one else as_results(op, found)

        return impl(operation)(run)

    return implementation


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
