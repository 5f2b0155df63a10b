"""Errors of operations that are carried out."""

from __future__ import annotations

from xdsl.ir import Operation

from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.violations import place_of


class OperationError(XlaError):
    """An error in an operation without a source location: the message has the operation's name."""


def located_error(op: Operation, message: str) -> XlaError:
    """The error of an operation, with its name and its place if that is known."""
    place = place_of(op.location)
    message = f"{op.name}: {message}"
    return OperationError(message) if place is None else LocatedError(message, *place)
