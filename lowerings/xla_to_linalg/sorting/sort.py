"""
Sorts lines, stably: by integer keys, or by any comparator. Many lines of moderate length are sorted
at once (`network.py`), others one by one.

A radix sort reads the line once to count how often each digit has each value; then one pass for
each digit, the lowest first, moves the elements to their places. Elements move as they are, and
their keys are computed anew from them: that costs less than moving keys along. In long lines a
chunk of keys is computed in vectors before its elements are counted or moved. Passes go back and
forth between two places, as a loop over pairs of digits: code for two of them, not for all. Pairs
that are equal in all elements move nothing.

A merge sort, bottom-up, takes any comparator. Sorted runs double their length in every pass, from
one array to the other and back. A step of a merge reads the next element of both runs, and takes
one without a branch: whatever the comparator says, each element is taken once, and nothing outside
of the line is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerType, TensorType, i1, i32, i64
from xdsl.ir import SSAValue

from lowerings.dialects.arith_extension import IndexCastUIOp
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.data_movement import first
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.sorting.network import SortingNetwork
from lowerings.xla_to_linalg.sorting.sort_order import Before, IntegerKey, Lines, SortOrder
from lowerings.xla_to_linalg.structured import (
    array_type,
    constant,
    counted_loop,
    empty,
    fill_into,
    generic,
    identity,
    iterators,
    loop,
    on_scalars,
    outside_of_bodies,
    pointwise,
    projection,
    shared_loop,
)
from xla_dialect.types import Array, array
from xla_dialect.xdsl.traversal import tensor_shape


def merge_passes(length: int) -> int:
    """The number of passes, each of which moves all elements."""
    return (length - 1).bit_length()


@dataclass(frozen=True)
class MergeSort:
    """A merge sort of lines of this length, at least 2."""

    before: Before
    length: int

    @property
    def cost(self) -> float:
        """The cost of sorting a line."""
        return MERGE_COST * self.length * merge_passes(self.length)

    def sort(self, builder: ConversionBuilder, lines: Lines, memory: Values) -> Values:
        """The lines in order, and scratch memory for as much afterwards."""
        count, passes = len(memory), merge_passes(self.length)
        width = constant(builder, 1, INDEX)
        if passes % 2:

            def copy(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
                return Lines(tuple(carried)).write(s, place, lines.read(s, place)).tensors

            memory = counted_loop(builder, self.length, 1, memory, on_scalars(copy))
            lines = self._merge_all(builder, Lines(tuple(memory)), lines, width)
            width = constant(builder, 2, INDEX)
        if passes < 2:
            return [*lines.tensors, *memory]

        def turn(inner: ConversionBuilder, _number: SSAValue, carried: Values) -> Values:
            width, *tensors = carried
            here, there = lines.of(tensors[:count]), Lines(tuple(tensors[count:]))
            for _ in range(2):
                merged = self._merge_all(inner, here, there, width)
                width = outside_of_bodies(
                    inner, lambda s, width=width: s.emit(arith.AddiOp, (width, width))
                )
                here, there = merged, here
            return [width, *here.tensors, *there.tensors]

        return counted_loop(builder, passes // 2, 1, [width, *lines.tensors, *memory], turn)[1:]

    def _merge_all(
        self, builder: ConversionBuilder, source: Lines, target: Lines, width: SSAValue
    ) -> Lines:
        """All neighbouring runs of this width, merged."""
        length = constant(builder, self.length, INDEX)
        step = outside_of_bodies(builder, lambda s: s.emit(arith.AddiOp, (width, width)))

        def turn(inner: ConversionBuilder, start: SSAValue, tensors: Values) -> Values:
            def ends(s: ScalarBuilder) -> tuple[SSAValue, SSAValue]:
                middle, end = (s.emit(arith.AddiOp, (start, n)) for n in (width, step))
                return (
                    s.emit(arith.MinUIOp, (middle, length)),
                    s.emit(arith.MinUIOp, (end, length)),
                )

            middle, end = outside_of_bodies(inner, ends)
            return self._merge(inner, source, target.of(tensors), (start, middle, end)).tensors

        bounds = constant(builder, 0, INDEX), length, step
        return target.of(loop(builder, bounds, target.tensors, turn))

    def _merge(
        self,
        builder: ConversionBuilder,
        source: Lines,
        target: Lines,
        ends: tuple[SSAValue, SSAValue, SSAValue],
    ) -> Lines:
        """The run from the first to the second of `ends` merged with that up to the third."""
        start, middle, end = ends

        def step(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
            left, right, *tensors = carried
            last = s.constant(self.length - 1, INDEX)
            # One of the runs may be exhausted; the element read for it is not used.
            mine = source.read(s, s.emit(arith.MinUIOp, (left, last)))
            theirs = source.read(s, s.emit(arith.MinUIOp, (right, last)))
            wins = s.either(s.compare("uge", left, middle), self.before(s, theirs, mine))
            takes_right = s.both(s.compare("ult", right, end), wins)
            taken = [s.select(takes_right, b, a) for a, b in zip(mine, theirs, strict=True)]
            written = target.of(tensors).write(s, place, taken)
            takes_left = s.emit(arith.XOrIOp, (takes_right, s.constant(1, i1)))
            moved = [
                s.emit(arith.AddiOp, (position, s.to_index(takes, signed=False)))
                for position, takes in ((left, takes_left), (right, takes_right))
            ]
            return [*moved, *written.tensors]

        bounds = start, end, constant(builder, 1, INDEX)
        _, _, *tensors = loop(builder, bounds, (start, middle, *target.tensors), on_scalars(step))
        return target.of(tensors)


DIGIT_BITS = 8
"""The counts of a digit's values should stay in the L1 cache, with the lines being written."""


@dataclass(frozen=True)
class Digit:
    """Some bits of a key."""

    key: IntegerKey
    shift: int
    bits: int

    @property
    def integer(self) -> IntegerType:
        """The type in which it is computed: every key has two digits."""
        return IntegerType(max(2, self.key.width))

    def value(self, s: ScalarBuilder, key: SSAValue, shift: SSAValue | None = None) -> SSAValue:
        """The digit of a key's value, or one as long elsewhere, as an index."""
        key = s.resize(key, self.integer.width.data, signed=False)
        key = s.integers(arith.ShRUIOp, key, self.shift if shift is None else shift)
        return s.emit(IndexCastUIOp, (s.integers(arith.AndIOp, key, (1 << self.bits) - 1),), INDEX)


Step: TypeAlias = "Callable[[ScalarBuilder, Sequence[SSAValue], Values, Values], Values]"
"""What is done with the elements at a place, the values of keys there and iteration arguments."""

CHUNK, LONG_LINE = 512, 2048
"""How many keys are computed at once, so that they stay in the L1 cache; from which length on."""


def digits_of(key: IntegerKey) -> list[Digit]:
    """Digits of one length, the lowest first: an even number of them."""
    bits = min(DIGIT_BITS, max(1, key.width // 2))
    return [Digit(key, shift, bits) for shift in range(0, max(2, key.width), bits)]


@dataclass(frozen=True)
class RadixSort:
    """A radix sort of lines of up to this length."""

    runs: tuple[Sequence[Digit], ...]
    """The digits of each key, those of what decides last first."""
    longest: int
    has_chunks: bool = False
    """Whether keys are computed in vectors, some at once."""

    @staticmethod
    def by(keys: Sequence[IntegerKey], longest: int) -> RadixSort:
        """A sort by keys that decide first, second, ..."""
        runs = tuple(map(digits_of, reversed(keys)))
        return RadixSort(runs, longest, longest >= LONG_LINE)

    @property
    def digits(self) -> list[Digit]:
        """All digits."""
        return [digit for run in self.runs for digit in run]

    @property
    def cost(self) -> float:
        """The cost of sorting a line of the longest length."""
        return sum(MOVE_COST * self.longest + COUNT_COST * (1 << d.bits) for d in self.digits)

    @property
    def counts_type(self) -> TensorType[IntegerType]:
        """The counts of the values of each digit."""
        number, digits = i32 if self.longest < 1 << 31 else i64, self.digits
        return TensorType(number, (len(digits), 1 << max(digit.bits for digit in digits)))

    def sort(
        self,
        builder: ConversionBuilder,
        lines: Lines,
        memory: Values,
        length: SSAValue | None = None,
    ) -> Values:
        """
        The lines in order, if only the first `length` elements; scratch memory for as much and the
        counts afterwards.
        """
        *scratch, counts = memory
        count = len(scratch)
        length = constant(builder, self.longest, INDEX) if length is None else length
        counts = self.count(builder, lines, counts, length)
        carried: Values = (counts, *lines.tensors, *scratch)
        first = 0
        for run in self.runs:

            def pair(
                inner: ConversionBuilder,
                place: SSAValue,
                carried: Values,
                run: Sequence[Digit] = run,
                first: int = first,
            ) -> Values:
                counts, *tensors = carried
                here, there = lines.of(tensors[:count]), Lines(tuple(tensors[count:]))
                digits = outside_of_bodies(
                    inner, lambda s: _pair_of_digits(s, run[0], place, first)
                )
                largest: list[SSAValue] = []
                for number, _ in digits:
                    counts, most = self._sum(inner, counts, number)
                    largest.append(most)
                moved = outside_of_bodies(inner, lambda s: self._moved(s, largest, length))
                for digit in digits:
                    there, counts = self._move(inner, run[0], digit, here, there, counts, moved)
                    here, there = there, here
                return [counts, *here.tensors, *there.tensors]

            carried = counted_loop(builder, len(run) // 2, 1, carried, pair)
            first += len(run)
        counts, *tensors = carried
        return [*tensors, counts]

    def _add_to_count(
        self, s: ScalarBuilder, counts: SSAValue, number: SSAValue, value: SSAValue
    ) -> tuple[SSAValue, SSAValue]:
        """The count of a digit's value before, and the counts with one more."""
        where = number, value
        before = s.emit(tensor.ExtractOp, (counts, *where), self.counts_type.element_type)
        after = s.integers(arith.AddiOp, before, 1)
        return before, s.emit(tensor.InsertOp, (after, counts, *where), counts.type)

    def count(
        self, builder: ConversionBuilder, source: Lines, counts: SSAValue, length: SSAValue
    ) -> SSAValue:
        """How often each digit has each value, in the memory of `counts`."""
        zero = constant(builder, 0, self.counts_type.element_type)
        counts = fill_into(builder, zero, counts)

        def step(s: ScalarBuilder, _elements: Values, values: Values, carried: Values) -> Values:
            (counts,) = carried
            keys = [value for run, value in zip(self.runs, values, strict=True) for _ in run]
            for number, (digit, key) in enumerate(zip(self.digits, keys, strict=True)):
                value = digit.value(s, key)
                _, counts = self._add_to_count(s, counts, s.constant(number, INDEX), value)
            return (counts,)

        keys = [run[0].key for run in self.runs]
        return self._loop(builder, source, length, keys, (counts,), step)[0]

    def _moved(self, s: ScalarBuilder, largest: Values, length: SSAValue) -> SSAValue:
        """How many elements digits with these largest counts move: none if all have the same."""
        both: SSAValue = s.constant(True, i1)
        for count in largest:
            both = s.both(both, s.compare("eq", s.emit(IndexCastUIOp, (count,), INDEX), length))
        return s.select(both, s.constant(0, INDEX), length)

    def _sum(
        self, builder: ConversionBuilder, counts: SSAValue, number: SSAValue
    ) -> tuple[SSAValue, SSAValue]:
        """For each value of a digit, how many elements have a lower one; the largest count."""
        number_type = self.counts_type.element_type

        def add(s: ScalarBuilder, value: SSAValue, carried: Values) -> Values:
            counts, total, largest = carried
            count = s.emit(tensor.ExtractOp, (counts, number, value), number_type)
            counts = s.emit(tensor.InsertOp, (total, counts, number, value), counts.type)
            total = s.emit(arith.AddiOp, (total, count))
            return counts, total, s.emit(arith.MaxUIOp, (largest, count))

        zero, values = constant(builder, 0, number_type), self.counts_type.get_shape()[1]
        carried = counts, zero, zero
        counts, _, largest = counted_loop(builder, values, 1, carried, on_scalars(add))
        return counts, largest

    def _move(
        self,
        builder: ConversionBuilder,
        lowest: Digit,
        digit: tuple[SSAValue, SSAValue],
        source: Lines,
        target: Lines,
        counts: SSAValue,
        length: SSAValue,
    ) -> tuple[Lines, SSAValue]:
        """The elements up to a length moved to where a digit sends them."""
        number, shift = digit

        def step(s: ScalarBuilder, elements: Values, values: Values, carried: Values) -> Values:
            counts, *tensors = carried
            value = lowest.value(s, values[0], shift)
            there, counts = self._add_to_count(s, counts, number, value)
            position = s.emit(IndexCastUIOp, (there,), INDEX)
            return [counts, *target.of(tensors).write(s, position, elements).tensors]

        carried = counts, *target.tensors
        counts, *tensors = self._loop(builder, source, length, [lowest.key], carried, step)
        return target.of(tensors), counts

    def _loop(
        self,
        builder: ConversionBuilder,
        source: Lines,
        length: SSAValue,
        keys: Sequence[IntegerKey],
        carried: Values,
        step: Step,
    ) -> Values:
        """A loop over the elements up to a length and the values of keys."""
        zero, one = (constant(builder, bound, INDEX) for bound in (0, 1))
        if not self.has_chunks:

            def turn(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
                elements = source.read(s, place)
                return step(s, elements, [key.make(s, elements) for key in keys], carried)

            return loop(builder, (zero, length, one), carried, on_scalars(turn))

        def chunk(inner: ConversionBuilder, start: SSAValue, carried: Values) -> Values:
            def ends(s: ScalarBuilder) -> tuple[SSAValue, SSAValue]:
                end = s.integers(arith.AddiOp, start, CHUNK)
                return (
                    s.integers(arith.MinUIOp, start, self.longest - CHUNK),
                    s.emit(arith.MinUIOp, (end, length)),
                )

            # The last chunk begins earlier: all are of one size.
            base, end = outside_of_bodies(inner, ends)
            values = generic(
                inner,
                [(part, identity(1)) for part in source.parts(inner, base, CHUNK)],
                [
                    (empty(inner, TensorType(IntegerType(key.width), (CHUNK,))), identity(1))
                    for key in keys
                ],
                iterators(1),
                lambda s, e: [key.make(s, e[: len(source.tensors)]) for key in keys],
            )

            def turn(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
                at = s.emit(arith.SubiOp, (place, base))
                return step(s, source.read(s, place), Lines(tuple(values)).read(s, at), carried)

            return loop(inner, (start, end, one), carried, on_scalars(turn))

        return loop(builder, (zero, length, constant(builder, CHUNK, INDEX)), carried, chunk)


MERGE_COST, MOVE_COST, COUNT_COST = 10, 3, 1
"""Relative times: of a merge and of a move by a digit, per element; and per value of a digit."""


NANOSECONDS = 0.5
"""The time for a cost of 1."""


PairOfDigits: TypeAlias = "Sequence[tuple[SSAValue, SSAValue]]"
"""Of each its number among all digits, and its shift."""


def _pair_of_digits(s: ScalarBuilder, lowest: Digit, pair: SSAValue, first: int) -> PairOfDigits:
    """A pair of digits of a key whose lowest digit is the `first` of all."""
    own = s.integers(arith.MuliOp, pair, 2)
    both = own, s.integers(arith.AddiOp, own, 1)
    return [
        (
            s.integers(arith.AddiOp, number, first),
            s.emit(IndexCastUIOp, (s.integers(arith.MuliOp, number, lowest.bits),), lowest.integer),
        )
        for number in both
    ]


def moved_last(builder: ConversionBuilder, value: SSAValue, dimension: int) -> SSAValue:
    """The transpose in which a dimension is the last."""
    rank = len(tensor_shape(value))
    order = (*range(dimension), *range(dimension + 1, rank), dimension)
    return _transposed(builder, value, order)


def moved_back(builder: ConversionBuilder, value: SSAValue, dimension: int) -> SSAValue:
    rank = len(tensor_shape(value))
    return _transposed(builder, value, (*range(dimension), rank - 1, *range(dimension, rank - 1)))


def _transposed(builder: ConversionBuilder, value: SSAValue, order: tuple[int, ...]) -> SSAValue:
    if order == tuple(range(len(order))):
        return value
    sizes = tensor_shape(value)
    type_ = array(array_type(value).element_type, [sizes[d] for d in order])
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    source = projection(len(order), inverse)
    return pointwise(builder, ((value, source),), type_, first)


def sorted_lines(builder: ConversionBuilder, values: Values, order: SortOrder) -> Values:
    """The rows of tensors of rank 2, at least one, each sorted in the same way."""
    rows, length = tensor_shape(values[0])
    merge = MergeSort(order.before, length)
    if order.keys is None:
        return _one_by_one(merge, builder, values)
    sorter = min(RadixSort.by(order.keys, length), merge, key=lambda each: each.cost)
    network = SortingNetwork.of(order.keys, values)
    if not network.is_faster(rows, sorter.cost * NANOSECONDS):
        return _one_by_one(sorter, builder, values)
    results = [empty(builder, array_type(value)) for value in values]
    return network.sort(builder, values, results)


def _one_by_one(
    sorter: MergeSort | RadixSort, builder: ConversionBuilder, values: Values
) -> Values:
    """The rows of tensors of rank 2 in order, each in its place."""
    memory: list[Array] = [*map(_line_type, values)]
    if isinstance(sorter, RadixSort):
        memory.append(sorter.counts_type)
    count = len(values)

    def turn(inner: ConversionBuilder, row: SSAValue, carried: Values) -> Values:
        return sorter.sort(inner, Lines(tuple(carried[:count]), (row,)), carried[count:])

    nanoseconds = sorter.cost * NANOSECONDS
    return shared_loop(builder, tensor_shape(values[0])[0], 1, nanoseconds, values, memory, turn)


def _line_type(value: SSAValue) -> Array:
    type_ = array_type(value)
    return TensorType(type_.element_type, type_.get_shape()[1:])
