"""Programs compiled by us and by XLA CPU, timed by turns."""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import lowerings
from lowerings.execution.roofline import peak_loop

from ..alternating_turns import Call, alternate
from ..comparison import largest_relative_error
from .row import Array, Function, Row


@dataclass(frozen=True)
class Effort:
    """How often things are timed."""

    turns: int
    compiles: int


@dataclass(frozen=True)
class Contender:
    """A compiled program: seconds that compiling took, a call that waits for its results."""

    compile_seconds: float
    call: Call
    outputs: list[Array]


@dataclass(frozen=True)
class Figures:
    """What was measured of a row: seconds, and the largest error."""

    name: str
    own_compile: float
    peer_compile: float
    own_call: float
    peer_call: float
    ratio: float
    """The median of the ratios of calls in single turns."""
    error: float
    """Of our results, relative to the largest magnitude of XLA's."""
    peak_share: float | None
    """What part of the peak of all threads our calls reach, where that was measured."""

    @property
    def compile_ratio(self) -> float:
        """Ours over XLA's."""
        return self.own_compile / self.peer_compile


def timed(action: Call) -> float:
    """Seconds that `action` takes once, without the garbage collector's."""
    gc.collect()
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def ours(program: Path | str, inputs: list[Array], threads: int, repetitions: int) -> Contender:
    """The program of a text, compiled natively; the shortest of so many compilations counts."""

    def compile_program() -> Any:
        # Without the compile cache, even if the environment enables it.
        return lowerings.compile(program, num_threads=threads, compile_cache=False)

    seconds = min(timed(compile_program) for _ in range(repetitions))
    executable = compile_program()
    outputs = [output.copy() for output in executable(*inputs)]
    return Contender(seconds, lambda: executable(*inputs), outputs)


def xla(function: Function, inputs: list[Array], repetitions: int) -> Contender:
    """The program of a JAX function, compiled by XLA CPU; tracing it is not counted."""
    jax = importlib.import_module("jax")
    times: list[float] = []
    for _ in range(repetitions):
        jax.clear_caches()
        times.append(timed(jax.jit(function).lower(*inputs).compile))
    jitted = jax.jit(function)
    arguments = [jax.device_put(array) for array in inputs]
    outputs = [output.__array__() for output in jax.tree.leaves(jitted(*arguments))]
    return Contender(min(times), lambda: jax.block_until_ready(jitted(*arguments)), outputs)


def figures_of(row: Row, threads: int, effort: Effort) -> Figures:
    """Measures a row beside XLA, and beside the peak of the threads where it says so."""
    jax = importlib.import_module("jax")
    made = row.inputs()
    # By default JAX converts types of 64 bits to 32 bits.
    with jax.enable_x64(any(array.dtype == np.float64 for array in made)):
        # Where numpy's arrays begin in a line of the cache is chance; JAX's begin with one.
        inputs = [np.asarray(jax.device_put(array)) for array in made]
        # `keep_unused`: both programs take the same arguments, unused ones included.
        text = jax.jit(row.function, keep_unused=True).lower(*inputs).as_text()
        peer = xla(row.function, inputs, effort.compiles)
        own = ours(text, inputs, threads, effort.compiles)
        calls, peak_operations = [own.call, peer.call], 0
        if row.operations:
            peak, peak_operations = peak_loop()
            calls.append(peak)
        times = alternate(calls, effort.turns)
    own_times, peer_times, *peak_times = times
    shares = (
        [
            row.operations / own_time / (threads * peak_operations / peak_time)
            for own_time, peak_time in zip(own_times, *peak_times, strict=True)
        ]
        if peak_times
        else []
    )
    return Figures(
        row.name,
        own.compile_seconds,
        peer.compile_seconds,
        statistics.median(own_times),
        statistics.median(peer_times),
        statistics.median(a / b for a, b in zip(own_times, peer_times, strict=True)),
        max(map(largest_relative_error, own.outputs, peer.outputs), default=0.0),
        statistics.median(shares) if shares else None,
    )
