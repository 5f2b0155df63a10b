"""
Programs of JAX on our device beside XLA's CPU on a machine that others use.

Each device has processes of its own, which run by turns. Other processes keep processors busy. Each
has a session of its own, as browsers, containers and other users' programs have: Linux shares a
processor between sessions first. `python -m tools.repository.benchmark.neighbours ROW` is such a
process of a device.
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
from typing import Any

import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

from ...measuring_times import median_interval, processors
from .contenders import Row, f32

TURN_SECONDS = 0.2
"""Several slices of the scheduler, so that each turn has its share of interruptions."""
FEWEST_CALLS = 3
PLATFORMS = ("xdsl,cpu", "cpu")
"""Of our process, and of XLA's."""


def _adam(weights: Any, first: Any, second: Any, x: Any, y: Any) -> Any:
    """A step on a network with one hidden layer."""

    def loss(weights: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2)

    gradients = jax.grad(loss)(weights)
    moved = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    scaled = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    step = jax.tree.map(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), weights, moved, scaled)
    return step, moved, scaled


def _step(w: Any, u: Any, x: Any, y: Any) -> Any:
    return _adam((w, u), (w, u), (w * w, u * u), x, y)


def _convolution(x: Any, kernel: Any) -> Any:
    return jax.lax.conv_general_dilated(
        x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


ROWS = (
    Row("sum of columns, 2048 x 2048", lambda x: x.sum(0), (f32(2048, 2048),)),
    Row("matmul 512", jnp.matmul, (f32(512, 512), f32(512, 512))),
    Row("softmax, 1024 x 2048", jax.nn.softmax, (f32(1024, 2048),)),
    Row(
        "step of Adam, small MLP", _step, (f32(256, 512), f32(512, 10), f32(256, 256), f32(256, 10))
    ),
    Row("conv 3x3, 8x56x56x64", _convolution, (f32(8, 56, 56, 64), f32(3, 3, 64, 64))),
)


def measure_neighbours(turns: int, console: Console) -> None:
    """
    Prints ratios of times of calls, ours over XLA's: beside no neighbour, half as many as there are
    processors, as many, and twice as many; and of two processes at once beside two of XLA's.
    """
    count = len(processors())
    numbers = sorted({0, max(1, count // 2), count, 2 * count})
    columns = [*(f"{number} neighbours" for number in numbers), "2 processes at once"]
    table = Table("ours / XLA's: median, interval, mean", *columns)
    for row in ROWS:
        with ExitStack() as stack:
            sides = [
                [stack.enter_context(_process(row.name, platform)) for _ in range(2)]
                for platform in PLATFORMS
            ]
            cells: list[str] = []
            for number in numbers:
                with _neighbours(number):
                    cells.append(_ratios([each[:1] for each in sides], turns))
            table.add_row(row.name, *cells, _ratios(sides, turns))
    console.print(table)


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
def _process(row: str, platform: str) -> Generator[Process]:
    """A process that has compiled a row for a platform."""
    command = [sys.executable, "-m", __name__, row]
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


def main(name: str) -> None:
    """Compiles a row, then answers each line with the seconds of calls, in JSON."""
    (row,) = (each for each in ROWS if each.name == name)
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
