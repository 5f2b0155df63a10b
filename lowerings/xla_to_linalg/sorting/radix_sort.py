"""
Stable radix sort of lines, by integer keys.

One reading counts how often each digit has each value; then one pass for each digit, the lowest
first, moves the elements to their places. Elements move as they are, and their keys are computed
anew from them: that costs less than moving keys along. Passes that go back and forth between two
places from the first on are a loop over pairs of digits: code for two of them, not for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerType, TensorType, i32, i64
from xdsl.ir import SSAValue

from lowerings.dialects.arith_extension import IndexCastUIOp
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.counted_loops import counted_loop, loop
from lowerings.xla_to_linalg.lines import Lines
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.sorting.sort_order import IntegerKey
from lowerings.xla_to_linalg.structured import (
    constant,
    fill_into,
    outside_of_bodies,
)

DIGIT_BITS = 8
"""The counts of a digit's values should stay in the L1 cache, with the lines being written."""


@dataclass(frozen=True)
class Digit:
    """Some bits of a key."""

    key: IntegerKey
    shift: int
    bits: int

    def value(self, s: ScalarBuilder, elements: Values) -> SSAValue:
        """The digit of the elements at a place, as an index."""
        key = self.key.make(s, elements)
        if self.shift:
            key = s.integers(arith.ShRUIOp, key, self.shift)
        if self.shift + self.bits < self.key.width:
            key = s.integers(arith.AndIOp, key, (1 << self.bits) - 1)
        return s.emit(IndexCastUIOp, (key,), INDEX)


DigitAt: TypeAlias = "Callable[[ScalarBuilder, Values], tuple[SSAValue, SSAValue]]"
"""From the elements at a place to the number of a digit and its value there."""


@dataclass(frozen=True)
class Run:
    """All digits of one key."""

    key: IntegerKey
    first: int
    """The number of the lowest."""
    count: int

    @property
    def is_even(self) -> bool:
        """Whether its digits make pairs, and are of one length."""
        return self.count % 2 == 0 and self.key.width == self.count * DIGIT_BITS

    def digit(self, s: ScalarBuilder, place: SSAValue, *, second: bool) -> DigitAt:
        """The first or second digit of the pair at a place."""
        own = s.integers(arith.MuliOp, place, 2)
        if second:
            own = s.integers(arith.AddiOp, own, 1)
        bits = s.integers(arith.MuliOp, own, DIGIT_BITS)
        shift = s.emit(IndexCastUIOp, (bits,), IntegerType(self.key.width))
        number = s.integers(arith.AddiOp, own, self.first) if self.first else own

        def at(s: ScalarBuilder, elements: Values) -> tuple[SSAValue, SSAValue]:
            shifted = s.emit(arith.ShRUIOp, (self.key.make(s, elements), shift))
            digit = s.integers(arith.AndIOp, shifted, (1 << DIGIT_BITS) - 1)
            return number, s.emit(IndexCastUIOp, (digit,), INDEX)

        return at


def digits_of(keys: Sequence[IntegerKey]) -> Iterator[Digit]:
    """The digits of keys that decide first, second, ...; what decides last comes first."""
    for key in reversed(keys):
        for shift in range(0, key.width, DIGIT_BITS):
            yield Digit(key, shift, min(DIGIT_BITS, key.width - shift))


@dataclass(frozen=True)
class RadixSort:
    """A radix sort of lines of up to this length."""

    digits: tuple[Digit, ...]
    longest: int

    @property
    def counts_type(self) -> TensorType[IntegerType]:
        """The counts of the values of each digit."""
        number = i32 if self.longest < 1 << 31 else i64
        return TensorType(number, (len(self.digits), 1 << max(d.bits for d in self.digits)))

    def sort(
        self,
        builder: ConversionBuilder,
        lines: tuple[Lines, Lines, Lines],
        counts: SSAValue,
        length: SSAValue,
    ) -> tuple[Lines, Lines, SSAValue]:
        """
        Sorts the first `length` elements; `lines` are source, target and scratch memory.

        The target with what is in the source, in order; the scratch memory and counts afterwards.
        """
        source, target, scratch = lines
        zero = constant(builder, 0, self.counts_type.element_type)
        counts = fill_into(builder, zero, counts)
        counts = self._sum(builder, self._count(builder, source, counts, length))
        if source == target and self.has_pairs:
            return self._move_in_pairs(builder, target, scratch, counts, length)
        for number in range(len(self.digits)):
            digit = self._digit(number)
            if (len(self.digits) - number) % 2:
                target, counts = self._move(builder, digit, source, target, counts, length)
                source = target
            else:
                scratch, counts = self._move(builder, digit, source, scratch, counts, length)
                source = scratch
        return target, scratch, counts

    @property
    def runs(self) -> list[Run]:
        """The digits, by key."""
        found: list[Run] = []
        for number, digit in enumerate(self.digits):
            if digit.shift:
                found[-1] = replace(found[-1], count=found[-1].count + 1)
            else:
                found.append(Run(digit.key, number, 1))
        return found

    @property
    def has_pairs(self) -> bool:
        """Whether passes can be loops over pairs of digits, one of them of more than one turn."""
        runs = self.runs
        return all(run.is_even for run in runs) and any(run.count > 2 for run in runs)

    def _digit(self, number: int) -> DigitAt:
        digit = self.digits[number]
        return lambda s, elements: (s.constant(number, INDEX), digit.value(s, elements))

    def _move_in_pairs(
        self,
        builder: ConversionBuilder,
        target: Lines,
        scratch: Lines,
        counts: SSAValue,
        length: SSAValue,
    ) -> tuple[Lines, Lines, SSAValue]:
        """All passes, from the target to the scratch memory and back."""
        for run in self.runs:
            pair = partial(self._move_pair, run, target, scratch, length)
            carried = (counts, *target.tensors, *scratch.tensors)
            counts, *tensors = counted_loop(builder, run.count // 2, 1, carried, pair)
            count = len(target.tensors)
            target, scratch = target.of(tensors[:count]), scratch.of(tensors[count:])
        return target, scratch, counts

    def _move_pair(
        self,
        run: Run,
        target: Lines,
        scratch: Lines,
        length: SSAValue,
        builder: ConversionBuilder,
        place: SSAValue,
        carried: Values,
    ) -> Values:
        """One turn of the loop over the pairs of digits of a run."""
        counts, *tensors = carried
        count = len(target.tensors)
        here, there = target.of(tensors[:count]), scratch.of(tensors[count:])
        for second in (False, True):
            digit = outside_of_bodies(builder, partial(run.digit, place=place, second=second))
            moved, counts = self._move(builder, digit, here, there, counts, length)
            here, there = moved, here
        return [counts, *here.tensors, *there.tensors]

    def _add_to_count(
        self, s: ScalarBuilder, counts: SSAValue, number: SSAValue, value: SSAValue
    ) -> tuple[SSAValue, SSAValue]:
        """The count of a digit's value before, and the counts with one more."""
        where = number, value
        before = s.emit(tensor.ExtractOp, (counts, *where), self.counts_type.element_type)
        after = s.integers(arith.AddiOp, before, 1)
        return before, s.emit(tensor.InsertOp, (after, counts, *where), counts.type)

    def _count(
        self, builder: ConversionBuilder, source: Lines, counts: SSAValue, length: SSAValue
    ) -> SSAValue:
        def step(s: ScalarBuilder, place: SSAValue, counts: SSAValue) -> Values:
            elements = source.read(s, place)
            for number, digit in enumerate(self.digits):
                value = digit.value(s, elements)
                _, counts = self._add_to_count(s, counts, s.constant(number, INDEX), value)
            return (counts,)

        def turn(inner: ConversionBuilder, place: SSAValue, carried: Values) -> Values:
            return outside_of_bodies(inner, lambda s: step(s, place, carried[0]))

        bounds = constant(builder, 0, INDEX), length, constant(builder, 1, INDEX)
        return loop(builder, bounds, (counts,), turn)[0]

    def _sum(self, builder: ConversionBuilder, counts: SSAValue) -> SSAValue:
        """For each value of a digit, how many elements have a lower one."""
        number_type = self.counts_type.element_type
        digits, values = self.counts_type.get_shape()

        def step(s: ScalarBuilder, where: Values, carried: Values) -> Values:
            counts, total = carried
            count = s.emit(tensor.ExtractOp, (counts, *where), number_type)
            counts = s.emit(tensor.InsertOp, (total, counts, *where), counts.type)
            return [counts, s.emit(arith.AddiOp, (total, count))]

        def digit(inner: ConversionBuilder, number: SSAValue, carried: Values) -> Values:
            def turn(inner: ConversionBuilder, value: SSAValue, carried: Values) -> Values:
                return outside_of_bodies(inner, lambda s: step(s, (number, value), carried))

            zero = constant(inner, 0, number_type)
            return counted_loop(inner, values, 1, (carried[0], zero), turn)[:1]

        return counted_loop(builder, digits, 1, (counts,), digit)[0]

    def _move(
        self,
        builder: ConversionBuilder,
        digit: DigitAt,
        source: Lines,
        target: Lines,
        counts: SSAValue,
        length: SSAValue,
    ) -> tuple[Lines, SSAValue]:
        """All elements moved to where a digit sends them."""

        def step(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
            counts, *tensors = carried
            elements = source.read(s, place)
            there, counts = self._add_to_count(s, counts, *digit(s, elements))
            position = s.emit(IndexCastUIOp, (there,), INDEX)
            return [counts, *target.of(tensors).write(s, position, elements).tensors]

        def turn(inner: ConversionBuilder, place: SSAValue, carried: Values) -> Values:
            return outside_of_bodies(inner, lambda s: step(s, place, carried))

        bounds = constant(builder, 0, INDEX), length, constant(builder, 1, INDEX)
        counts, *tensors = loop(builder, bounds, (counts, *target.tensors), turn)
        return target.of(tensors), counts
