"""
How soon threads begin a parallel loop: those of our runtime, of OpenMP runtimes, and none.

A loop of 100 iterations of a microsecond each runs again and again, with pauses between that this
process works, too. A thread that sleeps by then has to be woken.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

from rich.console import Console
from rich.table import Table

import lowerings.runtime
from lowerings.execution.code import LoadedCode
from lowerings.targets.llvm.machine import host

from ..machine_load import processors

PAUSES = (1, 10, 100, 1000)
"""Microseconds between the end of a loop and the start of the next."""
ITERATIONS = 100
LOOPS = 200
"""In a row, with the same pauses."""
REST_SECONDS = 0.3
"""Before a row: threads of the runtime before look for work for so long, Intel's for 0.2."""
STEPS = 300
"""Divisions in a row of an iteration, about a microsecond."""

CODE = f"""
@team = global i64 1
@number = global ptr null

define void @iterations(ptr %values, i64 %first, i64 %last) {{
  br label %loop
loop:
  %i = phi i64 [ %first, %0 ], [ %next, %end ]
  %more = icmp slt i64 %i, %last
  br i1 %more, label %iteration, label %done
iteration:
  br label %step
step:
  %n = phi i64 [ 0, %iteration ], [ %n.next, %step ]
  %x = phi double [ 3.0, %iteration ], [ %y, %step ]
  %y = fdiv double 7.0, %x
  %n.next = add i64 %n, 1
  %again = icmp slt i64 %n.next, {STEPS}
  br i1 %again, label %step, label %end
end:
  %place = getelementptr double, ptr %values, i64 %i
  store double %y, ptr %place
  %next = add i64 %i, 1
  br label %loop
done:
  ret void
}}

define void @member(ptr %values) {{
  %number = load ptr, ptr @number
  %me = call i32 %number()
  %own = sext i32 %me to i64
  %team = load i64, ptr @team
  %before = mul i64 %own, {ITERATIONS}
  %first = sdiv i64 %before, %team
  %through = add i64 %before, {ITERATIONS}
  %last = sdiv i64 %through, %team
  call void @iterations(ptr %values, i64 %first, i64 %last)
  ret void
}}
"""


def measure_fork_join(turns: int, console: Console) -> None:
    """Prints the medians of what a loop takes, for each runtime and pause."""
    threads = len(processors())
    code = LoadedCode(host().object_code(CODE), "iterations", exported=("member", "team", "number"))
    ctypes.c_int64.from_address(code.address("team")).value = threads
    values = (ctypes.c_double * ITERATIONS)()
    loops = _loops(code, threads, values)
    table = Table(f"a loop of {ITERATIONS} µs on {threads} threads, µs", *map(str, PAUSES))
    times: dict[tuple[str, int], list[float]] = {}
    for _ in range(turns):
        for pause in PAUSES:
            for name, loop in loops.items():
                times.setdefault((name, pause), []).extend(_timed(loop, pause))
    for name in loops:
        medians = (statistics.median(times[name, pause]) for pause in PAUSES)
        table.add_row(name, *(f"{each * 1e6:.1f}" for each in medians))
    console.print(table)


def _loops(code: LoadedCode, threads: int, values: Any) -> Mapping[str, Callable[[], object]]:
    place, iterations = ctypes.byref(values), ctypes.c_void_p(code.address("iterations"))
    alone = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
        code.address("iterations")
    )
    count = ctypes.c_int64(ITERATIONS)
    parallel_for = lowerings.runtime.library().xla_parallel_for
    loops: dict[str, Callable[[], object]] = {
        "one thread": lambda: alone(place, 0, ITERATIONS),
        "ours": lambda: parallel_for(ctypes.c_int64(threads), iterations, place, count),
    }
    for name, path in (("GNU's OpenMP", "libgomp.so.1"), ("Intel's OpenMP", _intel())):
        try:
            runtime = ctypes.CDLL(path)
        except OSError:
            continue
        loops[name] = _with_openmp(runtime, code, threads, place)
    return loops


def _with_openmp(
    runtime: ctypes.CDLL, code: LoadedCode, threads: int, values: Any
) -> Callable[[], object]:
    number = ctypes.cast(runtime.omp_get_thread_num, ctypes.c_void_p)
    member = ctypes.c_void_p(code.address("member"))

    def loop() -> None:
        ctypes.c_void_p.from_address(code.address("number")).value = number.value
        runtime.GOMP_parallel(member, values, threads, 0)

    return loop


def _intel() -> str:
    """The path of the runtime in the package, its name without it."""
    name = "libiomp5.so"
    try:
        files = metadata.files("intel-openmp") or ()
    except metadata.PackageNotFoundError:
        return name
    return next((str(file.locate()) for file in files if file.name == name), name)


def _timed(loop: Callable[[], object], pause: int) -> list[float]:
    """Seconds of the loops of a row, without the first, which wakes the threads."""
    times: list[float] = []
    time.sleep(REST_SECONDS)
    for _ in range(LOOPS):
        start = time.perf_counter()
        loop()
        end = time.perf_counter()
        times.append(end - start)
        while time.perf_counter() - end < pause * 1e-6:
            pass
    return times[1:]
