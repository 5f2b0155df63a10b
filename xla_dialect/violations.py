"""Constraints of operations that do not hold."""

from __future__ import annotations

from xdsl.utils.exceptions import VerifyException


class Violation(VerifyException):
    """A constraint that does not hold: its label, e.g. `C3`, and what was found."""

    def __init__(self, label: str, found: str):
        self.label = label
        self.found = found
        super().__init__(f"({label}) {found}")


def require(holds: bool, label: str, found: str, *values: object) -> None:
    """Raises `Violation(label, ...)` unless `holds`; `found` is a format string for `values`."""
    if not holds:
        raise Violation(label, found.format(*values))
