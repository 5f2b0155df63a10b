"""
Running sums of floats, in blocks, so that their error does not grow with their length.

An element is what the blocks before amount to, and the sum of its own block up to it. The sums of
blocks are added with compensation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from lowerings.ir.compensation import compensated
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.counted_loops import counted_loop
from lowerings.xla_to_linalg.cumulative import CumulativeReduction
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.formulas import Real
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.structured import (
    Body,
    constant,
    empty,
    extract_slice,
    fill,
    generic,
    identity,
    insert_slice,
    iterators,
    outside_of_bodies,
)

BLOCK = 16
"""So many terms are added one after the other."""

BlockBody: TypeAlias = Callable[[ConversionBuilder, SSAValue, int, Values], Sequence[SSAValue]]
"""From a builder, the number of the first term, how many there are, and carried values to those
that are carried on."""


def _compensated(s: ScalarBuilder, values: Values) -> Sequence[SSAValue]:
    """A sum and its excess, after a term."""
    total, excess, term = (Real(s, value) for value in values)
    return [number.value for number in compensated(total, excess, term)]


@dataclass(frozen=True)
class RunningSums(CumulativeReduction):
    """Sums of floats that go along the middle dimension."""

    def _in_blocks(
        self, builder: ConversionBuilder, carried: Values, block: BlockBody
    ) -> Sequence[SSAValue]:
        """What `block` makes of the carried values, block after block."""
        length = self.sizes[1]
        whole = length - length % BLOCK
        if whole:
            carried = counted_loop(
                builder,
                whole,
                BLOCK,
                carried,
                lambda inner, first, values: block(inner, first, BLOCK, values),
            )
        if whole < length:
            carried = block(builder, constant(builder, whole, INDEX), length - whole, carried)
        return carried

    def _along_scalars(
        self, builder: ConversionBuilder, row: SSAValue, results: Sequence[SSAValue], rows: int
    ) -> Sequence[SSAValue]:
        """A running scalar for each of some rows and each inner index."""
        chains = [(r, i) for r in range(rows) for i in range(self.sizes[2])]
        count, type_ = len(chains), elements_of(self.values[0])

        def block(
            builder: ConversionBuilder, first: SSAValue, size: int, carried: Values
        ) -> Sequence[SSAValue]:
            before, excesses = carried[1 : count + 1], carried[count + 1 :]

            def turn(
                inner: ConversionBuilder, number: SSAValue, values: Values
            ) -> Sequence[SSAValue]:
                def advance(s: ScalarBuilder) -> Sequence[SSAValue]:
                    place = s.emit(arith.AddiOp, (first, number))
                    return self._advance(s, chains, (row, place), values, before)

                return outside_of_bodies(inner, advance)

            nothing = [constant(builder, -0.0, type_)] * count
            result, *own = counted_loop(builder, size, 1, [carried[0], *nothing], turn)
            terms = list(zip(before, excesses, own, strict=True))
            after = outside_of_bodies(builder, lambda s: [_compensated(s, term) for term in terms])
            return [result, *(total for total, _ in after), *(excess for _, excess in after)]

        excesses = [constant(builder, 0.0, type_)] * count
        return self._in_blocks(builder, [*results, *[*self.inits] * count, *excesses], block)[:1]

    def _along_rows(
        self, builder: ConversionBuilder, row: SSAValue, results: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """Running tensors of all inner indices."""
        type_ = self._row_type

        def block(
            builder: ConversionBuilder, first: SSAValue, size: int, carried: Values
        ) -> Sequence[SSAValue]:
            result, before, excess = carried

            def turn(
                inner: ConversionBuilder, number: SSAValue, values: Values
            ) -> Sequence[SSAValue]:
                place = outside_of_bodies(
                    inner, lambda s: self._place(s, s.emit(arith.AddiOp, (first, number)))
                )
                offsets = (row, place, 0)
                elements = extract_slice(inner, self.values[0], offsets, type_.get_shape())

                def body(s: ScalarBuilder, values: Values) -> Sequence[SSAValue]:
                    own = s.addf(values[0], values[1])
                    return own, s.addf(values[2], own)

                own, found = self._on_rows(inner, (values[1], elements, before), body)
                return [insert_slice(inner, found, values[0], offsets), own]

            nothing = fill(builder, constant(builder, -0.0, type_.element_type), type_)
            result, own = counted_loop(builder, size, 1, [result, nothing], turn)
            after = self._on_rows(
                builder, (before, excess, own), lambda s, values: _compensated(s, values[:3])
            )
            return [result, *after]

        starts = [fill(builder, self.inits[0], type_)]
        starts.append(fill(builder, constant(builder, 0.0, type_.element_type), type_))
        return self._in_blocks(builder, [*results, *starts], block)[:1]

    @property
    def _row_type(self) -> TensorType[Attribute]:
        return TensorType(elements_of(self.values[0]), (1, 1, self.sizes[2]))

    def _on_rows(self, builder: ConversionBuilder, rows: Values, body: Body) -> Sequence[SSAValue]:
        """The two rows that `body` computes of others, element by element."""
        everywhere = identity(3)
        outputs = [(empty(builder, self._row_type), everywhere) for _ in range(2)]
        inputs = [(row, everywhere) for row in rows]
        return generic(builder, inputs, outputs, iterators(3), body)
