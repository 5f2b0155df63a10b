"""An open text: its lines, its names, and what was found wrong with it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from lowerings.driver import InputFormat
from lowerings.driver.program import detect_format

from ..input_text import chunk_extents
from .entities import TextIndex
from .hlo_index import index_hlo
from .mlir_index import index_mlir

_WIDTHS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
"""Bytes of the units that columns count, by encoding."""


@dataclass(frozen=True)
class DocumentPart:
    """One program of a text; there are several between lines `// -----`."""

    start: int
    index: TextIndex


class Document:
    """A version of a text; offsets count its characters."""

    def __init__(
        self, text: str, file_name: str, encoding: str = "utf-16", *, takes_snippets: bool = False
    ):
        """
        `encoding`: the code units that columns of the protocol count; `takes_snippets`: whether the
        editor goes through the placeholders of what is completed.
        """
        self.text = text
        self.file_name = file_name
        self.encoding = encoding
        self.takes_snippets = takes_snippets
        self.findings: dict[str, Any] = {"problems": [], "types": {}}
        """What the last check found, perhaps of an earlier version."""

    @cached_property
    def format(self) -> InputFormat:
        """HLO text, StableHLO or other MLIR."""
        return detect_format(self.text, self.file_name)

    @property
    def is_hlo(self) -> bool:
        """Whether it is HLO text."""
        return self.format == "hlo"

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of every line."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def parts(self) -> list[DocumentPart]:
        """The programs of the text, with their names."""
        index = index_hlo if self.is_hlo else index_mlir
        return [DocumentPart(a, index(self.text[a:b])) for a, b in chunk_extents(self.text)]

    def part_at(self, offset: int) -> DocumentPart:
        """The program that an offset is in."""
        number = bisect_right(self.parts, offset, key=lambda part: part.start)
        return self.parts[max(0, number - 1)]

    def line(self, number: int) -> str:
        """A line, counted from 0, without its end; empty after the last."""
        if not 0 <= number < len(self.line_starts):
            return ""
        start = self.line_starts[number]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].removesuffix("\r")

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 0, in the units of the protocol."""
        number = bisect_right(self.line_starts, offset) - 1
        before = self.text[self.line_starts[number] : offset]
        return number, self._units(before)

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column of the protocol; outside of the text the nearest."""
        if line >= len(self.line_starts):
            return len(self.text)
        text = self.line(line)
        if not text.isascii():
            ends = accumulate(map(self._units, text))
            column = next((number for number, end in enumerate(ends) if end > column), len(text))
        return self.line_starts[line] + min(column, len(text))

    def _units(self, text: str) -> int:
        if text.isascii():
            return len(text)
        codec = self.encoding if self.encoding == "utf-8" else f"{self.encoding}-le"
        # JSON can hold half of a surrogate pair: a unit like others.
        return len(text.encode(codec, "surrogatepass")) // _WIDTHS[self.encoding]
