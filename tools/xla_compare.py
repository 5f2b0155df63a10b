"""`xla-compare`: programs, pipelines, schedules and options beside each other."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from io import StringIO

from rich.console import Console

from xla_dialect.diagnostics import XlaError

from .array_spec import RANDOM_SEED
from .command_line import (
    CommandLine,
    guarded,
    positive_seconds,
    sample_file,
    sample_names,
    whole_number,
    write_output,
)
from .compare.benchmark import Benchmark, measure, print_benchmark
from .compare.contender import ComparisonEffort, parse_contenders
from .compare.measuring import compare
from .compare.tables import (
    as_json,
    communication_json,
    communication_reports,
    print_communication,
    print_tables,
)
from .comparison import DEFAULT_TOLERANCE
from .measuring_times import bind
from .other_process import LONGEST, check_main_guard

WIDTH = 220
"""Columns of tables in a file or a log."""

DIGITS = 5
"""What numbers of processors have fewer of."""


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-compare."""
    parser = CommandLine(
        prog="xla-compare",
        description="Compiles programs in several ways, runs them by turns, and shows their time, "
        "memory, code, results and what each pass did beside each other.",
        epilog="A contender is FILE or FILE:OPTION=VALUE:OPTION=VALUE..., with the options "
        "pipeline (default: native), without (a pass of it), schedules, fusion and "
        "transform_script (files), "
        "num_threads, entry and label: prog.mlir:schedules=tuned.schedules "
        "prog.mlir:without=linalg-cse. The others are compared with the first.",
    )
    add = parser.add_argument
    add("contenders", nargs="*", metavar="CONTENDER", help="a program and how it is compiled")
    add(
        "--examples",
        metavar="NAMES",
        help="measure the programs that come with the tools, all or some, separated by commas: "
        "compiled as usual, and in the ways of the contenders, which are then options only, such "
        "as :without=linalg-cse",
    )
    add(
        "--against",
        metavar="FILE",
        help="with --examples: compare with what --json wrote of another version or machine",
    )
    add(
        "--ablations",
        action="store_true",
        help="also the first contender without each of its passes, one at a time",
    )
    add(
        "--input",
        action="append",
        default=[],
        metavar="SPEC",
        help="the next argument, as for xla-run; without any, all are random",
    )
    add("--seed", type=int, default=RANDOM_SEED, help="what random arguments are made from")
    _add_measurement_arguments(parser)
    add("--passes", action="store_true", help="also print what each pass did")
    add(
        "--communication",
        action="store_true",
        help="run nothing: partition the programs as their shardings say, and show what a device "
        "sends, computes and keeps",
    )
    add("--json", metavar="FILE", help="write all figures as JSON; - is stdout, alone")
    add("--html", metavar="FILE", help="write the tables as a page")
    return parser


def _add_measurement_arguments(parser: argparse.ArgumentParser) -> None:
    """How often and how contenders are measured."""
    add = parser.add_argument
    add(
        "--turns",
        type=whole_number(1),
        default=15,
        metavar="N",
        help="how often each runs (default 15)",
    )
    add(
        "--compiles",
        type=whole_number(1),
        default=3,
        metavar="N",
        help="how often each is compiled",
    )
    add(
        "--processes",
        type=whole_number(1),
        default=0,
        metavar="N",
        help="measure each in N processes of its own, one after the other, with the turns divided "
        "among them; without, all run in this one",
    )
    add(
        "--processors",
        type=processor_numbers,
        metavar="LIST",
        help="use these processors only, as in 0,2-3",
    )
    add(
        "--tolerance",
        type=float,
        default=DEFAULT_TOLERANCE,
        help="results that differ by more, relative to the largest magnitude, are marked "
        f"(default {DEFAULT_TOLERANCE})",
    )
    add("--no-instructions", action="store_true", help="do not count instructions on riscv64")
    add("--features", default="", metavar="LIST", help="of that processor, e.g. +v,+zvl256b")
    add(
        "--timeout",
        type=positive_seconds,
        default=60.0,
        metavar="SECONDS",
        help="how long trying a pipeline, and a call in the emulator, may take (default 60)",
    )


def processor_numbers(text: str) -> frozenset[int]:
    """Numbers of processors as `taskset` takes them: `0,2-3`."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        ends = (first, last if dash else first)
        numbers = [int(end) for end in ends if end.isdecimal() and len(end) < DIGITS]
        if len(numbers) < len(ends) or numbers[0] > numbers[1]:
            raise argparse.ArgumentTypeError(f"{text} is no list of processors, such as 0,2-3")
        found.update(range(numbers[0], numbers[1] + 1))
    return frozenset(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-compare; returns the exit code: 0, or 1 for bad input."""
    return guarded("xla-compare", lambda: run(make_argument_parser().parse_args(argv)))


def run(args: argparse.Namespace) -> int:
    """Runs xla-compare with parsed arguments."""
    check_main_guard()
    effort = ComparisonEffort(
        args.turns,
        args.compiles,
        args.seed,
        args.tolerance,
        not args.no_instructions,
        args.features,
        min(args.timeout, LONGEST),
        args.processes,
    )
    if args.processors is not None:
        bind(args.processors)
    if args.examples is not None:
        return _run_examples(args, effort)
    if not args.contenders:
        raise XlaError("nothing is compared: give a program, or --examples")
    contenders = parse_contenders(args.contenders)
    console = _console(args)
    if args.communication:
        reports = communication_reports(contenders)
        print_communication(reports, console)
        return _save(args, console, communication_json(reports))
    with Console(stderr=True).status("reading") as status:
        found = compare(contenders, args.ablations, args.input, effort, status.update)
    print_tables(found, console, with_passes=args.passes)
    return _save(args, console, as_json(found))


def _run_examples(args: argparse.Namespace, effort: ComparisonEffort) -> int:
    """Measures sample programs in several ways."""
    if wrong := [each for each in args.contenders if not each.startswith(":")]:
        raise XlaError(f"{wrong[0]}: with --examples a contender begins with a colon")
    names = sample_names() if args.examples == "all" else args.examples.split(",")
    try:
        files = {name: sample_file(name) for name in names}
    except argparse.ArgumentTypeError as error:
        raise XlaError(str(error)) from None
    before = None if args.against is None else Benchmark.read(args.against)
    with Console(stderr=True).status("reading") as status:
        found = measure(files, args.contenders, effort, status.update)
    console = _console(args)
    print_benchmark(found, before, console)
    return _save(args, console, found.as_json())


def _console(args: argparse.Namespace) -> Console:
    """Where tables are printed: also kept for a page, and shown only there if JSON is printed."""
    width = None if sys.stdout.isatty() else WIDTH
    return Console(width=width, record=True, file=StringIO() if args.json == "-" else None)


def _save(args: argparse.Namespace, console: Console, json: str) -> int:
    """Writes the files that are asked for; returns the exit code."""
    for path, text in ((args.json, json), (args.html, console.export_html())):
        if path is not None:
            write_output(path, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
