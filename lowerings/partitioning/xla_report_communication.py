"""The pass `xla-report-communication`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lowerings.partitioning.communication import CommunicationReport, communication_of
from lowerings.rewriting.change import ReportingPass
from lowerings.rewriting.levels import UNLOWERED
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.collectives import process_counts


@dataclass(frozen=True)
class XlaReportCommunicationPass(ReportingPass):
    """
    Says what a device sends, computes and keeps (stderr); the program stays as it is.

    Bytes are those that a device sends if each collective goes around a ring, by collective, the
    axes of the mesh and the line of the source; iterations of loops are counted. Beside them stand
    the floating-point operations of a device and the most bytes of its values at one time. The
    program is that of one device, partitioned here or by XLA; where it is for one device only,
    there is nothing to say.

    ```
    %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<mesh['x'=2] {'x'}>, ...}
        : (tensor<6x3xf32>) -> tensor<6x3xf32>
    // becomes on stderr
    collective  axes  calls  bytes  line
    all_reduce  "x"       1     72  step.py:12
    ```
    """

    name = "xla-report-communication"
    takes = UNLOWERED

    json: bool = False
    """Prints JSON instead of a table."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Prints; raises XlaError where there is no `@main`."""
        if process_counts(op) == (1, 1):
            return False
        try:
            report = communication_of(op)
        except ValueError as error:
            raise XlaError(f"{self.name}: {error}") from None
        text = json.dumps(report.as_json(), indent=2) if self.json else report_table(report)
        print(text, file=sys.stderr)
        return False


def report_table(report: CommunicationReport) -> str:
    """The report as a table, the most bytes first."""
    rows = [("collective", "axes", "calls", "bytes", "line")]
    rows.extend(
        (each.collective, each.axes, f"{each.calls:,}", f"{round(each.bytes):,}", each.line)
        for each in report.exchanges
    )
    rows.append(
        ("all", "", f"{sum(e.calls for e in report.exchanges):,}", f"{round(report.bytes):,}", "")
    )
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = [
        "  ".join(
            cell.rjust(width) if column in (2, 3) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    loops = f"; {report.unknown_loops} loops counted once" if report.unknown_loops else ""
    lines.append(
        f"a device of {report.devices}: {report.flops:,} floating-point operations, "
        f"{report.peak_bytes:,} bytes at the peak{loops}"
    )
    return "\n".join(lines)
