"""What can go wrong when LLVM IR is printed: input that this level does not allow."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from lowerings.rewriting.conversion import describe_location
from xla_dialect.diagnostics import XlaError


class UnsupportedType(Exception):
    """A type that has no form here; turned into an EmissionError where the operation is known."""


class EmissionError(XlaError):
    """An operation that cannot be printed as LLVM IR: which one, where, and why."""

    def __init__(self, op: Operation, reason: str):
        self.op = op
        self.reason = reason
        place = describe_location(op.location)
        head = "" if place is None else f"{place}: "
        super().__init__(f"{head}cannot emit LLVM IR: {op.name}{_enclosing_function(op)}: {reason}")


def _enclosing_function(op: Operation) -> str:
    parent = op.parent_op()
    while parent is not None:
        symbol = parent.properties.get("sym_name")
        if isinstance(symbol, StringAttr):
            return f" in @{symbol.data}"
        parent = parent.parent_op()
    return ""
