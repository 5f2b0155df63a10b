"""
The roofline of this machine: the peaks of computing and of moving memory, as measured.

The most that one core does is multiply-adds in registers, in independent chains; and reads and
copies of memory. Their loops are LLVM IR that is written here, in vectors as wide as this
processor's: the library in C is compiled for any x86-64 and cannot know them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Barrier
from typing import Literal, TypeAlias

import numpy as np

from lowerings.execution.arrays import address_of, allocate
from lowerings.execution.code import LoadedCode
from lowerings.profiling.work import Work
from lowerings.targets.llvm.machine import host

ElementKind: TypeAlias = Literal["float", "double"]
"""f32 and f64, as LLVM spells them."""
_BITS: dict[ElementKind, int] = {"float": 32, "double": 64}
CHAINS = 12
"""More than hide the latency of a multiply-add, fewer than there are registers."""
STEPS = 100_000


@cache
def _code(element: ElementKind) -> tuple[LoadedCode, int]:
    """The loop, and how many floating-point operations it does."""
    machine = host()
    lanes = max(1, machine.vector_bits // _BITS[element])
    kind = f"<{lanes} x {element}>"
    suffix = f".v{lanes}f{_BITS[element]}"
    carried = "\n".join(
        f"  %c{i} = phi {kind} [ zeroinitializer, %entry ], [ %n{i}, %loop ]" for i in range(CHAINS)
    )
    steps = "\n".join(
        f"  %n{i} = call {kind} @llvm.fma{suffix}({kind} %c{i}, {kind} %x, {kind} %x)"
        for i in range(CHAINS)
    )
    sums = "\n".join(
        f"  %s{i} = fadd {kind} %{f's{i - 1}' if i > 1 else 'n0'}, %n{i}" for i in range(1, CHAINS)
    )
    text = f"""
target triple = "{machine.triple}"
declare {kind} @llvm.fma{suffix}({kind}, {kind}, {kind})
define void @peak(ptr %memory) {machine.attributes} {{
entry:
  %x = load {kind}, ptr %memory, align 4
  br label %loop
loop:
  %step = phi i64 [ 0, %entry ], [ %next, %loop ]
{carried}
{steps}
  %next = add i64 %step, 1
  %goes_on = icmp ult i64 %next, {STEPS}
  br i1 %goes_on, label %loop, label %done
done:
{sums}
  store {kind} %s{CHAINS - 1}, ptr %memory, align 4
  ret void
}}
"""
    return LoadedCode((machine.object_code(text),), "peak"), 2 * lanes * CHAINS * STEPS


def peak_loop(element: ElementKind = "float") -> tuple[Callable[[], None], int]:
    """A call that multiplies and adds numbers as fast as one core can, and how many."""
    code, operations = _code(element)
    memory = np.zeros(64, np.float32 if element == "float" else np.float64)
    address = memory.ctypes.data

    def call() -> None:
        # The closure keeps the memory alive.
        memory[:] = 0.5
        code.function(address)

    return call, operations


BLOCK_BYTES = 512
"""What a step of the loops over memory moves."""


@cache
def _memory_code(writes: bool) -> LoadedCode:
    machine = host()
    size = max(8, machine.vector_bits // 8)
    kind = f"<{size} x i8>"
    places = range(0, BLOCK_BYTES, size)
    loads = "\n".join(
        f"  %from{place} = getelementptr i8, ptr %from, i64 {place}\n"
        f"  %v{place} = load {kind}, ptr %from{place}, align 8"
        for place in places
    )
    carried = "\n".join(
        f"  %c{place} = phi {kind} [ zeroinitializer, %again ], [ %n{place}, %loop ]"
        for place in places
    )
    folded = "\n".join(f"  %n{place} = xor {kind} %c{place}, %v{place}" for place in places)
    stores = "\n".join(
        f"  %to{place} = getelementptr i8, ptr %to, i64 {place}\n"
        f"  store {kind} %{'v' if writes else 'n'}{place}, ptr %to{place}, align 8"
        for place in places
    )
    text = f"""
target triple = "{machine.triple}"
define void @move(ptr %arguments) {machine.attributes} {{
entry:
  %place1 = getelementptr i64, ptr %arguments, i64 1
  %place2 = getelementptr i64, ptr %arguments, i64 2
  %place3 = getelementptr i64, ptr %arguments, i64 3
  %source = load ptr, ptr %arguments
  %target = load ptr, ptr %place1
  %bytes = load i64, ptr %place2
  %turns = load i64, ptr %place3
  br label %again
again:
  %turn = phi i64 [ 0, %entry ], [ %next_turn, %through ]
  br label %loop
loop:
  %at = phi i64 [ 0, %again ], [ %next, %loop ]
{"" if writes else carried}
  %from = getelementptr i8, ptr %source, i64 %at
{loads}
{"" if writes else folded}
  %to = getelementptr i8, ptr %target, i64 {"%at" if writes else 0}
{stores if writes else ""}
  %next = add i64 %at, {BLOCK_BYTES}
  %goes_on = icmp ult i64 %next, %bytes
  br i1 %goes_on, label %loop, label %through
through:
{"" if writes else stores}
  %next_turn = add i64 %turn, 1
  %more = icmp ult i64 %next_turn, %turns
  br i1 %more, label %again, label %done
done:
  ret void
}}
"""
    return LoadedCode((machine.object_code(text),), "move")


def memory_loop(
    working_set: int, least_bytes: int, *, writes: bool
) -> tuple[Callable[[], None], int]:
    """
    A call that reads so many bytes, or copies one half of them to the other, again and again until
    it has moved `least_bytes`; and the bytes that it reads and writes. Both are rounded up.
    """
    code = _memory_code(writes)
    shares = 2 if writes else 1
    size = -(-working_set // (shares * BLOCK_BYTES)) * BLOCK_BYTES
    turns = max(1, -(-least_bytes // (shares * size)))
    source, target = allocate(size), allocate(size if writes else BLOCK_BYTES)
    source[:] = 1
    target[:] = 0
    arguments = np.array([address_of(source), address_of(target), size, turns], np.int64)

    def call() -> None:
        # The closure keeps the memory alive.
        _ = source, target
        code.function(arguments.ctypes.data)

    return call, shares * size * turns


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
