"""An open text: its lines, its names, and what was found wrong with it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from lsprotocol import types
from pygls.workspace import PositionCodec

from lowerings.driver import InputFormat
from lowerings.driver.program import detect_format
from xla_dialect.hlo_text.syntax import Span

from ..input_text import chunk_extents
from .checking import Findings
from .entities import TextIndex
from .hlo_index import index_hlo
from .mlir_index import index_mlir


@dataclass(frozen=True)
class DocumentPart:
    """One program of a text; there are several between lines `// -----`."""

    start: int
    index: TextIndex


class Document:
    """A version of a text; offsets count its characters."""

    def __init__(
        self,
        text: str,
        file_name: str,
        codec: PositionCodec | None = None,
        *,
        takes_snippets: bool = False,
    ):
        """
        `codec` counts the units of columns of the protocol; `takes_snippets`: whether the editor
        goes through the placeholders of what is completed.
        """
        self.text = text
        self.file_name = file_name
        self.units = (codec or PositionCodec()).client_num_units
        self.takes_snippets = takes_snippets
        self.findings = Findings()
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

    def line_at(self, offset: int) -> Span:
        """The line that an offset is in, without its end."""
        start = self.line_starts[bisect_right(self.line_starts, offset) - 1]
        end = self.text.find("\n", start)
        text = self.text[start : len(self.text) if end < 0 else end]
        return Span(start, start + len(text.removesuffix("\r")))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1, in characters."""
        number = bisect_right(self.line_starts, offset)
        return number, offset - self.line_starts[number - 1] + 1

    def position(self, offset: int) -> types.Position:
        """An offset as the protocol has it."""
        line, column = self.place(offset)
        return types.Position(line - 1, self.units(self.text[offset - column + 1 : offset]))

    def range(self, start: int, end: int) -> types.Range:
        """A part of the text as the protocol has it."""
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """The offset of a position of the protocol; outside of the text the nearest."""
        if position.line >= len(self.line_starts):
            return len(self.text)
        start, end = self.line_at(self.line_starts[position.line])
        ends = accumulate(map(self.units, self.text[start:end]))
        return start + sum(unit_end <= position.character for unit_end in ends)
