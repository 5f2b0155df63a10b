"""Reading an input file or stdin, whole or split into chunks."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from lowerings.driver.source import read_file, text_of

_SEPARATOR = re.compile(r"^[ \t]*// -----.*$", re.M)


@dataclass(frozen=True)
class Chunk:
    """One program of an input; blank lines in front keep the line numbers of the whole input."""

    text: str

    @property
    def is_blank(self) -> bool:
        """Whether there is no program: white space and comments only."""
        lines = map(str.strip, self.text.splitlines())
        return all(not line or line.startswith("//") for line in lines)


def read_input(path: str) -> tuple[str, str]:
    """The name for messages and the text of a file, or of stdin for `-`."""
    if path != "-":
        return path, read_file(path)
    return "<stdin>", text_of(sys.stdin.buffer.read(), "<stdin>")


def split_chunks(text: str) -> list[Chunk]:
    """The programs between lines that start with `// -----`."""
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
