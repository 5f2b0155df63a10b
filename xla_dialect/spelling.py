"""What can be wrong with a text, and the words in which messages say it."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import TracebackType
from typing import Any, NoReturn, Self, TypeVar

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
    found = meant(word, known)
    return "" if found is None else f"; did you mean '{found}'?"


def meant(word: str, known: Iterable[str]) -> str | None:
    """The word that a misspelled or abbreviated one probably stands for."""
    if len(word) > _LONGEST_MISSPELLING:
        return None
    near: dict[str, str] = {}
    longer: list[str] = []
    for name in known:
        if abs(len(name) - len(word)) <= _MISSPELLED and len(near) < _MOST_CANDIDATES:
            near[name.lower()] = name
        elif len(word) >= _SHORTEST_ABBREVIATION and name.startswith(word):
            longer.append(name)
    close = get_close_matches(word.lower(), near, 1)
    return near[close[0]] if close else min(longer, key=len, default=None)


_NUMBER_AT_END = re.compile(r"\.[0-9]+$")


class FreeNames:
    """The names of one scope that are taken."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken: set[str] = set(taken)
        self._numbers: dict[str, int] = {}

    def free(self, wanted: str, avoided: Container[str] = ()) -> str:
        """The name itself if it is free, otherwise with a number: `add`, `add.1`, `add.2`."""
        name = wanted
        if name in self.taken or name in avoided:
            root = _NUMBER_AT_END.sub("", wanted)
            number = self._numbers.get(root, 1)
            while (name := f"{root}.{number}") in self.taken or name in avoided:
                number += 1
            self._numbers[root] = number + 1
        return name

    def take(self, wanted: str, avoided: Container[str] = ()) -> str:
        """As `free`; two things never get the same name."""
        name = self.free(wanted, avoided)
        self.taken.add(name)
        return name


# A position in a text that is read from left to right: what the readers of small texts share.
#
# Layouts, attributes of HLO text and their like have no tokens in common, but all step over blanks,
# characters and patterns, and say the same of what is wrong.

WORD = re.compile(r"[A-Za-z_][\w.\-]*+", re.ASCII)
FIELD = re.compile(r"[A-Za-z_][\w.\-]*+=", re.ASCII)

BRACES = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
BRACES_AND_PARENTHESES = re.compile(r'"(?:[^"\\]|\\.)*"|[{}()]', re.DOTALL)

Item = TypeVar("Item")


class Scanner:
    """
    What is left of a text.

    Every step goes over the blanks behind it, so that `position` is never at one.
    """

    blanks = re.compile(r"\s*+")

    def __init__(self, text: str, position: int = 0):
        self.text = text
        self.position = position
        self.skip_blanks()

    def skip_blanks(self) -> None:
        match = self.blanks.match(self.text, self.position)
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

    def expect(self, *words: str) -> None:
        """Steps over these characters; raises SpellingError."""
        for word in words:
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

    def group(self, brackets: re.Pattern[str] = BRACES) -> str:
        """Steps over `{...}`, where only these brackets and strings count, and returns it."""
        start, depth = self.position, 0
        for match in brackets.finditer(self.text, start):
            depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(match.group(), 0)
            if not depth:
                self.position = match.end()
                self.skip_blanks()
                return self.text[start : match.end()]
        raise SpellingError(f"{quoted(self.text[start : start + 1])} is never closed", start)

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

    def one_of(self, words: Iterable[str], *, in_any_case: bool = False) -> str:
        """Steps over one of some words and returns it; raises SpellingError."""
        start, listed = self.position, ", ".join(words)
        found = self.match(WORD, f"one of {listed}").group()
        known = {word.lower() if in_any_case else word: word for word in words}
        word = known.get(found.lower() if in_any_case else found)
        if word is None:
            hint = suggestion(found, words)
            raise SpellingError(f"expected one of {listed}; found {quoted(found)}{hint}", start)
        return word

    def field(
        self, fields: Mapping[str, Callable[[Self], object]], found: dict[str, object]
    ) -> None:
        """Reads `name=value`, with a name that is known and not yet found; raises SpellingError."""
        start, listed = self.position, ", ".join(fields)
        name = self.match(FIELD, f"one of {listed} with '='").group()[:-1]
        if name not in fields:
            hint = suggestion(name, fields)
            message = f"unknown field {quoted(name)} (there are {listed}){hint}"
            raise SpellingError(message, start)
        if name in found:
            raise SpellingError(f"field '{name}' is given twice", start)
        found[name] = fields[name](self)

    def finish(self, expected: str = "nothing more") -> None:
        """Raises SpellingError if there is more."""
        if self.position != len(self.text):
            self.fail(expected)

    def fail(self, expected: str) -> NoReturn:
        """Raises SpellingError at the position."""
        rest = self.text[self.position :]
        found = quoted(rest) if rest else "the end"
        raise SpellingError(f"expected {expected}, found {found}", self.position)


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
