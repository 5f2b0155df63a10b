"""The roofline of this machine: the peaks of computing and of moving memory, as measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Barrier
from typing import TypeAlias

from lowerings.execution.peak_loops import ElementKind, memory_loop, peak_loop
from lowerings.profiling.work import Work

TURNS = 5
"""The best counts: whatever else runs on the machine only makes them slower."""
_MOVED_BYTES = 1 << 26
_SMALLEST_SET = 1 << 14
_LARGEST_SET = 1 << 27
"""Beyond it nothing is in any cache."""

Loop: TypeAlias = tuple[Callable[[], None], int]
"""A call, and how much it does."""


class MeasuredRoofline:
    """
    The peaks of some threads of this machine, each measured when it is first asked for.

    Bandwidth is that of reading as much memory as the work has, rounded up to a power of two, or
    of copying one half of it to the other, whichever is faster: what fits in a cache is measured
    in the cache.
    """

    def __init__(self, threads: int):
        self.threads = threads

    def seconds(self, work: Work) -> float:
        """The longer one of computing at the peak and of moving memory at the peak."""
        operations: dict[ElementKind, int] = {
            "float": work.f32_operations,
            "double": work.f64_operations,
        }
        computing = sum(n / self.flops(element) for element, n in operations.items() if n)
        return max(computing, work.bytes / self.bandwidth(work.bytes) if work.bytes else 0.0)

    def flops(self, element: ElementKind) -> float:
        """Floating-point operations per second in `float` or `double`."""
        return _flops(element, self.threads)

    def bandwidth(self, size: int) -> float:
        """Bytes per second, read and written, within so many bytes."""
        rounded = 1 << (size - 1).bit_length()
        return _bandwidth(min(max(rounded, _SMALLEST_SET), _LARGEST_SET), self.threads)


@cache
def _flops(element: ElementKind, threads: int) -> float:
    return _rate([peak_loop(element) for _ in range(threads)])


@cache
def _bandwidth(size: int, threads: int) -> float:
    rates: list[float] = []
    for writes in (False, True):
        each = size // threads, _MOVED_BYTES // threads
        rates.append(_rate([memory_loop(*each, writes=writes) for _ in range(threads)]))
    return max(rates)


def _rate(loops: Sequence[Loop]) -> float:
    """What several loops do per second at the same time, each in a thread, in the best turn."""
    barrier = Barrier(len(loops))

    def run(loop: Loop) -> tuple[float, float]:
        barrier.wait()
        start = time.perf_counter()
        loop[0]()
        return start, time.perf_counter()

    amount = sum(each for _, each in loops)
    with ThreadPoolExecutor(len(loops)) as pool:
        turns = [list(pool.map(run, loops)) for _ in range(TURNS)]
    spans = [max(end for _, end in turn) - min(start for start, _ in turn) for turn in turns]
    return amount / min(spans)
