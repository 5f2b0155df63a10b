"""
Top-k: the first entries of a line in order, without sorting all of it.

The first digit of all keys is counted: that tells which of its values the first k entries have. The
elements with such a digit are collected, in their order, and only those are sorted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerType, TensorType, i32
from xdsl.ir import SSAValue

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.counted_loops import loop, shared_loop
from lowerings.xla_to_linalg.lines import Lines
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.sorting.radix_sort import Digit, RadixSort, digits_of
from lowerings.xla_to_linalg.sorting.sort import NANOSECONDS, radix_cost
from lowerings.xla_to_linalg.sorting.sort_order import element_key
from lowerings.xla_to_linalg.structured import (
    constant,
    empty,
    fill_into,
    outside_of_bodies,
    sizes_of,
)
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.types import is_array

Step = Callable[[ScalarBuilder, SSAValue, Values], Values]

LONG_LINE = 1 << 14
"""From this length on, a longer first digit leaves less to sort than it costs."""
FIRST_DIGIT_BITS = {False: 8, True: 11}
"""The first digit's length in short and in long lines."""


@dataclass(frozen=True)
class TopK:
    """The first `count` entries of lines of a length."""

    first: Digit
    radix: RadixSort
    length: int
    count: int

    @property
    def counts_type(self) -> TensorType[IntegerType]:
        """The counts of the first digit's values."""
        return TensorType(self.radix.counts_type.element_type, (1 << self.first.bits,))

    @property
    def ends_where_it_starts(self) -> bool:
        """Whether the sort moves elements an even number of times, and so ends in its source."""
        return len(self.radix.digits) % 2 == 0

    @property
    def nanoseconds(self) -> float:
        """Time for a line, assuming that about `count` elements have to be sorted."""
        found = radix_cost(self.radix.digits, self.count)
        return NANOSECONDS * (found + radix_cost((self.first,), self.length))

    def select(
        self, builder: ConversionBuilder, row: SSAValue, operand: SSAValue, carried: Values
    ) -> Values:
        """
        One line's results in place.

        `carried` are the results, candidates, scratch memory, the sorted candidates if they have
        memory of their own, and the counts of both kinds of digits.
        """
        results, (candidates, scratch, *others) = (
            carried[:2],
            [Lines(tuple(carried[n : n + 2])) for n in range(2, len(carried) - 2, 2)],
        )
        counts, first_counts = carried[-2:]
        line = Lines((operand,), (row,))
        first_counts = self._counted(builder, line, first_counts)
        last_value = self._last_value(builder, first_counts)
        found, candidates = self._collected(builder, line, last_value, candidates)
        target = others[0] if others else candidates
        ordered, scratch, counts = self.radix.sort(
            builder, (candidates, target, scratch), counts, found
        )
        results = self._written(builder, ordered, Lines(tuple(results), (row,)))
        memory = [candidates, scratch, ordered] if others else [ordered, scratch]
        tensors = [value for lines in memory for value in lines.tensors]
        return [*results, *tensors, counts, first_counts]

    def _loop(self, builder: ConversionBuilder, count: int, carried: Values, step: Step) -> Values:
        def turn(inner: ConversionBuilder, place: SSAValue, values: Values) -> Values:
            return outside_of_bodies(inner, lambda s: step(s, place, values))

        bounds = [constant(builder, bound, INDEX) for bound in (0, count, 1)]
        return loop(builder, bounds, carried, turn)

    def _counted(self, builder: ConversionBuilder, line: Lines, counts: SSAValue) -> SSAValue:
        """How often the first digit has each value."""
        number_type = self.counts_type.element_type

        def step(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
            (counts,) = carried
            digit = self.first.value(s, line.read(s, place))
            count = s.emit(tensor.ExtractOp, (counts, digit), number_type)
            count = s.integers(arith.AddiOp, count, 1)
            return (s.emit(tensor.InsertOp, (count, counts, digit), counts.type),)

        counts = fill_into(builder, constant(builder, 0, number_type), counts)
        return self._loop(builder, self.length, (counts,), step)[0]

    def _last_value(self, builder: ConversionBuilder, counts: SSAValue) -> SSAValue:
        """The least value up to which digits occur `count` times: how many values are too small."""
        number_type = self.counts_type.element_type

        def step(s: ScalarBuilder, value: SSAValue, carried: Values) -> Values:
            total, last = carried
            count = s.emit(tensor.ExtractOp, (counts, value), number_type)
            total = s.emit(arith.AddiOp, (total, count))
            lacks = s.to_index(s.compare("ult", total, self.count), signed=False)
            return total, s.emit(arith.AddiOp, (last, lacks))

        starts = constant(builder, 0, number_type), constant(builder, 0, INDEX)
        return self._loop(builder, 1 << self.first.bits, starts, step)[1]

    def _collected(
        self, builder: ConversionBuilder, line: Lines, last_value: SSAValue, candidates: Lines
    ) -> tuple[SSAValue, Lines]:
        """How many elements have a first digit up to a value; they and their indices."""

        def step(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
            found, *tensors = carried
            elements = line.read(s, place)
            number = s.emit(arith.IndexCastOp, (place,), i32)
            # Written unconditionally; the next element overwrites it unless `found` advances.
            written = candidates.of(tensors).write(s, found, (*elements, number))
            counts = s.compare("ule", self.first.value(s, elements), last_value)
            found = s.emit(arith.AddiOp, (found, s.to_index(counts, signed=False)))
            return [found, *written.tensors]

        starts = constant(builder, 0, INDEX), *candidates.tensors
        found, *tensors = self._loop(builder, self.length, starts, step)
        return found, candidates.of(tensors)

    def _written(self, builder: ConversionBuilder, ordered: Lines, results: Lines) -> Values:
        def step(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
            return results.of(carried).write(s, place, ordered.read(s, place)).tensors

        return self._loop(builder, self.count, results.tensors, step)


def convert_topk(op: TopkOp, builder: ConversionBuilder) -> str | None:
    """A loop over the lines."""
    if not all(is_array(t) for t in op.result_types):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    sizes, element_type = sizes_of(op.operand), elements_of(op.operand)
    rows, length, count = prod(sizes[:-1]), sizes[-1], op.k.value.data
    operand = reshape(op.operand, (rows, length), builder.op)
    key = element_key(element_type, 0, is_descending=bool(op.largest.value.data))
    bits = min(FIRST_DIGIT_BITS[length >= LONG_LINE], key.width)
    topk = TopK(
        Digit(key, key.width - bits, bits),
        RadixSort(tuple(digits_of((key,))), length),
        length,
        count,
    )
    copies = 2 if topk.ends_where_it_starts else 3
    line_types = [TensorType(element_type, (length,)), TensorType(i32, (length,))]
    result_types = [TensorType(t.element_type, (rows, count)) for t in line_types]
    found = shared_loop(
        builder,
        rows,
        1,
        topk.nanoseconds,
        [empty(builder, type_) for type_ in result_types],
        (*line_types * copies, topk.radix.counts_type, topk.counts_type),
        lambda inner, row, carried: topk.select(inner, row, operand, carried),
    )
    builder.replace(
        [
            reshape(value, sizes_of(result), builder.op)
            for value, result in zip(found, op.results, strict=True)
        ]
    )
    return None
