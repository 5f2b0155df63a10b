"""Programs compiled by us and by XLA CPU, timed by turns."""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import lowerings
from lowerings.execution.roofline import peak_loop

from ...comparison import largest_relative_error
from ...measuring_times import Call, alternate

Array: TypeAlias = NDArray[Any]
Function: TypeAlias = Callable[..., Any]
Maker: TypeAlias = Callable[[np.random.Generator], Array]


@dataclass(frozen=True)
class Row:
    """A function of JAX, makers of its arguments, and why it is slow where it is."""

    name: str
    function: Function
    makers: tuple[Maker, ...]
    reason: str = ""
    """Why it is slower to run or to compile than it should be; printed where that is so."""
    operations: int = 0
    """The number of f32 operations, for rows that are compared with the peak of a core."""

    def inputs(self) -> list[Array]:
        """The same numbers every time."""
        generator = np.random.default_rng(0)
        return [make(generator) for make in self.makers]


def f32(*sizes: int) -> Maker:
    """Normally distributed numbers."""
    return lambda random: random.standard_normal(sizes, np.float32)


def f64(*sizes: int) -> Maker:
    """Normally distributed numbers."""
    return lambda random: random.standard_normal(sizes)


def bf16(*sizes: int) -> Maker:
    """Normally distributed numbers."""
    return lambda random: random.standard_normal(sizes, np.float32).astype(ml_dtypes.bfloat16)


def c64(*sizes: int) -> Maker:
    """Normally distributed parts."""

    def make(random: np.random.Generator) -> Array:
        real, imaginary = random.standard_normal((2, *sizes), np.float32)
        return (real + 1j * imaginary).astype(np.complex64)

    return make


def s8(*sizes: int) -> Maker:
    """All values, equally often."""
    return lambda random: random.integers(-128, 128, sizes, np.int8)


def indices(count: int, end: int) -> Maker:
    """A vector of s32 numbers from 0 to below `end`."""
    return lambda random: random.integers(0, end, count, np.int32)


def positive_definite(size: int) -> Maker:
    """A symmetric matrix of f32 that has a Cholesky factor."""

    def make(random: np.random.Generator) -> Array:
        factor = random.standard_normal((size, size))
        return (factor @ factor.T / size + np.eye(size)).astype(np.float32)

    return make


def lower_triangular(size: int) -> Maker:
    """A well-conditioned lower triangular matrix of f32."""

    def make(random: np.random.Generator) -> Array:
        below = np.tril(random.standard_normal((size, size)), -1) / size
        return (below + np.eye(size) * 2).astype(np.float32)

    return make


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
