"""The tokens of meshes, shardings and groups of devices, as Shardy and HLO text write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from xla_dialect.spelling import SpellingError, shortened

_Item = TypeVar("_Item")

_SPACE = r"(?:\s|//[^\n]*|/\*.*?\*/)*"
_TOKEN = re.compile(
    _SPACE + r"([0-9]+|'[^'\"]*'|\"(?:[^\"\\]|\\.)*\"|<=|->|[A-Za-z_][\w.$]*|.|$)",
    re.DOTALL | re.ASCII,
)
_MAX_DIGITS = 18
_BARE = re.compile(r"[A-Za-z_][\w.$]*", re.ASCII)


def symbol_text(name: str) -> str:
    """`@mesh`, `@"a b"`"""
    return f"@{name}" if _BARE.fullmatch(name) is not None else f'@"{name}"'


class Tokens:
    """
    The numbers, quoted names, words and other characters of a text, from left to right.

    Between them there may be space, and comments as MLIR and HLO text have them.
    """

    def __init__(self, text: str, position: int = 0, alias: Callable[[str], object] | None = None):
        """`alias`: what `#name` stands for in MLIR, an attribute; raises ParseError."""
        self.text = text
        self.position = position
        self._alias = alias

    def peek(self) -> tuple[str, int]:
        """The next token and where the one after it starts."""
        match = _TOKEN.match(self.text, self.position)
        assert match is not None
        return match.group(1), match.end()

    def at(self, token: str) -> bool:
        """Whether this token comes next."""
        return self.peek()[0] == token

    def fail(self, expected: str) -> NoReturn:
        """Raises SpellingError at the next token."""
        found = self.peek()[0] or "the end"
        self.fail_with(f"expected {expected}, found '{shortened(found)}'")

    def fail_with(self, message: str) -> NoReturn:
        """Raises SpellingError at the next token."""
        match = _TOKEN.match(self.text, self.position)
        assert match is not None
        raise SpellingError(message, match.start(1))

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
        """A name in quotes, single or double."""
        found, end = self.peek()
        if found[:1] not in ("'", '"') or len(found) < 2:
            self.fail("a name in quotes")
        self.position = end
        return found[1:-1]

    def symbol(self) -> str:
        """`@mesh`, `@"a b"`"""
        self.expect("@")
        return self.quoted() if self.peek()[0][:1] == '"' else self.word()

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
        return tuple(self.list_until("]", lambda: self.content(attribute, parse)))

    def fields(
        self, fields: Mapping[str, Callable[[], Any]], optional: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Reads `<name = value, ...>` in any order, each value by the function of its name."""
        found: dict[str, Any] = {}

        def field() -> None:
            name = self.peek()[0]
            if name in found or name not in fields:
                self.fail_with(f"field {name} is unknown, or given twice")
            self.expect(name, "=")
            found[name] = fields[name]()

        start = self.position
        self.expect("<")
        self.list_until(">", field)
        for name in fields:
            if name not in found and name not in optional:
                raise SpellingError(f"field {name} is missing", start)
        return found

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
