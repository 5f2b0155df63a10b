"""
Top-k: the first entries of a line in order, without sorting all of it; and sorts of which only the
first entries are used.

The first digit of all keys is counted: that tells which of its values the first k entries have. The
elements with such a digit are collected, in their order. When their memory is full they are sorted,
the first k stay, and only elements that come before the last of these are collected from then on:
so many equal elements cost no more than others.

Where lines have many blocks of elements for each of the k, only the first key of each block is
counted, which bounds the digit as well, and only blocks with a key that is wanted are looked
through. The first keys of blocks are a reduction, which runs in vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isqrt, prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerType, TensorType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.dialects.arith_extension import IndexCastUIOp
from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.sorting.network import SortingNetwork
from lowerings.xla_to_linalg.sorting.sort import (
    NANOSECONDS,
    Digit,
    RadixSort,
    moved_back,
    moved_last,
    sorted_lines,
)
from lowerings.xla_to_linalg.sorting.sort_order import IntegerKey, Lines, SortOrder, element_key
from lowerings.xla_to_linalg.structured import (
    affine_map,
    array_type,
    constant,
    counted_loop,
    empty,
    extract_slice,
    fill,
    generic,
    iterators,
    loop,
    on_scalars,
    optional_loop,
    outside_of_bodies,
    pointwise,
    projection,
    shared_loop,
)
from lowerings.xla_to_linalg.windows import shape_operands
from xla_dialect.op import decode
from xla_dialect.ops.data_movement import SliceOp
from xla_dialect.ops.sorting import SortOp, TopkOp
from xla_dialect.types import Array, is_array
from xla_dialect.xdsl.traversal import tensor_shape

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
ROOM = 512
"""How many elements are collected, beside twice the first ones, before they are sorted."""

LINE_NANOSECONDS = 1000
"""What it takes to count the first digits of a line, however short, and to read the counts."""


@dataclass(frozen=True)
class FirstEntries:
    """The first `count` entries of lines of a length, at least one, in the order of keys."""

    first: Digit
    radix: RadixSort
    length: int
    count: int
    block: int
    """The elements of a block; 0 where all are counted."""
    is_only_key: bool
    """Whether elements with equal first keys are equal."""
    has_places: bool
    """Whether the place of an element in its line is collected with it, as an i32."""

    @staticmethod
    def of(
        keys: Sequence[IntegerKey], length: int, count: int, *, has_places: bool
    ) -> FirstEntries:
        """How the first entries are found by keys that decide first, second, ..."""
        key = keys[0]
        block = block_size(length, count) if key.width >= LEAST_BLOCK else 0
        bits = min(first_digit_bits(length, block), key.width)
        room = min(length, 2 * count + ROOM)
        return FirstEntries(
            Digit(key, key.width - bits, bits),
            RadixSort.by(keys, room),
            length,
            count,
            block,
            len(keys) == 1,
            has_places,
        )

    @property
    def blocks(self) -> int:
        """How many whole blocks a line has."""
        return self.length // self.block if self.block else 0

    @property
    def chunk(self) -> int:
        """How many elements are looked through at once."""
        return self.block or MOST_BLOCK

    @property
    def room(self) -> int:
        """How many elements may be collected."""
        return self.radix.longest

    @property
    def key_type(self) -> IntegerType:
        """The type of the first key."""
        return IntegerType(self.first.key.width)

    @property
    def first_of_block(self) -> Digit:
        """The first digit of the key of a block."""
        return replace(self.first, key=IntegerKey(self.first.key.width, lambda _, keys: keys[0]))

    @property
    def counter(self) -> RadixSort:
        """What counts the first digit's values."""
        digit = self.first_of_block if self.block else self.first
        return RadixSort(((digit,),), self.length)

    @property
    def nanoseconds(self) -> float:
        """Time for a line, assuming that about `count` elements have to be sorted."""
        found = replace(self.radix, longest=self.count).cost
        read = self.blocks + self.block * self.count if self.block else self.length
        return NANOSECONDS * (found + replace(self.counter, longest=read).cost)

    def of_rows(
        self, builder: ConversionBuilder, operands: Values, results: Sequence[SSAValue]
    ) -> Values:
        """The results, of rank 2, with the first entries of the operands' rows in their rows."""
        keys = self._block_keys(builder, operands) if self.block else None
        elements: list[Attribute] = [elements_of(value) for value in results]
        memory: list[Array] = [TensorType(element, (self.room,)) for element in elements * 2]
        return shared_loop(
            builder,
            tensor_shape(operands[0])[0],
            1,
            self.nanoseconds,
            results,
            (*memory, self.radix.counts_type, self.counter.counts_type),
            lambda inner, row, carried: self._select(inner, row, operands, keys, carried),
        )

    def _block_keys(self, builder: ConversionBuilder, operands: Values) -> SSAValue:
        """The least key of each whole block of each line."""
        rows, _ = tensor_shape(operands[0])
        largest = constant(builder, -1, self.key_type)
        line, number, place = map(AffineExpr.dimension, range(3))
        reads = affine_map(3, (line, number * self.block + place))

        def body(s: ScalarBuilder, elements: Values) -> Values:
            *given, _, least = elements
            return (s.emit(arith.MinUIOp, (least, self.first.key.make(s, given))),)

        keys = fill(builder, largest, TensorType(self.key_type, (rows, self.blocks)))
        window = shape_operands(builder, (self.block,), (2,), 3)
        inputs = *((operand, reads) for operand in operands), *window
        outputs = ((keys, projection(3, (0, 1))),)
        return generic(builder, inputs, outputs, iterators(2, 1), body)[0]

    def _select(
        self,
        builder: ConversionBuilder,
        row: SSAValue,
        operands: Values,
        keys: SSAValue | None,
        carried: Values,
    ) -> Values:
        """
        One line's results in place; `keys` are those of blocks, if there are any.

        `carried` are the results, candidates, scratch memory, and the counts of both kinds of
        digits.
        """
        *tensors, counts, first_counts = carried
        size = len(tensors) // 3
        results, candidates, scratch = (tensors[n * size : (n + 1) * size] for n in range(3))
        line = Lines(tuple(operands), (row,))
        blocks = None if keys is None else Lines((keys,), (row,))
        length = constant(builder, self.blocks or self.length, INDEX)
        first_counts = self.counter.count(builder, blocks or line, first_counts, length)
        limit = self._limit(builder, first_counts)
        memory = *candidates, *scratch, counts
        memory = self._collected(builder, line, blocks, limit, memory)
        ordered = Lines(tuple(memory[:size]))
        results = self._written(builder, ordered, Lines(tuple(results), (row,)))
        return [*results, *memory, first_counts]

    def _loop(self, builder: ConversionBuilder, count: int, carried: Values, step: Step) -> Values:
        bounds = [constant(builder, bound, INDEX) for bound in (0, count, 1)]
        return loop(builder, bounds, carried, on_scalars(step))

    def _limit(self, builder: ConversionBuilder, counts: SSAValue) -> SSAValue:
        """
        The largest key whose first digit is the least value up to which digits occur `count` times:
        as many values are less as are too small.
        """
        number_type = self.counter.counts_type.element_type

        def step(s: ScalarBuilder, value: SSAValue, carried: Values) -> Values:
            total, last = carried
            where = s.constant(0, INDEX), value
            count = s.emit(tensor.ExtractOp, (counts, *where), number_type)
            total = s.emit(arith.AddiOp, (total, count))
            lacks = s.to_index(s.compare("ult", total, self.count), signed=False)
            return total, s.emit(arith.AddiOp, (last, lacks))

        starts = constant(builder, 0, number_type), constant(builder, 0, INDEX)
        last = self._loop(builder, 1 << self.first.bits, starts, step)[1]

        def largest(s: ScalarBuilder) -> SSAValue:
            key = s.emit(IndexCastUIOp, (last,), self.key_type)
            if not self.first.shift:
                return key
            key = s.integers(arith.ShLIOp, key, self.first.shift)
            return s.integers(arith.OrIOp, key, (1 << self.first.shift) - 1)

        return outside_of_bodies(builder, largest)

    def _collected(
        self,
        builder: ConversionBuilder,
        line: Lines,
        blocks: Lines | None,
        limit: SSAValue,
        memory: Values,
    ) -> Values:
        """Candidates, with the first entries in order at their start, scratch memory, counts."""
        chunks = -(-self.length // self.chunk)
        size = len(memory) // 2

        def step(s: ScalarBuilder, place: SSAValue, carried: Values, limit: SSAValue) -> Values:
            found, *tensors = carried
            elements = line.read(s, place)
            wanted = s.compare("ule", self.first.key.make(s, elements), limit)
            if self.has_places:
                elements = [*elements, s.emit(arith.IndexCastOp, (place,), i32)]
            # Written unconditionally; the next element overwrites it unless `found` advances.
            written = Lines(tuple(tensors)).write(s, found, elements)
            found = s.emit(arith.AddiOp, (found, s.to_index(wanted, signed=False)))
            return [found, *written.tensors]

        def ends(s: ScalarBuilder, number: SSAValue, limit: SSAValue) -> Values:
            start = s.integers(arith.MuliOp, number, self.chunk)
            end = s.integers(arith.AddiOp, start, self.chunk)
            end = s.integers(arith.MinUIOp, end, self.length)
            if blocks is not None:
                known = s.integers(arith.MinUIOp, number, self.blocks - 1)
                wanted = s.compare("ule", blocks.read(s, known)[0], limit)
                wanted = s.either(wanted, s.compare("uge", number, self.blocks))
                end = s.select(wanted, end, start)
            return start, end, s.constant(1, INDEX)

        def look_through(inner: ConversionBuilder, number: SSAValue, carried: Values) -> Values:
            limit, found, *tensors = carried
            bounds = outside_of_bodies(inner, lambda s: ends(s, number, limit))
            body = on_scalars(lambda s, place, carried: step(s, place, carried, limit))
            found, *candidates = loop(inner, bounds, (found, *tensors[:size]), body)

            def is_full(s: ScalarBuilder) -> SSAValue:
                full = s.compare("ugt", found, self.room - self.chunk)
                return s.either(full, s.compare("eq", number, chunks - 1))

            condition = outside_of_bodies(inner, is_full)
            kept = limit, found, *candidates, *tensors[size:]
            return optional_loop(inner, condition, kept, self._sorted)

        carried = limit, constant(builder, 0, INDEX), *memory
        return counted_loop(builder, chunks, 1, carried, look_through)[2:]

    def _sorted(self, builder: ConversionBuilder, carried: Values) -> Values:
        """What was collected in order, the first of it kept, and the limit of what is to come."""
        limit, found, *memory = carried
        size = len(memory) // 2
        memory = self.radix.sort(builder, Lines(tuple(memory[:size])), memory[size:], found)
        ordered = Lines(tuple(memory[:size]))

        def kept(s: ScalarBuilder) -> Values:
            last = self.first.key.make(s, ordered.read(s, s.constant(self.count - 1, INDEX)))
            if self.is_only_key:
                # Of equal elements the first are wanted. A limit that wraps round lets all pass.
                last = s.integers(arith.SubiOp, last, 1)
            enough = s.compare("uge", found, self.count)
            return s.select(enough, last, limit), s.integers(arith.MinUIOp, found, self.count)

        state = outside_of_bodies(builder, kept)
        return [*state, *memory]

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


FIRST_OF_LINE = 4
"""Up to one of so many elements, finding the first is quicker than sorting all."""


def used_entries(op: SortOp) -> int:
    """How many of the first elements of its lines are used of a sort."""
    dimension = op.dimension.value.data
    length, count = tensor_shape(op.inputs[0])[dimension], 0
    for result in op.results:
        for use in result.uses:
            taken = use.operation
            if not isinstance(taken, SliceOp) or decode(taken.strides)[dimension] != 1:
                return length
            count = max(count, decode(taken.limit_indices)[dimension])
    return count


def sorted_or_first(
    builder: ConversionBuilder, values: Values, order: SortOrder, count: int
) -> Values:
    """The rows of tensors of rank 2, sorted; nothing behind the first `count` entries is used."""
    length = tensor_shape(values[0])[1]
    if order.keys is None or not 0 < count <= length // FIRST_OF_LINE:
        return sorted_lines(builder, values, order)
    entries = FirstEntries.of(order.keys, length, count, has_places=False)
    results = [empty(builder, array_type(value)) for value in values]
    return entries.of_rows(builder, values, results)


def convert_sort(op: SortOp, builder: ConversionBuilder) -> str | None:
    """A loop over the lines, each of which is sorted."""
    if not all(is_array(t) for t in op.result_types):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    dimension = op.dimension.value.data
    length = tensor_shape(op.inputs[0])[dimension]
    if length < 2:
        builder.replace(op.inputs)
        return None
    moved = [moved_last(builder, value, dimension) for value in op.inputs]
    sizes = tensor_shape(moved[0])
    rows = prod(sizes[:-1])
    flat = [reshape(value, (rows, length), builder.op) for value in moved]
    ordered = sorted_or_first(builder, flat, SortOrder.of(op), used_entries(op))
    found = [reshape(value, sizes, builder.op) for value in ordered]
    builder.replace([moved_back(builder, value, dimension) for value in found])
    return None


def _place_in_line(s: ScalarBuilder, _elements: Values) -> Values:
    return (s.emit(arith.IndexCastOp, (s.index(1),), i32),)


def convert_topk(op: TopkOp, builder: ConversionBuilder) -> str | None:
    """Many short lines are sorted side by side; else a loop over the lines."""
    if not all(is_array(t) for t in op.result_types):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    sizes, element_type = tensor_shape(op.operand), elements_of(op.operand)
    rows, length, count = prod(sizes[:-1]), sizes[-1], op.k.value.data
    found = [empty(builder, TensorType(type_, (rows, count))) for type_ in (element_type, i32)]
    if count:
        operand = reshape(op.operand, (rows, length), builder.op)
        key = element_key(element_type, 0, is_descending=bool(op.largest.value.data))
        network = SortingNetwork.of((key,), (operand, found[1]))
        if network.is_faster(rows, LINE_NANOSECONDS):
            places = pointwise(builder, (), TensorType(i32, (rows, length)), _place_in_line)
            ordered = sorted_lines(builder, (operand, places), SortOrder.by_keys((key,)))
            found = [
                extract_slice(builder, line, (0, 0), (rows, count), (1, 1)) for line in ordered
            ]
        else:
            entries = FirstEntries.of((key,), length, count, has_places=True)
            found = entries.of_rows(builder, (operand,), found)
    builder.replace(
        [
            reshape(value, tensor_shape(result), builder.op)
            for value, result in zip(found, op.results, strict=True)
        ]
    )
    return None
