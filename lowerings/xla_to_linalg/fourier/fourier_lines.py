"""
Fourier transforms of lines whose length is a power of two.

All stages have one geometry, and so one code: they read four numbers side by side and write them a
quarter of the line apart (M. C. Pease, "An adaptation of the fast Fourier transform for parallel
processing", 1968). The line they begin with has the digits of its positions reversed, as whoever
reads it puts it there; the result is in order. Each stage has a table of factors. A length that is
no power of four begins with a stage of two numbers. A line is a plane of one lane, or one of the
lanes of wider planes. Lines that do not fit the first caches are matrices, whose columns and then
rows are lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i32,
)
from xdsl.ir import SSAValue

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.fourier.butterflies import Butterfly, Number
from lowerings.xla_to_linalg.fourier.fourier_planes import (
    Fourier,
    Planes,
    dimension,
    indexed,
    roots,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.structured import (
    counted_loop,
    extract_slice,
    generic,
    identity,
    insert_slice,
    iterators,
    sizes_of,
)

Element: TypeAlias = Callable[[ScalarBuilder, SSAValue, SSAValue], Number]
"""Reads the element at a position of a line; the line is in a lane."""

SHORTEST = 64
"""Shorter lines have too few stages to share code, and too few butterflies to fill vectors."""
MOST_NUMBERS = 1 << 12
"""Lines up to this length stay in the L1 cache together with the factors of all stages."""


@cache
def line_radices(length: int) -> tuple[int, ...]:
    """How many numbers each stage combines, for a length that is a power of two."""
    fours, twos = divmod(length.bit_length() - 1, 2)
    return (2,) * twos + (4,) * fours


def is_staged(length: int) -> bool:
    """Whether a length is a power of two for which stages share their code."""
    return length & (length - 1) == 0 and length >= SHORTEST


def is_short(length: int) -> bool:
    """
    Whether lines of a length that is a power of two are transformed at once.

    The tables of all stages grow by more than the length does: of long lines they would be most of
    a program.
    """
    return is_staged(length) and length <= MOST_NUMBERS


def reordered(fourier: Fourier, length: int, lanes: int, element: Element) -> Planes:
    """Planes with the digits of positions reversed, of elements that `element` reads."""
    order = fourier.builder.insert(arith.ConstantOp(_reversed_digits(length))).result

    def body(s: ScalarBuilder, e: Values) -> Number:
        lane = s.index(2) if lanes > 1 else s.constant(0, INDEX)
        return element(s, s.emit(arith.IndexCastOp, (e[0],), INDEX), lane)

    return fourier.made((length, lanes), [(order, indexed(dimension(1), rank=3))], body)


def element_of(planes: Planes, part: AnyFloat, *, turned: bool = False) -> Element:
    """Reads planes in order: their columns, or their rows as lanes if they are `turned`."""

    def element(s: ScalarBuilder, number: SSAValue, lane: SSAValue) -> Number:
        place = (lane, number) if turned else (number, lane)
        real = s.emit(tensor.ExtractOp, (planes, s.constant(0, INDEX), *place), part)
        return real, s.emit(tensor.ExtractOp, (planes, s.constant(1, INDEX), *place), part)

    return element


@cache
def _reversed_digits(length: int) -> DenseIntOrFPElementsAttr[IntegerType]:
    """For each position of a power of two the one with the digits reversed."""
    positions = np.arange(length, dtype=np.int32).reshape(line_radices(length))
    return DenseIntOrFPElementsAttr(
        TensorType(i32, [length]), BytesAttr(positions.transpose().tobytes())
    )


def staged(fourier: Fourier, x: Planes) -> Planes:
    """The transform of a line whose positions have their digits reversed."""
    _, length, _ = sizes_of(x)
    done = 1
    for radix in line_radices(length):
        done *= radix
        x = _stage(fourier, x, radix, done)
    return x


def _stage(fourier: Fourier, x: Planes, radix: int, done: int) -> Planes:
    """Transforms of length `done` from those of a length that is a `radix`-th of it."""
    _, length, lanes = sizes_of(x)
    wide = length // radix
    values: list[SSAValue] = [x]
    if radix > 2:
        exponents = np.outer(np.arange(1, radix), np.arange(wide) // (length // done))
        values.append(fourier.table(roots(exponents, done, fourier.sign)))

    def make(inner: Fourier, values: Sequence[SSAValue]) -> Planes:
        # A single line has no dimension of lanes, whose accesses would need views of their own.
        across = (lanes,) if lanes > 1 else ()
        rank = 3 + len(across)
        k, lane = dimension(2), (dimension(3),) * len(across)
        source = reshape(values[0], (2, wide, radix, *across), inner.builder.op)
        numbers = [(c, k, i, *lane) for i in range(radix) for c in (0, 1)]
        inputs = [(source, indexed(*number, rank=rank)) for number in numbers]
        for factors in values[1:]:
            places = [(c, i, k) for i in range(radix - 1) for c in (0, 1)]
            inputs += [(factors, indexed(*place, rank=rank)) for place in places]

        def body(s: ScalarBuilder, e: Sequence[SSAValue]) -> Sequence[SSAValue]:
            butterfly = Butterfly(s, fourier.sign)
            pairs = list(zip(e[: len(inputs) : 2], e[1 : len(inputs) : 2], strict=True))
            numbers = pairs[:radix]
            for i, factor in enumerate(pairs[radix:], 1):
                numbers[i] = butterfly.times(numbers[i], factor)
            return [part for number in butterfly.transform(numbers) for part in number]

        outputs = [(inner.empty(1, 1, wide, *across), identity(rank)) for _ in range(2 * radix)]
        parts = generic(inner.builder, inputs, outputs, iterators(rank), body)
        target = inner.empty(2, radix, wide, *across)
        for number, part in enumerate(parts):
            place = number % 2, number // 2, *(0 for _ in range(rank - 2))
            target = insert_slice(inner.builder, part, target, place)
        return reshape(target, (2, length, lanes), inner.builder.op)

    return fourier.shared(f"stage_of_{radix}", values, make)


def long_line(fourier: Fourier, x: Planes) -> Planes:
    """The transform of a line in order, as a matrix of which some columns at once are lanes."""
    _, length, _ = sizes_of(x)
    second = 1 << (length.bit_length() - 1) // 2
    first, lanes, part = length // second, fourier.lanes, fourier.part
    exponents = np.outer(np.arange(first), np.arange(second))
    factors = fourier.table(roots(exponents, length, fourier.sign))
    matrix = reshape(x, (2, first, second), fourier.builder.op)

    def columns(builder: ConversionBuilder, start: SSAValue, to: Values) -> Values:
        own, place, sizes = fourier.within(builder), (0, 0, start), (2, first, lanes)
        source = extract_slice(builder, matrix, place, sizes)
        found = staged(own, reordered(own, first, lanes, element_of(source, part)))
        turns = extract_slice(builder, factors, place, sizes)
        return [insert_slice(builder, _product(own, found, turns), to[0], place)]

    empty = fourier.empty(2, first, second)
    (between,) = counted_loop(fourier.builder, second, lanes, [empty], columns)

    def rows(builder: ConversionBuilder, start: SSAValue, to: Values) -> Values:
        own = fourier.within(builder)
        source = extract_slice(builder, between, (0, start, 0), (2, lanes, second))
        element = element_of(source, part, turned=True)
        found = staged(own, reordered(own, second, lanes, element))
        return [insert_slice(builder, found, to[0], (0, 0, start))]

    empty = fourier.empty(2, second, first)
    (found,) = counted_loop(fourier.builder, first, lanes, [empty], rows)
    return reshape(found, (2, length, 1), fourier.builder.op)


def _product(fourier: Fourier, x: Planes, factors: Planes) -> Planes:
    """Planes times others, element by element."""
    _, length, lanes = sizes_of(x)
    places = [indexed(c, dimension(1), dimension(2), rank=3) for c in (0, 1)]
    inputs = [(values, place) for values in (x, factors) for place in places]

    def body(s: ScalarBuilder, e: Values) -> Number:
        return Butterfly(s, fourier.sign).times((e[0], e[1]), (e[2], e[3]))

    return fourier.made((length, lanes), inputs, body)
