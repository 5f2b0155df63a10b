"""The error of the compiler as a whole."""

from __future__ import annotations

from xla_dialect.diagnostics import XlaError


class CompilationError(XlaError):
    """A program or an option that the compiler does not take."""
