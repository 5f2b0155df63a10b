"""Reading an input file or stdin, whole or split into chunks."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from lowerings.driver.source import ProgramText, program_of, read_program

_SEPARATOR = re.compile(r"^[ \t]*// -----.*$", re.M)


@dataclass(frozen=True)
class Chunk:
    """One program of an input; blank lines in front keep the line numbers of the whole input."""

    text: ProgramText

    @property
    def shown(self) -> str:
        """The text, as messages and pages show it; empty where the program is in bytes."""
        return self.text if isinstance(self.text, str) else ""

    @property
    def is_blank(self) -> bool:
        """Whether there is no program: white space and comments only."""
        lines = map(str.strip, self.shown.splitlines())
        return self.text == self.shown and all(not line or line.startswith("//") for line in lines)


def read_input(path: str) -> tuple[str, ProgramText]:
    """The name for messages and the text or bytes of a file, or of stdin for `-`."""
    if path != "-":
        return path, read_program(path)
    return "<stdin>", program_of(sys.stdin.buffer.read(), "<stdin>")


def split_chunks(text: ProgramText) -> list[Chunk]:
    """The programs between lines that start with `// -----`; bytes are one."""
    if isinstance(text, bytes):
        return [Chunk(text)]
    return [
        Chunk("\n" * text.count("\n", 0, start) + text[start:end])
        for start, end in chunk_extents(text)
    ]


def chunk_extents(text: str) -> list[tuple[int, int]]:
    """Where the programs between lines that start with `// -----` begin and end."""
    separators = [match.span() for match in _SEPARATOR.finditer(text)]
    starts = [0, *(end for _, end in separators)]
    ends = [*(start for start, _ in separators), len(text)]
    return list(zip(starts, ends, strict=True))
