"""Ill-conditioned results: the last bits of the inputs change them by more than a pass may."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from lowerings.interpreter.elements import where
from lowerings.validation.allowances import Allowance
from lowerings.validation.execution import Results, Runner
from lowerings.validation.outcomes import outcome_of
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, bits_of
from xla_dialect.runtime.comparison import is_inexact

TIMES = 64.0
"""How much further than on neighbouring inputs a result may be: a pass rounds more than once."""

STEPS = 2
"""How much further an integer that stands for a number may be: several ties may meet in it."""

SCATTERED = 4
"""How many neighbours have other numbers where some were equal."""
MOST_STEPS = 2
"""How many units of the last place away these are."""


class Neighbours:
    """What a function computes on inputs whose last bits are other ones; run when asked for."""

    def __init__(
        self,
        run: Runner,
        arrays: Sequence[Array],
        expected: Results,
        others: Iterable[Runner] = (),
        ties: Iterable[Runner] = (),
        quantized: Collection[int] = (),
    ):
        """
        `expected`: what `run` computes on `arrays`; `others` do too, but round otherwise, and
        `ties` round ties between integers otherwise. `quantized`: the results that such are.
        """
        self._expected = expected
        self._found: list[_Neighbour] = []
        self._left = _runs(run, arrays, others, ties)
        self._quantized = quantized
        self.explained: set[int] = set()
        """The numbers of the results of which differences prove nothing."""

    def explain(self, number: int, found: Array, allowance: Allowance) -> bool:
        """
        Whether result `number` may be `found`, for it is ill-conditioned: neighbouring inputs
        change it by more than the pass may, and by not much less than this.
        """
        if not allowance.epsilons:
            return False
        expected = self._expected[number]
        if number in self._quantized:
            return self._is_in_reach(number, found)
        is_decided = not is_inexact(expected.dtype)
        for each in self._neighbours():
            if each.keeps_ties or not is_decided:
                if _explains(each.results[number], found, expected, allowance):
                    self.explained.add(number)
                    break
        return number in self.explained

    def _is_in_reach(self, number: int, found: Array) -> bool:
        """Whether each integer is where neighbours have it, or not much further away."""
        expected = self._expected[number].astype(np.int64)
        reach = np.zeros_like(expected)
        for each in self._neighbours():
            moved = each.results[number]
            if moved.shape == expected.shape:
                reach = np.maximum(reach, np.abs(moved.astype(np.int64) - expected))
        return bool(np.all(np.abs(found.astype(np.int64) - expected) <= STEPS * reach))

    def _neighbours(self) -> Iterator[_Neighbour]:
        yield from self._found
        for neighbour in self._left:
            self._found.append(neighbour)
            yield neighbour


@dataclass(frozen=True)
class _Neighbour:
    results: Results
    keeps_ties: bool
    """Whether equal numbers have stayed equal, so that what is decided by them is the same."""


def _runs(
    run: Runner, arrays: Sequence[Array], others: Iterable[Runner], ties: Iterable[Runner]
) -> Iterator[_Neighbour]:
    scattered = [partial(_scattered, seed) for seed in range(SCATTERED)]
    for change in (_above, _with_other_last_bit, _below, *scattered):
        outcome = outcome_of(run, [_changed(array, change) for array in arrays])
        if not isinstance(outcome, XlaError):
            yield _Neighbour(outcome, keeps_ties=change not in scattered)
    for each, keeps_ties in chain(((e, True) for e in ties), ((e, False) for e in others)):
        outcome = outcome_of(each, arrays)
        if not isinstance(outcome, XlaError):
            yield _Neighbour(outcome, keeps_ties=keeps_ties)


def _explains(moved: Array, found: Array, expected: Array, allowance: Allowance) -> bool:
    if moved.shape != expected.shape or moved.dtype != expected.dtype:
        return True
    if not allowance.differing(moved, expected).any():
        return False
    # Of what is decided, as an order, there is no distance.
    return not is_inexact(expected.dtype) or (
        _distance(found, expected) <= TIMES * _distance(moved, expected)
    )


def _distance(found: Array, expected: Array) -> float:
    """The largest of any element; infinite where one is no number, or infinite, and not both."""
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        one, other = found.astype(wide), expected.astype(wide)
        is_same = (one == other) | (np.isnan(one) & np.isnan(other))
        distance = np.where(is_same, 0.0, np.abs(one - other))
    return float(np.max(np.where(np.isnan(distance), np.inf, distance), initial=0.0))


def _changed(array: Array, change: Callable[[Array], Array]) -> Array:
    """
    An array of floats with other numbers; other arrays as they are.

    Zeros stay zero, so that comparisons of them hold; but for one change, equal numbers equal.
    """
    if array.dtype.kind == "c":
        parts = (_changed(part, change) for part in (np.real(array), np.imag(array)))
        real, imaginary = parts
        return (real + 1j * imaginary).astype(array.dtype)
    if not is_inexact(array.dtype):
        return array
    with np.errstate(all="ignore"):
        changed = change(array)
        return where((array == 0) | ~np.isfinite(changed), array, changed)


def _above(array: Array) -> Array:
    return np.nextafter(array, np.asarray(np.inf, array.dtype))


def _below(array: Array) -> Array:
    return np.nextafter(array, np.asarray(-np.inf, array.dtype))


def _with_other_last_bit(array: Array) -> Array:
    """Some numbers grow and some shrink: ratios are not kept as by the others."""
    is_odd = (bits_of(np.ascontiguousarray(array)) & 1).astype(np.bool_).reshape(array.shape)
    return where(is_odd, _below(array), _above(array))


def _scattered(seed: int, array: Array) -> Array:
    """Equal rows are not equal any more: a matrix of them is singular, and its root may be NaN."""
    steps = np.random.default_rng(seed).integers(-MOST_STEPS, MOST_STEPS + 1, array.shape)
    for step in range(MOST_STEPS):
        array = where(steps > step, _above(array), where(steps < -step, _below(array), array))
    return array
