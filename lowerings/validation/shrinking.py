"""Reduction of a failing input to fewer nonzero elements, and simpler ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from xla_dialect.literals.arrays import Array

Fails = Callable[[list[Array]], bool]

SECONDS = 10.0
"""The time limit of a reduction."""
RUNS = 400
"""The limit of runs of the program in a reduction."""


class _Budget:
    def __init__(self, fails: Fails, seconds: float, runs: int):
        self._fails = fails
        self._end = time.monotonic() + seconds
        self._left = runs

    def fails(self, arrays: list[Array]) -> bool:
        """Whether smaller arrays fail; False once the limits are reached."""
        if self._left <= 0 or time.monotonic() > self._end:
            return False
        self._left -= 1
        return self._fails(arrays)


def shrink(
    arrays: Sequence[Array], fails: Fails, seconds: float = SECONDS, runs: int = RUNS
) -> list[Array]:
    """
    Arrays of the same types on which `fails` still holds.

    Ever smaller groups of elements are set to 0 (as in A. Zeller, R. Hildebrandt: "Simplifying and
    isolating failure-inducing input", 2002); those that have to stay become 1 if that will do.
    """
    budget = _Budget(fails, seconds, runs)
    found = [np.array(array) for array in arrays]
    for number in range(len(found)):
        found = _cleared(found, number, budget)
    for number in range(len(found)):
        found = _simplified(found, number, budget)
    return found


def _with(arrays: Sequence[Array], number: int, places: Array, value: object) -> list[Array]:
    changed = [*arrays]
    array = np.array(arrays[number])
    array.reshape(-1)[places] = np.asarray(value).astype(array.dtype)
    changed[number] = array
    return changed


def _set_places(array: Array) -> Array:
    flat = np.ascontiguousarray(array).reshape(-1)
    codes = flat.view(np.uint8).reshape(flat.size, flat.dtype.itemsize)
    return np.flatnonzero(codes.any(axis=1))


def _cleared(arrays: list[Array], number: int, budget: _Budget) -> list[Array]:
    places = _set_places(arrays[number])
    group = places.size
    while group:
        kept: list[Array] = []
        for start in range(0, places.size, group):
            part = places[start : start + group]
            smaller = _with(arrays, number, part, 0)
            if budget.fails(smaller):
                arrays = smaller
            else:
                kept.append(part)
        places = np.concatenate(kept) if kept else places[:0]
        if not places.size:
            break
        group = min(group, places.size) // 2 if group > 1 else 0
    return arrays


def _simplified(arrays: list[Array], number: int, budget: _Budget) -> list[Array]:
    for place in _set_places(arrays[number]):
        for value in (1, 2):
            smaller = _with(arrays, number, np.array([place]), value)
            if np.array_equal(smaller[number], arrays[number]):
                break
            if budget.fails(smaller):
                arrays = smaller
                break
    return arrays
