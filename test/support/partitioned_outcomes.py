"""
What programs of JAX come to where they are split: on the reference, on threads and on ranks of MPI,
and what a device sends and computes beside XLA's own partitioner.

`python partitioned_outcomes.py N ...` prints it for so many devices, a row for each program; of
training steps of a GPT, and of any program on more than 8 devices, what is sent and computed only.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from partitioned_on_ranks import ARGUMENTS, EXPECTED, OF_XLA, ON_RANKS, PROGRAM, read_arrays
from peers import mpiexec
from rich.console import Console
from rich.table import Table

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.partitioning.partition_warning import PartitionWarning
from lowerings.partitioning.xla_report_communication import CommunicationReport, communication_of
from lowerings.pipelines import PARTITIONING

SCRIPT = Path(__file__).parent / "partitioned_on_ranks.py"
SUMS_TOLERANCE = 2e-5
"""Sums over devices are rounded otherwise; errors are relative to the largest magnitude."""


Reports = tuple[CommunicationReport, CommunicationReport]
MOST_RUN = 8
"""So many devices, at most, run programs on this machine."""


@dataclass(frozen=True)
class Outcome:
    """What became of a program."""

    name: str
    on_reference: float
    """The largest error beside JAX, relative to the largest magnitude of the array."""
    on_threads: float
    ranks_agree: bool
    """Whether ranks give the bits that threads give."""

    @property
    def is_right(self) -> bool:
        """Whether all that ran it agree."""
        return self.ranks_agree and max(self.on_reference, self.on_threads) <= SUMS_TOLERANCE


def run_everywhere(count: int, folder: Path, names: Sequence[str] = ()) -> list[Outcome]:
    """Runs programs, all if none is named, on so many devices of each kind; leaves their files."""
    _run(sys.executable, SCRIPT, "write", count, folder, *names)
    _run(mpiexec(), "-iface", "lo", "-n", count, sys.executable, SCRIPT, "run", folder)
    return [_outcome(each) for each in sorted(folder.iterdir())]


def _run(*command: object) -> None:
    found = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=1200, check=False
    )
    if found.returncode != 0:
        raise RuntimeError(found.stderr[-3000:])


def _outcome(folder: Path) -> Outcome:
    arguments, expected = read_arrays(folder / ARGUMENTS), read_arrays(folder / EXPECTED)
    text = folder / PROGRAM
    by_threads = lowerings.compile(text, partitioned=True)(*arguments)
    by_reference = lowerings.compile(text, partitioned=True, backend="reference")(*arguments)
    on_ranks = read_arrays(folder / ON_RANKS)
    same = [a.tobytes() == b.tobytes() for a, b in zip(by_threads, on_ranks, strict=True)]
    on_reference, on_threads = (_error(found, expected) for found in (by_reference, by_threads))
    return Outcome(folder.name, on_reference, on_threads, all(same))


def _error(found: Sequence[Any], expected: Sequence[Any]) -> float:
    worst = 0.0
    for mine, theirs in zip(found, expected, strict=True):
        scale = max(float(np.abs(theirs).max(initial=0)), 1e-3)
        error = np.abs(mine.astype(np.float64) - theirs).max(initial=0) / scale
        # What is no number is no less than any bound.
        worst = max(worst, np.inf if np.isnan(error) else float(error))
    return worst


def reports_of(count: int, folder: Path, names: Sequence[str] = ()) -> dict[str, Reports]:
    """What a device of each GPT sends and computes, and one of the program that XLA made of it."""
    _run(sys.executable, SCRIPT, "compile", count, folder, *names)
    return {
        each.name: (
            report_of(each / PROGRAM, PARTITIONING),
            report_of(each / OF_XLA, PARTITIONING),
        )
        for each in sorted(folder.iterdir())
    }


def report_of(path: Path, passes: Sequence[str]) -> CommunicationReport:
    """What a device of a program sends and computes, after passes."""
    ctx = make_context()
    module = parse_program(path.read_text(), str(path))
    PassManager(ctx).run(module, parse_passes(",".join(passes)))
    return communication_of(module)


def main(counts: Sequence[int]) -> int:
    """Prints tables for each number of devices; 1 where something is wrong."""
    console = Console(width=140)
    wrong = 0
    for count in counts:
        if count <= MOST_RUN:
            titles = ("reference", "threads", "ranks", "bytes", "XLA's", "share of work", "XLA's")
            table = _table(f"{count} devices", titles)
            with tempfile.TemporaryDirectory() as name:
                for outcome in run_everywhere(count, Path(name)):
                    wrong += not outcome.is_right
                    table.add_row(*_row(outcome, Path(name) / outcome.name, count))
            console.print(table)
        titles = ("bytes", "XLA's", "ratio", "operations", "XLA's", "ratio")
        table = _table(f"a step of a GPT, a device of {count}", titles)
        with tempfile.TemporaryDirectory() as name:
            for program, (mine, theirs) in reports_of(count, Path(name)).items():
                cells = [program]
                for a, b in ((mine.bytes, theirs.bytes), (mine.flops, theirs.flops)):
                    cells += [f"{round(a):,}", f"{round(b):,}", f"{a / b:.2f}"]
                table.add_row(*cells)
        console.print(table)
    console.print(f"{wrong} wrong; errors beside JAX on one process, shares of the whole / devices")
    return int(wrong > 0)


def _table(title: str, titles: Sequence[str]) -> Table:
    table = Table("program", *titles, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _row(outcome: Outcome, folder: Path, count: int) -> list[str]:
    whole = report_of(folder / PROGRAM, PARTITIONING[:2])
    reports = report_of(folder / PROGRAM, PARTITIONING), report_of(folder / OF_XLA, PARTITIONING)
    shares = [f"{each.flops * count / whole.flops:.2f}" for each in reports]
    return [
        outcome.name,
        f"{outcome.on_reference:.1e}",
        f"{outcome.on_threads:.1e}",
        "same bits" if outcome.ranks_agree else "DIFFER",
        *(f"{round(each.bytes):,}" for each in reports),
        *shares,
    ]


if __name__ == "__main__":
    warnings.simplefilter("ignore", PartitionWarning)
    sys.exit(main([int(each) for each in sys.argv[1:]] or [2, 4, 8]))
