"""The functions of a module."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

INLINED = "xla.inline"
"""The unit attribute of a function that LLVM inlines, but for calls that are `NO_INLINE`."""

NO_INLINE = "no_inline"
"""MLIR's attribute of calls that stay, and of functions all of whose calls do."""


def functions_of(module: ModuleOp) -> dict[str, FuncOp]:
    """The functions of a module by name."""
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def defined_functions(module: ModuleOp) -> list[FuncOp]:
    """Those of its functions that have a body."""
    return [function for function in functions_of(module).values() if not function.is_declaration]
