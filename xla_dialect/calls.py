"""Calls of functions: the operation of the dialect, and that of func."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Operation

from xla_dialect.ops.control_flow import CallOp

Call: TypeAlias = CallOp | FuncCallOp

# Looked up by class: `isinstance` of classes of operations costs as much as a small verifier.
_CALLS = frozenset((CallOp, FuncCallOp))


def is_call(op: Operation) -> TypeGuard[Call]:
    """Whether an operation calls a function."""
    return type(op) in _CALLS


def callee(call: Call) -> str:
    """The name of the function that is called."""
    symbol = call.to_apply if isinstance(call, CallOp) else call.callee
    return symbol.root_reference.data
