"""The tokens of meshes, shardings and groups of devices, as Shardy and HLO text write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from xla_dialect.spelling import Scanner, SpellingError, shortened

_Item = TypeVar("_Item")

_TOKEN = re.compile(
    r"([0-9]+|'[^'\"]*'|\"(?:[^\"\\]|\\.)*\"|<=|->|[A-Za-z_][\w.$]*|.|$)",
    re.DOTALL | re.ASCII,
)
_MAX_DIGITS = 18
_BARE = re.compile(r"[A-Za-z_][\w.$]*", re.ASCII)


def symbol_text(name: str) -> str:
    """`@mesh`, `@"a b"`"""
    return f"@{name}" if _BARE.fullmatch(name) is not None else f'@"{name}"'


class Tokens(Scanner):
    """
    The numbers, quoted names, words and other characters of a text, from left to right.

    Between them there may be space, and comments as MLIR and HLO text have them.
    """

    blanks = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)

    def __init__(self, text: str, position: int = 0, alias: Callable[[str], object] | None = None):
        """`alias`: what `#name` stands for in MLIR, an attribute; raises ParseError."""
        super().__init__(text, position)
        self._alias = alias

    def peek(self) -> str:
        """The next token; at the end there is none."""
        match = _TOKEN.match(self.text, self.position)
        assert match is not None
        return match.group()

    def at(self, word: str) -> bool:
        """Whether this token comes next."""
        return self.peek() == word

    def fail(self, expected: str) -> NoReturn:
        """Raises SpellingError at the next token."""
        self.fail_with(f"expected {expected}, found '{shortened(self.peek() or 'the end')}'")

    def fail_with(self, message: str) -> NoReturn:
        """Raises SpellingError at the next token."""
        raise SpellingError(message, self.position)

    def number(self) -> int:
        """A number from 0."""
        found = self.peek()
        if not found.isdecimal() or len(found) > _MAX_DIGITS:
            self.fail("a number")
        self.expect(found)
        return int(found)

    def word(self) -> str:
        """A name without quotes."""
        found = self.peek()
        if not (found[:1].isalpha() or found[:1] == "_"):
            self.fail("a word")
        self.expect(found)
        return found

    def quoted(self) -> str:
        """A name in quotes, single or double."""
        found = self.peek()
        if found[:1] not in ("'", '"') or len(found) < 2:
            self.fail("a name in quotes")
        self.expect(found)
        return found[1:-1]

    def symbol(self) -> str:
        """`@mesh`, `@"a b"`"""
        self.expect("@")
        return self.quoted() if self.peek()[:1] == '"' else self.word()

    def content(self, attribute: str, parse: Callable[[Tokens], _Item]) -> _Item:
        """Reads what is an attribute of its own: bare, behind its name, or by an alias."""
        if not self.at("#"):
            return parse(self)
        start = self.position
        self.expect("#")
        name, (dialect, mnemonic) = self.word(), attribute.split(".")
        if name == attribute:
            return parse(self)
        if name == dialect:
            self.expect("<", mnemonic)
            content = parse(self)
            self.expect(">")
            return content
        found: Any = None if self._alias is None else self._alias(f"#{name}")
        if getattr(found, "name", "") != attribute:
            raise SpellingError(f"#{name} is not #{attribute}", start)
        return found.data

    def contents(self, attribute: str, parse: Callable[[Tokens], _Item]) -> tuple[_Item, ...]:
        """Reads `[a, b]`, each as `content` does."""
        self.expect("[")
        return tuple(self.items("]", lambda: self.content(attribute, parse)))

    def fields(
        self, fields: Mapping[str, Callable[[], Any]], optional: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Reads `<name = value, ...>` in any order, each value by the function of its name."""
        found: dict[str, Any] = {}

        def field() -> None:
            name = self.peek()
            if name in found or name not in fields:
                self.fail_with(f"field {name} is unknown, or given twice")
            self.expect(name, "=")
            found[name] = fields[name]()

        start = self.position
        self.expect("<")
        self.items(">", field)
        for name in fields:
            if name not in found and name not in optional:
                raise SpellingError(f"field {name} is missing", start)
        return found

    def numbers(self, opening: str, close: str) -> tuple[int, ...]:
        """`[1,2]` with these brackets."""
        self.expect(opening)
        return tuple(self.items(close, self.number))

    def lists(self) -> tuple[tuple[int, ...], ...]:
        """`{{0,1},{2,3}}`"""
        self.expect("{")
        return tuple(self.items("}", lambda: self.numbers("{", "}")))
