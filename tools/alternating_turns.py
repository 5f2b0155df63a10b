"""Calls timed by turns: what slows the machine down for a while slows all of them down."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

TURN_SECONDS = 0.005
"""One turn repeats a call for about this long: far above the clock's resolution, below a time
slice."""

Call = Callable[[], Any]


def turn(call: Call, repetitions: int) -> float:
    """Seconds per call over `repetitions` calls in a row."""
    start = time.perf_counter()
    for _ in range(repetitions):
        call()
    return (time.perf_counter() - start) / repetitions


def repetitions_of(call: Call, seconds: float = TURN_SECONDS) -> int:
    """How many calls make a turn, found out by a few."""
    call()
    return max(1, round(seconds / max(turn(call, 3), 1e-9)))


def alternate(
    calls: Sequence[Call], turns: int, seconds: float = TURN_SECONDS
) -> list[list[float]]:
    """
    Seconds per call, for each of `calls` one number a turn, taken by turns.

    Each turn has another order: a call that leaves the caches cold is not always before the same.
    """
    repetitions = [repetitions_of(call, seconds) for call in calls]
    times: list[list[float]] = [[] for _ in calls]
    order, shuffled = list(range(len(calls))), random.Random(0)
    for _ in range(turns):
        shuffled.shuffle(order)
        for position in order:
            times[position].append(turn(calls[position], repetitions[position]))
    return times
