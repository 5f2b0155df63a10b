"""A comparison as tables for a terminal."""

from __future__ import annotations

from textwrap import shorten

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .figures import Comparison, VariantFigures
from .quantities import UNKNOWN, heading, parts_of, passes_of, remarks, seconds, table_of

_LABEL = 42
"""Columns that a label has at the least, if it needs them."""
_REASON = 240
"""Characters of why something failed; JSON and the page have all."""


def print_tables(comparison: Comparison, console: Console, *, with_passes: bool) -> None:
    """Prints a table of the contenders, one of their compilations, and one of passes if asked."""
    console.print(_contenders(comparison))
    for remark in remarks(comparison):
        console.print(remark, markup=False, highlight=False)
    console.print(_compilations(comparison))
    if with_passes:
        console.print(_passes(comparison))
    if comparison.failed:
        console.print(_failures(comparison))


def _longest(comparison: Comparison) -> int:
    return max(len(row.contender.label) for row in comparison.rows)


def _table(title: str, first: str, columns: list[str], longest: int) -> Table:
    table = Table(title=escape(title), title_justify="left")
    table.add_column(first, overflow="fold", min_width=min(longest, _LABEL))
    for column in columns:
        table.add_column(escape(column), justify="right", overflow="fold")
    return table


def _contenders(comparison: Comparison) -> Table:
    (first, *columns), rows = table_of(comparison)
    table = _table(heading(comparison), first, columns, _longest(comparison))
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _compilations(comparison: Comparison) -> Table:
    parts = parts_of(comparison.measured)
    table = _table(
        "Compilation, the quickest of each", "contender", ["total", *parts], _longest(comparison)
    )
    for contender, figures in comparison.measured:
        own = figures.compilation.parts
        times = (seconds(own[part]) if part in own else UNKNOWN for part in parts)
        table.add_row(escape(contender.label), seconds(figures.compilation.seconds), *times)
    return table


def _passes(comparison: Comparison) -> Table:
    measured = comparison.measured
    labels, rows = [contender.label for contender, _ in measured], passes_of(measured)
    longest = max((len(name) for name, _ in rows), default=0)
    table = _table("Operations after each pass, and its time", "pass", labels, longest)
    for name, places in rows:
        cells = (
            UNKNOWN if place is None else _pass_cell(figures, place)
            for place, (_, figures) in zip(places, measured, strict=True)
        )
        table.add_row(escape(name), *cells)
    return table


def _pass_cell(figures: VariantFigures, place: int) -> str:
    taken = seconds(figures.compilation.passes[place])
    return f"{figures.passes[place].operations:,}  {taken}"


def _failures(comparison: Comparison) -> Table:
    table = _table("Needed: what cannot be compiled or run", "contender", [], _longest(comparison))
    table.add_column("because", overflow="fold")
    for row in comparison.failed:
        table.add_row(
            escape(row.contender.label), escape(shorten(row.failure, _REASON, placeholder=" ..."))
        )
    return table
