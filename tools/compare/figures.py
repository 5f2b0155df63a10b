"""What is known of each contender in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from lowerings.bufferize.memory_usage import MemoryTraffic, MemoryUsage
from xla_dialect.literals.arrays import Array

from ..machine_load import MachineLoad
from .contender import ProgramVariant


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
class CompileTime:
    """Seconds that one compilation took."""

    parts: dict[str, float]
    """In order: reading, the levels of the pipeline, LLVM IR, LLVM, loading."""
    passes: tuple[float, ...]
    """Each pass by itself."""

    @property
    def seconds(self) -> float:
        """All of them."""
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

    machine_code: bytes
    """All that decides how it runs, but for its threads."""
    time: CompileTime
    code_bytes: int
    passes: tuple[PassEffect, ...]
    memory: Memory
    results: list[Array]
    warnings: tuple[str, ...] = ()
    """What its schedules were warned of, where that was in another process."""


@dataclass
class ContenderRun:
    """What was seen of a contender."""

    prepared: Prepared | None = None
    turns: list[list[float]] = field(default_factory=list[list[float]])
    """Seconds of a call, turn by turn in each process that it ran in."""
    instructions: tuple[int | None, str] = (None, "")
    """Of a call on riscv64, or why nobody knows."""
    failure: str = ""


def same_code(
    contenders: Sequence[ProgramVariant], runs: Sequence[ContenderRun]
) -> list[int | None]:
    """
    For each contender the first one with the same machine code and threads, if it is another.

    Programs given by themselves are always run: they show how much times vary.
    """
    firsts: dict[tuple[bytes, int | None], int] = {}
    found: list[int | None] = []
    for number, (contender, run) in enumerate(zip(contenders, runs, strict=True)):
        if run.prepared is None or run.failure:
            found.append(None)
            continue
        first = firsts.setdefault((run.prepared.machine_code, contender.num_threads), number)
        found.append(None if first == number or not contender.is_ablation else first)
    return found


@dataclass(frozen=True)
class VariantFigures:
    """What was measured of one contender."""

    call: CallTime
    same_code_as: str | None
    """The contender whose machine code it has, and whose time therefore; None if it was run."""
    compilation: CompileTime
    """The quickest."""
    passes: tuple[PassEffect, ...]
    memory: Memory
    code_bytes: int
    """Of instructions, without constants."""
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
    seed: int
    features: str
    """Of the emulated processor."""
    tolerance: float
    load: MachineLoad

    @property
    def measured(self) -> list[tuple[ProgramVariant, VariantFigures]]:
        """The contenders that ran."""
        return [(row.contender, row.figures) for row in self.rows if row.figures is not None]

    @property
    def failed(self) -> list[ComparisonRow]:
        """Those that did not."""
        return [row for row in self.rows if row.figures is None]
