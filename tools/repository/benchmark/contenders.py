"""Programs compiled by us and by XLA CPU, and what libraries have instead, timed by turns."""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import lowerings
from lowerings.execution.roofline import peak_loop
from xla_dialect.runtime.comparison import is_inexact

from ...comparison import DEFAULT_TOLERANCE, largest_relative_error
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


def _normal(kind: Any) -> Callable[..., Maker]:
    """Makers of normally distributed numbers, of the sizes that are given."""
    return lambda *sizes: lambda random: random.standard_normal(sizes).astype(kind)


f32, f64, bf16 = map(_normal, (np.float32, np.float64, ml_dtypes.bfloat16))


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
class Library:
    """A library that computes what a row does, and is called by hand."""

    package: str
    """What installs it."""
    start: Callable[..., Callable[[], Any]]
    """From the number of threads and the arrays: what is called, and gives the results."""
    error: Callable[[Array, Array], float] = largest_relative_error
    """Of a result, from what was expected."""


@dataclass(frozen=True)
class LibraryFigures:
    """What was measured of a library beside ours."""

    ratio: float
    """Ours over its, as the ratio to XLA."""
    is_accurate: bool
    """Whether its results are within the bound that ours are held to."""


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
    libraries: Mapping[str, LibraryFigures]
    """Those that compute the same and are installed, by package."""

    @property
    def best(self) -> tuple[float, str]:
        """Ours over the best of XLA and the libraries that are accurate, and which that is."""
        found = [(each.ratio, name) for name, each in self.libraries.items() if each.is_accurate]
        return max([(self.ratio, "XLA"), *found])

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


ACCURACY = 4
"""How many times our error, or the epsilon of the type, a library's error may always be."""


def is_accurate(
    library: Library, found: Any, own: Sequence[Array], expected: Sequence[Array]
) -> bool:
    """Whether the results of a library are about as near to XLA's as ours are."""

    def bound(ours: Array, wanted: Array) -> float:
        epsilon = ml_dtypes.finfo(wanted.dtype).eps if is_inexact(wanted.dtype) else 0.0
        return max(DEFAULT_TOLERANCE, ACCURACY * max(library.error(ours, wanted), float(epsilon)))

    results = found if isinstance(found, tuple) else (found,)
    return all(
        library.error(np.asarray(result).astype(wanted.dtype), wanted) <= bound(ours, wanted)
        for result, ours, wanted in zip(results, own, expected, strict=True)
    )


def error_of_elements(result: Array, expected: Array) -> float:
    """The largest error as a share of the element: small results count as large ones do."""
    wide, wanted = result.astype(np.float64), expected.astype(np.float64)
    normal = np.abs(wanted) > float(ml_dtypes.finfo(expected.dtype).smallest_normal)
    return float(np.max(np.abs(wide - wanted)[normal] / np.abs(wanted)[normal], initial=0.0))


def figures_of(row: Row, libraries: Sequence[Library], threads: int, effort: Effort) -> Figures:
    """Measures a row beside XLA and libraries, and the peak of the threads where it says so."""
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
        started = [library.start(threads, *inputs) for library in libraries]
        accurate = [
            is_accurate(library, call(), own.outputs, peer.outputs)
            for library, call in zip(libraries, started, strict=True)
        ]
        calls, peak_operations = [own.call, peer.call, *started], 0
        if row.operations:
            peak, peak_operations = peak_loop()
            calls.append(peak)
        times = alternate(calls, effort.turns)
    own_times, *others = times
    ratios = [[a / b for a, b in zip(own_times, each, strict=True)] for each in others]
    to_xla, *to_libraries = map(statistics.median, ratios)
    peak_share = None
    if row.operations:
        # A turn of the peak takes as long as its operations do on one thread.
        shares = [row.operations / (threads * peak_operations * each) for each in ratios[-1]]
        peak_share = statistics.median(shares)
    return Figures(
        row.name,
        own.compile_seconds,
        peer.compile_seconds,
        statistics.median(own_times),
        statistics.median(others[0]),
        to_xla,
        max(map(largest_relative_error, own.outputs, peer.outputs), default=0.0),
        peak_share,
        {
            library.package: LibraryFigures(ratio, counts)
            for library, ratio, counts in zip(libraries, to_libraries, accurate, strict=False)
        },
    )
