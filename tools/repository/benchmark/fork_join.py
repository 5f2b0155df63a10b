"""
How soon threads begin a parallel loop: those of our runtime, of OpenMP runtimes, and none.

A loop of 100 iterations of a microsecond each runs again and again, with pauses between that its
process works, too. A thread that sleeps by then has to be woken. Each runtime has processes of its
own, several after another: where the system puts threads at first stays so for long.
`python -m tools.repository.benchmark.fork_join RUNTIME` is such a process.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

import lowerings.runtime
from lowerings.execution.code import LoadedCode
from lowerings.targets.llvm.machine import host

from ...measuring_times import processors
from .report import table

PAUSES = (1, 10, 100, 1000)
"""Microseconds between the end of a loop and the start of the next."""
ITERATIONS = 100
ROW_SECONDS = 0.3
"""With the same pauses: a thread of ours that had no processor for a slice rests for ten."""
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


def measure_fork_join(turns: int) -> None:
    """Prints the median of the medians of processes, for each runtime and pause."""
    title = f"a loop of {ITERATIONS} µs on {len(processors())} threads, µs after pauses of µs"
    rows: list[list[str]] = []
    for name in RUNTIMES:
        command = [sys.executable, "-m", __name__, name]
        answers = [json.loads(subprocess.check_output(command)) for _ in range(turns)]
        if None not in answers:
            medians = map(statistics.median, zip(*answers, strict=True))
            rows.append([name, *(f"{each * 1e6:.1f}" for each in medians)])
    print(table([title, *map(str, PAUSES)], rows))


def main(name: str) -> None:
    """Prints the medians of a runtime for all pauses, in JSON; null where it is not installed."""
    threads = len(processors())
    objects = (host().object_code(CODE),)
    code = LoadedCode(objects, "iterations", exported=("member", "team", "number"))
    ctypes.c_int64.from_address(code.address("team")).value = threads
    try:
        loop = RUNTIMES[name](code, threads)
    except OSError:
        medians = None
    else:
        medians = [statistics.median(_timed(loop, pause)) for pause in PAUSES]
    print(json.dumps(medians))


Loop = Callable[[], object]


def _alone(code: LoadedCode, threads: int) -> Loop:
    values = _values()
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
        code.address("iterations")
    )
    return lambda: function(values, 0, ITERATIONS)


def _ours(code: LoadedCode, threads: int) -> Loop:
    values = _values()
    iterations, count = ctypes.c_void_p(code.address("iterations")), ctypes.c_int64(ITERATIONS)
    parallel_for = lowerings.runtime.library().xla_parallel_for
    return lambda: parallel_for(ctypes.c_int64(threads), iterations, values, count)


def _values() -> Any:
    return ctypes.byref((ctypes.c_double * ITERATIONS)())


def _openmp(path: str, code: LoadedCode, threads: int) -> Loop:
    """Raises OSError without the library."""
    runtime = ctypes.CDLL(path)
    member, values = ctypes.c_void_p(code.address("member")), _values()
    number = ctypes.cast(runtime.omp_get_thread_num, ctypes.c_void_p)
    ctypes.c_void_p.from_address(code.address("number")).value = number.value
    return lambda: runtime.GOMP_parallel(member, values, threads, 0)


def _intel() -> str:
    """The path of the runtime in the package, its name without it."""
    name = "libiomp5.so"
    try:
        files = metadata.files("intel-openmp") or ()
    except metadata.PackageNotFoundError:
        return name
    return next((str(file.locate()) for file in files if file.name == name), name)


RUNTIMES: dict[str, Callable[[LoadedCode, int], Loop]] = {
    "one thread": _alone,
    "ours": _ours,
    "GNU's OpenMP": lambda code, threads: _openmp("libgomp.so.1", code, threads),
    "Intel's OpenMP": lambda code, threads: _openmp(_intel(), code, threads),
}


def _timed(loop: Loop, pause: int) -> list[float]:
    """Seconds of the loops of a row, without the first, which wakes the threads."""
    times: list[float] = []
    row_end = time.perf_counter() + ROW_SECONDS
    while time.perf_counter() < row_end:
        start = time.perf_counter()
        loop()
        end = time.perf_counter()
        times.append(end - start)
        while time.perf_counter() - end < pause * 1e-6:
            pass
    return times[1:]


if __name__ == "__main__":
    main(*sys.argv[1:])
