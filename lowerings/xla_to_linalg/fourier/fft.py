"""
Fourier transforms: planes of real and imaginary parts are read, transformed and written.

Along the last dimension, long lines are transformed one after the other, each in the memory that
it just fits; of short ones as many at once as fill vectors, in columns. Along other dimensions
what lies beside is in the lanes already. Transforms of or to reals of even length have half that
length, with even elements as real and odd ones as imaginary parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod
from typing import cast

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AnyFloat, ComplexType, TensorType
from xdsl.ir import SSAValue

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.fourier.butterflies import Butterfly, Number
from lowerings.xla_to_linalg.fourier.transforms import (
    Expression,
    Fourier,
    Input,
    Planes,
    dimension,
    in_order,
    indexed,
    is_smooth,
    matrix_sizes,
    roots,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.sorting.sort import moved_back, moved_last
from lowerings.xla_to_linalg.structured import (
    array_type,
    empty,
    extract_slice,
    generic,
    identity,
    insert_slice,
    iterators,
    outside_of_bodies,
    shared_loop,
)
from xla_dialect.attributes import FftType
from xla_dialect.op import decode
from xla_dialect.ops.linear_algebra import FftOp
from xla_dialect.types import component_type
from xla_dialect.xdsl.traversal import tensor_shape

SHORTEST_LINE = 256
"""Lines of at least this length are transformed one by one."""
LONGEST_COLUMN = 1 << 13
"""Longer columns are moved to lines: tables for their stages would be most of a program."""
LARGEST_BLOCK = 1 << 13
"""Numbers that are transformed at once along dimensions other than the last."""

NANOSECONDS = 0.18
"""For a number and a doubling of the length, with vectors of 256 bits."""

MOST_PARTS = 8
"""In how many parts threads share a loop at most: each has other memory for its lines."""


def convert_fft(op: FftOp, builder: ConversionBuilder) -> None:
    """The transforms over one dimension after the other; that of reals first, to reals last."""
    kind, lengths = op.fft_type.data, cast("tuple[int, ...]", decode(op.fft_length))
    part = cast(AnyFloat, component_type(array_type(op.operand).element_type))
    sign = -1 if kind in (FftType.FFT, FftType.RFFT) else 1
    rank = len(tensor_shape(op.operand))
    dimensions = list(range(rank - len(lengths), rank))
    if kind != FftType.IRFFT:
        dimensions.reverse()
    scale = 1 / prod(lengths) if sign > 0 else 1.0
    x = op.operand
    for d in dimensions:
        own = kind if d == rank - 1 else FftType.FFT
        step = Along(
            Fourier(builder, part, sign),
            own if own in (FftType.RFFT, FftType.IRFFT) else FftType.FFT,
            lengths[d - rank],
            scale if d == dimensions[-1] else 1.0,
        )
        x = step.transform(x, d)
    builder.replace([x])


@dataclass(frozen=True)
class Along:
    """The transforms along one dimension."""

    fourier: Fourier
    kind: FftType
    """FFT for complex numbers, of either sign."""
    length: int
    """The length of the transforms, counted in reals for transforms from or to reals."""
    scale: float

    @property
    def halved(self) -> int:
        """The length of the complex transforms."""
        is_real = self.kind != FftType.FFT
        return self.length // 2 if is_real and self.length % 2 == 0 else self.length

    def _nanoseconds(self, lines: int, length: int) -> float:
        """About how long one thread takes for complex transforms."""
        stages = NANOSECONDS * length.bit_length()
        return lines * length * (stages if is_smooth(length) else 4 * stages)

    def within(self, builder: ConversionBuilder) -> Along:
        """The same with another builder, for operations inside of a loop."""
        return replace(self, fourier=self.fourier.within(builder))

    def transform(self, x: SSAValue, d: int) -> SSAValue:
        """The transforms of an array along a dimension."""
        builder, sizes = self.fourier.builder, tensor_shape(x)
        before, after = prod(sizes[:d]), prod(sizes[d + 1 :])
        if (
            after >= self.fourier.lanes // 2
            and self.length <= LONGEST_COLUMN
            and is_smooth(self.length)
        ):
            return reshape(
                self._columns(reshape(x, (before, sizes[d], after), builder.op)), sizes, builder.op
            )
        moved = moved_last(builder, x, d)
        shape = tensor_shape(moved)
        lines = self._lines(reshape(moved, (prod(shape[:-1]), shape[-1]), builder.op))
        result = reshape(lines, (*shape[:-1], tensor_shape(lines)[-1]), builder.op)
        return moved_back(builder, result, d)

    # Columns

    def _columns(self, x: SSAValue, factors: SSAValue | None = None) -> SSAValue:
        """
        The transforms of an array `[before, length, after]` along its middle dimension.

        With `factors`, of sizes `[2, after, length]`, the result is turned, `[before, after,
        length]`, and multiplied by them.
        """
        before, length, after = tensor_shape(x)
        fourier = self.fourier
        most = LARGEST_BLOCK // length // fourier.lanes * fourier.lanes
        wide = min(max(fourier.lanes, most), after)

        def block(
            builder: ConversionBuilder, row: SSAValue | int, start: SSAValue | int, to: SSAValue
        ) -> SSAValue:
            own, place = self.within(builder), (row, 0, start)
            source = extract_slice(builder, x, place, (1, length, wide))
            into = own.fourier.empty(2, length, fourier.padded(wide))
            planes = own.fourier.made((length, wide), [(source, identity(3))], _parts, into)
            padded = own.fourier.columns(planes, length)
            if factors is not None:
                turns = extract_slice(builder, factors, (0, start, 0), (2, wide, length))
                inputs = [(padded, indexed(c, dimension(2), dimension(1), rank=3)) for c in (0, 1)]
                return own._put(
                    to, (row, start, 0), (1, wide, length), [*inputs, *in_order(turns)], _multiplied
                )
            found = in_order(extract_slice(builder, padded, (0, 0, 0), (2, length, wide)))
            return own._put(to, place, (1, length, wide), found, own._created)

        sizes = (before, length, after) if factors is None else (before, after, length)
        to = empty(fourier.builder, TensorType(array_type(x).element_type, sizes))
        return in_blocks(
            fourier.builder, (before, after), wide, self._nanoseconds(wide, length), to, block
        )

    # Lines

    def _lines(self, x: SSAValue) -> SSAValue:
        """The transforms of an array of sizes `[lines, length]` along its last dimension."""
        count, length = tensor_shape(x)
        fourier = self.fourier
        is_few = count < fourier.lanes // 2
        at_once = min(count, fourier.lanes)
        if self.halved >= SHORTEST_LINE or (is_few and self.halved >= (fourier.lanes // 2) ** 2):
            at_once = 1
        results = self.length // 2 + 1 if self.kind == FftType.RFFT else self.length
        element = fourier.part if self.kind == FftType.IRFFT else ComplexType(fourier.part)
        split = matrix_sizes(self.halved, fourier.lanes) if at_once == 1 else None
        if split and self.kind == FftType.FFT and length > 2 * LARGEST_BLOCK:
            first, second = split
            matrices = reshape(x, (count, first, second), fourier.builder.op)
            found = self._columns(self._columns(matrices, fourier.between(second, first)))
            return reshape(found, (count, length), fourier.builder.op)
        sizes = (1, *reversed(split)) if split and self.kind == FftType.FFT else (at_once, results)

        def group(
            builder: ConversionBuilder, _row: SSAValue | int, start: SSAValue | int, to: SSAValue
        ) -> SSAValue:
            source = extract_slice(builder, x, (start, 0), (at_once, length))
            return self.within(builder)._group(source, split, to, start)

        result = empty(fourier.builder, TensorType(element, (count, *sizes[1:])))
        nanoseconds = self._nanoseconds(at_once, self.halved)
        found = in_blocks(fourier.builder, (1, count), at_once, nanoseconds, result, group)
        return reshape(found, (count, results), fourier.builder.op)

    def _group(
        self, x: SSAValue, split: tuple[int, int] | None, to: SSAValue, start: SSAValue | int
    ) -> SSAValue:
        """The transforms of some lines, or of one seen as a matrix, inserted into `to`."""
        fourier, length = self.fourier, self.halved
        at_once, _ = tensor_shape(x)
        if split is None:
            place = LineIndexing.columns(length, at_once)
            return self._written(fourier.transformed(self._read(x, place)), to, start)
        first, second = split
        place = LineIndexing.matrix(first, second)
        into = fourier.empty(2, fourier.padded(first), fourier.padded(second))
        found = fourier.matrix(self._read(x, place, into), first, second)
        matrix = extract_slice(fourier.builder, found, (0, 0, 0), (2, second, first))
        if self.kind != FftType.FFT:
            line = reshape(matrix, (2, length, 1), fourier.builder.op)
            return self._written(line, to, start)
        return self._put(to, (start, 0, 0), (1, second, first), in_order(matrix), self._created)

    def _read(self, x: SSAValue, place: LineIndexing, into: Planes | None = None) -> Planes:
        """The planes of the complex input of the transforms."""
        k, line = place.element, place.line
        made = self.fourier.made
        if self.kind == FftType.FFT:
            return made(place.sizes, [(x, indexed(line, k, rank=3))], _parts, into)
        if self.kind == FftType.IRFFT:
            return self._read_half(x, place, into)
        if self.length % 2:
            return made(place.sizes, [(x, indexed(line, k, rank=3))], _real, into)
        inputs = [(x, indexed(line, k * 2 + c, rank=3)) for c in (0, 1)]
        return made(place.sizes, inputs, lambda _s, e: (e[0], e[1]), into)

    def _read_half(self, x: SSAValue, place: LineIndexing, into: Planes | None) -> Planes:
        """
        The complex input of half length whose transform is the real result of an inverse transform.

        The first and last number count as real: their imaginary parts are ignored. With y_k, the
        conjugate of `x_(n/2 - k)`, even reals are transforms of `x + y`, odd ones of `x - y` times
        factors.
        """
        if self.length % 2:
            return self.fourier.made(place.sizes, (), self._completed(x, place), into)
        half, k, line = self.length // 2, place.element, place.line
        lines, _ = tensor_shape(x)
        factors = self.fourier.table(roots(np.arange(half), self.length, 1))
        inputs = [
            (extract_slice(self.fourier.builder, x, (0, 0), (lines, half)), (line, k)),
            (x, (line, k * -1 + half)),
            *((factors, (c, k)) for c in (0, 1)),
        ]

        def body(s: ScalarBuilder, e: Values) -> Number:
            (a, b), (c, d) = s.parts(e[0]), s.parts(e[1])
            zero = s.constant_like(0.0, b)
            is_end = s.compare("eq", place.number(s), 0)
            b, d = (s.select(is_end, zero, part) for part in (b, d))
            real, imaginary = Butterfly(s, 1).times((s.subf(a, c), s.addf(b, d)), (e[2], e[3]))
            return s.subf(s.addf(a, c), imaginary), s.addf(s.subf(b, d), real)

        maps = [(value, indexed(*indices, rank=3)) for value, indices in inputs]
        return self.fourier.made(place.sizes, maps, body, into)

    def _completed(
        self, x: SSAValue, place: LineIndexing
    ) -> Callable[[ScalarBuilder, Values], Number]:
        """Reads the omitted half of a spectrum as the conjugates of the first half, in reverse."""

        def body(s: ScalarBuilder, _e: Values) -> Number:
            number = place.number(s)
            opposite = s.integers(arith.SubiOp, s.constant(self.length, INDEX), number)
            is_left_out = s.compare("slt", opposite, number)
            where = s.select(is_left_out, opposite, number)
            line = place.line_number(s)
            real, imaginary = s.parts(
                s.emit(tensor.ExtractOp, (x, line, where), array_type(x).element_type)
            )
            imaginary = s.select(is_left_out, s.negf(imaginary), imaginary)
            is_end = s.compare("eq", number, 0)
            return real, s.select(is_end, s.constant_like(0.0, imaginary), imaginary)

        return body

    def _written(self, planes: Planes, to: SSAValue, start: SSAValue | int) -> SSAValue:
        """A tensor `[lines, length]` with the results of planes, from a line on."""
        _, length, lines = tensor_shape(planes)
        if self.kind == FftType.RFFT:
            if self.length % 2 == 0:
                return self._written_half(planes, to, start)
            length = self.length // 2 + 1
            planes = extract_slice(self.fourier.builder, planes, (0, 0, 0), (2, length, lines))
        sizes = lines, length
        inputs = [(planes, indexed(c, dimension(1), dimension(0), rank=2)) for c in (0, 1)]
        if self.kind != FftType.IRFFT:
            return self._put(to, (start, 0), sizes, inputs, self._created)
        if self.length % 2:
            return self._put(to, (start, 0), sizes, inputs[:1], self._scaled)
        for number, part in enumerate(inputs):
            to = self._put(to, (start, number), sizes, [part], self._scaled, (1, 2))
        return to

    def _written_half(self, planes: Planes, to: SSAValue, start: SSAValue | int) -> SSAValue:
        """
        Writes `length / 2 + 1` numbers, the non-redundant half of the transforms of reals.

        Even elements contribute `(x + y) / 2`, odd ones `(x - y) / 2i` times factors. At the ends,
        where x and y are the same number, that is the sum and the difference of its parts.
        """
        _, half, lines = tensor_shape(planes)
        factors = self.fourier.table(roots(np.arange(1, half), self.length, -1) / 2)
        line, k = dimension(0), dimension(1)
        inputs = [
            *((planes, indexed(c, k + 1, line, rank=2)) for c in (0, 1)),
            *((planes, indexed(c, k * -1 + (half - 1), line, rank=2)) for c in (0, 1)),
            *((factors, indexed(c, k, rank=2)) for c in (0, 1)),
        ]

        def body(s: ScalarBuilder, e: Values) -> Values:
            a, b, c, d = e[:4]
            odd = s.addf(b, d), s.subf(c, a)
            real, imaginary = Butterfly(s, -1).times(odd, (e[4], e[5]))
            even = s.mulf(s.addf(a, c), 0.5), s.mulf(s.subf(b, d), 0.5)
            return (s.create_complex(s.addf(even[0], real), s.addf(even[1], imaginary)),)

        if half > 1:
            to = self._put(to, (start, 1), (lines, half - 1), inputs, body)
        signs = self.fourier.table(np.array([1, -1]))
        ends = [(planes, indexed(c, 0, line, rank=2)) for c in (0, 1)]

        def end(s: ScalarBuilder, e: Values) -> Values:
            real = s.addf(e[0], s.mulf(e[1], e[2]))
            return (s.create_complex(real, s.constant_like(0.0, real)),)

        ends.append((signs, indexed(0, k, rank=2)))
        return self._put(to, (start, 0), (lines, 2), ends, end, (1, half))

    def _put(
        self,
        to: SSAValue,
        offsets: Sequence[SSAValue | int],
        sizes: Sequence[int],
        inputs: Sequence[Input],
        body: Callable[[ScalarBuilder, Values], Values],
        strides: Sequence[int] | None = None,
    ) -> SSAValue:
        """A tensor with the elements of a slice computed anew."""
        builder = self.fourier.builder
        target = extract_slice(builder, to, offsets, sizes, strides)
        rank = len(sizes)
        (made,) = generic(builder, inputs, [(target, identity(rank))], iterators(rank), body)
        return insert_slice(builder, made, to, offsets, strides)

    def _created(self, s: ScalarBuilder, e: Values) -> Values:
        real, imaginary = self._scaled(s, e)
        return (s.create_complex(real, imaginary),)

    def _scaled(self, s: ScalarBuilder, e: Values) -> Values:
        *parts, _ = e
        return parts if self.scale == 1 else [s.mulf(part, self.scale) for part in parts]


@dataclass(frozen=True)
class LineIndexing:
    """Which number of which line each point of an iteration space `[1, *sizes]` takes."""

    sizes: tuple[int, int]
    element: Expression
    line: Expression

    @staticmethod
    def columns(length: int, lanes: int) -> LineIndexing:
        """Each line in a lane."""
        return LineIndexing((length, lanes), dimension(1), dimension(2))

    @staticmethod
    def matrix(rows: int, columns: int) -> LineIndexing:
        """One line, row after row."""
        return LineIndexing((rows, columns), dimension(1) * columns + dimension(2), 0)

    @property
    def is_matrix(self) -> bool:
        """Whether the rows of the space follow each other in one line."""
        return isinstance(self.line, int)

    def number(self, s: ScalarBuilder) -> SSAValue:
        """The number of the element in its line."""
        if not self.is_matrix:
            return s.index(1)
        rows = s.integers(arith.MuliOp, s.index(1), self.sizes[1])
        return s.emit(arith.AddiOp, (rows, s.index(2)))

    def line_number(self, s: ScalarBuilder) -> SSAValue:
        """The line."""
        return s.constant(0, INDEX) if self.is_matrix else s.index(2)


def _parts(s: ScalarBuilder, elements: Values) -> Number:
    return s.parts(elements[0])


def _multiplied(s: ScalarBuilder, elements: Values) -> Values:
    a, b, c, d, _ = elements
    return (s.create_complex(*Butterfly(s, 1).times((a, b), (c, d))),)


def _real(s: ScalarBuilder, elements: Values) -> Number:
    return elements[0], s.constant_like(0.0, elements[0])


def in_blocks(
    builder: ConversionBuilder,
    counts: tuple[int, int],
    size: int,
    nanoseconds: float,
    to: SSAValue,
    body: Callable[[ConversionBuilder, SSAValue | int, SSAValue | int, SSAValue], SSAValue],
) -> SSAValue:
    """
    A loop of `body` over rows and blocks of a row's elements, each at most so many elements long.

    The last block of a row begins earlier where it would exceed the end, and overlaps the one
    before. A block takes so many nanoseconds; threads share large loops.
    """
    rows, count = counts
    blocks = ceil(count / size)
    if rows * blocks == 1:
        return body(builder, 0, 0, to)

    def turn(inner: ConversionBuilder, number: SSAValue, carried: Values) -> Values:
        def start(s: ScalarBuilder) -> tuple[SSAValue, SSAValue]:
            row, block = number, number
            if blocks > 1:
                each = s.constant(blocks, INDEX)
                row, block = (s.emit(op, (number, each)) for op in (arith.DivUIOp, arith.RemUIOp))
            place = s.emit(arith.MuliOp, (block, s.constant(size, INDEX)))
            return row, s.emit(arith.MinSIOp, (place, s.constant(count - size, INDEX)))

        row, place = outside_of_bodies(inner, start)
        return [body(inner, 0 if rows == 1 else row, 0 if blocks == 1 else place, carried[0])]

    return shared_loop(builder, rows * blocks, 1, nanoseconds, [to], (), turn, MOST_PARTS)[0]
