"""
The roofline of this machine: the peaks of computing and of moving memory, as measured.

The loops are in the library in C (`roofline.c`), for vectors of each width that processors have.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Barrier
from typing import Any, Literal, TypeAlias

import numpy as np

from lowerings.execution.arrays import address_of, allocate
from lowerings.profiling.work import Work
from lowerings.runtime import library
from lowerings.targets.llvm.machine import host

ElementKind: TypeAlias = Literal["float", "double"]
"""f32 and f64, as LLVM spells them."""
STEPS = 100_000


def _loop(name: str, result: Any, *arguments: Any) -> Any:
    """A loop of the library for the vectors of this processor; it does not hold the GIL."""
    width = max(16, host().vector_bits // 8)
    return ctypes.CFUNCTYPE(result, *arguments)((f"xla_{name}_{width}", library()))


def peak_loop(element: ElementKind = "float") -> tuple[Callable[[], object], int]:
    """A call that multiplies and adds numbers as fast as one core can, and how many."""
    name, dtype = ("f32", np.float32) if element == "float" else ("f64", np.float64)
    run = _loop(f"peak_{name}", ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    memory = np.full(1, 0.5, dtype)

    def call() -> int:
        memory[:] = 0.5
        return run(memory.ctypes.data, STEPS)

    return call, call()


BLOCK_BYTES = 512
"""What a step of the loops over memory moves."""


def memory_loop(
    working_set: int, least_bytes: int, *, writes: bool
) -> tuple[Callable[[], object], int]:
    """
    A call that reads so many bytes, or copies one half of them to the other, again and again until
    it has moved `least_bytes`; and the bytes that it reads and writes. Both are rounded up.
    """
    numbers = [ctypes.c_void_p] * 2 + [ctypes.c_int64] * 2
    run = _loop("copy" if writes else "read", None, *numbers)
    shares = 2 if writes else 1
    size = -(-working_set // (shares * BLOCK_BYTES)) * BLOCK_BYTES
    turns = max(1, -(-least_bytes // (shares * size)))
    source, target = allocate(size), allocate(size if writes else BLOCK_BYTES)
    source[:] = 1
    target[:] = 0

    def call() -> None:
        run(address_of(target), address_of(source), size, turns)

    return call, shares * size * turns


TURNS = 5
"""The best counts: whatever else runs on the machine only makes them slower."""
_MOVED_BYTES = 1 << 26
_SMALLEST_SET = 1 << 14
_LARGEST_SET = 1 << 27
"""Beyond it nothing is in any cache."""

Loop: TypeAlias = tuple[Callable[[], object], int]
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
