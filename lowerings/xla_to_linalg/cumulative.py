"""
Cumulative reductions: windows that cover a dimension up to, or from, their placement.

As windows they take quadratic time. Here a running value goes along the dimension once. Forwards
that is the fold that a window is, in the same order: it is exact for every computation. Backwards
the terms are combined from the other end, which needs an associative operation. Sums of floats are
blocked: `running_sums.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, SSAValue

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.counted_loops import counted_loop, shared_loop
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.scalar_operations import inline_computation
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, storage
from lowerings.xla_to_linalg.structured import (
    array_type,
    empty,
    extract_slice,
    fill,
    generic,
    identity,
    insert_slice,
    iterators,
    outside_of_bodies,
    sizes_of,
)
from lowerings.xla_to_linalg.windows import Sliding
from xla_dialect.ops.elementwise import AddOp, MultiplyOp
from xla_dialect.types import BY_TYPE

ROWS_AT_ONCE = 8
"""Independent running values hide the latency of one another's operations."""
ROWS_IN_ONE_SET, BYTES_BETWEEN_SETS = 4, 4096
"""
Rows so far apart share a set of the first-level cache, which has lines for so many of them and as
many of the results: with more, a sum took up to three times as long. Other operations take so long
that they need the rows all the same.
"""
QUICK = AddOp, MultiplyOp
NANOSECONDS, NANOSECONDS_IN_LANES = 0.9, 0.2
"""Time for one element of a common computation, in scalar and in vector code."""
LARGEST_SCALAR_ROW = 16
"""Inner sizes up to this have a running scalar per element; larger ones a running tensor."""


@dataclass(frozen=True)
class Running:
    """A dimension of which each element is folded with all before it, or after it."""

    dimension: int
    length: int
    backwards: bool

    @staticmethod
    def of(dimensions: Sequence[Sliding]) -> Running | None:
        """The only dimension in which a window is not trivial, if it is cumulative there."""
        moving = [d for d, sliding in enumerate(dimensions) if not sliding.is_idle]
        if len(moving) != 1:
            return None
        sliding = dimensions[moving[0]]
        size, is_dense = (
            sliding.base,
            (sliding.stride, sliding.holes, sliding.dilation) == (1, 1, 1),
        )
        if not is_dense or (sliding.elements, sliding.placements) != (size, size):
            return None
        if sliding.low not in (0, size - 1):
            return None
        return Running(moving[0], size, backwards=sliding.low == 0)


@dataclass(frozen=True)
class CumulativeReduction:
    """Tensors of sizes `(outer, length, inner)` that are folded along the middle dimension."""

    builder: ConversionBuilder
    computation: Block
    values: Sequence[SSAValue]
    inits: Sequence[SSAValue]
    """Scalars."""
    backwards: bool

    @classmethod
    def converted(
        cls,
        builder: ConversionBuilder,
        computation: Block,
        values: Sequence[SSAValue],
        inits: Sequence[SSAValue],
        running: Running,
    ) -> Sequence[SSAValue]:
        """The cumulative reductions of tensors of any sizes; `inits` are scalars."""
        sizes = sizes_of(values[0])
        d = running.dimension
        flat = (prod(sizes[:d]), sizes[d], prod(sizes[d + 1 :]))
        rows = [reshape(value, flat, builder.op) for value in values]
        results = cls(builder, computation, rows, inits, running.backwards).convert()
        return [reshape(result, sizes, builder.op) for result in results]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Outer, length, inner."""
        return sizes_of(self.values[0])

    def convert(self) -> Sequence[SSAValue]:
        """The cumulative reductions."""
        outer, _, inner = self.sizes
        starts = [empty(self.builder, array_type(value)) for value in self.values]
        if inner > LARGEST_SCALAR_ROW:
            turn = self.sizes[1] * inner * NANOSECONDS_IN_LANES
            return shared_loop(self.builder, outer, 1, turn, starts, (), self._along_rows)
        most = self._chains_at_once // inner or 1
        rows = next(n for n in range(most, 0, -1) if outer % n == 0)
        return shared_loop(
            self.builder,
            outer,
            rows,
            self.sizes[1] * inner * NANOSECONDS,
            starts,
            (),
            lambda builder, row, results: self._along_scalars(builder, row, results, rows),
        )

    @property
    def _chains_at_once(self) -> int:
        """How many running values are advanced together."""
        _, length, inner = self.sizes
        row_bits = length * inner * BY_TYPE[array_type(self.values[0]).element_type].bits
        first, *others = self.computation.ops
        is_quick = isinstance(first, QUICK) and len(others) == 1
        if is_quick and row_bits % (8 * BYTES_BETWEEN_SETS) == 0:
            return ROWS_IN_ONE_SET
        return ROWS_AT_ONCE

    def _step(
        self, s: ScalarBuilder, running: Sequence[SSAValue], elements: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        return inline_computation(s, self.computation, (*running, *elements))

    def _place(self, s: ScalarBuilder, number: SSAValue) -> SSAValue:
        """The index along the dimension of the n-th iteration."""
        if not self.backwards:
            return number
        return s.emit(arith.SubiOp, (s.constant(self.sizes[1] - 1, INDEX), number))

    def _along_scalars(
        self, builder: ConversionBuilder, row: SSAValue, results: Sequence[SSAValue], rows: int
    ) -> Sequence[SSAValue]:
        """A running scalar for each of some rows and each inner index."""
        chains = [(r, i) for r in range(rows) for i in range(self.sizes[2])]
        starts = [*results, *(list(self.inits) * len(chains))]

        def turn(
            inner: ConversionBuilder, number: SSAValue, carried: Sequence[SSAValue]
        ) -> Sequence[SSAValue]:
            return outside_of_bodies(
                inner, lambda s: self._advance(s, chains, (row, number), carried)
            )

        return counted_loop(builder, self.sizes[1], 1, starts, turn)[: len(results)]

    def _advance(
        self,
        s: ScalarBuilder,
        chains: Sequence[tuple[int, int]],
        position: tuple[SSAValue, SSAValue],
        carried: Sequence[SSAValue],
        before: Sequence[SSAValue] = (),
    ) -> Sequence[SSAValue]:
        """
        The results and the running scalars of all chains, one step on.

        With `before`, a result is what is there for its chain and the running scalar together.
        """
        first_row, number = position
        place = self._place(s, number)
        count = len(self.values)
        results, running = carried[:count], list[SSAValue]()
        for chain, (row, index) in enumerate(chains, 1):
            own_row = s.emit(arith.AddiOp, (first_row, s.constant(row, INDEX)))
            where = own_row, place, s.constant(index, INDEX)
            elements = [
                s.emit(tensor.ExtractOp, (value, *where), storage(elements_of(value)))
                for value in self.values
            ]
            stepped = self._step(s, carried[count * chain : count * (chain + 1)], elements)
            found = self._step(s, [before[chain - 1]], stepped) if before else stepped
            results = [
                s.emit(tensor.InsertOp, (value, into, *where), into.type)
                for value, into in zip(found, results, strict=True)
            ]
            running += stepped
        return [*results, *running]

    def _along_rows(
        self, builder: ConversionBuilder, row: SSAValue, results: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """Running tensors of all inner indices."""
        count, inner_size = len(self.values), self.sizes[2]

        def turn(
            inner: ConversionBuilder, number: SSAValue, carried: Sequence[SSAValue]
        ) -> Sequence[SSAValue]:
            place = outside_of_bodies(inner, lambda s: self._place(s, number))
            offsets = (row, place, 0)
            running = [(value, identity(3)) for value in carried[count:]]
            slices = [
                (extract_slice(inner, value, offsets, (1, 1, inner_size)), identity(3))
                for value in self.values
            ]

            def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
                return self._step(s, elements[:count], elements[count : 2 * count])

            outputs = [(empty(inner, array_type(value)), identity(3)) for value, _ in running]
            stepped = generic(inner, (*running, *slices), outputs, iterators(3), body)
            written = [
                insert_slice(inner, value, into, offsets)
                for value, into in zip(stepped, carried[:count], strict=True)
            ]
            return [*written, *stepped]

        rows = [
            fill(builder, init, TensorType(init.type, (1, 1, inner_size))) for init in self.inits
        ]
        return counted_loop(builder, self.sizes[1], 1, [*results, *rows], turn)[:count]
