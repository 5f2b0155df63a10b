"""Errors that say where: one type for everything that is wrong with an input."""

from __future__ import annotations

from pathlib import Path
from typing import Self


class XlaError(Exception):
    """
    Something is wrong with what the user gave us; the message is meant for that user.

    >>> from xla_dialect.diagnostics import XlaError
    >>> from xla_dialect.hlo_text import read_hlo
    >>> try:
    ...     read_hlo("ENTRY main { x = f32[2] parameter(0) ROOT y = f32[3] add(x, x) }")
    ... except XlaError as error:
    ...     print(str(error).splitlines()[0])
    <input>:1:47: error: xla.add: (Result) declared (f32[3]), inferred (f32[2])
    """


class LocatedError(XlaError):
    """An error at a place of a text: `file:line:column: error: message`, the line and a caret.

    `line` and `column` count from 1; 0 means that they are not known. A file that is no text has
    no lines: `column` is then the offset.
    """

    def __init__(
        self,
        message: str,
        file: str = "<input>",
        line: int = 0,
        column: int = 0,
        source_line: str = "",
    ):
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.source_line = source_line
        super().__init__(message)

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}:{self.column}" if self.column else f":{self.line}"
        offset = f"offset {self.column}: " if self.column and not self.line else ""
        head = f"{place}: error: {offset}{self.message}"
        if not self.source_line:
            return head
        text, column = _excerpt(self.source_line, self.column)
        if not column:
            return f"{head}\n{text}"
        blank = "".join("\t" if c == "\t" else " " for c in text[: column - 1])
        return f"{head}\n{text}\n{blank}^"

    def quoting(self, file: str, text: str | bytes) -> LocatedError:
        """The error with the line that it is about, if that is a line of this file."""
        line = line_at(text, self.line) if isinstance(text, str) else ""
        if self.source_line or self.file != file or not line:
            return self
        return LocatedError(self.message, file, self.line, self.column, line)

    @classmethod
    def at_offset(cls, message: str, file: str, text: str, offset: int) -> Self:
        """The error at a character offset of a text."""
        offset = max(0, min(offset, len(text)))
        start = text.rfind("\n", 0, offset) + 1
        end = text.find("\n", offset)
        line = text.count("\n", 0, start) + 1
        source_line = text[start : end if end >= 0 else len(text)]
        return cls(message, file, line, offset - start + 1, source_line)


def read_text(path: str | Path) -> str:
    """The text of a file; raises XlaError for one that cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise XlaError(f"{path}: error: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise XlaError(f"{path}: error: not UTF-8 text (byte {error.start})") from None


def line_at(text: str, number: int) -> str:
    """A line of a text, counted from 1; an empty one where there is none."""
    lines = text.split("\n", number)
    return lines[number - 1] if 0 < number <= len(lines) else ""


_EXCERPT_WIDTH = 160


def _excerpt(source_line: str, column: int) -> tuple[str, int]:
    """At most `_EXCERPT_WIDTH` characters of a line around a column, and the column in them."""
    source_line = source_line.rstrip("\r\n")
    if len(source_line) <= _EXCERPT_WIDTH:
        return source_line, column
    start = max(0, column - _EXCERPT_WIDTH // 2)
    return source_line[start : start + _EXCERPT_WIDTH], column - start
