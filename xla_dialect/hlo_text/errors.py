"""What can be wrong with HLO text: its spelling, or what it says."""

from __future__ import annotations

from xla_dialect.diagnostics import LocatedError


class HloSyntaxError(LocatedError):
    """The text is not HLO: a token where another is expected, a bracket never closed."""


class HloImportError(LocatedError):
    """The text is HLO, but not a program: an undefined name, a shape that does not agree."""
