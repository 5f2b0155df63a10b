"""A comparison as tables for a terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from textwrap import shorten
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_source
from lowerings.partitioning.xla_report_communication import CommunicationReport, communication_of
from lowerings.pipelines import PARTITIONING

from ..tables import table_with
from .contender import ProgramVariant
from .figures import (
    UNKNOWN,
    Comparison,
    VariantFigures,
    heading,
    parts_of,
    passes_of,
    remarks,
    seconds,
    table_of,
)

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
    table = table_with([first], columns, title=escape(title), title_justify="left")
    table.columns[0].min_width = min(longest, _LABEL)
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
        own = figures.prepared.compilation.parts
        times = (seconds(own[part]) if part in own else UNKNOWN for part in parts)
        table.add_row(
            escape(contender.label), seconds(figures.prepared.compilation.seconds), *times
        )
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
    taken = seconds(figures.prepared.compilation.passes[place])
    return f"{figures.prepared.passes[place].operations:,}  {taken}"


def _failures(comparison: Comparison) -> Table:
    table = _table("Needed: what cannot be compiled or run", "contender", [], _longest(comparison))
    table.add_column("because", overflow="fold")
    for row in comparison.failed:
        table.add_row(
            escape(row.contender.label), escape(shorten(row.failure, _REASON, placeholder=" ..."))
        )
    return table


VERSION = 1
"""Of what the fields mean."""


def as_json(comparison: Comparison) -> str:
    """All figures; times in seconds, sizes in bytes, `null` for what is unknown or infinite."""
    report = {
        "version": VERSION,
        "signature": comparison.signature,
        "processor": comparison.processor,
        "load": asdict(comparison.load),
        "riscv64_features": comparison.effort.features,
        "seed": comparison.effort.seed,
        "tolerance": comparison.effort.tolerance,
        "contenders": [
            _contender(row.contender)
            | ({"failure": row.failure} if row.figures is None else _figures(row.figures))
            for row in comparison.rows
        ],
    }
    return json.dumps(report, indent=2, allow_nan=False) + "\n"


def _contender(contender: ProgramVariant) -> dict[str, Any]:
    own = asdict(contender)
    return {"label": own.pop("label"), "file": own.pop("source")["file_name"], **own}


def _figures(figures: VariantFigures) -> dict[str, Any]:
    prepared, compilation = figures.prepared, figures.prepared.compilation
    memory = prepared.memory
    finite = math.isfinite(figures.difference)
    return {
        "call": asdict(figures.call),
        "same_code_as": figures.same_code_as,
        "difference": figures.difference if finite else None,
        "instructions": figures.instructions,
        "no_instructions": figures.no_instructions,
        "code_bytes": compilation.code_bytes,
        "compilation": {
            "seconds": compilation.seconds,
            "parts": compilation.parts,
        },
        "passes": [
            asdict(each) | {"seconds": taken}
            for each, taken in zip(prepared.passes, compilation.passes, strict=True)
        ],
        "memory": None if memory.usage is None else asdict(memory.usage),
        "kernels": memory.kernels,
        "kernel_calls": memory.kernel_calls,
        "moved_bytes": memory.moved,
        "traffic": [asdict(each) | {"moved": each.moved} for each in memory.traffic],
    }


Reports = Sequence[tuple[str, CommunicationReport]]
"""Labels of contenders, and what a device of each does."""


def communication_reports(contenders: Sequence[ProgramVariant]) -> Reports:
    """
    Partitions each program that says how its arrays are split; another is that of a device already.

    Raises XlaError for what cannot be read or partitioned.
    """
    found: list[tuple[str, CommunicationReport]] = []
    for contender in contenders:
        ctx = make_context()
        module = parse_source(contender.source, ctx)
        PassManager(ctx).run(module, parse_passes(",".join(PARTITIONING)))
        found.append((contender.label, communication_of(module)))
    return found


def communication_json(reports: Reports) -> str:
    """The reports as JSON, by label."""
    return json.dumps({label: report.as_json() for label, report in reports}, indent=2) + "\n"


def print_communication(reports: Reports, console: Console) -> None:
    """Prints a row for each collective over the same axes, and a column for each contender."""
    title = "What a device sends, in bytes"
    labels = [label for label, _ in reports]
    table = table_with(("collective", "axes"), labels, title=title, title_justify="left")
    sums: dict[tuple[str, str], list[float]] = {}
    for number, (_, report) in enumerate(reports):
        for each in report.exchanges:
            row = sums.setdefault((each.collective, each.axes), [0.0] * len(reports))
            row[number] += each.bytes
    for (collective, axes), row in sorted(sums.items(), key=lambda item: -max(item[1])):
        table.add_row(collective, escape(axes), *(f"{round(n):,}" for n in row))
    table.add_section()
    found = [report for _, report in reports]
    totals = {
        "all bytes": [round(report.bytes) for report in found],
        "collectives": [sum(each.calls for each in report.exchanges) for report in found],
        "operations": [report.flops for report in found],
        "peak bytes": [report.peak_bytes for report in found],
        "devices": [report.devices for report in found],
    }
    for title, numbers in totals.items():
        table.add_row(title, "", *(f"{number:,}" for number in numbers))
    console.print(table)
