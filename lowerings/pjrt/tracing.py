"""
What a trace of JAX's profiler has of our devices: the runs of programs, and of their kernels.

C, which calls programs, knows nothing of it: while a trace is taken Python makes all calls,
and runs programs that were compiled once more, with a profile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xla_dialect.devices.process_grid import Process

if TYPE_CHECKING:
    from lowerings.execution.profile import RunEvents

MOST_EVENTS = 1 << 20
"""Of one trace: 24 MiB, and some seconds of work when it is written."""

_called_on: ContextVar[Sequence[int]] = ContextVar("devices of a call", default=())


@contextmanager
def called_on(devices: Sequence[int]) -> Generator[None]:
    """Runs of this thread are on these devices, by their ids."""
    token = _called_on.set(devices)
    try:
        yield
    finally:
        _called_on.reset(token)


@dataclass(frozen=True)
class TracedRun:
    """A run of a program on a device."""

    device: int
    program: str
    events: RunEvents


@dataclass(frozen=True)
class Remark:
    """What happened to a program beside its runs, for the device that it was to run on."""

    device: int
    program: str
    text: str
    started: int
    ended: int


@dataclass
class Loss:
    """The events of a program on a device for which there was no room."""

    device: int
    program: str
    started: int
    ended: int = 0
    count: int = 0


@dataclass
class Trace:
    """What was recorded, in nanoseconds of `time.monotonic_ns`."""

    started: int = field(default_factory=time.monotonic_ns)
    started_at: int = field(default_factory=time.time_ns)
    """The same moment, in nanoseconds since 1970."""
    runs: list[TracedRun] = field(default_factory=list[TracedRun])
    remarks: list[Remark] = field(default_factory=list[Remark])
    losses: dict[tuple[int, str], Loss] = field(default_factory=dict[tuple[int, str], Loss])
    """By device and program."""
    _count: int = 0
    _adding: threading.Lock = field(default_factory=threading.Lock)

    def remark(self, program: str, text: str, started: int, devices: Sequence[int]) -> None:
        """Adds what was done for a program, from a moment until now."""
        device = (_called_on.get() or devices)[0]
        self.remarks.append(Remark(device, program, text, started, time.monotonic_ns()))

    def add(self, program: str, events: RunEvents, devices: Sequence[int]) -> None:
        """Adds a run of this thread, which is that of one of the devices of a program."""
        process = Process.current()
        number = 0 if process is None else process.grid.number(process.place)
        device = (_called_on.get() or devices)[number]
        found, lost = len(events.events), events.lost
        with self._adding:
            if self._count + found <= MOST_EVENTS:
                self._count += found
                self.runs.append(TracedRun(device, program, events))
            else:
                lost += found
            if lost:
                now = time.monotonic_ns()
                loss = self.losses.setdefault((device, program), Loss(device, program, now))
                loss.count, loss.ended = loss.count + lost, now


_traces: list[Trace] = []
"""The one that is taken now, if any."""
_listeners: list[Callable[[], None]] = []


def on_change(listener: Callable[[], None]) -> None:
    """Calls a function whenever a trace has begun or ended."""
    _listeners.append(listener)


def current() -> Trace | None:
    """The trace that is taken now."""
    return _traces[-1] if _traces else None


def begin() -> None:
    """Takes a trace from now on."""
    _traces[:] = [Trace()]
    _tell()


def end() -> Trace | None:
    """The trace that was taken until now."""
    found = _traces.pop() if _traces else None
    _tell()
    return found


def _tell() -> None:
    for listener in _listeners:
        listener()
