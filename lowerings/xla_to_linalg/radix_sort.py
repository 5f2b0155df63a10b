"""
Stable radix sort of lines, by integer keys.

One reading counts how often each digit has each value; then one pass for each digit, the lowest
first, moves the elements to their places. Elements move as they are, and their keys are computed
anew from them: that costs less than moving keys along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerType, TensorType, i32, i64
from xdsl.ir import SSAValue

from lowerings.arith_extension import IndexCastUIOp
from lowerings.conversion import ConversionBuilder
from lowerings.xla_to_linalg.counted_loops import counted_loop, loop
from lowerings.xla_to_linalg.lines import Lines
from lowerings.xla_to_linalg.scalars import INDEX, ScalarBuilder
from lowerings.xla_to_linalg.sort_order import IntegerKey
from lowerings.xla_to_linalg.structured import (
    constant,
    fill_into,
    outside_of_bodies,
)

Values = Sequence[SSAValue]

DIGIT_BITS = 8
"""The counts of all values of a digit should stay in the first cache beside what is written."""


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
        counts = self._count(builder, source, counts, length)
        counts = self._sum(builder, counts)
        for number in range(len(self.digits)):
            if (len(self.digits) - number) % 2:
                target, counts = self._move(builder, number, source, target, counts, length)
                source = target
            else:
                scratch, counts = self._move(builder, number, source, scratch, counts, length)
                source = scratch
        return target, scratch, counts

    def _add_to_count(
        self, s: ScalarBuilder, counts: SSAValue, number: int, value: SSAValue
    ) -> tuple[SSAValue, SSAValue]:
        """The count of a digit's value before, and the counts with one more."""
        where = s.constant(number, INDEX), value
        before = s.emit(tensor.ExtractOp, (counts, *where), self.counts_type.element_type)
        after = s.integers(arith.AddiOp, before, 1)
        return before, s.emit(tensor.InsertOp, (after, counts, *where), counts.type)

    def _count(
        self, builder: ConversionBuilder, source: Lines, counts: SSAValue, length: SSAValue
    ) -> SSAValue:
        def step(s: ScalarBuilder, place: SSAValue, counts: SSAValue) -> Values:
            elements = source.read(s, place)
            for number, digit in enumerate(self.digits):
                _, counts = self._add_to_count(s, counts, number, digit.value(s, elements))
            return (counts,)

        def turn(inner: ConversionBuilder, place: SSAValue, carried: Values) -> Values:
            return outside_of_bodies(inner, lambda s: step(s, place, carried[0]))

        bounds = constant(builder, 0, INDEX), length, constant(builder, 1, INDEX)
        return loop(builder, bounds, (counts,), turn)[0]

    def _sum(self, builder: ConversionBuilder, counts: SSAValue) -> SSAValue:
        """For each value of a digit, how many elements have a lower one."""
        number_type = self.counts_type.element_type

        def step(s: ScalarBuilder, number: int, value: SSAValue, carried: Values) -> Values:
            counts, total = carried
            where = s.constant(number, INDEX), value
            count = s.emit(tensor.ExtractOp, (counts, *where), number_type)
            counts = s.emit(tensor.InsertOp, (total, counts, *where), counts.type)
            return [counts, s.emit(arith.AddiOp, (total, count))]

        zero = constant(builder, 0, number_type)
        for number, digit in enumerate(self.digits):

            def turn(
                inner: ConversionBuilder, value: SSAValue, carried: Values, number: int = number
            ) -> Values:
                return outside_of_bodies(inner, lambda s: step(s, number, value, carried))

            counts, _ = counted_loop(builder, 1 << digit.bits, 1, (counts, zero), turn)
        return counts

    def _move(
        self,
        builder: ConversionBuilder,
        number: int,
        source: Lines,
        target: Lines,
        counts: SSAValue,
        length: SSAValue,
    ) -> tuple[Lines, SSAValue]:
        """All elements moved to where a digit sends them."""
        digit = self.digits[number]

        def step(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
            counts, *tensors = carried
            elements = source.read(s, place)
            there, counts = self._add_to_count(s, counts, number, digit.value(s, elements))
            position = s.emit(IndexCastUIOp, (there,), INDEX)
            return [counts, *target.of(tensors).write(s, position, elements).tensors]

        def turn(inner: ConversionBuilder, place: SSAValue, carried: Values) -> Values:
            return outside_of_bodies(inner, lambda s: step(s, place, carried))

        bounds = constant(builder, 0, INDEX), length, constant(builder, 1, INDEX)
        counts, *tensors = loop(builder, bounds, (counts, *target.tensors), turn)
        return target.of(tensors), counts
