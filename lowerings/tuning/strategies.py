"""The order in which schedules are tried: at random, or from the best found so far."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from math import isfinite
from random import Random

from lowerings.dialects.schedule import Schedule
from lowerings.tuning.problem import CostModel, Space, Strategy, TuningProblem
from lowerings.tuning.seeds import seeds

MOST_STEPS = 4
"""From one candidate to the next."""
DRAWS = 300
"""Steps in vain after which there is nothing new."""

LITTER = 12
"""Children from which the cost model chooses one."""
TRUST = 0.6
"""How often the cost model chooses, and not chance."""
PARENTS = 8
"""The best found so far that have children."""


def at_random(
    problem: TuningProblem, space: Space, model: CostModel, random: Random
) -> Generator[Schedule, float, None]:
    """Some steps from a seed, drawn anew each time; the cost model has no say."""
    starts = [problem.default, *seeds(problem)]
    tried = {problem.default}
    while (child := _child(problem, space, starts, random, tried)) is not None:
        tried.add(child)
        yield child


def evolution(
    problem: TuningProblem, space: Space, model: CostModel, random: Random
) -> Generator[Schedule, float, None]:
    """
    All seeds, then children of the best so far, chosen by the cost model out of several, or by
    chance.
    """
    found: list[tuple[float, Schedule]] = [(1.0, problem.default)]
    tried = {problem.default}
    for seed in _ranked(problem, model, seeds(problem)):
        tried.add(seed)
        found.append(((yield seed), seed))
    while True:
        alive = sorted((each for each in found if isfinite(each[0])), key=lambda each: each[0])
        parents = [schedule for _, schedule in alive[:PARENTS]]
        litter: dict[Schedule, None] = {}
        for _ in range(LITTER):
            # The better a parent, the more children: the least of two draws.
            first = min(random.randrange(len(parents)), random.randrange(len(parents)))
            child = _child(problem, space, parents[first : first + 1], random, tried)
            if child is not None:
                litter[child] = None
        if not litter:
            return
        ranked = _ranked(problem, model, litter)
        child = ranked[0] if random.random() < TRUST else random.choice(ranked)
        tried.add(child)
        found.append(((yield child), child))


def _ranked(
    problem: TuningProblem, model: CostModel, schedules: Iterable[Schedule]
) -> list[Schedule]:
    return sorted(schedules, key=lambda each: model(problem, each))


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
