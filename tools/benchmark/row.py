"""What one row of the benchmark measures: a function of JAX with its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

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
