"""Errors for programs that StableHLO cannot express."""

from __future__ import annotations

from typing import NoReturn

from xdsl.ir import Operation

from xla_dialect.diagnostics import LocatedError
from xla_dialect.violations import place_of


class StableHloPrintError(LocatedError):
    """The module holds what StableHLO cannot express."""


class Inexpressible(ValueError):
    """StableHLO has no form for a type or a value; the caller adds the operation."""

    def __init__(self, message: str):
        super().__init__(message)


def fail(op: Operation, message: str) -> NoReturn:
    """Raises StableHloPrintError at the place of an operation."""
    file, line, column = place_of(op.location) or ("<module>", 0, 0)
    raise StableHloPrintError(f"{op.name}: {message}", file, line, column)
