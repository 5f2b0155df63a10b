"""What can be wrong with a text, and the words in which messages say it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from types import TracebackType

from xla_dialect.diagnostics import XlaError

_LONGEST_QUOTE = 40
_LONGEST_MISSPELLING = 64
_MISSPELLED = 3
"""How many characters a word may lack, or have too many."""
_SHORTEST_ABBREVIATION = 2
_MOST_CANDIDATES = 1000
"""Among how many words one is looked for; a computation may have a hundred thousand names."""


class SpellingError(XlaError, ValueError):
    """
    Something is wrong in a text: a shape, a literal, an attribute, or a whole module.

    `position` counts from the start of the text that is read. Whoever reads a part of a text adds
    where the part is (`Excerpt`); whoever knows the file makes the located error.
    """

    def __init__(self, message: str, position: int = 0):
        self.message = message
        self.position = position
        super().__init__(message)

    def __str__(self) -> str:
        return self.message


class Excerpt:
    """
    Where the part of a text is that is read inside: errors count from the start of the whole text.

    `name`: what comes before the message.
    """

    __slots__ = ("name", "start")

    def __init__(self, start: int, name: str = ""):
        self.start = start
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, SpellingError):
            error.position += self.start
            if self.name:
                error.message = f"{self.name}: {error.message}"


class NoHloSpelling(ValueError):
    """HLO text cannot spell a type or a value; the caller adds the location."""


def shortened(text: str) -> str:
    """A part of a text as messages show it."""
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}..."


def quoted(text: str) -> str:
    """The same in quotes."""
    return f"'{shortened(text)}'"


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'add'?` for a misspelled or abbreviated word, or nothing."""
    if len(word) > _LONGEST_MISSPELLING:
        return ""
    near: dict[str, str] = {}
    longer: list[str] = []
    for name in known:
        if abs(len(name) - len(word)) <= _MISSPELLED and len(near) < _MOST_CANDIDATES:
            near[name.lower()] = name
        elif len(word) >= _SHORTEST_ABBREVIATION and name.startswith(word):
            longer.append(name)
    close = get_close_matches(word.lower(), near, 1)
    found = near[close[0]] if close else min(longer, key=len, default=None)
    return "" if found is None else f"; did you mean '{found}'?"
