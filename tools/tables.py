"""Tables of words and numbers, which all tools print alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

WIDTH = 120
"""Columns of a table in a file or a log."""


def console_of(output: IO[str], width: int = WIDTH) -> Console:
    """What prints tables to a stream: as wide as a terminal, else in so many columns."""
    return Console(file=output, width=None if output.isatty() else width)


def table_with(words: Sequence[str], numbers: Sequence[str], **options: Any) -> Table:
    """A table without rows: columns of words, which go on in further lines, then of numbers."""
    table = Table(**options)
    for name in words:
        table.add_column(escape(name), overflow="fold")
    for name in numbers:
        table.add_column(escape(name), justify="right", overflow="fold")
    return table
