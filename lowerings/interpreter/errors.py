"""What goes wrong while a program below the xla level runs."""

from __future__ import annotations

from xla_dialect.diagnostics import XlaError


class UndefinedBehavior(XlaError):
    """An operation whose result its dialect leaves undefined: out of bounds, a division by zero."""


def is_of_undefined_behavior(error: XlaError) -> bool:
    """Whether an error is `UndefinedBehavior`, or tells the place of one."""
    return isinstance(error, UndefinedBehavior) or isinstance(error.__cause__, UndefinedBehavior)


class IterationLimitReached(XlaError):
    """A loop that runs more often than its caller allows."""
