"""What can be wrong with HLO text: its spelling, what it says, or what it is to say."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from xla_dialect.diagnostics import LocatedError

_LONGEST_QUOTE = 40
_LONGEST_MISSPELLING = 64
_MISSPELLED = 3
"""How many characters a word may lack, or have too many."""
_MOST_CANDIDATES = 1000
"""Among how many words one is looked for; a computation may have a hundred thousand names."""


class HloSyntaxError(LocatedError):
    """The text is not HLO: a token where another is expected, a bracket never closed."""


class PartError(ValueError):
    """
    Something is wrong in a part of the text that is read on its own: a shape, a literal, a value.

    `position` counts from the start of the part; whoever knows where that is makes the located
    error.
    """

    def __init__(self, message: str, position: int = 0):
        self.position = position
        super().__init__(message)


class NoHloSpelling(ValueError):
    """HLO text cannot spell a type or a value; the caller adds the location."""


def quoted(text: str) -> str:
    """A part of the text as messages show it: in quotes, and not too long."""
    return f"'{text}'" if len(text) <= _LONGEST_QUOTE else f"'{text[:_LONGEST_QUOTE]}...'"


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'add'?` for a misspelled word, or nothing."""
    if len(word) > _LONGEST_MISSPELLING:
        return ""
    near = (name for name in known if abs(len(name) - len(word)) <= _MISSPELLED)
    by_lower_case = {name.lower(): name for name in islice(near, _MOST_CANDIDATES)}
    close = get_close_matches(word.lower(), by_lower_case, 1)
    return f"; did you mean '{by_lower_case[close[0]]}'?" if close else ""
