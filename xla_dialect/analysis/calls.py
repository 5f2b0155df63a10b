"""Call-like operations: `xla.call`, `func.call`, and `run_parallel` of whole programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, TypeGuard

from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Operation

from xla_dialect.ops.control_flow import CallOp
from xla_dialect.self_checking.interpreter import RunParallelOp

Call: TypeAlias = CallOp | FuncCallOp

# Looked up by class: `isinstance` of classes of operations costs as much as a small verifier.
_CALLS = frozenset((CallOp, FuncCallOp))
_RUNNERS = _CALLS | {RunParallelOp}


def is_call(op: Operation) -> TypeGuard[Call]:
    """Whether an operation calls a function."""
    return type(op) in _CALLS


def callee(call: Call) -> str:
    """The name of the function that is called."""
    symbol = call.to_apply if isinstance(call, CallOp) else call.callee
    return symbol.root_reference.data


def runs_functions(op: Operation) -> TypeGuard[Call | RunParallelOp]:
    """Whether an operation runs functions that it names."""
    return type(op) in _RUNNERS


def callees(op: Call | RunParallelOp) -> Iterable[str]:
    """The names of the functions that an operation runs."""
    return op.callees() if isinstance(op, RunParallelOp) else (callee(op),)
