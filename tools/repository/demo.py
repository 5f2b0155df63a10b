"""
The whole way once, in readable tables: `make demo`, or `python -m tools.repository.demo`.

A transformer block that JAX lowered, as HLO text and as StableHLO, goes down level by level, runs
on the reference and as machine code, and is compared with what XLA computed from the same inputs.
Exit code 1 says that something disagrees.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, PassTiming, parse_passes
from lowerings.driver.program import load_program
from lowerings.execution.function_signature import signature_of
from lowerings.execution.signature import Signature
from lowerings.ir.functions import functions_of
from lowerings.pipelines import NATIVE
from xla_dialect.types import spell

from ..command_line import guarded
from ..comparison import DEFAULT_TOLERANCE, largest_relative_error
from .programs import StoredProgram, stored_programs

PROGRAM = "transformer_block"
EXECUTORS = {"reference": "numpy reference", "llvm": "machine code (LLVM)"}
TIMED_CALLS = {"reference": 3, "llvm": 101}
OUTPUT_COLUMNS = 100
"""The width of tables in a file or a log."""


@dataclass(frozen=True)
class Level:
    """A program at one level, and the passes that led there."""

    name: str
    operations: Counter[str]
    """How many operations of each dialect."""
    timings: list[PassTiming]


@dataclass(frozen=True)
class Outcome:
    """One text on one executor."""

    error: float
    compile_seconds: float
    call_seconds: float

    @property
    def agrees(self) -> bool:
        """Whether the results are XLA's, within the tolerance."""
        return self.error <= DEFAULT_TOLERANCE


def show() -> int:
    """Prints all tables; returns the exit code."""
    console = Console(width=None if sys.stdout.isatty() else OUTPUT_COLUMNS)
    program = next(program for program in stored_programs() if program.name == PROGRAM)
    texts = {"HLO text": program.hlo, "StableHLO": program.stablehlo}
    console.print(f"[bold]{program.name}[/bold]: {program.summary}", highlight=False)
    for title, path in texts.items():
        module = load_program(path)
        console.rule(f"{title}: {path.name}, {line_count(path)} lines")
        console.print(signature_table(signature_of(functions_of(module)["main"])))
        console.print(level_table(lower(module)))
    outcomes = {
        (title, executor): run(program, path, executor)
        for title, path in texts.items()
        for executor in EXECUTORS
    }
    console.rule("Agreement with XLA CPU")
    console.print(outcome_table(outcomes))
    agrees = all(outcome.agrees for outcome in outcomes.values())
    console.print(
        "Both texts and both executors agree with XLA." if agrees else "[red]DISAGREEMENT[/red]"
    )
    return 0 if agrees else 1


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def signature_table(signature: Signature) -> Table:
    """The parameters and results by name and type."""
    table = Table("parameter or result", "type")
    for parameter in signature.parameters:
        table.add_row(parameter.name, spell(parameter.type))
    table.add_section()
    for number, result in enumerate(signature.results):
        table.add_row(result.name or f"result {number}", spell(result.type))
    return table


# ---- The levels


def lower(module: ModuleOp) -> list[Level]:
    """Lowers a module through the native pipeline, in place; what every level looks like."""
    manager = PassManager(make_context())
    levels = [describe("as read", module, [])]
    for stage in NATIVE:
        manager.timings = []
        manager.run(module, parse_passes(",".join(stage.passes)))
        levels.append(describe(stage.level, module, manager.timings))
    return levels


def describe(name: str, module: ModuleOp, timings: list[PassTiming]) -> Level:
    """A level with its operations counted by dialect."""
    counts = Counter(operation.name.split(".")[0] for operation in module.walk())
    del counts["builtin"]
    return Level(name, counts, timings)


def level_table(levels: list[Level]) -> Table:
    """Per level: how many operations of which dialects, and the passes with their times."""
    table = Table("level", "operations", "of the dialects", "passes", "ms", show_lines=True)
    table.columns[1].justify = table.columns[4].justify = "right"
    for level in levels:
        table.add_row(
            level.name,
            str(level.operations.total()),
            ", ".join(f"{dialect} {count}" for dialect, count in level.operations.most_common()),
            "\n".join(timing.name for timing in level.timings),
            "\n".join(f"{timing.seconds * 1e3:.1f}" for timing in level.timings),
        )
    return table


# ---- The executors


def run(program: StoredProgram, path: Path, executor: str) -> Outcome:
    """Compiles and runs one text, compares it with XLA's outputs, and times the calls."""
    inputs = program.inputs()
    start = time.perf_counter()
    executable = lowerings.compile(path, backend=executor)
    compile_seconds = time.perf_counter() - start
    errors = [
        largest_relative_error(output, expected)
        for output, expected in zip(executable(*inputs), program.outputs(), strict=True)
    ]
    times: list[float] = []
    for _ in range(TIMED_CALLS[executor]):
        start = time.perf_counter()
        executable(*inputs)
        times.append(time.perf_counter() - start)
    return Outcome(max(errors), compile_seconds, statistics.median(times))


def outcome_table(outcomes: dict[tuple[str, str], Outcome]) -> Table:
    """Per text and executor: the largest error and the times."""
    table = Table("text", "executor", "largest relative error", "agrees", "compile ms", "call ms")
    for column in (2, 4, 5):
        table.columns[column].justify = "right"
    for (title, executor), outcome in outcomes.items():
        table.add_row(
            title,
            EXECUTORS[executor],
            f"{outcome.error:.1e}",
            "[green]yes[/green]" if outcome.agrees else "[red]NO[/red]",
            f"{outcome.compile_seconds * 1e3:.0f}",
            f"{outcome.call_seconds * 1e3:.3f}",
        )
    return table


if __name__ == "__main__":
    sys.exit(guarded("demo", show))
