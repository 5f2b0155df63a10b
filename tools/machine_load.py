"""The processors that this process may use, and how busy others keep them."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from xla_dialect.diagnostics import XlaError

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
