"""`xla-tune`: searches schedules for the kernels of a program, by measuring them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from lowerings.compilation import EMULATED_BACKENDS
from lowerings.driver.program import parse_program
from lowerings.execution.emulator import Emulation
from lowerings.ir.functions import functions_of
from lowerings.scheduling.schedule_file import ScheduleFile, read_schedule_file
from lowerings.targets.llvm.machine import host
from lowerings.tuning.measurement import MICROSECONDS
from lowerings.tuning.program_search import (
    KernelResult,
    Limits,
    ProgramResult,
    ProgramSearch,
    TunableKernel,
    tunable_kernels,
)
from lowerings.tuning.search import STRATEGIES, Found, SearchParts
from lowerings.tuning.space import mutated
from xla_dialect.diagnostics import XlaError

from .command_line import CommandLine, guarded, positive_seconds, whole_number
from .input_text import read_input
from .tables import console_of, table_with


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-tune."""
    parser = CommandLine(
        prog="xla-tune",
        description="Searches schedules for the kernels of an XLA program (HLO text, StableHLO or "
        "MLIR): measures candidates against the default, by turns, on this machine, or counts "
        "their instructions on riscv64, and checks their results. What it finds is for xla-run, "
        "xla-opt and lowerings.compile.",
        epilog="MODULE:NAME is a function of Python as lowerings.tuning.space describes it.",
    )
    add = parser.add_argument
    parser.add_program()
    add("--entry", default="main", metavar="NAME", help="the function to tune; default: main")
    add("-s", "--seconds", type=positive_seconds, default=60.0, help="time to take; default 60")
    add("--candidates", type=whole_number(1), metavar="N", help="try at most N for each kernel")
    add("--threads", type=whole_number(1), default=1, metavar="N", help="measure with N; default 1")
    add(
        "--backend",
        choices=("llvm", *EMULATED_BACKENDS),
        default="llvm",
        help="this machine, by time, or a processor in an emulator, by instructions; default llvm",
    )
    add(
        "--features",
        metavar="LIST",
        help="what the emulated processor has beyond RV64GC, as LLVM spells it: +v or +v,+zvl256b",
    )
    add("--seed", type=int, default=0, help="of what is drawn at random; default 0")
    add(
        "-o",
        "--output-file",
        metavar="FILE",
        help="where schedules go, beside those that are there, which are tried first; default: "
        "the name of the program, ending in .schedules",
    )
    add("--defaults", action="store_true", help="print the planner's schedules, measure nothing")
    names = ", ".join(STRATEGIES)
    add("--strategy", default="evolution", metavar="NAME", help=f"{names}, or MODULE:NAME")
    add("--space", metavar="MODULE:NAME", help="what makes one candidate of another")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-tune; returns the exit code: 0, or 1 for bad input. Interrupted, it keeps what it
    has found, and ends with 0."""
    return guarded("xla-tune", lambda: run(make_argument_parser().parse_args(argv)))


def run(args: argparse.Namespace) -> int:
    """Runs xla-tune with parsed arguments."""
    file_name, text = read_input(args.input_file)
    parts = SearchParts(
        mutated if args.space is None else _loaded(args.space, "--space"),
        STRATEGIES.get(args.strategy) or _loaded(args.strategy, "--strategy"),
    )
    module = parse_program(text, file_name, args.frontend, verified=True)
    if args.entry not in functions_of(module):
        known = ", ".join(f"@{name}" for name in functions_of(module)) or "none"
        raise XlaError(
            f"there is no function @{args.entry}; --entry NAME tunes another (there are: {known})"
        )
    emulation = _emulation(args)
    machine = host() if emulation is None else emulation.machine
    if args.defaults:
        kernels = tunable_kernels(module, args.entry, machine)
        print(ScheduleFile(each.default_entry(machine.processor) for each in kernels), end="")
        return 0
    output = Path(args.output_file or _default_output(args.input_file))
    kept = _Kept(output, machine.processor)
    with _progress_bar(args.seconds) as bar:

        def show(kernel: TunableKernel, found: Found, left: int) -> None:
            state = f"{found.ratio:.2f} of the default, {found.measured} measured, {left} to go"
            task = bar.tasks[0]
            done = task.elapsed or 0.0
            bar.update(task.id, completed=done, description=kernel.name, state=state)

        search = ProgramSearch(
            Limits(args.seconds, args.candidates, args.threads, args.seed),
            parts,
            kept.file,
            emulation,
            progress=show,
            on_result=kept.add,
        )
        result = search.run(module, args.entry)
    console = console_of(sys.stdout)
    _report(result, console)
    better = sum(each.is_better for each in result.kernels)
    if kept.write():
        print(f"{output}: {better} of these, {len(kept.file)} schedules in all")
    else:
        print(f"no schedule is better than the planner's: {output} is not written")
    return 0


def _emulation(args: argparse.Namespace) -> Emulation | None:
    """The emulated processor, None for this machine; raises XlaError for options of the other."""
    if args.backend not in EMULATED_BACKENDS:
        if args.features is not None:
            raise XlaError(f"--features is for {', '.join(EMULATED_BACKENDS)}, not {args.backend}")
        return None
    if args.threads != 1:
        raise XlaError(f"--threads {args.threads}: an emulated program has one thread")
    found = Emulation(args.features or "")
    found.machine.require_known()
    return found


def _default_output(input_file: str) -> str:
    if input_file == "-":
        raise XlaError("a program from stdin has no name: say where schedules go, -o FILE")
    return Path(input_file).stem + ".schedules"


def _loaded(place: str, option: str) -> Any:
    """The function that an option names, of this folder too; raises XlaError."""
    module, _, name = place.partition(":")
    if not module or not name:
        raise XlaError(f"{option} {place}: expected MODULE:NAME")
    # As `python -m` does; the command itself is installed elsewhere.
    sys.path.insert(0, os.getcwd())
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise XlaError(f"{option} {place}: {error}") from None
    finally:
        del sys.path[0]


class _Kept:
    """The file of schedules, which is written whenever there is a better one."""

    def __init__(self, path: Path, processor: str):
        self.path, self.processor = path, processor
        self.file = read_schedule_file(path) if path.exists() else ScheduleFile()
        # Whether it can be written is known before anything is measured.
        is_new = not path.exists()
        self.file.write(path)
        if is_new:
            path.unlink()

    def write(self) -> bool:
        """Writes what there is; whether there is a file: none is made without a schedule."""
        if len(self.file) or self.path.exists():
            self.file.write(self.path)
        return self.path.exists()

    def add(self, result: KernelResult) -> None:
        """Takes over what was found for one kernel; what is no better than the default goes."""
        if result.is_better:
            self.file = self.file.updated([result.entry(self.processor)])
        elif result.found is not None and not result.found.interrupted:
            self.file = self.file.without(result.kernel.key, self.processor)
        self.write()


def _progress_bar(seconds: float) -> Progress:
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    bar.add_task("reading", total=seconds, state="")
    return bar


def _report(result: ProgramResult, console: Console) -> None:
    """What was gained, by kernel and in all."""
    searched = [found for _, found in result.searched]
    unit = searched[0].unit if searched else MICROSECONDS
    costs = (f"default, {unit.name}", f"tuned, {unit.name}")
    numbers = ("calls", *costs, "ratio", "measured", "refused", "wrong")
    table = table_with(("kernel", "of"), numbers)
    for each in result.kernels:
        kernel, found = each.kernel, each.found
        words = (kernel.name, kernel.description, str(kernel.calls))
        if found is None:
            table.add_row(*words, each.reason)
            continue
        costs = (unit.shown(found.cost), unit.shown(found.cost * found.ratio))
        counts = (found.measured, found.not_admitted, found.wrong)
        table.add_row(*words, *costs, f"{found.ratio:.3f}", *map(str, counts))
        for failure in found.failures:
            print(f"xla-tune: a bug: {kernel.name}: {failure}", file=sys.stderr)
    console.print(table)
    default, tuned = result.costs()
    if default:
        print(
            f"all kernels: {unit.shown(default)} {unit.name} by default, {unit.shown(tuned)} "
            f"tuned, ratio {tuned / default:.3f}; "
            f"geometric mean of the ratios {result.geometric_mean:.3f}"
        )
    if result.interrupted:
        print("interrupted: what was found until then is kept")


if __name__ == "__main__":
    sys.exit(main())
