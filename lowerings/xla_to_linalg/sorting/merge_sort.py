"""
Stable bottom-up merge sort of lines, by any comparator.

Sorted runs double their length in every pass, from one array to the other and back. A step of a
merge reads the next element of both runs, and takes one without a branch: whatever the comparator
says, each element is taken once, and nothing outside of the line is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.counted_loops import counted_loop, loop
from lowerings.xla_to_linalg.lines import Lines
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.sorting.sort_order import Before
from lowerings.xla_to_linalg.structured import constant, outside_of_bodies


def merge_passes(length: int) -> int:
    """The number of passes, each of which moves all elements."""
    return (length - 1).bit_length()


@dataclass(frozen=True)
class MergeSort:
    """A merge sort of lines of this length, at least 2."""

    before: Before
    length: int

    def sort(
        self, builder: ConversionBuilder, source: Lines, target: Lines, scratch: Lines
    ) -> tuple[Lines, Lines]:
        """What is in the source, sorted in the target; and the scratch memory afterwards."""
        passes = merge_passes(self.length)
        width = constant(builder, 1, INDEX)
        if passes % 2:
            target = self._merge_all(builder, source, target, width)
            width = constant(builder, 2, INDEX)
        else:
            scratch = self._merge_all(builder, source, scratch, width)
            target = self._merge_all(builder, scratch, target, constant(builder, 2, INDEX))
            width = constant(builder, 4, INDEX)
        pairs = (passes - 1) // 2
        if not pairs:
            return target, scratch
        count = len(target.tensors)

        def turn(inner: ConversionBuilder, _number: SSAValue, carried: Values) -> Values:
            first, *tensors = carried
            there, back = target.of(tensors[:count]), scratch.of(tensors[count:])
            back = self._merge_all(inner, there, back, first)
            second = outside_of_bodies(inner, lambda s: s.emit(arith.AddiOp, (first, first)))
            there = self._merge_all(inner, back, there, second)
            following = outside_of_bodies(inner, lambda s: s.emit(arith.AddiOp, (second, second)))
            return [following, *there.tensors, *back.tensors]

        carried = [width, *target.tensors, *scratch.tensors]
        _, *tensors = counted_loop(builder, pairs, 1, carried, turn)
        return target.of(tensors[:count]), scratch.of(tensors[count:])

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

        def turn(inner: ConversionBuilder, place: SSAValue, carried: Values) -> Values:
            return outside_of_bodies(inner, lambda s: step(s, place, carried))

        bounds = start, end, constant(builder, 1, INDEX)
        _, _, *tensors = loop(builder, bounds, (start, middle, *target.tensors), turn)
        return target.of(tensors)
