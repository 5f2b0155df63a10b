"""What can be wrong with a module of HLO text, or with one that is to be printed as it."""

from __future__ import annotations

from xla_dialect.diagnostics import LocatedError


class HloSyntaxError(LocatedError):
    """The text is not HLO: a token where another is expected, a bracket never closed."""


class HloImportError(LocatedError):
    """The text is HLO, but not a program: an undefined name, a shape that does not agree."""


class HloPrintError(LocatedError):
    """The module holds what HLO text cannot say: an operation or a type of another dialect."""
