"""Calls timed by turns: what slows the machine down for a while slows all of them down."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from math import comb
from typing import Any

TURN_SECONDS = 0.005
"""One turn repeats a call for about this long: far above the clock's resolution, below a time
slice."""

CONFIDENCE = 0.95
"""Of intervals."""

Call = Callable[[], Any]


def turn(call: Call, repetitions: int) -> float:
    """Seconds per call over `repetitions` calls in a row."""
    start = time.perf_counter()
    for _ in range(repetitions):
        call()
    return (time.perf_counter() - start) / repetitions


class TimedCall:
    """A call that is timed turn by turn."""

    def __init__(self, call: Call, seconds: float = TURN_SECONDS):
        """`seconds`: how long a turn is where nothing slows it down."""
        call()
        self._call = call
        self._seconds = seconds
        self._least = min(turn(call, 1) for _ in range(3))

    def turn(self) -> float:
        """
        Seconds per call, of one more turn.

        Its calls are as many as its least time asks for: a machine that was busy when they were
        first counted shall not make turns short, which are interrupted less often than long ones.
        """
        taken = turn(self._call, max(1, round(self._seconds / max(self._least, 1e-9))))
        self._least = min(self._least, taken)
        return taken


def alternate(
    calls: Sequence[Call], turns: int, seconds: float = TURN_SECONDS
) -> list[list[float]]:
    """
    Seconds per call, for each of `calls` one number a turn, taken by turns.

    Each turn has another order: a call that leaves the caches cold is not always before the same.
    """
    timed = [TimedCall(call, seconds) for call in calls]
    times: list[list[float]] = [[] for _ in calls]
    order, shuffled = list(range(len(calls))), random.Random(0)
    for _ in range(turns):
        shuffled.shuffle(order)
        for position in order:
            times[position].append(timed[position].turn())
    return times


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """
    Where the median lies of what `values` were drawn from; None where they are too few to say.

    As many values are below that median as heads are thrown with a coin, whatever their
    distribution is. So the interval goes from the value of a rank to that of the same rank from
    above, the highest for which the chance of fewer heads, or of fewer tails, is small enough.
    """
    ordered, count = sorted(values), len(values)
    chance, rank = 0.0, 0
    while rank < count and 2 * (chance := chance + comb(count, rank) / 2**count) <= 1 - CONFIDENCE:
        rank += 1
    return (ordered[rank - 1], ordered[-rank]) if rank else None
