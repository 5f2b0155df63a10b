"""What can go wrong when LLVM IR is printed: input that this level does not allow."""

from __future__ import annotations

from xdsl.ir import Operation

from lowerings.rewriting.conversion import describe_location
from xla_dialect.diagnostics import XlaError
from xla_dialect.xdsl.traversal import function_of


class UnsupportedType(Exception):
    """A type that has no form here; turned into an EmissionError where the operation is known."""


class EmissionError(XlaError):
    """An operation that cannot be printed as LLVM IR: which one, where, and why."""

    def __init__(self, op: Operation, reason: str):
        self.op = op
        self.reason = reason
        place = describe_location(op.location)
        head = "" if place is None else f"{place}: "
        function = function_of(op)
        around = "" if function is None else f" in @{function}"
        super().__init__(f"{head}cannot emit LLVM IR: {op.name}{around}: {reason}")
