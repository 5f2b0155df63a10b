"""Tokens of HLO text, found on demand from left to right in linear time.

Only the frame of the language is made of tokens: names, shapes, `attribute=`, punctuation. Values
of attributes and literals are taken as groups of raw text (`Lexer.value`, `Lexer.skip_group`) and
read later by whoever knows what they mean, or kept as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from xla_dialect.spelling import SpellingError, quoted

STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*"'
"""A quoted string; a backslash takes the next character with it."""

COMMENT = r"/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/|//[^\n]*+"

LAYOUT_OPENS = r"\{(?=\s*+[0-9:])"
"""The brace of a layout; that of a computation's body is never followed by a digit or colon."""

# Quantifiers of characters are possessive and alternatives differ in their first characters, so
# nothing is ever tried twice. Groups are not repeated possessively: Python 3.11.2 gets that wrong.
# A shape ends at the first bracket that does not belong to it.
_TOKEN = re.compile(
    rf"""\s*+(?:
      (?P<shape>[a-z][a-z0-9]*+\s*+\[[^\[\](){{}}"]*+\](?:\s*+{LAYOUT_OPENS}[^{{}}"]*+\}}|\{{\s*+\}})?)
    | (?P<attribute>[A-Za-z_][\w.\-]*+=(?!=))
    | (?P<name>%?[A-Za-z0-9_.][\w.]*+(?:-(?!>)[\w.]*+)*)
    | (?P<string>{STRING})
    | (?P<punctuation>->|[{{}}()\[\],:=\#])
    | (?P<end>\Z)
    | (?P<invalid>.)
    )""",
    re.ASCII | re.VERBOSE | re.DOTALL,
)
_BLANKS = re.compile(r"\s*+")
_STRING_OR_COMMENT = re.compile(rf"{STRING}|{COMMENT}|(?P<unclosed>/\*.*)", re.DOTALL)
_NO_LINE_END = re.compile(r"[^\n]")
_PLAIN = r'[^(){}\[\]"/]*+'
_TO_BRACKET = re.compile(rf"{_PLAIN}(?:(?:{STRING}|/(?![*])){_PLAIN})*", re.DOTALL)
_PLAIN_VALUE = r'[^\s,(){}\[\]"/]*+'
_TO_VALUE_END = re.compile(rf"{_PLAIN_VALUE}(?:(?:{STRING}|/(?![*])){_PLAIN_VALUE})*", re.DOTALL)
_REST_OF_MESH = re.compile(r"(?:\s*,\s*device_ids=\([^()]*(?:\([^()]*\)[^()]*)?\))?\s*\{[^{}]*\}")
"""What follows `mesh['a'=2]` in replica groups: `, device_ids=([2]T(0)) {'a'}`."""
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_UNCLOSED = {'"': "string is never closed", "/": "comment is never closed"}


class Lexer:
    """
    The current token of a text.

    `kind` is `shape`, `attribute`, `name`, `string`, `punctuation` or `end`; `token` its text (a
    name with its `%`, an attribute with its `=`); `start` and `end` its offsets. `text` is the
    text without comments.
    """

    __slots__ = ("end", "kind", "start", "text", "token")

    def __init__(self, text: str, start: int = 0):
        self.text = without_comments(text)
        self.kind = ""
        self.token = ""
        self.start = start
        self.end = start
        self.advance()

    def advance(self) -> None:
        """Makes the token after `end` the current one."""
        match = _TOKEN.match(self.text, self.end)
        assert match is not None and match.lastgroup is not None  # `end` or `invalid` at the least
        self.kind = kind = match.lastgroup
        self.token = match.group(kind)
        self.start, self.end = match.span(kind)
        if kind == "invalid":
            self._fail_invalid()

    def advance_to(self, offset: int) -> None:
        """Makes the token at or after an offset the current one."""
        self.end = offset
        self.advance()

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        """Raises SpellingError at an offset, by default that of the current token."""
        raise SpellingError(message, self.start if offset is None else offset)

    def fail_expected(self, expected: str) -> NoReturn:
        """Raises SpellingError: something else than the current token is expected."""
        self.fail(f"expected {expected}, found {self.describe()}")

    def describe(self) -> str:
        """The current token as messages name it."""
        if self.kind == "end":
            return "the end of the text"
        return quoted(self.token)

    def next_character(self) -> str:
        """The character after the current token, blanks skipped; "" at the end."""
        offset = self._skip_blanks(self.end)
        return self.text[offset : offset + 1]

    def accept(self, punctuation: str) -> bool:
        """Steps over this token if it is the current one."""
        if self.token == punctuation:
            self.advance()
            return True
        return False

    def expect(self, punctuation: str) -> None:
        """Steps over this token; anything else is an error."""
        if self.token != punctuation:
            self.fail_expected(f"'{punctuation}'")
        self.advance()

    def skip_group(self, start: int) -> int:
        """The offset after the bracket that closes the one at `start`."""
        text = self.text
        open_brackets = [start]
        offset = start + 1
        while open_brackets:
            offset = skip_to_bracket(text, offset)
            character = text[offset : offset + 1]
            if character in _CLOSING:
                open_brackets.append(offset)
            elif not character:
                opening = open_brackets[-1]
                self.fail(f"'{text[opening]}' is never closed", opening)
            elif character in _UNCLOSED:
                self.fail(_UNCLOSED[character], offset)
            else:
                opening = open_brackets.pop()
                expected = _CLOSING[text[opening]]
                if character != expected:
                    self.fail(f"expected '{expected}', found '{character}'", offset)
            offset += 1
        return offset

    def value(self) -> tuple[int, int]:
        """
        Steps over the value of the current `attribute` token and returns its extent.

        A value ends at the first blank, comma or closing bracket outside brackets and strings; but
        one that begins with a mesh goes on to its axes, and `literal=f32[]` to its elements.
        """
        text = self.text
        start = self._skip_blanks(self.end)
        offset = self._end_of_value(start)
        if text.startswith("mesh[", start):
            rest = _REST_OF_MESH.match(text, offset)
            offset = offset if rest is None else rest.end()
        elif self.token == "literal=" and text[offset - 1 : offset] in ("]", "}"):
            offset = self._end_of_value(self._skip_blanks(offset))
        if offset == start:
            self.fail(f"attribute '{self.token[:-1]}' has no value", start)
        self.end = offset
        self.advance()
        return start, offset

    def _end_of_value(self, offset: int) -> int:
        text = self.text
        while True:
            match = _TO_VALUE_END.match(text, offset)
            assert match is not None
            offset = match.end()
            character = text[offset : offset + 1]
            if character == '"':
                self.fail(_UNCLOSED[character], offset)
            if character not in _CLOSING:
                return offset
            offset = self.skip_group(offset)

    def _skip_blanks(self, offset: int) -> int:
        match = _BLANKS.match(self.text, offset)
        assert match is not None
        return match.end()

    def _fail_invalid(self) -> NoReturn:
        if self.token == '"' or self.text.startswith("/*", self.start):
            self.fail(_UNCLOSED[self.token])
        self.fail(f"unexpected character {self.token!r}")


class Token(NamedTuple):
    """A token apart from any `Lexer`: its kind, which may be `invalid`, its text and its place."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """All tokens of a text up to and with `end`, however wrong it is."""
    for match in _TOKEN.finditer(without_comments(text)):
        kind = match.lastgroup or "invalid"
        yield Token(kind, match.group(kind), *match.span(kind))
        if kind == "end":
            return


def without_comments(text: str) -> str:
    """The text with blanks in the place of comments, so that offsets and lines stay."""
    if "//" not in text and "/*" not in text:
        return text
    return _STRING_OR_COMMENT.sub(_blank_comment, text)


def _blank_comment(match: re.Match[str]) -> str:
    text = match.group()
    is_kept = text.startswith('"') or match["unclosed"] is not None
    return text if is_kept else _NO_LINE_END.sub(" ", text)


def skip_to_bracket(text: str, offset: int) -> int:
    """The offset of the next bracket or unclosed quote outside strings, or the end."""
    match = _TO_BRACKET.match(text, offset)
    assert match is not None
    return match.end()
