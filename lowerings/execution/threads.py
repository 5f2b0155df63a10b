"""How many threads the parallel loops of compiled programs use."""

from __future__ import annotations

import ctypes
import os


def usable_processors() -> int:
    """The processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(limit: int | None) -> int:
    """
    How many threads a program should use: as many as there are processors, up to a limit.

    Without one, the usual variable of OpenMP programs is the limit if it is set.
    """
    if limit is None:
        number = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        limit = int(number) if number.isdecimal() and int(number) else None
    processors = usable_processors()
    return processors if limit is None else min(limit, processors)


class ThreadCount:
    """How many threads the parallel loops of a program use; it may change between two loops."""

    def __init__(self, threads: int):
        self._word = ctypes.c_int64(threads)
        self.address: int = ctypes.addressof(self._word)
        """Where machine code finds it, for as long as this object lives."""

    @property
    def threads(self) -> int:
        """The number of threads, at least 1."""
        return self._word.value

    @threads.setter
    def threads(self, count: int) -> None:
        self._word.value = count
