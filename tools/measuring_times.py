"""
Times of calls: by turns, for what slows the machine down for a while slows all of them down; on
processors of which it is known how busy others keep them.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

from xla_dialect.diagnostics import XlaError

TURN_SECONDS = 0.005
"""One turn repeats a call for about this long: far above the clock's resolution, below a time
slice."""

REST_SECONDS = 0.005
"""Longer than the system takes to count what a thread works on another processor."""

CONFIDENCE = 0.95
"""Of intervals."""

Call = Callable[[], Any]


def turn(call: Call, repetitions: int) -> float:
    """Seconds per call over `repetitions` calls in a row."""
    start = time.perf_counter()
    for _ in range(repetitions):
        call()
    return (time.perf_counter() - start) / repetitions


def wait_for_rest() -> None:
    """
    Returns when no thread of this process works, or after a second: those of OpenMP and OpenBLAS
    look for work for milliseconds after a call, on the processors that the next call is to use.
    """
    for _ in range(round(1 / REST_SECONDS)):
        worked = time.process_time()
        time.sleep(REST_SECONDS)
        if time.process_time() - worked < REST_SECONDS / 10:
            break


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

    Threads of one call are at rest before the next. Each turn has another order: a call that leaves
    the caches cold is not always before the same.
    """
    timed = [TimedCall(call, seconds) for call in calls]
    times: list[list[float]] = [[] for _ in calls]
    order, shuffled = list(range(len(calls))), random.Random(0)
    for _ in range(turns):
        shuffled.shuffle(order)
        for position in order:
            if len(processors()) > 1:
                wait_for_rest()
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


BUSY_SHARE = 0.1
"""Of its processors: a machine that others use more than this is busy."""
_COUNTERS = Path("/proc/stat")
_IDLE = (3, 4)
"""The places of idle time and of waiting for devices among the counters of a processor."""
_GUESTS = 8
"""From this place on are counters whose time is in earlier ones."""


def processors() -> list[int]:
    """The processors that this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def bind(chosen: Collection[int]) -> None:
    """
    Lets this thread, and whatever it starts from now on, use these processors only; raises XlaError
    where it may not use one of them.
    """
    if not hasattr(os, "sched_setaffinity"):
        raise XlaError("processors cannot be bound on this system")
    if missing := set(chosen) - set(processors()):
        raise XlaError(
            f"processor {min(missing)} is none of those that may be used: {spelled(processors())}"
        )
    os.sched_setaffinity(0, chosen)


def spelled(chosen: Collection[int]) -> str:
    """Numbers of processors: `0,1,4`."""
    return ",".join(map(str, sorted(chosen)))


@dataclass(frozen=True)
class MachineLoad:
    """What others did meanwhile on the processors of this process."""

    processors: tuple[int, ...]
    others: float | None
    """How many of them others used, on average; None where the system does not tell."""

    @property
    def is_busy(self) -> bool:
        """Whether times are those of a busy machine."""
        return (self.others or 0.0) > BUSY_SHARE * len(self.processors)


@dataclass(frozen=True)
class LoadMeter:
    """Counters at the start of what is measured."""

    processors: tuple[int, ...]
    start: float
    busy: float | None
    own: float

    @staticmethod
    def started() -> LoadMeter:
        """From now on."""
        chosen = tuple(processors())
        return LoadMeter(chosen, time.perf_counter(), _busy_seconds(chosen), _own_seconds())

    def read(self) -> MachineLoad:
        """Until now; of processes that this one has started those count as its own that ended."""
        passed, busy = time.perf_counter() - self.start, _busy_seconds(self.processors)
        if self.busy is None or busy is None:
            return MachineLoad(self.processors, None)
        others = busy - self.busy - (_own_seconds() - self.own)
        return MachineLoad(self.processors, max(0.0, others / passed))


def _busy_seconds(chosen: Collection[int]) -> float | None:
    """What processors have worked, for whomever."""
    try:
        lines = _COUNTERS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    rows = (line.split() for line in lines if line.startswith("cpu"))
    counters = {name: [int(each) for each in numbers[:_GUESTS]] for name, *numbers in rows}
    ticks = (
        count
        for number in chosen
        for place, count in enumerate(counters.get(f"cpu{number}", ()))
        if place not in _IDLE
    )
    return sum(ticks) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    """What this process and those that it has started and that ended have worked."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
