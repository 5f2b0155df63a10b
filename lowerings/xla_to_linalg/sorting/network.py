"""
Sorts many lines at once by a network, the lines in the lanes of vectors.

What is compared does not depend on the elements (K. Batcher, "Sorting networks and their
applications", 1968): sorted runs of one length are merged in pairs by comparing the first half of
both with the second half backwards, then halves of halves at ever smaller distances. A pass reads
sixteen elements of each line, does up to four such steps with them in registers, and writes them
side by side; a step that is done twice changes nothing, so that all passes are the same code. Where
their elements are is a table. Lines are filled up to a power of two by what comes last.

A network does not keep the order of what is equal. Where the key of an element tells its bits,
that makes no difference. A comparator may take elements as equal that are not, zeros of both signs
for example: lines with such elements are found, and sorted otherwise. In all other cases the place
of an element in its line is the last of its keys, which make one integer if they fit; the elements
are fetched when those are in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
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
from lowerings.xla_to_linalg.sorting.sort_order import IntegerKey, SortOrder
from lowerings.xla_to_linalg.structured import (
    affine_map,
    array_type,
    constant,
    empty,
    extract_scalar,
    extract_slice,
    fill,
    fill_into,
    generic,
    identity,
    insert_slice,
    iterators,
    optional_loop,
    outside_of_bodies,
    projection,
    shared_loop,
    sizes_of,
)
from xla_dialect.types import BY_TYPE

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

Otherwise = Callable[[ConversionBuilder, Values], Values]
"""Sorts the rows of tensors in another way."""


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
            sizes_of(values[0])[1],
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
    def passes(self) -> list[np.ndarray[Any, Any]]:
        """The places of the elements of each pass, `[groups, 16]`, as the one before wrote them."""
        number, r = np.arange(self.padded // TOGETHER)[:, None], np.arange(TOGETHER)
        written = number * TOGETHER + r
        is_upper = r >= TOGETHER // 2
        tables, where = [written], np.arange(self.padded)
        for bits in range(STEPS + 1, self.place_bits + 1):
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
        return tables

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

    def sorted(self, s: ScalarBuilder, run: Sequence[Words]) -> list[Words]:
        """A few elements in order."""
        half = len(run) // 2
        if not half:
            return list(run)
        return self.merged(s, [*self.sorted(s, run[:half]), *self.sorted(s, run[half:])], True)

    # On tensors

    def sort(
        self, builder: ConversionBuilder, values: Values, results: Values, otherwise: Otherwise
    ) -> Values:
        """
        The rows of tensors of rank 2, each sorted in the same way, in the place of results.

        Those whose keys do not tell their elements are sorted `otherwise`.
        """
        rows, length = sizes_of(values[0])
        lanes = min(rows, self.lanes)
        # Each sort has its own function: its name does not tell its order.
        name = f"sort_{len(builder.module.body.block.ops)}"

        def block(inner: ConversionBuilder, row: SSAValue | int, results: Values) -> Values:
            lines = [extract_slice(inner, v, (row, 0), (lanes, length)) for v in values]
            ordered = shared_call(inner, name, lines, partial(self._sorted_lines, otherwise))
            return [
                insert_slice(inner, found, result, (row, 0))
                for found, result in zip(ordered, results, strict=True)
            ]

        whole = rows // lanes * lanes
        results = shared_loop(builder, whole, lanes, self.nanoseconds(rows), results, (), block)
        # The last rows with some that are sorted already.
        return results if whole == rows else block(builder, rows - lanes, results)

    def _sorted_lines(
        self, otherwise: Otherwise, builder: ConversionBuilder, lines: Values
    ) -> Values:
        """Lines, one in each lane, in order."""
        words = self._begun(builder, lines)
        for number, table in enumerate(self.passes):
            words = self._pass(builder, words, table, is_first=not number)
        if self.has_places:
            return self._fetched(builder, words, lines)
        (key,), (line,), (word,) = self.keys, lines, words
        undo = key.undo
        assert undo is not None
        found = generic(
            builder,
            [(extract_slice(builder, word, (0, 0), sizes_of(line)[::-1]), projection(2, (1, 0)))],
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
        return optional_loop(builder, condition, found, lambda inner, _: otherwise(inner, lines))

    def _begun(self, builder: ConversionBuilder, lines: Values) -> Values:
        """The words of lines, behind them what comes last."""
        lanes, length = sizes_of(lines[0])
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

    def _pass(
        self,
        builder: ConversionBuilder,
        words: Values,
        places: np.ndarray[Any, Any],
        *,
        is_first: bool,
    ) -> Values:
        """The words after a pass."""
        literal = DenseIntOrFPElementsAttr(
            TensorType(i32, places.shape), BytesAttr(places.astype(np.int32).tobytes())
        )
        table = builder.insert(arith.ConstantOp(literal)).result
        groups, _ = places.shape
        _, lanes = sizes_of(words[0])

        def body(s: ScalarBuilder, here: Values, places: Values) -> Values:
            run: list[Words] = []
            for place in places:
                at = s.emit(arith.IndexCastOp, (place,), INDEX), s.index(1)
                run.append([s.emit(tensor.ExtractOp, (w, *at), elements_of(w)) for w in here])
            found = self.sorted(s, run) if is_first else self.merged(s, run, True)
            return [word for words in found for word in words]

        def make(inner: ConversionBuilder, values: Values) -> Values:
            *here, places = values
            r_th = (AffineExpr.constant(r) for r in range(TOGETHER))
            made = generic(
                inner,
                [(places, affine_map(2, (AffineExpr.dimension(0), r))) for r in r_th],
                [
                    (empty(inner, TensorType(type_, (groups, lanes))), identity(2))
                    for type_ in self.word_types * TOGETHER
                ],
                iterators(2),
                lambda s, elements: body(s, here, elements[:TOGETHER]),
            )
            found = [empty(inner, array_type(word)) for word in here]
            for number, part in enumerate(made):
                r, n = divmod(number, len(here))
                found[n] = insert_slice(inner, part, found[n], (r, 0), (TOGETHER, 1))
            return found

        name = "sorting_network_first_pass" if is_first else "sorting_network_pass"
        return shared_call(builder, name, [*words, table], make)

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
                    extract_slice(builder, place, (0, 0), sizes_of(lines[0])[::-1]),
                    projection(2, (1, 0)),
                )
            ],
            [(empty(builder, array_type(line)), identity(2)) for line in lines],
            iterators(2),
            body,
        )
