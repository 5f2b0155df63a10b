"""What is known of each contender in the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum

from lowerings.bufferize.memory_usage import MemoryTraffic, MemoryUsage
from xla_dialect.literals.arrays import Array

from ..measuring_times import CONFIDENCE, MachineLoad, spelled
from .contender import ComparisonEffort, ProgramVariant


@dataclass(frozen=True)
class PassEffect:
    """What one pass of a pipeline did."""

    name: str
    level: str
    """The level of the named pipeline that it leads to; empty for a pass given alone."""
    operations: int
    """Of the module afterwards, those in regions included."""
    changes: dict[str, int]
    """By name, how many operations there are more, or less if negative."""


@dataclass(frozen=True)
class Compilation:
    """What one compilation took, and made."""

    parts: dict[str, float]
    """Seconds, in order: reading, the levels of the pipeline, LLVM IR, LLVM, loading."""
    passes: tuple[float, ...]
    """Those of each pass by itself."""
    machine_code: bytes
    """All that decides how it runs, but for its threads."""
    code_bytes: int
    """Of instructions, without constants."""

    @property
    def seconds(self) -> float:
        """Of all parts."""
        return sum(self.parts.values())


class Verdict(StrEnum):
    """What an interval says of a contender beside the first one."""

    FASTER = "faster"
    SLOWER = "slower"
    ALIKE = "alike"
    """The difference is too small for what is measured in one process."""
    OPEN = "open"
    """It says nothing."""


PLACEMENT = 0.05
"""
How much the times of equal programs in one process may differ, relatively: each has its places in
memory for as long, which turns do not vary.
"""


def verdict_of(interval: tuple[float, float] | None, margin: float) -> Verdict:
    """What an interval of ratios says where differences within a margin say nothing."""
    if interval is None:
        return Verdict.OPEN
    low, high = interval
    if high < 1 - margin:
        return Verdict.FASTER
    if low > 1 + margin:
        return Verdict.SLOWER
    return Verdict.ALIKE if 1 - margin <= low and high <= 1 + margin else Verdict.OPEN


@dataclass(frozen=True)
class CallTime:
    """Seconds per call, over all turns."""

    turns: tuple[float, ...]
    median: float
    quartiles: tuple[float, float]
    """The lower and the upper one: half of the turns are between them."""
    ratio: float
    """To the first contender: the median over turns; over processes where there are several."""
    interval: tuple[float, float] | None
    """Where that ratio lies; None where turns or processes are too few to say."""
    verdict: Verdict


@dataclass(frozen=True)
class Memory:
    """What a program takes and moves, where its pipeline has a level that tells."""

    usage: MemoryUsage | None
    traffic: tuple[MemoryTraffic, ...]

    @property
    def kernels(self) -> int | None:
        """The kernels, equal ones once; None if unknown."""
        return sum(each.is_kernel for each in self.traffic) if self.traffic else None

    @property
    def kernel_calls(self) -> int | None:
        """How often they are called; a loop counts once."""
        calls = sum(each.calls for each in self.traffic if each.is_kernel)
        return calls if self.traffic else None

    @property
    def moved(self) -> int | None:
        """Bytes that operations read and write."""
        return sum(each.moved for each in self.traffic) if self.traffic else None


@dataclass(frozen=True)
class Prepared:
    """A contender when it is compiled, and has run once."""

    compilation: Compilation
    """The quickest."""
    passes: tuple[PassEffect, ...]
    memory: Memory
    results: list[Array]
    warnings: tuple[str, ...] = ()
    """What its schedules were warned of, where that was in another process."""


@dataclass
class ContenderRun:
    """What was seen of a contender."""

    contender: ProgramVariant
    prepared: Prepared | None = None
    turns: list[list[float]] = field(default_factory=list[list[float]])
    """Seconds of a call, turn by turn in each process that it ran in."""
    instructions: tuple[int | None, str] = (None, "")
    """Of a call on riscv64, or why nobody knows."""
    failure: str = ""


def same_code(runs: Sequence[ContenderRun]) -> list[ContenderRun | None]:
    """
    For each contender the first one with the same machine code and threads, if it is another.

    Programs given by themselves are always run: they show how much times vary.
    """
    firsts: dict[tuple[bytes, int | None], ContenderRun] = {}
    found: list[ContenderRun | None] = []
    for run in runs:
        first = run
        if run.prepared is not None and not run.failure:
            code = (run.prepared.compilation.machine_code, run.contender.num_threads)
            first = firsts.setdefault(code, run)
        found.append(first if first is not run and run.contender.is_ablation else None)
    return found


@dataclass(frozen=True)
class VariantFigures:
    """What was measured of one contender."""

    call: CallTime
    same_code_as: str | None
    """The contender whose machine code it has, and whose time therefore; None if it was run."""
    prepared: Prepared
    difference: float
    """Of results, relative to the largest magnitude of the first contender's."""
    instructions: int | None
    """Of one call on riscv64."""
    no_instructions: str = ""
    """Why there are none."""


@dataclass(frozen=True)
class ComparisonRow:
    """A contender, and its figures or why there are none."""

    contender: ProgramVariant
    figures: VariantFigures | None = None
    failure: str = ""


@dataclass(frozen=True)
class Comparison:
    """All contenders, the first of which is what the others are compared with."""

    rows: tuple[ComparisonRow, ...]
    signature: str
    processor: str
    effort: ComparisonEffort
    load: MachineLoad

    @property
    def measured(self) -> list[tuple[ProgramVariant, VariantFigures]]:
        """The contenders that ran."""
        return [(row.contender, row.figures) for row in self.rows if row.figures is not None]

    @property
    def failed(self) -> list[ComparisonRow]:
        """Those that did not."""
        return [row for row in self.rows if row.figures is None]


UNKNOWN = "-"


def seconds(value: float) -> str:
    """Three digits and a unit: `12.3 us`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def integer(value: int | None) -> str:
    """Digits in groups of three."""
    return UNKNOWN if value is None else f"{value:,}"


def difference(value: float, tolerance: float) -> str:
    """A largest difference, marked where it is more than the tolerance."""
    return f"{value:.1e} !" if value > tolerance else "0" if value == 0 else f"{value:.1e}"


_COLUMNS = (
    "contender",
    "time",
    "quartiles",
    "ratio",
    "interval",
    "verdict",
    "difference",
    "instructions",
    "kernels",
    "calls",
    "moved",
    "allocated",
    "arena",
    "code",
    "compile",
)
"""Of the table of contenders; memory and code are in bytes."""


def table_of(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """The table of contenders, its head and its rows, without figures that nobody asked for."""
    measured = comparison.measured
    rows = [
        (
            contender.label,
            *_cells(figures, comparison.effort.tolerance, is_first=figures is measured[0][1]),
        )
        for contender, figures in measured
    ]
    kept = [n for n in range(len(_COLUMNS)) if any(row[n] != UNKNOWN for row in rows)]
    return [_COLUMNS[n] for n in kept], [[row[n] for n in kept] for row in rows]


def _cells(figures: VariantFigures, tolerance: float, *, is_first: bool) -> tuple[str, ...]:
    """The row of a contender, after its label."""
    call, memory = figures.call, figures.prepared.memory
    return (
        *(
            (
                seconds(call.median),
                " .. ".join(map(seconds, call.quartiles)),
                f"{call.ratio:.2f}",
                " .. ".join(f"{each:.2f}" for each in call.interval or ()) or UNKNOWN,
                UNKNOWN if is_first else call.verdict,
            )
            if figures.same_code_as is None
            else (UNKNOWN, f"as {figures.same_code_as}", UNKNOWN, UNKNOWN, UNKNOWN)
        ),
        difference(figures.difference, tolerance),
        integer(figures.instructions),
        integer(memory.kernels),
        integer(memory.kernel_calls),
        integer(memory.moved),
        integer(memory.usage and memory.usage.allocated),
        integer(memory.usage and memory.usage.arena),
        integer(figures.prepared.compilation.code_bytes),
        seconds(figures.prepared.compilation.seconds),
    )


def parts_of(measured: Iterable[tuple[ProgramVariant, VariantFigures]]) -> list[str]:
    """The parts of all compilations, each once, in order."""
    rows = _aligned([list(figures.prepared.compilation.parts) for _, figures in measured])
    return list(dict.fromkeys(name for name, _ in rows))


def passes_of(
    measured: Iterable[tuple[ProgramVariant, VariantFigures]],
) -> list[tuple[str, list[int | None]]]:
    """
    The runs of passes of all pipelines, in order: the pass, and which one of its own passes that
    run is for each contender, None where it has no such run.
    """
    return _aligned([[each.name for each in figures.prepared.passes] for _, figures in measured])


def _aligned(lists: Sequence[Sequence[str]]) -> list[tuple[str, list[int | None]]]:
    """
    Lists beside each other, each in its order. A row is a name, and its place in each list.

    What a list has in common with those before it shares their rows; all else gets rows of its own.
    """
    rows: list[tuple[str, list[int | None]]] = []
    for number, names in enumerate(lists):
        merged: list[tuple[str, list[int | None]]] = []
        matcher = SequenceMatcher(None, [name for name, _ in rows], names, autojunk=False)
        for kind, start, end, own_start, own_end in matcher.get_opcodes():
            own = range(own_start, own_end)
            if kind == "equal":
                pairs = zip(rows[start:end], own, strict=True)
                merged += [(name, [*places, place]) for (name, places), place in pairs]
            else:
                merged += [(name, [*places, None]) for name, places in rows[start:end]]
                merged += [(names[place], [*[None] * number, place]) for place in own]
        rows = merged
    return rows


def heading(comparison: Comparison) -> str:
    """What was compared, on what."""
    return f"{comparison.signature} on {comparison.processor}; seed {comparison.effort.seed}"


def remarks(comparison: Comparison) -> list[str]:
    """What a reader of the table has to know."""
    found = [
        "ratio: of times to the first, median over turns; interval: where it lies, with "
        f"{CONFIDENCE:.0%} confidence; verdict: what the interval says.",
        "difference: of results from the first's, relative to their largest magnitude"
        + (
            f"; ! is more than {comparison.effort.tolerance:g}."
            if any(f.difference > comparison.effort.tolerance for _, f in comparison.measured)
            else "."
        ),
        _load(comparison.load),
    ]
    reasons: dict[str, list[str]] = {}
    for contender, figures in comparison.measured:
        if figures.no_instructions:
            reasons.setdefault(figures.no_instructions, []).append(contender.label)
    for reason, labels in reasons.items():
        whose = "" if len(labels) == len(comparison.measured) else f" of {', '.join(labels)}"
        found.append(f"no instructions{whose}: {reason}")
    return found


def _load(load: MachineLoad) -> str:
    """What the machine did beside, and what that means for verdicts."""
    if load.others is None:
        return "load: this system does not tell what others did meanwhile."
    said = (
        f"load: others used {load.others:.1f} of {len(load.processors)} processors "
        f"({spelled(load.processors)}) meanwhile"
    )
    if not load.is_busy:
        return f"{said}."
    return (
        f"{said}. A busy machine slows down programs with more threads more, so that there are no "
        "verdicts: wait, or bind this program to processors that are free (--processors)."
    )
