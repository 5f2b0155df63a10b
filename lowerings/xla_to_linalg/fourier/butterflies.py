"""
Fourier transforms of few complex numbers (codelets), as straight-line code on scalars.

Longer transforms are made of them. Their products and sums may be contracted to fused ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import cos, pi, sin, sqrt
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder

Number: TypeAlias = "tuple[SSAValue, SSAValue]"
"""The real and the imaginary part."""

LARGEST_PRIME = 13
"""The largest prime length that is transformed by direct sums, which take quadratic time."""

_CONTRACT: dict[str, Attribute] = {"fastmath": FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])}


@cache
def smallest_prime(number: int) -> int:
    """The smallest prime that divides a number of at least 2."""
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return divisor
        divisor += 1
    return number


@cache
def operation_count(length: int) -> int:
    """About how many additions and multiplications the transform of a length takes."""
    if length == 1:
        return 0
    first = smallest_prime(length)
    rest = length // first
    if rest == 1:
        half = length // 2
        return 4 if length == 2 else 8 * half * (half + 1)
    turns = 3 * (first - 1) * (rest - 1)
    return rest * operation_count(first) + first * operation_count(rest) + turns


@dataclass(frozen=True)
class Butterfly:
    """Transforms without a scale, with `e^(sign 2 pi i / length)`."""

    s: ScalarBuilder
    sign: int

    def transform(self, x: Sequence[Number]) -> list[Number]:
        """The transform; of composite lengths in two steps, over the smallest prime first."""
        length = len(x)
        if length == 1:
            return list(x)
        first = smallest_prime(length)
        second = length // first
        if second == 1:
            return self._pair(x[0], x[1]) if length == 2 else self._prime(x)
        columns = [self.transform(x[start::second]) for start in range(second)]
        result: list[Number] = [x[0]] * length
        for k in range(first):
            row = [self.turned(column[k], j * k, length) for j, column in enumerate(columns)]
            result[k::first] = self.transform(row)
        return result

    def times(self, x: Number, factor: Number) -> Number:
        """The product of two numbers."""
        (a, b), (c, d) = x, factor
        real = self._sub(self._mul(a, c), self._mul(b, d))
        return real, self._add(self._mul(a, d), self._mul(b, c))

    def turned(self, x: Number, numerator: int, denominator: int) -> Number:
        """A number times `e^(sign 2 pi i numerator / denominator)`."""
        real, imaginary = x
        turns = self.sign * numerator % denominator
        eighths, rest = divmod(8 * turns, denominator)
        if rest:
            angle = 2 * pi * turns / denominator
            c, d = (self.s.constant_like(part, real) for part in (cos(angle), sin(angle)))
            return self.times(x, (c, d))
        if eighths % 2:
            half = self.s.constant_like(sqrt(0.5), real)
            difference, total = self._sub(real, imaginary), self._add(real, imaginary)
            real, imaginary = self._mul(difference, half), self._mul(total, half)
        for _ in range(eighths // 2):
            real, imaginary = imaginary, real
        quarter = eighths // 2
        if quarter in (1, 2):
            real = self.s.negf(real)
        if quarter in (2, 3):
            imaginary = self.s.negf(imaginary)
        return real, imaginary

    def _pair(self, x: Number, y: Number) -> list[Number]:
        return [self._sum(x, y), self._difference(x, y)]

    def _prime(self, x: Sequence[Number]) -> list[Number]:
        """An odd length: elements k and n - k share their real factors, so they are paired."""
        length = len(x)
        half = range(1, length // 2 + 1)
        sums = [self._sum(x[j], x[-j]) for j in half]
        differences = [self._difference(x[j], x[-j]) for j in half]
        total = x[0]
        for each in sums:
            total = self._sum(total, each)
        result: list[Number] = [total] * length
        for k in half:
            angles = [2 * pi * (j * k % length) / length for j in half]
            even = self._weighted(sums, [cos(angle) for angle in angles], x[0])
            odd = self._weighted(differences, [self.sign * sin(angle) for angle in angles])
            real, imaginary = even
            across, along = odd
            result[k] = self._sub(real, along), self._add(imaginary, across)
            result[-k] = self._add(real, along), self._sub(imaginary, across)
        return result

    def _weighted(
        self, terms: Sequence[Number], weights: Sequence[float], start: Number | None = None
    ) -> Number:
        """A sum of numbers times reals."""
        result = start
        for (real, imaginary), weight in zip(terms, weights, strict=True):
            factor = self.s.constant_like(weight, real)
            term = self._mul(real, factor), self._mul(imaginary, factor)
            result = term if result is None else self._sum(result, term)
        assert result is not None
        return result

    def _sum(self, x: Number, y: Number) -> Number:
        return self._add(x[0], y[0]), self._add(x[1], y[1])

    def _difference(self, x: Number, y: Number) -> Number:
        return self._sub(x[0], y[0]), self._sub(x[1], y[1])

    def _add(self, x: SSAValue, y: SSAValue) -> SSAValue:
        return self._emit(arith.AddfOp, x, y)

    def _sub(self, x: SSAValue, y: SSAValue) -> SSAValue:
        return self._emit(arith.SubfOp, x, y)

    def _mul(self, x: SSAValue, y: SSAValue) -> SSAValue:
        return self._emit(arith.MulfOp, x, y)

    def _emit(self, op_class: type[Operation], x: SSAValue, y: SSAValue) -> SSAValue:
        return self.s.emit(op_class, (x, y), None, _CONTRACT)
