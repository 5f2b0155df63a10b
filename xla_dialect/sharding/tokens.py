"""The tokens of meshes, shardings and groups of devices, as Shardy and HLO text write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from xla_dialect.attributes import SpellingError, shortened

_Item = TypeVar("_Item")

_TOKEN = re.compile(
    r"\s*(?:([0-9]+)|('[^'\"]*')|(\"(?:[^\"\\]|\\.)*\")|(<=|->|[A-Za-z_][\w.$]*|.)|$)",
    re.DOTALL | re.ASCII,
)
_MAX_DIGITS = 18
_BARE = re.compile(r"[A-Za-z_][\w.$]*", re.ASCII)


def symbol_text(name: str) -> str:
    """`@mesh`, `@"a b"`"""
    return f"@{name}" if _BARE.fullmatch(name) is not None else f'@"{name}"'


class Tokens:
    """The numbers, quoted names, words and other characters of a text, from left to right."""

    def __init__(self, text: str):
        self.text = text
        self.position = 0

    def peek(self) -> tuple[str, int]:
        """The next token and where the one after it starts."""
        match = _TOKEN.match(self.text, self.position)
        assert match is not None
        return match.group().strip(), match.end()

    def at(self, token: str) -> bool:
        """Whether this token comes next."""
        return self.peek()[0] == token

    def fail(self, expected: str) -> NoReturn:
        """Raises SpellingError at the next token."""
        found = self.peek()[0] or "the end"
        self.fail_with(f"expected {expected}, found '{shortened(found)}'")

    def fail_with(self, message: str) -> NoReturn:
        """Raises SpellingError at the next token."""
        rest = self.text[self.position :]
        raise SpellingError(message, self.position + len(rest) - len(rest.lstrip()))

    def accept(self, token: str) -> bool:
        """Steps over a token if it comes next."""
        found, end = self.peek()
        if found == token:
            self.position = end
        return found == token

    def expect(self, *tokens: str) -> None:
        """Steps over these tokens; raises SpellingError."""
        for token in tokens:
            if not self.accept(token):
                self.fail(f"'{token}'")

    def finish(self) -> None:
        """Raises SpellingError if there is more."""
        if self.peek()[0]:
            self.fail("nothing more")

    def number(self) -> int:
        """A number from 0."""
        found, end = self.peek()
        if not found.isdecimal() or len(found) > _MAX_DIGITS:
            self.fail("a number")
        self.position = end
        return int(found)

    def word(self) -> str:
        """A name without quotes."""
        found, end = self.peek()
        if not (found[:1].isalpha() or found[:1] == "_"):
            self.fail("a word")
        self.position = end
        return found

    def quoted(self) -> str:
        """A name in quotes, single or double; it is not empty."""
        found, end = self.peek()
        if found[:1] not in ("'", '"') or len(found) < 3:
            self.fail("a name in quotes")
        self.position = end
        return found[1:-1]

    def symbol(self) -> str:
        """`@mesh`, `@"a b"`"""
        self.expect("@")
        return self.quoted() if self.peek()[0][:1] == '"' else self.word()

    def list_until(self, close: str, item: Callable[[], _Item]) -> list[_Item]:
        """Items between commas, up to the closing token; the opening one is read already."""
        if self.accept(close):
            return []
        items = [item()]
        while not self.accept(close):
            self.expect(",")
            items.append(item())
        return items

    def numbers(self, opening: str, close: str) -> tuple[int, ...]:
        """`[1,2]` with these brackets."""
        self.expect(opening)
        return tuple(self.list_until(close, self.number))

    def lists(self) -> tuple[tuple[int, ...], ...]:
        """`{{0,1},{2,3}}`"""
        self.expect("{")
        return tuple(self.list_until("}", lambda: self.numbers("{", "}")))
