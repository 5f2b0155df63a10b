"""`--communication`: what devices send, where programs are split in one way and in another."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_source
from lowerings.partitioning.xla_report_communication import CommunicationReport, communication_of
from lowerings.pipelines import PARTITIONING

from .contender import ProgramVariant

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
    table = Table(title="What a device sends, in bytes", title_justify="left")
    table.add_column("collective")
    table.add_column("axes")
    for label, _ in reports:
        table.add_column(escape(label), justify="right", overflow="fold")
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
