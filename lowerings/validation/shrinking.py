"""Reduction of a failing input to fewer nonzero elements, and simpler ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from lowerings.validation.inputs import set_places
from xla_dialect.literals.arrays import Array

Fails = Callable[[list[Array]], object]

SECONDS = 10.0
"""The time limit of a reduction."""
RUNS = 400
"""The limit of runs of the program in a reduction."""


def shrink(
    arrays: Sequence[Array], fails: Fails, seconds: float = SECONDS, runs: int = RUNS
) -> list[Array]:
    """
    Arrays of the same types on which `fails` still holds.

    Ever smaller groups of elements are set to 0 (as in A. Zeller, R. Hildebrandt: "Simplifying and
    isolating failure-inducing input", 2002); those that have to stay become 1 if that will do.
    """
    found = [np.array(array) for array in arrays]
    end, left = time.monotonic() + seconds, runs

    def becomes(number: int, places: Array, value: int) -> bool:
        """Whether they fail with a value at some places, which they have from now on then."""
        nonlocal left
        if left <= 0 or time.monotonic() > end:
            return False
        left -= 1
        changed = found[number].copy()
        changed.reshape(-1)[places] = np.asarray(value).astype(changed.dtype)
        is_failing = bool(fails([*found[:number], changed, *found[number + 1 :]]))
        if is_failing:
            found[number] = changed
        return is_failing

    for number in range(len(found)):
        places = set_places(found[number])
        group = places.size
        while group:
            parts = [places[start : start + group] for start in range(0, places.size, group)]
            kept = [part for part in parts if not becomes(number, part, 0)]
            places = np.concatenate([places[:0], *kept])
            group = min(group, places.size) // 2
    for number in range(len(found)):
        for place in set_places(found[number]):
            for value in (1, 2):
                if found[number].flat[place] == value or becomes(number, place, value):
                    break
    return found
