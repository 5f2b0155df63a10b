"""
Measures this compiler beside XLA CPU: `make bench ARGS="[ROW ...]"`.

Without rows, all kernels and models are measured, and what is called the toolkit: readers,
printers, passes, and the reference; sums over processes, called communication; the passes for
several devices, called partitioning; processes of xla-opt, called starts; calls, compilations and
starts on the device for JAX, called the plugin; how soon threads begin, called fork-join; and
programs on a machine that others use, called neighbours. Each number of threads has a
process that is bound to as many processors, where ours and XLA's programs run by turns, so that
whatever else the machine does slows down both. Times of calls are medians; a ratio is ours over
XLA's, the median of the ratios of single turns. Kernels that libraries have too (numpy, scipy,
oneDNN, FFTW, MKL, ducc) run by turns with these as well.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from xla_dialect.diagnostics import XlaError

from ...command_line import guarded
from ...measuring_times import processors
from .communication import measure_communication
from .contenders import Effort, Figures
from .fork_join import measure_fork_join
from .measurement import GROUPS, measure, rows_of
from .neighbours import measure_neighbours
from .plugin import measure_plugin
from .report import GroupReport, markdown, write_page
from .starts import measure_starts
from .toolkit import measure_partitioning, measure_toolkit

BESIDE_ROWS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "communication": lambda given: measure_communication(given.turns),
    "partitioning": lambda given: measure_partitioning(),
    "starts": lambda given: measure_starts(given.turns, given.other_version),
    "plugin": lambda given: measure_plugin(given.turns),
    "fork-join": lambda given: measure_fork_join(given.turns),
    "neighbours": lambda given: measure_neighbours(given.turns),
    # The last: it binds this process to one processor.
    "toolkit": lambda given: measure_toolkit(given.turns),
}
"""What is measured beside rows, by the name for it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measures the rows that are named (all if none); returns the exit code."""
    return guarded("xla-bench", lambda: run(argv))


def run(argv: Sequence[str] | None) -> int:
    """Parses the arguments, measures, and prints all tables."""
    arguments = parse(argv)
    effort = Effort(arguments.turns, arguments.compiles)
    names = arguments.rows or [*GROUPS, *BESIDE_ROWS]
    if chosen := chosen_rows(names):
        every = [(group, name) for group, found in chosen.items() for name in found]
        figures = {n: measure(every, n, effort) for n in arguments.threads}
        reports = [report_of(group, found, figures) for group, found in chosen.items()]
        text = markdown(reports, effort)
        print(text)
        if arguments.write:
            write_page(arguments.write, text)
    for name, measured in BESIDE_ROWS.items():
        if name in names:
            print()
            measured(arguments)
    return 0


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; argparse ends the process where they are wrong."""
    parser = argparse.ArgumentParser(prog="xla-bench", description=__doc__)
    parser.add_argument(
        "rows",
        nargs="*",
        metavar="ROW",
        help=f"names of rows or groups: {', '.join((*GROUPS, *BESIDE_ROWS))} (default: all groups)",
    )
    parser.add_argument(
        "--threads",
        type=thread_counts,
        default=(1, 2)[: len(processors())],
        help="numbers of threads to compare with, as in 1,2 (default)",
    )
    parser.add_argument("--turns", type=int, default=21, help="turns of calls to time (default 21)")
    parser.add_argument("--compiles", type=int, default=3, help="compilations to time (default 3)")
    parser.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="put the tables into this page, between its marks",
    )
    parser.add_argument(
        "--other-version",
        type=Path,
        metavar="FOLDER",
        help="a checkout whose processes run by turns with ours, for starts",
    )
    return parser.parse_args(argv)


def thread_counts(text: str) -> tuple[int, ...]:
    """Numbers of threads, `1,2`, for each of which there are processors."""
    counts = text.split(",")
    if not all(count.isdecimal() and int(count) for count in counts):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers of threads, like 1,2")
    threads = sorted(set(map(int, counts)))
    if threads[-1] > len(processors()):
        raise argparse.ArgumentTypeError(
            f"cannot compare {threads[-1]} threads on {len(processors())} processors"
        )
    return tuple(threads)


def chosen_rows(names: Sequence[str]) -> dict[str, list[str]]:
    """The rows that are named, or whose group is, by group; raises XlaError for any other name."""
    chosen: dict[str, list[str]] = {}
    single = {name for name in names if name not in (*GROUPS, *BESIDE_ROWS)}
    for group in GROUPS:
        # Groups import optional packages, so a group is only loaded if a name may be in it.
        if group in names or single:
            found = [name for name in rows_of(group) if group in names or name in single]
            single.difference_update(found)
            if found:
                chosen[group] = found
    if single:
        known = ", ".join(repr(name) for group in GROUPS for name in rows_of(group))
        raise XlaError(f"there is no row {min(single)!r}; there are {known}")
    return chosen


def report_of(
    group: str, names: Sequence[str], figures: dict[int, dict[str, Figures]]
) -> GroupReport:
    """The part of the figures that belongs to a group."""
    return GroupReport(
        group,
        {n: {name: found[name] for name in names} for n, found in figures.items()},
        {name: rows_of(group)[name].reason for name in names},
    )


if __name__ == "__main__":
    sys.exit(main())
