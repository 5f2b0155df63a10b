"""The functions of a module."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp


def functions_of(module: ModuleOp) -> dict[str, FuncOp]:
    """The functions of a module by name."""
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def defined_functions(module: ModuleOp) -> list[FuncOp]:
    """Those of its functions that have a body."""
    return [function for function in functions_of(module).values() if not function.is_declaration]
