"""What a program's kernels did, as measured inside of machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lowerings.execution.code import LoadedCode
from lowerings.profiling.source_operations import SourceOperation
from lowerings.profiling.work import Work
from lowerings.targets.llvm.profiling import (
    PROFILED_THREADS,
    WORDS_BEFORE_EVENTS,
    WORDS_OF_A_SITE,
    WORDS_OF_A_THREAD,
    WORDS_OF_AN_EVENT,
    ModuleProfile,
)

_SECONDS = 1e-9
"""Of what machine code counts."""


@dataclass(frozen=True)
class Counters:
    """The counters of loaded code, in its own memory."""

    profile: ModuleProfile
    sites: NDArray[np.int64]
    """The words of each site."""
    busy: NDArray[np.int64]
    """Nanoseconds of each row and thread, in the first of the thread's words."""

    @staticmethod
    def of(code: LoadedCode) -> Counters:
        """Those of code that has some, and must be loaded for as long."""
        profile = code.profile
        assert profile is not None

        def words(symbol: str, *shape: int) -> NDArray[np.int64]:
            memory = ctypes.cast(code.symbols[symbol], ctypes.POINTER(ctypes.c_int64))
            return np.ctypeslib.as_array(memory, shape)

        return Counters(
            profile,
            words(profile.symbol, len(profile.sites), WORDS_OF_A_SITE),
            words(profile.busy_symbol, len(profile.rows), PROFILED_THREADS, WORDS_OF_A_THREAD),
        )

    def reset(self) -> None:
        """Sets them to 0."""
        self.sites[:] = 0
        self.busy[:] = 0


MOST_EVENTS = 1 << 16
"""Of one run of a program; what is not written takes no memory."""


@dataclass(frozen=True)
class RunEvents:
    """When the parts of a program ran, in one run of it."""

    profile: ModuleProfile
    events: NDArray[np.int64]
    """For each the number of its site, and when it started and ended, in `time.monotonic_ns`."""
    lost: int
    """Those for which there was no room, the last ones."""


EventSink = Callable[[RunEvents], None]
"""Gets the events of a run, in the thread that has made it."""


class RecordedCode:
    """The entry of loaded code, which hands on its events after each call."""

    def __init__(self, code: LoadedCode, sink: EventSink):
        assert code.profile is not None
        self._call, self._profile, self._sink = code.function, code.profile, sink
        self._words = np.zeros(WORDS_BEFORE_EVENTS + MOST_EVENTS * WORDS_OF_AN_EVENT, np.int64)
        self._words[1] = MOST_EVENTS
        pointer = ctypes.c_void_p.from_address(code.symbols[code.profile.events_symbol])
        pointer.value = self._words.ctypes.data

    def __call__(self, table: int) -> int:
        self._words[0] = 0
        was_interrupted = self._call(table)
        count = int(self._words[0])
        kept = min(count, MOST_EVENTS)
        found = self._words[WORDS_BEFORE_EVENTS:][: kept * WORDS_OF_AN_EVENT]
        events = found.reshape(kept, WORDS_OF_AN_EVENT).copy()
        self._sink(RunEvents(self._profile, events, count - kept))
        return was_interrupted


class Roofline(Protocol):
    """How long work takes at least."""

    def seconds(self, work: Work) -> float:
        """The time that the work takes at the peaks."""
        ...


@dataclass(frozen=True)
class SiteProfile:
    """A call in the text of the program, or a loop."""

    operations: tuple[SourceOperation, ...]
    """What it computes, as the author of the program wrote it."""
    calls: int
    seconds: float
    shortest_seconds: float
    """Of the call that was over first."""


@dataclass(frozen=True)
class KernelProfile:
    """A kernel, another function that calls none, or a loop outside of kernels."""

    name: str
    calls: int
    seconds: float
    """Of all calls together."""
    shortest_seconds: float
    """Of the shortest call: what others do on the machine only makes calls longer."""
    work: Work
    """Of one call."""
    sites: tuple[SiteProfile, ...]
    """From where it was called, the one that took longest first."""
    thread_seconds: tuple[float, ...]
    """What each thread worked in parallel loops, by its number; empty if there are none."""

    @property
    def operations(self) -> tuple[SourceOperation, ...]:
        """What it computes wherever it was called from, each once."""
        return tuple(dict.fromkeys(each for site in self.sites for each in site.operations))

    @property
    def flops(self) -> float:
        """Floating-point operations per second of the shortest call."""
        return self._per_second(self.work.f32_operations + self.work.f64_operations)

    @property
    def bandwidth(self) -> float:
        """
        Bytes per second of the shortest call, each element of memory counted once for reading and
        for writing.
        """
        return self._per_second(self.work.bytes)

    @property
    def balance(self) -> float | None:
        """
        What the threads worked on average, as a part of what the busiest one did: 1 is even. None
        where no loop ran in parallel.
        """
        longest = max(self.thread_seconds, default=0.0)
        return sum(self.thread_seconds) / len(self.thread_seconds) / longest if longest else None

    def roofline_share(self, roofline: Roofline) -> float | None:
        """
        The time that its work takes at the measured peaks, as a part of the shortest call; None
        where no work is known.
        """
        least = roofline.seconds(self.work)
        return least / self.shortest_seconds if least and self.shortest_seconds else None

    def _per_second(self, amount: int) -> float:
        return amount / self.shortest_seconds if self.shortest_seconds else 0.0


@dataclass(frozen=True)
class Profile:
    """The time of a program and of its kernels in some runs."""

    runs: int
    seconds: float
    """Of all runs together, in machine code."""
    threads: int
    """How many its parallel loops use, at most."""
    kernels: tuple[KernelProfile, ...]
    """Those that ran, the one that took longest first."""

    @property
    def seconds_outside(self) -> float:
        """What is left when all kernels are subtracted."""
        return max(0.0, self.seconds - sum(kernel.seconds for kernel in self.kernels))

    @staticmethod
    def of(counters: Sequence[Counters], threads: int) -> Profile:
        """What all copies of a program have counted together."""
        profile = counters[0].profile
        sites = np.sum([each.sites[:, :2] for each in counters], axis=0)
        shortest = ~np.max([each.sites[:, 2].view(np.uint64) for each in counters], axis=0)
        busy = np.sum([each.busy[:, :, 0] for each in counters], axis=0) * _SECONDS
        by_row: dict[int, list[SiteProfile]] = {}
        times = zip(profile.sites, sites.tolist(), shortest.tolist(), strict=True)
        for site, (calls, time), least in list(times)[1:]:
            if calls:
                found = SiteProfile(site.operations, calls, time * _SECONDS, least * _SECONDS)
                by_row.setdefault(site.row, []).append(found)
        kernels = [
            KernelProfile(
                profile.rows[row].name,
                sum(site.calls for site in found),
                sum(site.seconds for site in found),
                min(site.shortest_seconds for site in found),
                profile.rows[row].work,
                tuple(sorted(found, key=lambda site: -site.seconds)),
                tuple(busy[row, :threads].tolist()) if busy[row].any() else (),
            )
            for row, found in by_row.items()
        ]
        kernels.sort(key=lambda kernel: -kernel.seconds)
        runs, time = sites[0].tolist()
        return Profile(runs, time * _SECONDS, threads, tuple(kernels))

    def as_json(self, roofline: Roofline | None = None) -> dict[str, Any]:
        """All of it, for `json.dump`, with shares of a roofline if one is given; in seconds."""
        return {
            "runs": self.runs,
            "seconds": self.seconds,
            "seconds_outside": self.seconds_outside,
            "threads": self.threads,
            "kernels": [_kernel_json(kernel, roofline) for kernel in self.kernels],
        }


def _kernel_json(kernel: KernelProfile, roofline: Roofline | None) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "calls": kernel.calls,
        "seconds": kernel.seconds,
        "shortest_seconds": kernel.shortest_seconds,
        "flops": kernel.flops,
        "bandwidth": kernel.bandwidth,
        "roofline_share": None if roofline is None else kernel.roofline_share(roofline),
        "balance": kernel.balance,
        "thread_seconds": list(kernel.thread_seconds),
        "work": vars(kernel.work),
        "sites": [
            {
                "calls": site.calls,
                "seconds": site.seconds,
                "shortest_seconds": site.shortest_seconds,
                "operations": [vars(each) for each in site.operations],
            }
            for site in kernel.sites
        ],
    }
