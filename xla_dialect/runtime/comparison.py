"""Comparing arrays element by element: what counts as the same, and how far apart floats are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, Array, DType, bit_width, bits_of
from xla_dialect.types import ElementClass

INFINITELY_FAR = np.iinfo(np.uint64).max
"""The distance in ULP where only one of two values is finite, or they are different infinities."""


class Criterion(ABC):
    """When two arrays of one element type and one shape count as the same."""

    @abstractmethod
    def differing(self, actual: Array, expected: Array) -> Array:
        """Where two arrays are not the same, as an array of bool."""

    @abstractmethod
    def __str__(self) -> str:
        """What elements do that are not the same: `differ by more than 3 ULP`."""


@dataclass(frozen=True)
class Exactly(Criterion):
    """Equal values: -0 equals 0, and a NaN any NaN."""

    def differing(self, actual: Array, expected: Array) -> Array:
        """Where the values differ."""
        return ~_in_parts(_equal, actual, expected)

    def __str__(self) -> str:
        return "differ"


@dataclass(frozen=True)
class Within(Criterion):
    """Floats at most `tolerance` apart, infinities and NaNs in the same places."""

    tolerance: float

    def differing(self, actual: Array, expected: Array) -> Array:
        """Where the difference, of one of the parts of complex numbers, is larger."""

        def close(a: Array, b: Array) -> Array:
            distance = np.abs(a.astype(np.float64) - b.astype(np.float64))
            return _equal(a, b) | ((distance <= self.tolerance) & np.isfinite(distance))

        with np.errstate(all="ignore"):
            return ~_in_parts(close, actual, expected)

    def __str__(self) -> str:
        return f"differ by more than {self.tolerance:g}"


@dataclass(frozen=True)
class WithinUlps(Criterion):
    """Floats from `least` to `most` ULP apart; see `ulps_between`."""

    most: int
    least: int = 0

    def differing(self, actual: Array, expected: Array) -> Array:
        """Where the distance is not within the limits."""
        distance = ulps_between(actual, expected)
        return (distance > np.uint64(self.most)) | (distance < np.uint64(self.least))

    def __str__(self) -> str:
        if self.least:
            return f"do not differ by {self.least} to {self.most} ULP"
        return f"differ by more than {self.most} ULP"


def ulps_between(actual: Array, expected: Array) -> Array:
    """
    How many floats of the type lie between two, the farther one counted, as uint64.

    The zeros are the same float, and so are all NaNs. `INFINITELY_FAR` where only one is finite, or
    they are different infinities. Of complex numbers the larger distance of the parts.
    """
    if actual.dtype.kind == "c":
        return np.maximum(
            ulps_between(np.real(actual), np.real(expected)),
            ulps_between(np.imag(actual), np.imag(expected)),
        )
    (a, a_is_negative), (b, b_is_negative) = _from_zero(actual), _from_zero(expected)
    distance = np.where(a_is_negative == b_is_negative, np.maximum(a, b) - np.minimum(a, b), a + b)
    comparable = np.isfinite(actual) & np.isfinite(expected)
    far = np.where(_equal(actual, expected), np.uint64(0), INFINITELY_FAR)
    return np.where(comparable, distance, far)


def _from_zero(x: Array) -> tuple[Array, Array]:
    """How many floats of the type lie between 0 and each element, and which have a sign."""
    bits = bits_of(np.ascontiguousarray(x)).astype(np.uint64).reshape(x.shape)
    if ELEMENT_OF_DTYPE[x.dtype].name == "f8e8m0fnu":  # it has no sign
        return bits, np.zeros(x.shape, np.bool_)
    sign = np.uint64(1 << (bit_width(x.dtype) - 1))
    return bits & ~sign, (bits & sign) != 0


def is_inexact(dtype: DType) -> bool:
    """Whether elements are floats or complex numbers."""
    inexact = ElementClass.FLOAT | ElementClass.COMPLEX
    return dtype in ELEMENT_OF_DTYPE and bool(ELEMENT_OF_DTYPE[dtype].element_class & inexact)


def _equal(a: Array, b: Array) -> Array:
    same = np.asarray(a == b)
    return same | ((a != a) & (b != b)) if is_inexact(a.dtype) else same


def _in_parts(holds: Callable[[Array, Array], Array], actual: Array, expected: Array) -> Array:
    """Where a relation of reals holds; of complex numbers it has to hold for both parts."""
    if actual.dtype.kind != "c":
        return holds(actual, expected)
    in_real = holds(np.real(actual), np.real(expected))
    return in_real & holds(np.imag(actual), np.imag(expected))


@dataclass(frozen=True)
class Mismatch:
    """Two arrays that are not the same: the first element that is to blame, and how many are."""

    criterion: str
    count: int
    size: int
    index: tuple[int, ...]
    actual: Array
    expected: Array

    def __str__(self) -> str:
        distance = ""
        if self.actual.dtype == self.expected.dtype and is_inexact(self.actual.dtype):
            ulps = int(ulps_between(self.actual, self.expected))
            error = "no finite error" if ulps == INFINITELY_FAR else f"error {ulps} ULP"
            distance = f" ({error})"
        values = f"{_spell(self.actual)}, expected {_spell(self.expected)}{distance}"
        return (
            f"{self.count} of {self.size} elements {self.criterion}, the first at "
            f"{list(map(int, self.index))}: {values}"
        )


def _spell(value: Array) -> str:
    return str(bool(value)).lower() if value.dtype == np.bool_ else str(value[()])


def first_mismatch(criterion: str, actual: Array, expected: Array, differing: Array) -> Mismatch:
    """The mismatch of two arrays that differ somewhere; `criterion` says how."""
    flat = np.flatnonzero(differing)
    index = cast("tuple[int, ...]", np.unravel_index(flat[0], differing.shape))
    return Mismatch(
        criterion,
        int(flat.size),
        int(differing.size),
        index,
        np.asarray(actual[index]),
        np.asarray(expected[index]),
    )


def compare(actual: Array, expected: Array, criterion: Criterion) -> str | None:
    """What is wrong with an array, None if it counts as the same as the expected one."""
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)}, expected {list(expected.shape)}"
    differing = criterion.differing(actual, expected)
    if not differing.any():
        return None
    return str(first_mismatch(str(criterion), actual, expected, differing))
