"""
Programs of JAX on our device beside XLA's CPU on a machine that others use.

Each device has processes of its own, which run by turns. Other processes keep processors busy. Each
has a session of its own, as browsers, containers and other users' programs have: Linux shares a
processor between sessions first. `python -m tools.repository.benchmark.neighbours GROUP ROW` is
such a process of a device.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

import jax

from ...measuring_times import median_interval, processors
from .measurement import rows_of
from .report import table

TURN_SECONDS = 0.2
"""Several slices of the scheduler, so that each turn has its share of interruptions."""
FEWEST_CALLS = 3
PLATFORMS = ("xdsl,cpu", "cpu")
"""Of our process, and of XLA's."""


ROWS = (
    ("kernels", "sum of columns"),
    ("kernels", "matmul 512"),
    ("kernels", "softmax"),
    ("models", "classifier, a step of Adam"),
    ("kernels", "conv 3x3 NHWC"),
)
"""Groups and names."""


def measure_neighbours(turns: int) -> None:
    """
    Prints ratios of times of calls, ours over XLA's: beside no neighbour, half as many as there are
    processors, as many, and twice as many; and of two processes at once beside two of XLA's.
    """
    count = len(processors())
    numbers = sorted({0, max(1, count // 2), count, 2 * count})
    columns = [*(f"{number} neighbours" for number in numbers), "2 processes at once"]
    rows: list[list[str]] = []
    for group, name in ROWS:
        with ExitStack() as stack:
            sides = [
                [stack.enter_context(_process((group, name), platform)) for _ in range(2)]
                for platform in PLATFORMS
            ]
            cells: list[str] = []
            for number in numbers:
                with _neighbours(number):
                    cells.append(_ratios([each[:1] for each in sides], turns))
            rows.append([name, *cells, _ratios(sides, turns)])
    print(table(["ours / XLA's: median, interval, mean", *columns], rows))


Process = subprocess.Popen[str]


def _ratios(sides: Sequence[Sequence[Process]], turns: int) -> str:
    """The ratio of the medians of all calls, its interval over turns, the ratio of the means."""
    times: list[list[list[float]]] = [[] for _ in sides]
    for turn in range(turns):
        for number in (0, 1) if turn % 2 else (1, 0):
            times[number].append(_turn(sides[number]))
    of_turns = [
        statistics.median(ours) / statistics.median(theirs)
        for ours, theirs in zip(*times, strict=True)
    ]
    whole = [[seconds for each in side for seconds in each] for side in times]
    median, mean = (
        measure(whole[0]) / measure(whole[1]) for measure in (statistics.median, statistics.fmean)
    )
    interval = median_interval(of_turns)
    spelled = "" if interval is None else f", {interval[0]:.2f}..{interval[1]:.2f}"
    return f"{median:.2f}{spelled}, {mean:.2f}"


def _turn(side: Sequence[Process]) -> list[float]:
    """Seconds of the calls of processes that run at once for a while."""
    for each in side:
        assert each.stdin is not None
        print("turn", file=each.stdin, flush=True)
    return [seconds for each in side for seconds in json.loads(_answer(each))]


def _answer(process: Process) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@contextmanager
def _process(row: tuple[str, str], platform: str) -> Generator[Process]:
    """A process that has compiled a row for a platform."""
    command = [sys.executable, "-m", __name__, *row]
    environment = os.environ | {"JAX_PLATFORMS": platform}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, env=environment, start_new_session=True
    ) as process:
        _answer(process)
        yield process


@contextmanager
def _neighbours(count: int) -> Generator[None]:
    """So many processes that keep a processor busy each, in sessions of their own."""
    command = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()


def main(group: str, name: str) -> None:
    """Compiles a row, then answers each line with the seconds of calls, in JSON."""
    row = rows_of(group)[name]
    arguments = [jax.device_put(each) for each in row.inputs()]
    function = jax.jit(row.function)

    def call() -> float:
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        return time.perf_counter() - start

    print(call(), flush=True)
    for _ in sys.stdin:
        end, times = time.perf_counter() + TURN_SECONDS, list[float]()
        while len(times) < FEWEST_CALLS or time.perf_counter() < end:
            times.append(call())
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
