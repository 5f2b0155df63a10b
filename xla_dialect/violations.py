"""
Constraints of operations that do not hold, and where operations come from, as messages say it.

Errors themselves are in `diagnostics`, which needs no xDSL: what runs a program that is found on
disk does not load it.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from xla_dialect.diagnostics import LocatedError, XlaError


def place_of(location: Attribute) -> tuple[str, int, int] | None:
    """File, line and column of a location, looked up through names, fusions and call sites."""
    match location:
        case FileLineColLoc():
            return location.filename.data, location.line.data, location.column.data
        case CallSiteLoc():
            return place_of(location.callee)
        case NameLoc():
            return place_of(location.location)
        case FusedLoc(locations=ArrayAttr() as parts):
            places = (place_of(part) for part in parts)
            return next((place for place in places if place is not None), None)
        case _:
            return None


def described(op: Operation) -> str:
    """An operation and where it stands, as messages about others name it."""
    place = place_of(op.location)
    return op.name if place is None else f"{op.name} at {':'.join(map(str, place))}"


class Violation(VerifyException):
    """A constraint that does not hold: its label, e.g. `C3`, and what was found."""

    def __init__(self, label: str, found: str):
        self.label = label
        self.found = found
        super().__init__(f"({label}) {found}")


def innermost(error: BaseException) -> str:
    """The message of the constraint; xDSL wraps it into a print of the operation or the module."""
    while isinstance(error.__cause__, VerifyException):
        error = error.__cause__
    return str(error).strip()


def require(holds: object, label: str, found: str, *values: object) -> None:
    """Raises `Violation(label, ...)` unless `holds`; `found` is a format string for `values`."""
    if not holds:
        raise Violation(label, found.format(*values))


def check(holds: object, found: str, *values: object) -> None:
    """As `require`, for a rule that has no label; raises VerifyException."""
    if not holds:
        raise VerifyException(found.format(*values))


class OperationError(XlaError):
    """An error in an operation without a source location: the message has the operation's name."""


def located_error(op: Operation, message: str) -> XlaError:
    """The error of an operation, with its name and its place if that is known."""
    place = place_of(op.location)
    message = f"{op.name}: {message}"
    return OperationError(message) if place is None else LocatedError(message, *place)
