"""
All-reduces over threads beside numpy over shared memory, over ranks beside MPI's own.

`mpiexec -n 4 python -m tools.repository.benchmark.communication` is what is started for the ranks.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lowerings
from lowerings.compilation import Program

from ...measuring_times import Call, alternate, turn
from ...mpi_session import WAITING
from .report import ratios

Floats = NDArray[np.float32]
PROCESSES = 4
SIZES = {"4 B": 1, "64 KB": 1 << 14, "1 MB": 1 << 18, "16 MB": 1 << 22, "64 MB": 1 << 24}
"""Numbers of f32."""
RANKS_TIMEOUT = 600.0


def measure_communication(turns: int) -> None:
    """Prints the times of all-reduces, and their ratios to those of the best known."""
    places = {"threads, numpy's": on_threads(turns), "ranks, MPI's own": on_ranks(turns)}
    times = {
        f"{size} on {PROCESSES} {place}": found
        for place, sizes in places.items()
        for size, found in sizes.items()
    }
    print(ratios("all-reduce, ms", times, 1e3))


def program(count: int, **options: Any) -> Program:
    """The sum of an array of all processes."""
    text = (
        f"HloModule m, replica_count={PROCESSES}\n"
        "add { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b) }\n"
        f"ENTRY main {{ x = f32[{count}] parameter(0)\n"
        f"  ROOT y = f32[{count}] all-reduce(x), replica_groups=[1,{PROCESSES}]<=[{PROCESSES}],"
        " to_apply=add }"
    )
    return lowerings.compile(text, **options)


def inputs(count: int, process: int) -> Floats:
    """The array of a process."""
    return np.random.default_rng(process).standard_normal(count, np.float32)


def on_threads(turns: int) -> dict[str, Sequence[Sequence[float]]]:
    """By size, the seconds of each turn: ours, and numpy's."""
    found: dict[str, Sequence[Sequence[float]]] = {}
    for size, count in SIZES.items():
        arrays = [inputs(count, process) for process in range(PROCESSES)]
        ours = partial(program(count).run_processes, [[array] for array in arrays])
        found[size] = alternate([ours, partial(sums_by_numpy, arrays)], turns)
    return found


def sums_by_numpy(arrays: Sequence[Floats]) -> list[Floats]:
    """Threads that fold a piece each in shared memory, and copy the whole."""
    count = arrays[0].size
    whole, barrier = np.empty(count, np.float32), threading.Barrier(PROCESSES)
    results = [np.empty(count, np.float32) for _ in arrays]
    step = -(-count // PROCESSES)

    def run(process: int) -> None:
        piece = slice(process * step, (process + 1) * step)
        np.add(arrays[0][piece], arrays[1][piece], out=whole[piece])
        for array in arrays[2:]:
            np.add(whole[piece], array[piece], out=whole[piece])
        barrier.wait()
        np.copyto(results[process], whole)

    with ThreadPoolExecutor(PROCESSES) as threads:
        list(threads.map(run, range(PROCESSES)))
    return results


def on_ranks(turns: int) -> dict[str, Sequence[Sequence[float]]]:
    """By size, the seconds of each turn: ours, and MPI's own; nothing without mpiexec."""
    beside = str(Path(sys.executable).parent)
    mpiexec = shutil.which("mpiexec", path=beside) or shutil.which("mpiexec")
    if mpiexec is None:
        return {}
    command = [mpiexec, "-iface", "lo", "-n", str(PROCESSES), sys.executable, "-m", __name__]
    answer = subprocess.run(
        [*command, str(turns)],
        stdout=subprocess.PIPE,
        timeout=RANKS_TIMEOUT,
        check=True,
        env=WAITING | os.environ,
    )
    return json.loads(answer.stdout)


def run_rank(turns: int) -> None:
    """What each rank does; rank 0 prints."""
    from mpi4py import MPI  # noqa: PLC0415

    world = MPI.COMM_WORLD
    found: dict[str, Sequence[Sequence[float]]] = {}
    for size, count in SIZES.items():
        array = inputs(count, world.rank)
        result = np.empty_like(array)
        compiled = program(count, communicator=world)

        calls = (partial(compiled, array), partial(world.Allreduce, array, result))
        found[size] = by_turns([partial(together, world, call) for call in calls], turns)
    if world.rank == 0:
        print(json.dumps(found))


def together(world: Any, call: Call) -> None:
    """A call that ends when it has ended on all ranks."""
    call()
    world.Barrier()


def by_turns(calls: Sequence[Call], turns: int) -> list[list[float]]:
    """Seconds of calls, one after the other: all ranks make the same calls in the same order."""
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(turns):
        for call, found in zip(calls, times, strict=True):
            found.append(turn(call, 1))
    return times


if __name__ == "__main__":
    run_rank(int(sys.argv[1]))
