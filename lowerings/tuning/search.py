"""The search for the schedule of one kernel, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf, isfinite
from random import Random
from typing import Any

from xdsl.utils.exceptions import DiagnosticException

from lowerings.dialects.schedule import Schedule, ScheduleAttr
from lowerings.execution.emulator import EmulationError
from lowerings.tuning.measurement import MICROSECONDS, Meter, Unit
from lowerings.tuning.space import Space, Strategy, TuningProblem, mutated, seeds
from xla_dialect.diagnostics import XlaError

MOST_STEPS = 4
"""From one candidate to the next."""
DRAWS = 300
"""Steps in vain after which there is nothing new."""

PARENTS = 8
"""The best found so far that have children."""


def at_random(
    problem: TuningProblem, space: Space, random: Random
) -> Generator[Schedule, float, None]:
    """Some steps from a seed, drawn anew each time."""
    starts = [problem.default, *seeds(problem)]
    tried = {problem.default}
    while (child := _child(problem, space, starts, random, tried)) is not None:
        tried.add(child)
        yield child


def evolution(
    problem: TuningProblem, space: Space, random: Random
) -> Generator[Schedule, float, None]:
    """All seeds, then children of the best so far; the better a parent, the more."""
    found: list[tuple[float, Schedule]] = [(1.0, problem.default)]
    tried = {problem.default}
    for seed in seeds(problem):
        tried.add(seed)
        found.append(((yield seed), seed))
    while True:
        alive = sorted((each for each in found if isfinite(each[0])), key=lambda each: each[0])
        best = [schedule for _, schedule in alive[:PARENTS]]
        parents = [parent for last in range(len(best), 0, -1) for parent in best[:last]]
        child = _child(problem, space, parents, random, tried)
        if child is None:
            return
        tried.add(child)
        found.append(((yield child), child))


def _child(
    problem: TuningProblem,
    space: Space,
    parents: list[Schedule],
    random: Random,
    tried: set[Schedule],
) -> Schedule | None:
    """A schedule that was not tried, some steps from one that was; None where there is none."""
    for _ in range(DRAWS):
        child = random.choice(parents)
        for _ in range(random.randint(1, MOST_STEPS)):
            child = space(problem, child, random) or child
        if child not in tried:
            return child
    return None


STRATEGIES: dict[str, Strategy] = {"evolution": evolution, "random": at_random}


FIRST_TURNS, MORE_TURNS, LAST_TURNS = 3, 9, 21
"""To see that a candidate is worse, that it is better, and how much faster the best one is."""
BETTER = 0.98
"""What a candidate has to take at the most, relative to the best before, to be better."""
SURELY_BETTER = 0.97
"""The same at the end, by the default: what is kept is faster wherever it is measured next."""


@dataclass(frozen=True)
class SearchParts:
    """What a search is made of."""

    space: Space = mutated
    strategy: Strategy = evolution


@dataclass
class Found:
    """What a search found, as far as it came."""

    schedule: Schedule
    """The best; the default where none was better."""
    ratio: float = 1.0
    """Its cost over that of the default."""
    cost: float = 0.0
    """Of the default."""
    unit: Unit = MICROSECONDS
    """What costs are shown in."""
    measured: int = 0
    not_admitted: int = 0
    wrong: int = 0
    """Candidates that computed something else than the default."""
    failures: list[str] = field(default_factory=list[str])
    """
    Candidates at which the compiler failed, or whose code did in the emulator, which is a bug of
    it, each with the reason.
    """
    interrupted: bool = False


@dataclass
class Search:
    """Measures schedules of one kernel."""

    problem: TuningProblem
    meter: Meter
    parts: SearchParts
    random: Random

    def __post_init__(self) -> None:
        self._best: Any = self.meter.reference
        cost = self.meter.cost(self._best)
        self.found = Found(self.problem.default, cost=cost, unit=self.meter.unit)

    def run(self, may_go_on: Callable[[Found], bool]) -> Found:
        """
        Goes on for as long as it may, and there is something to try. What was found is found even
        if it is interrupted from the keyboard.
        """
        problem, parts = self.problem, self.parts
        proposals = parts.strategy(problem, parts.space, self.random)
        try:
            with suppress(StopIteration):
                schedule = next(proposals)
                while may_go_on(self.found):
                    schedule = proposals.send(self._relative_time(schedule))
        except KeyboardInterrupt:
            self.found.interrupted = True
        self._confirm()
        return self.found

    def _relative_time(self, schedule: Schedule) -> float:
        """Of a candidate, by the default's; infinite for one that cannot be taken."""
        found, meter = self.found, self.meter
        try:
            candidate = meter.compiled(schedule)
            is_wrong = meter.is_wrong(candidate)
        except Exception as error:
            is_refusal = isinstance(error, DiagnosticException | XlaError)
            # In an emulator code that fails ends its own process only.
            if is_refusal and not isinstance(error, EmulationError):
                found.not_admitted += 1
            else:
                found.failures.append(f"{ScheduleAttr(schedule)}: {error!r}")
            return inf
        if is_wrong:
            found.wrong += 1
            return inf
        found.measured += 1
        ratio = meter.ratio(candidate, self._best, FIRST_TURNS)
        if ratio < BETTER:
            ratio = meter.ratio(candidate, self._best, MORE_TURNS)
        relative = ratio * found.ratio
        if ratio < BETTER:
            self._best, found.schedule, found.ratio = candidate, schedule, relative
        return relative

    def _confirm(self) -> None:
        """Compares the best with the default once more: products of ratios add up their errors."""
        if self._best is not self.meter.reference:
            self.found.ratio = self.meter.ratio(self._best, self.meter.reference, LAST_TURNS)
        if self.found.ratio >= SURELY_BETTER:
            self.found.schedule, self.found.ratio = self.problem.default, 1.0
