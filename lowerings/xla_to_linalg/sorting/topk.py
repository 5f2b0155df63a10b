"""
Top-k: the first entries of a line in order, without sorting all of it.

The first digit of all keys is counted: that tells which of its values the first k entries have. The
elements with such a digit are collected, in their order, and only those are sorted.

Where lines have many blocks of elements for each of the k, only the first key of each block is
counted, which bounds the digit as well, and only blocks with such a digit are looked through. The
first keys of blocks are a reduction, which runs in vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isqrt, prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerType, TensorType, i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.sorting.sort import (
    NANOSECONDS,
    Digit,
    RadixSort,
    digits_of,
    radix_cost,
)
from lowerings.xla_to_linalg.sorting.sort_order import IntegerKey, Lines, element_key
from lowerings.xla_to_linalg.structured import (
    affine_map,
    constant,
    counted_loop,
    empty,
    fill,
    fill_into,
    generic,
    iterators,
    loop,
    on_scalars,
    outside_of_bodies,
    projection,
    shared_loop,
    sizes_of,
)
from lowerings.xla_to_linalg.windows import shape_operands
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.types import is_array

Step = Callable[[ScalarBuilder, SSAValue, Values], Values]

FIRST_DIGIT_BITS = 8
LONG_LINE, BITS_IN_LONG_LINES = 1 << 14, 11
"""From this length on, a longer first digit leaves less to sort than it costs."""
LONG_LINE_OF_BLOCKS, BITS_IN_BLOCKS = 1 << 11, 10
"""And from this one, where with a shorter one too many blocks would be looked through."""

LEAST_BLOCK, MOST_BLOCK = 16, 64
"""The elements of a block: a vector, up to a few."""
BLOCKS_OF_ENTRY = 2
"""From so many blocks for each of the first entries on, their keys tell enough."""


@dataclass(frozen=True)
class TopK:
    """The first `count` entries of lines of a length."""

    first: Digit
    radix: RadixSort
    length: int
    count: int
    block: int
    """The elements of a block; 0 where all are counted."""

    @property
    def blocks(self) -> int:
        """How many whole blocks a line has."""
        return self.length // self.block if self.block else 0

    @property
    def first_of_block(self) -> Digit:
        """The first digit of the key of a block."""
        return replace(self.first, key=IntegerKey(self.first.key.width, lambda _, keys: keys[0]))

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
        read = self.blocks + self.block * self.count if self.block else self.length
        return NANOSECONDS * (found + radix_cost((self.first,), read))

    def block_keys(self, builder: ConversionBuilder, operand: SSAValue) -> SSAValue:
        """The least key of each whole block of each line."""
        rows, _ = sizes_of(operand)
        key_type = IntegerType(self.first.key.width)
        largest = constant(builder, -1, key_type)
        line, number, place = map(AffineExpr.dimension, range(3))
        reads = affine_map(3, (line, number * self.block + place))

        def body(s: ScalarBuilder, elements: Values) -> Values:
            element, _, least = elements
            return (s.emit(arith.MinUIOp, (least, self.first.key.make(s, (element,)))),)

        keys = fill(builder, largest, TensorType(key_type, (rows, self.blocks)))
        inputs = (operand, reads), *shape_operands(builder, (self.block,), (2,), 3)
        outputs = ((keys, projection(3, (0, 1))),)
        return generic(builder, inputs, outputs, iterators(2, 1), body)[0]

    def select(
        self,
        builder: ConversionBuilder,
        row: SSAValue,
        operand: SSAValue,
        keys: SSAValue | None,
        carried: Values,
    ) -> Values:
        """
        One line's results in place; `keys` are those of blocks, if there are any.

        `carried` are the results, candidates, scratch memory, the sorted candidates if they have
        memory of their own, and the counts of both kinds of digits.
        """
        results, (candidates, scratch, *others) = (
            carried[:2],
            [Lines(tuple(carried[n : n + 2])) for n in range(2, len(carried) - 2, 2)],
        )
        counts, first_counts = carried[-2:]
        line = Lines((operand,), (row,))
        blocks = None if keys is None else Lines((keys,), (row,))
        if blocks is None:
            first_counts = self._counted(builder, line, self.first, self.length, first_counts)
        else:
            digit = self.first_of_block
            first_counts = self._counted(builder, blocks, digit, self.blocks, first_counts)
        last_value = self._last_value(builder, first_counts)
        found, candidates = self._collected(builder, line, blocks, last_value, candidates)
        target = others[0] if others else candidates
        ordered, scratch, counts = self.radix.sort(
            builder, (candidates, target, scratch), counts, found
        )
        results = self._written(builder, ordered, Lines(tuple(results), (row,)))
        memory = [candidates, scratch, ordered] if others else [ordered, scratch]
        tensors = [value for lines in memory for value in lines.tensors]
        return [*results, *tensors, counts, first_counts]

    def _loop(self, builder: ConversionBuilder, count: int, carried: Values, step: Step) -> Values:
        bounds = [constant(builder, bound, INDEX) for bound in (0, count, 1)]
        return loop(builder, bounds, carried, on_scalars(step))

    def _counted(
        self,
        builder: ConversionBuilder,
        line: Lines,
        digit_of: Digit,
        length: int,
        counts: SSAValue,
    ) -> SSAValue:
        """How often a digit has each value."""
        number_type = self.counts_type.element_type

        def step(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
            (counts,) = carried
            digit = digit_of.value(s, line.read(s, place))
            count = s.emit(tensor.ExtractOp, (counts, digit), number_type)
            count = s.integers(arith.AddiOp, count, 1)
            return (s.emit(tensor.InsertOp, (count, counts, digit), counts.type),)

        counts = fill_into(builder, constant(builder, 0, number_type), counts)
        return self._loop(builder, length, (counts,), step)[0]

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
        self,
        builder: ConversionBuilder,
        line: Lines,
        blocks: Lines | None,
        last_value: SSAValue,
        candidates: Lines,
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

        def look_through(inner: ConversionBuilder, number: SSAValue, carried: Values) -> Values:
            def bounds(s: ScalarBuilder) -> Values:
                assert blocks is not None
                start = s.integers(arith.MuliOp, number, self.block)
                digit = self.first_of_block.value(s, blocks.read(s, number))
                counts = s.compare("ule", digit, last_value)
                end = s.integers(arith.AddiOp, start, self.block)
                return start, s.select(counts, end, start), s.constant(1, INDEX)

            return loop(inner, outside_of_bodies(inner, bounds), carried, on_scalars(step))

        carried: Values = (constant(builder, 0, INDEX), *candidates.tensors)
        if blocks is not None:
            carried = counted_loop(builder, self.blocks, 1, carried, look_through)
        seen = self.blocks * self.block
        if seen < self.length:
            bounds = [constant(builder, bound, INDEX) for bound in (seen, self.length, 1)]
            carried = loop(builder, bounds, carried, on_scalars(step))
        found, *tensors = carried
        return found, candidates.of(tensors)

    def _written(self, builder: ConversionBuilder, ordered: Lines, results: Lines) -> Values:
        def step(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
            return results.of(carried).write(s, place, ordered.read(s, place)).tensors

        return self._loop(builder, self.count, results.tensors, step)


def block_size(length: int, count: int) -> int:
    """
    The size of the blocks of lines; 0 where there would be too few of them.

    With the root of `length / count` it takes as long to go through the blocks as through what is
    in those that hold the first entries.
    """
    size = 1 << (isqrt(length // max(1, count)).bit_length() - 1) if length else 0
    size = min(max(size, LEAST_BLOCK), MOST_BLOCK)
    return size if length // size >= BLOCKS_OF_ENTRY * max(1, count) else 0


def first_digit_bits(length: int, block: int) -> int:
    """The length of the first digit, in lines of a length with blocks of a size or without."""
    if length >= LONG_LINE:
        return BITS_IN_LONG_LINES
    return BITS_IN_BLOCKS if block and length >= LONG_LINE_OF_BLOCKS else FIRST_DIGIT_BITS


def convert_topk(op: TopkOp, builder: ConversionBuilder) -> str | None:
    """A loop over the lines."""
    if not all(is_array(t) for t in op.result_types):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    sizes, element_type = sizes_of(op.operand), elements_of(op.operand)
    rows, length, count = prod(sizes[:-1]), sizes[-1], op.k.value.data
    operand = reshape(op.operand, (rows, length), builder.op)
    key = element_key(element_type, 0, is_descending=bool(op.largest.value.data))
    block = block_size(length, count) if key.width >= LEAST_BLOCK else 0
    bits = min(first_digit_bits(length, block), key.width)
    topk = TopK(
        Digit(key, key.width - bits, bits),
        RadixSort(tuple(digits_of((key,))), length),
        length,
        count,
        block,
    )
    keys = topk.block_keys(builder, operand) if topk.block else None
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
        lambda inner, row, carried: topk.select(inner, row, operand, keys, carried),
    )
    builder.replace(
        [
            reshape(value, sizes_of(result), builder.op)
            for value, result in zip(found, op.results, strict=True)
        ]
    )
    return None
