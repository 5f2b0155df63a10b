"""Ways of compiling, measured on many programs: what each does to every one, and on the whole."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console

from lowerings.targets.llvm.machine import host
from xla_dialect.diagnostics import XlaError

from ..command_line import one_line
from ..comparison import DEFAULT_TOLERANCE
from ..measuring_times import CONFIDENCE
from ..tables import table_with
from .contender import ComparisonEffort, Say, parse_contenders
from .figures import UNKNOWN, VariantFigures, difference, integer, seconds
from .measuring import compare

FIRST = "default"
"""The label of the way that the others are compared with."""
DEVIATIONS = 2.02
"""Half of an interval of `CONFIDENCE`, in standard errors of the mean of about 40 numbers."""


@dataclass(frozen=True)
class Measured:
    """One program, compiled in one way."""

    seconds: float = math.nan
    """Of a call; NaN where it failed."""
    ratio: float = math.nan
    """Of the time to that of the first way."""
    interval: tuple[float, float] | None = None
    verdict: str = UNKNOWN
    compile_seconds: float = math.nan
    memory: int | None = None
    """Bytes of all temporary arrays."""
    instructions: int | None = None
    """Of a call on riscv64."""
    difference: float = math.nan
    """Of results from those of the first way."""
    failure: str = ""

    @staticmethod
    def of(figures: VariantFigures) -> Measured:
        """What a table shows of the figures."""
        call, usage = figures.call, figures.prepared.memory.usage
        same = figures.same_code_as is not None
        return Measured(
            call.median,
            1.0 if same else call.ratio,
            (1.0, 1.0) if same else call.interval,
            "same code" if same else call.verdict,
            figures.prepared.compilation.seconds,
            usage and usage.allocated,
            figures.instructions,
            figures.difference,
        )


@dataclass(frozen=True)
class Benchmark:
    """What was measured, by way and program; as a file it is compared with later ones."""

    processor: str
    version: str
    ways: Mapping[str, Mapping[str, Measured]]

    def as_json(self) -> str:
        """The file; numbers that there are none of are null."""
        return json.dumps(_without_nan(asdict(self)), indent=1) + "\n"

    @staticmethod
    def read(path: str) -> Benchmark:
        """What a file has; raises XlaError."""
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
            ways = {
                way: {name: Measured(**_with_nan(row)) for name, row in rows.items()}
                for way, rows in found["ways"].items()
            }
            return Benchmark(found["processor"], found["version"], ways)
        except OSError as error:
            raise XlaError(f"{path}: error: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise XlaError(f"{path}: error: no figures of xla-compare --examples") from error


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _with_nan(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if value is not None}
    return kept | ({"interval": tuple(kept["interval"])} if "interval" in kept else {})


def measure(
    files: Mapping[str, str], options: Sequence[str], effort: ComparisonEffort, say: Say
) -> Benchmark:
    """
    Measures programs, by name, compiled as usual and with each of the options of contenders.

    What a way cannot compile or run is a row that says so. Raises XlaError for wrong options.
    """
    ways: dict[str, dict[str, Measured]] = {FIRST: {}}
    for number, (name, file) in enumerate(files.items(), 1):
        say(f"{name}, {number} of {len(files)}")
        for option in options or [""]:
            both = parse_contenders([file, file + option] if option else [file])
            # Where a way leads to the same machine code, it need not be timed.
            both[1:] = [replace(each, is_ablation=True) for each in both[1:]]
            try:
                rows = compare(both, False, [], effort, lambda _: None).rows
            except XlaError as error:
                ways.setdefault(both[-1].label, {})[name] = Measured(failure=one_line(error))
                both = both[:-1]
                rows = compare(both, False, [], effort, lambda _: None).rows if both else ()
            for contender, row in zip(both, rows, strict=True):
                assert row.figures is not None
                ways.setdefault(contender.label, {})[name] = Measured.of(row.figures)
    return Benchmark(host().processor, version("xla-dialect"), ways)


def print_benchmark(found: Benchmark, before: Benchmark | None, console: Console) -> None:
    """A table for each way beside the first one, and of the first beside that of another file."""
    first = found.ways[FIRST]
    heading = f"{len(first)} programs on {found.processor}, xla-dialect {found.version}"
    console.print(heading, highlight=False)
    for way, rows in found.ways.items():
        if way != FIRST or (len(found.ways) == 1 and before is None):
            _print_way(f"{way} beside {FIRST}", first, rows, console)
    if before is not None:
        old = before.ways.get(FIRST, {})
        now = {name: _beside(row, old[name]) for name, row in first.items() if name in old}
        title = f"{FIRST} beside that on {before.processor}, xla-dialect {before.version}"
        _print_way(title, old, now, console)


def _beside(row: Measured, old: Measured) -> Measured:
    """A row of a run, with its ratio to that of another one, of which no turns are known."""
    return replace(row, ratio=row.seconds / old.seconds, interval=None, verdict=UNKNOWN)


def _print_way(
    title: str, first: Mapping[str, Measured], rows: Mapping[str, Measured], console: Console
) -> None:
    numbers = ("time", "ratio", "interval", "verdict", "compile", "memory", "instructions")
    table = table_with(("program",), (*numbers, "difference"), title=title, title_justify="left")
    for name, row in rows.items():
        if row.failure:
            table.add_row(name, *[""] * 3, "fails")
            continue
        one = first.get(name, Measured())
        table.add_row(
            name,
            seconds(row.seconds),
            _number(row.ratio),
            " .. ".join(map(_number, row.interval or ())) or UNKNOWN,
            row.verdict,
            _number(row.compile_seconds / one.compile_seconds),
            _change(one.memory, row.memory),
            _change(one.instructions, row.instructions),
            difference(row.difference, DEFAULT_TOLERANCE),
        )
    console.print(table)
    for what, ratios in (
        ("time of calls", [row.ratio for row in rows.values()]),
        ("compilation", [r.compile_seconds / first[n].compile_seconds for n, r in rows.items()]),
        (
            "instructions",
            [
                r.instructions / one
                for n, r in rows.items()
                if r.instructions and (one := first[n].instructions)
            ],
        ),
    ):
        if mean := mean_ratio(ratios):
            console.print(f"{what}: {mean}", highlight=False)
    counts = Counter(row.verdict for row in rows.values() if not row.failure)
    said = ", ".join(
        f"{count} {verdict}" for verdict, count in counts.items() if verdict != UNKNOWN
    )
    if said:
        console.print(said, highlight=False)
    for name, row in rows.items():
        if row.failure:
            console.print(f"{name}: {row.failure}", highlight=False, soft_wrap=True)


def mean_ratio(ratios: Iterable[float]) -> str:
    """The geometric mean, and where it lies for programs like these; nothing without ratios."""
    logs = [math.log(ratio) for ratio in ratios if math.isfinite(ratio) and ratio > 0]
    if not logs:
        return ""
    mean = statistics.fmean(logs)
    error = DEVIATIONS * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else 0.0
    low, high = math.exp(mean - error), math.exp(mean + error)
    return (
        f"geometric mean of {len(logs)} ratios {math.exp(mean):.3f} "
        f"({low:.3f} .. {high:.3f} with {CONFIDENCE:.0%} confidence)"
    )


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else UNKNOWN


def _change(one: int | None, other: int | None) -> str:
    """A number and what it was before, where that is another."""
    return integer(other) if one == other else f"{integer(one)} → {integer(other)}"
