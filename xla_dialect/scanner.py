"""A position in a text that is read from left to right: what the readers of small texts share.

Layouts, attributes of HLO text and their like have no tokens in common, but all step over blanks,
characters and patterns, and say the same of what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from xla_dialect.spelling import SpellingError, quoted

_BLANKS = re.compile(r"\s*+")

Item = TypeVar("Item")


class Scanner:
    """
    What is left of a text.

    Every step goes over the blanks behind it, so that `position` is never at one.
    """

    __slots__ = ("position", "text")

    def __init__(self, text: str, position: int = 0):
        self.text = text
        self.position = position
        self.skip_blanks()

    def skip_blanks(self) -> None:
        match = _BLANKS.match(self.text, self.position)
        assert match is not None
        self.position = match.end()

    def at(self, word: str) -> bool:
        """Whether these characters come next."""
        return self.text.startswith(word, self.position)

    def accept(self, word: str) -> bool:
        """Steps over these characters if they come next."""
        if not self.at(word):
            return False
        self.position += len(word)
        self.skip_blanks()
        return True

    def expect(self, word: str) -> None:
        """Steps over these characters; raises SpellingError."""
        if not self.accept(word):
            self.fail(f"'{word}'")

    def match(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        """Steps over what the pattern matches; raises SpellingError."""
        match = pattern.match(self.text, self.position)
        if match is None:
            self.fail(expected)
        self.position = match.end()
        self.skip_blanks()
        return match

    def items(self, closing: str, item: Callable[[], Item]) -> list[Item]:
        """Items between commas, up to the closing character; the opening one is read already."""
        found: list[Item] = []
        if self.accept(closing):
            return found
        while True:
            found.append(item())
            if not self.accept(","):
                self.expect(closing)
                return found

    def finish(self, expected: str) -> None:
        """Raises SpellingError if there is more."""
        if self.position != len(self.text):
            self.fail(expected)

    def fail(self, expected: str) -> NoReturn:
        """Raises SpellingError at the position."""
        rest = self.text[self.position :]
        found = quoted(rest) if rest else "the end"
        raise SpellingError(f"expected {expected}, found {found}", self.position)
