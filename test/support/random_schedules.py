"""Random schedules of a linalg operation: all at once, or one primitive after the other."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lowerings.dialects.schedule import Factor, Loop, Pack, Schedule, ScheduleError, Step
from lowerings.scheduling.primitives import PRIMITIVES, LoopNest

LANES = (2, 3, 4, 8, 16)


def random_schedule(
    pick: random.Random,
    extents: Sequence[int],
    factors: Mapping[Factor, Sequence[int]] | None = None,
) -> Schedule:
    """A schedule for extents; of a contraction with the dimensions that its factors depend on."""
    dimensions = [d for d, n in enumerate(extents) if n > 1]
    vector = pick.choice([None, *dimensions]) if dimensions else None
    lanes = 1 if vector is None else min(pick.choice(LANES), extents[vector])
    outer: list[Loop] = []
    inner: list[Loop] = []
    for d in dimensions:
        room = extents[d]
        while room > 2 and pick.random() < 0.35:
            room = pick.randint(2, room)
            outer.append(Loop(d, room))
        unrolled = lanes * pick.randint(1, 2) if d == vector else pick.choice((1, 1, 2, 3))
        unrolled = lanes if d == vector and unrolled - lanes >= room else unrolled
        is_around = d != vector and pick.random() < 0.3
        (outer if is_around else inner).append(Loop(d, 1 if is_around else min(unrolled, room)))
    pick.shuffle(inner)
    steps: list[Step] = [*_shuffled_in_order(pick, outer), *inner]
    if pick.random() < 0.3 and steps:
        number = pick.randrange(len(steps))
        chosen = steps[number]
        assert isinstance(chosen, Loop)
        steps[number] = Loop(chosen.dimension, chosen.tile, is_parallel=True)
    if factors and vector is not None and pick.random() < 0.6:
        factor = next((f for f, own in factors.items() if vector in own), Factor.RHS)
        own = [loop.dimension for loop in inner if loop.dimension in factors[factor]]
        steps.insert(len(outer), Pack(factor, _random_order(pick, own, extents)))
    transposed = pick.choice(dimensions) if dimensions and pick.random() < 0.1 else None
    fills = (0,) if factors and pick.random() < 0.3 else ()
    return Schedule(tuple(steps), vector, lanes, transposed, folded_fills=fills)


def _random_order(pick: random.Random, own: Sequence[int], extents: Sequence[int]) -> Schedule:
    vector = pick.choice([None, *own])
    loops = [Loop(d, 4 if d == vector else pick.choice((1, 2))) for d in own]
    pick.shuffle(loops)
    return Schedule(tuple(loops), vector, 1 if vector is None else pick.choice((2, 4)))


def _shuffled_in_order(pick: random.Random, loops: Sequence[Loop]) -> list[Loop]:
    """Loops in random order, but those over one dimension in theirs."""
    order = [loop.dimension for loop in loops]
    pick.shuffle(order)
    left = {d: [loop for loop in loops if loop.dimension == d] for d in order}
    return [left[d].pop(0) for d in order]


def random_loops(pick: random.Random, loops: LoopNest, count: int) -> tuple[LoopNest, int]:
    """The loops after so many random primitives, and how many of these they refused, by a rule."""
    refused = 0
    for _ in range(count):
        name = pick.choice([*PRIMITIVES])
        try:
            loops = loops.after(name, *_random_arguments(pick, name, loops))
        except ScheduleError as error:
            if not re.match(r"\(SR\d+\) ", str(error)):
                raise
            refused += 1
    return loops, refused


def _random_arguments(pick: random.Random, name: str, loops: LoopNest) -> Sequence[Any]:
    extents, steps = loops.nest.extents, loops.schedule.steps
    dimension = pick.randrange(len(extents))
    if name == "interchange":
        order = [loop.dimension for loop in loops.schedule.loops]
        order = list(dict.fromkeys(order)) if pick.random() < 0.5 else order
        return pick.sample(order, len(order))
    if name == "pack":
        order = pick.sample(range(len(extents)), min(len(extents), pick.randint(2, 3)))
        copy = Schedule.over(*order)
        copy = copy.vectorize(pick.choice(order), 4) if pick.random() < 0.7 else copy
        return pick.choice([*Factor]), copy, pick.choice([None, pick.randint(0, len(steps))])
    return {
        "collapse": (dimension, pick.randrange(len(extents))),
        "tile": (dimension, pick.randint(1, extents[dimension] + 1)),
        "vectorize": (dimension, pick.choice(LANES)),
        "unroll": (dimension, pick.randint(1, 4)),
        "parallel": (dimension, pick.choice((0, 0, 1))),
        "pair": (dimension, pick.choice((None, Schedule.plain(len(extents)))), pick.choice((2, 4))),
        "fold_fills": (0,),
    }.get(name, (dimension,))
