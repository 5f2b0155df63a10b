"""
Sorts many lines at once by a network, the lines in the lanes of vectors.

What is compared does not depend on the elements (K. Batcher, "Sorting networks and their
applications", 1968): sorted runs of one length are merged in pairs by comparing the first half of
both with the second half backwards, then halves of halves at ever smaller distances. A pass reads
sixteen elements of each line, does four such steps with them in registers, and writes them side by
side. A step that is done twice changes nothing, and one that compares whole runs leaves each in
order, so that all passes are the same code. Where their elements are is a table. Lines are filled
up to a power of two by what comes last.

A network does not keep the order of what is equal. Where the key of an element tells its bits,
that makes no difference. A comparator may take elements as equal that are not, zeros of both signs
for example: elements of lines with such ones are put where their keys are, in their order. In all
other cases the place of an element in its line is the last of its keys, which make one integer if
they fit; the elements are fetched when those are in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i32,
)
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.dialects.arith_extension import IndexCastUIOp
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values, storage
from lowerings.xla_to_linalg.shared_functions import shared_call
from lowerings.xla_to_linalg.sorting.sort_order import IntegerKey, Lines, SortOrder
from lowerings.xla_to_linalg.structured import (
    affine_map,
    array_type,
    constant,
    counted_loop,
    empty,
    extract_scalar,
    extract_slice,
    fill,
    fill_into,
    generic,
    identity,
    insert_slice,
    iterators,
    on_scalars,
    optional_loop,
    outside_of_bodies,
    projection,
    shared_loop,
)
from xla_dialect.types import BY_TYPE
from xla_dialect.xdsl.traversal import tensor_shape

STEPS = 4
TOGETHER = 1 << STEPS
"""The elements that a pass has in registers: as many as it takes steps for."""
LEAST_BITS, VECTOR_BITS = 8, 512
LONGEST = 1 << 13
"""The tables of longer lines are large, and what passes move leaves the cache."""
PASS_NANOSECONDS, END_NANOSECONDS = 0.6, 0.4
"""For a vector in each pass; for an element before and after all passes."""
LEAST_ELEMENTS = 1 << 16
"""Fewer are sorted so quickly anyway that it would not pay to compile more."""

Words = Sequence[SSAValue]
"""Unsigned integers in lexicographic order: the keys and the place of an element."""


@dataclass(frozen=True)
class SortingNetwork:
    """Sorts lines of this length by keys."""

    keys: tuple[IntegerKey, ...]
    length: int
    has_places: bool
    """Whether the place of an element in its line is its last key."""

    @staticmethod
    def of(keys: Sequence[IntegerKey], values: Values) -> SortingNetwork:
        """The network that sorts the rows of tensors."""
        bits = BY_TYPE[elements_of(values[0])].bits
        is_told = len(values) == len(keys) == 1 and keys[0].undo is not None
        return SortingNetwork(
            tuple(keys),
            tensor_shape(values[0])[1],
            not is_told or keys[0].width != bits or bits < LEAST_BITS,
        )

    @property
    def place_bits(self) -> int:
        """The bits of the number of an element in a line that is filled up."""
        return max(STEPS, (self.length - 1).bit_length())

    @property
    def padded(self) -> int:
        """The length of lines that are filled up."""
        return 1 << self.place_bits

    @property
    def word_types(self) -> list[IntegerType]:
        """Those of the words of an element: one if all fit."""
        if not self.has_places:
            return [IntegerType(self.keys[0].width)]
        bits = self.place_bits + sum(key.width for key in self.keys)
        if bits <= 64:
            return [IntegerType(32 if bits <= 32 else 64)]
        return [*(IntegerType(key.width) for key in self.keys), i32]

    @property
    def lanes(self) -> int:
        """How many lines fill a vector."""
        return VECTOR_BITS // max(type_.width.data for type_ in self.word_types)

    @cached_property
    def passes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """
        The places of the elements of each pass, `[passes, groups, 16]`, as the one before wrote
        them: an even number of passes.
        """
        number, r = np.arange(self.padded // TOGETHER)[:, None], np.arange(TOGETHER)
        written = number * TOGETHER + r
        is_upper = r >= TOGETHER // 2
        tables: list[np.ndarray[Any, Any]] = []
        where = np.arange(self.padded)
        for bits in range(1, STEPS):
            half = 1 << bits >> 1
            turned = np.where(r & half, r ^ (half - 1), r)
            tables.append(number * TOGETHER + turned)
        for bits in range(STEPS, self.place_bits + 1):
            for shift in range(bits - STEPS, -STEPS, -STEPS):
                is_first, shift = shift == bits - STEPS, max(shift, 0)
                low = number % (1 << shift)
                if is_first:
                    low = np.where(is_upper, (1 << shift) - 1 - low, low)
                base = (number >> shift << (shift + STEPS)) + low
                # Only the first step goes backwards: others read their second half so.
                turned = r if is_first else np.where(is_upper, r ^ (TOGETHER // 2 - 1), r)
                tables.append(where[base + (turned << shift)])
                where[base + (r << shift)] = written
        if len(tables) % 2:
            # Sixteen elements in order stay so.
            tables.append(written)
        return np.stack(tables)

    def nanoseconds(self, rows: int) -> float:
        """The time for each of some rows."""
        words = len(self.word_types)
        each = PASS_NANOSECONDS * words * words * len(self.passes) / min(rows, self.lanes)
        return self.padded * (each + END_NANOSECONDS * (1 + words * self.has_places))

    def is_faster(self, rows: int, nanoseconds: float) -> bool:
        """Whether so many rows are sorted in less time than each takes otherwise."""
        return (
            self.length <= LONGEST
            and rows * self.length >= LEAST_ELEMENTS
            and self.nanoseconds(rows) < nanoseconds
        )

    # On scalars

    def words(self, s: ScalarBuilder, elements: Values) -> list[SSAValue]:
        """The words of the elements at a place, which is the first index."""
        keys = [key.make(s, elements) for key in self.keys]
        if not self.has_places:
            return keys
        *others, last = self.word_types
        place = s.emit(arith.IndexCastOp, (s.index(0),), last)
        if others:
            return [*keys, place]
        shift = self.place_bits
        for key, value in zip(reversed(self.keys), reversed(keys), strict=True):
            wide = s.resize(value, last.width.data, signed=False)
            place = s.either(place, s.integers(arith.ShLIOp, wide, shift))
            shift += key.width
        return [place]

    def exchanged(self, s: ScalarBuilder, first: Words, second: Words) -> tuple[Words, Words]:
        """Two elements in order."""
        pairs = list(zip(first, second, strict=True))
        if len(pairs) == 1:
            return [s.emit(arith.MinUIOp, pairs[0])], [s.emit(arith.MaxUIOp, pairs[0])]
        swaps = SortOrder.by_keys(
            [
                IntegerKey(type_.width.data, lambda _, words, n=n: words[n])
                for n, type_ in enumerate(self.word_types)
            ]
        ).before(s, second, first)
        return (
            [s.select(swaps, b, a) for a, b in pairs],
            [s.select(swaps, a, b) for a, b in pairs],
        )

    def merged(self, s: ScalarBuilder, run: Sequence[Words], backwards: bool) -> list[Words]:
        """Two sorted runs of one length, the second of them backwards unless so compared."""
        half = len(run) // 2
        if not half:
            return list(run)
        others = run[: half - 1 : -1] if backwards else run[half:]
        pairs = [self.exchanged(s, a, b) for a, b in zip(run[:half], others, strict=True)]
        lower, upper = [a for a, _ in pairs], [b for _, b in pairs]
        upper = upper[::-1] if backwards else upper
        return [*self.merged(s, lower, False), *self.merged(s, upper, False)]

    # On tensors

    def sort(self, builder: ConversionBuilder, values: Values, results: Values) -> Values:
        """The rows of tensors of rank 2, each sorted in the same way, in the place of results."""
        rows, length = tensor_shape(values[0])
        lanes = min(rows, self.lanes)
        # Each sort has its own function: its name does not tell its order.
        name = f"sort_{len(builder.module.body.block.ops)}"

        def block(inner: ConversionBuilder, row: SSAValue | int, results: Values) -> Values:
            lines = [extract_slice(inner, v, (row, 0), (lanes, length)) for v in values]
            ordered = shared_call(inner, name, lines, self._sorted_lines)
            return [
                insert_slice(inner, found, result, (row, 0))
                for found, result in zip(ordered, results, strict=True)
            ]

        whole = rows // lanes * lanes
        results = shared_loop(builder, whole, lanes, self.nanoseconds(rows), results, (), block)
        # The last rows with some that are sorted already.
        return results if whole == rows else block(builder, rows - lanes, results)

    def _sorted_lines(self, builder: ConversionBuilder, lines: Values) -> Values:
        """Lines, one in each lane, in order."""
        words = self._passed(builder, self._begun(builder, lines))
        if self.has_places:
            return self._fetched(builder, words, lines)
        (key,), (line,), (word,) = self.keys, lines, words
        undo = key.undo
        assert undo is not None
        found = generic(
            builder,
            [
                (
                    extract_slice(builder, word, (0, 0), tensor_shape(line)[::-1]),
                    projection(2, (1, 0)),
                )
            ],
            [(empty(builder, array_type(line)), identity(2))],
            iterators(2),
            lambda s, e: [s.bitcast(undo(s, e[0]), e[1].type)],
        )

        def changed(s: ScalarBuilder, e: Values) -> Values:
            bits = s.bitcast(e[0], e[1].type)
            return [s.either(e[1], s.integers(arith.XOrIOp, bits, undo(s, key.make(s, e[:1]))))]

        type_ = IntegerType(key.width)
        none = fill(builder, constant(builder, 0, type_), TensorType(type_, ()))
        (differences,) = generic(
            builder, [(line, identity(2))], [(none, affine_map(2, ()))], iterators(0, 2), changed
        )
        difference = extract_scalar(builder, differences)
        condition = outside_of_bodies(builder, lambda s: s.compare("ne", difference, 0))
        return optional_loop(
            builder, condition, found, lambda inner, found: self._put(inner, line, word, found)
        )

    def _put(
        self, builder: ConversionBuilder, line: SSAValue, word: SSAValue, result: Values
    ) -> Values:
        """
        The elements of lines whose keys are in order: at the place of the first equal key, found by
        bisection, and as many behind it as there are before in the line.
        """
        lanes, length = tensor_shape(line)
        none = constant(builder, 0, i32)
        firsts = fill(builder, none, TensorType(i32, (lanes, length)))

        def bisect(inner: ConversionBuilder, _step: SSAValue, carried: Values) -> Values:
            size, firsts = carried

            def nearer(s: ScalarBuilder, elements: Values) -> Values:
                *own, first = elements
                (wanted,) = self.words(s, own)
                after = s.emit(arith.AddiOp, (first, size))
                at = s.emit(IndexCastUIOp, (s.integers(arith.SubiOp, after, 1),), INDEX)
                last = s.emit(tensor.ExtractOp, (word, at, s.index(0)), wanted.type)
                return [s.select(s.compare("ult", last, wanted), after, first)]

            every = identity(2)
            found = generic(inner, [(line, every)], [(firsts, every)], iterators(2), nearer)
            half = outside_of_bodies(inner, lambda s: s.integers(arith.ShRUIOp, size, 1))
            return [half, *found]

        half = constant(builder, self.padded // 2, i32)
        _, firsts = counted_loop(builder, self.place_bits, 1, (half, firsts), bisect)

        def turn(inner: ConversionBuilder, lane: SSAValue, carried: Values) -> Values:
            mine = Lines((line,), (lane,))

            def step(s: ScalarBuilder, place: SSAValue, carried: Values) -> Values:
                result, counts = carried
                first = s.emit(tensor.ExtractOp, (firsts, lane, place), i32)
                where = s.emit(IndexCastUIOp, (first,), INDEX)
                before = s.emit(tensor.ExtractOp, (counts, where), i32)
                after = s.integers(arith.AddiOp, before, 1)
                at = s.emit(IndexCastUIOp, (s.emit(arith.AddiOp, (first, before)),), INDEX)
                written = mine.of((result,)).write(s, at, mine.read(s, place)).tensors
                return *written, s.emit(tensor.InsertOp, (after, counts, where), counts.type)

            result, counts = carried
            counts = fill_into(inner, none, counts)
            return counted_loop(inner, length, 1, (result, counts), on_scalars(step))

        counts = empty(builder, TensorType(i32, (length,)))
        return counted_loop(builder, lanes, 1, (*result, counts), turn)[:1]

    def _begun(self, builder: ConversionBuilder, lines: Values) -> Values:
        """The words of lines, behind them what comes last."""
        lanes, length = tensor_shape(lines[0])
        types = [TensorType(type_, (length, lanes)) for type_ in self.word_types]
        made = generic(
            builder,
            [(line, projection(2, (1, 0))) for line in lines],
            [(empty(builder, type_), identity(2)) for type_ in types],
            iterators(2),
            lambda s, elements: self.words(s, elements[: len(lines)]),
        )
        if length == self.padded:
            return made
        result: list[SSAValue] = []
        for part in made:
            type_ = array_type(part).element_type
            rest = empty(builder, TensorType(type_, (self.padded - length, lanes)))
            last = fill_into(builder, constant(builder, -1, type_), rest)
            into = empty(builder, TensorType(type_, (self.padded, lanes)))
            into = insert_slice(builder, part, into, (0, 0))
            result.append(insert_slice(builder, last, into, (length, 0)))
        return result

    def _passed(self, builder: ConversionBuilder, words: Values) -> Values:
        """The words after all passes, from one memory to another and back."""
        places = self.passes
        literal = DenseIntOrFPElementsAttr(
            TensorType(i32, places.shape), BytesAttr(places.astype(np.int32).tobytes())
        )
        tables = builder.insert(arith.ConstantOp(literal)).result

        def pair(inner: ConversionBuilder, number: SSAValue, words: Values) -> Values:
            here, there = words[: len(words) // 2], words[len(words) // 2 :]
            following = outside_of_bodies(inner, lambda s: s.integers(arith.AddiOp, number, 1))
            for this in (number, following):
                arguments = *here, tables, this
                found = shared_call(inner, "sorting_network_pass", arguments, self._pass)
                here, there = found, here
            return [*here, *there]

        others = [empty(builder, array_type(word)) for word in words]
        return counted_loop(builder, len(places), 2, [*words, *others], pair)[: len(words)]

    def _pass(self, builder: ConversionBuilder, values: Values) -> Values:
        """The words after the pass of a number, which reads them at places of its table."""
        *here, tables, number = values
        _, *sizes = tensor_shape(tables)
        _, lanes = tensor_shape(here[0])
        table = extract_slice(builder, tables, (number, 0, 0), (1, *sizes), dropped=(0,))

        def body(s: ScalarBuilder, places: Values) -> Values:
            run: list[Words] = []
            for place in places:
                at = s.emit(arith.IndexCastOp, (place,), INDEX), s.index(1)
                run.append([s.emit(tensor.ExtractOp, (w, *at), elements_of(w)) for w in here])
            return [word for words in self.merged(s, run, True) for word in words]

        r_th = (AffineExpr.constant(r) for r in range(TOGETHER))
        made = generic(
            builder,
            [(table, affine_map(2, (AffineExpr.dimension(0), r))) for r in r_th],
            [
                (empty(builder, TensorType(type_, (sizes[0], lanes))), identity(2))
                for type_ in self.word_types * TOGETHER
            ],
            iterators(2),
            lambda s, elements: body(s, elements[:TOGETHER]),
        )
        found = [empty(builder, array_type(word)) for word in here]
        for number, part in enumerate(made):
            r, n = divmod(number, len(here))
            found[n] = insert_slice(builder, part, found[n], (r, 0), (TOGETHER, 1))
        return found

    def _fetched(self, builder: ConversionBuilder, words: Values, lines: Values) -> Values:
        """The elements of lines whose words are in order."""
        place = words[-1]

        def body(s: ScalarBuilder, elements: Values) -> Values:
            place = elements[0]
            if len(words) == 1:
                place = s.integers(arith.AndIOp, place, self.padded - 1)
            at = s.index(0), s.emit(IndexCastUIOp, (place,), INDEX)
            return [
                s.emit(tensor.ExtractOp, (line, *at), storage(elements_of(line))) for line in lines
            ]

        return generic(
            builder,
            [
                (
                    extract_slice(builder, place, (0, 0), tensor_shape(lines[0])[::-1]),
                    projection(2, (1, 0)),
                )
            ],
            [(empty(builder, array_type(line)), identity(2)) for line in lines],
            iterators(2),
            body,
        )
