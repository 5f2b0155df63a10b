"""Whether a candidate computes what the default does, and what it costs."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from statistics import median
from typing import Any, Protocol

import numpy as np

from lowerings.dialects.schedule import Schedule
from lowerings.tuning.kernel_program import KernelCode, KernelProgram, restore
from lowerings.validation.allowances import allowance_of
from lowerings.validation.inputs import InputKind
from xla_dialect.literals.arrays import Array

ALLOWANCE = allowance_of("convert-linalg-to-vector-loops")
"""How results may differ: sums of floats are taken in the order that the schedule gives them."""

TURN_SECONDS = 0.001
"""What one measurement takes at the least, with so many runs."""


@dataclass(frozen=True)
class Unit:
    """What costs are shown in."""

    name: str
    per_cost: float

    def shown(self, cost: float) -> str:
        """A cost in this unit."""
        return f"{cost * self.per_cost:.4g}" if self.per_cost != 1 else f"{cost:.0f}"


MICROSECONDS = Unit("us", 1e6)
"""For costs in seconds."""
INSTRUCTIONS = Unit("instructions", 1)


class Meter(Protocol):
    """Compiles a kernel with schedules, and compares them."""

    @property
    def unit(self) -> Unit:
        """What its costs are shown in."""
        ...

    def compiled(self, schedule: Schedule) -> Any:
        """The kernel with a schedule; raises PassFailedException or XlaError if not admitted."""
        ...

    def is_wrong(self, candidate: Any) -> bool:
        """Whether it computes something else than the default."""
        ...

    def ratio(self, candidate: Any, other: Any, turns: int) -> float:
        """Its cost over that of another one, the median of so many turns."""
        ...

    def cost(self, candidate: Any) -> float:
        """Of one run."""
        ...


@dataclass
class CheckingMeter(ABC):
    """A meter that runs candidates, and the kernel with its default schedule, on arrays."""

    program: KernelProgram
    reference: Any
    """What is right: the kernel with its default schedule."""
    seed: int = 0

    @abstractmethod
    def results(self, candidate: Any, arrays: Sequence[Array]) -> Sequence[Array]:
        """What the arrays hold that a candidate writes, after one run."""

    def is_wrong(self, candidate: Any) -> bool:
        """On moderate numbers, and on zeros, infinities and NaN."""
        return any(
            bool(np.any(ALLOWANCE.differing(found, wanted)))
            for arrays, expected in self._expected
            for found, wanted in zip(self.results(candidate, arrays), expected, strict=True)
        )

    @cached_property
    def _expected(self) -> list[tuple[list[Array], Sequence[Array]]]:
        cases = [self.program.make_buffers(kind, self.seed + 1) for kind in ALLOWANCE.kinds]
        return [(arrays, self.results(self.reference, arrays)) for arrays in cases]


@dataclass
class TimeMeter(CheckingMeter):
    """The meter of this machine's time, by turns; costs are seconds."""

    unit = MICROSECONDS
    _runs: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        self._runs = max(1, ceil(TURN_SECONDS / max(self.cost(self.reference), 1e-9)))

    def compiled(self, schedule: Schedule) -> KernelCode:
        """See `Meter`."""
        return self.program.compiled(schedule)

    def ratio(self, candidate: KernelCode, other: KernelCode, turns: int) -> float:
        """Who goes first alternates as well."""
        ratios: list[float] = []
        for turn in range(turns):
            first, second = (candidate, other) if turn % 2 else (other, candidate)
            times = {id(each): self._time(each, self._runs) for each in (first, second)}
            ratios.append(times[id(candidate)] / times[id(other)])
        return median(ratios)

    def cost(self, candidate: KernelCode) -> float:
        """The least of three, after one that warms up."""
        return min([self._time(candidate, self._runs) for _ in range(4)][1:])

    @cached_property
    def _originals(self) -> list[Array]:
        return self.program.make_buffers(InputKind.PLAIN, self.seed)

    @cached_property
    def _buffers(self) -> list[Array]:
        return self.program.make_buffers(InputKind.PLAIN, self.seed)

    def results(self, candidate: KernelCode, arrays: Sequence[Array]) -> Sequence[Array]:
        """See `CheckingMeter`."""
        buffers = self.program.make_buffers(InputKind.PLAIN, self.seed)
        restore(buffers, arrays, range(len(buffers)))
        candidate.run(buffers, 1)
        return [buffers[number] for number in self.program.written]

    def _time(self, candidate: KernelCode, runs: int) -> float:
        restore(self._buffers, self._originals, self.program.written)
        start = time.perf_counter()
        candidate.run(self._buffers, runs)
        return (time.perf_counter() - start) / runs
