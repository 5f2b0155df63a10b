"""How tables of numpy functions become function registrations of xDSL's interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    OpImpl,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Operation

from xla_dialect.op import XlaOp
from xla_dialect.reference.rounding import Function


def registration(
    name: str, functions: Mapping[type[XlaOp], Function]
) -> type[InterpreterFunctions]:
    """
    A class of function registrations for operations with one result that depends on the operand
    values only.
    """
    members: dict[str, Any] = {
        op_type.__name__: _implementation(op_type, function)
        for op_type, function in functions.items()
    }
    return register_impls(cast("type[InterpreterFunctions]", type(name, _BASES, members)))


_BASES = (InterpreterFunctions,)


def _implementation(
    op_type: type[Operation], function: Function
) -> OpImpl[InterpreterFunctions, Operation]:
    def run(
        _functions: InterpreterFunctions,
        _interpreter: Interpreter,
        _op: Operation,
        args: PythonValues,
    ) -> PythonValues:
        return (function(*args),)

    return impl(op_type)(run)
