"""
Fourier transforms of single lines, planes of one lane, whose length is a power of two.

All stages have one geometry, and so one code: they read four numbers side by
side and write them a quarter of the line apart (M. C. Pease, "An adaptation of the fast Fourier
transform for parallel processing", 1968). The line they begin with has the digits of its positions
reversed, as whoever reads it puts it there; the result is in order. Each stage has a table of
factors. A length that is no power of four begins with a stage of two numbers.
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

from lowerings.reshapes import reshape
from lowerings.xla_to_linalg.butterflies import Butterfly, Number
from lowerings.xla_to_linalg.fourier_planes import (
    Fourier,
    Planes,
    dimension,
    indexed,
    roots,
)
from lowerings.xla_to_linalg.scalars import INDEX, ScalarBuilder
from lowerings.xla_to_linalg.structured import (
    generic,
    identity,
    insert_slice,
    iterators,
    sizes_of,
)

Values: TypeAlias = Sequence[SSAValue]
Element: TypeAlias = Callable[[ScalarBuilder, SSAValue], Number]
"""Reads the element of a line at a position."""

LONGEST = 1 << 12
"""With the factors of all stages, longer lines do not stay in the first caches."""


@cache
def line_radices(length: int) -> tuple[int, ...]:
    """How many numbers each stage combines, for a length that is a power of two."""
    fours, twos = divmod(length.bit_length() - 1, 2)
    return (2,) * twos + (4,) * fours


def is_staged(length: int, lanes: int) -> bool:
    """
    Whether lines of a length are transformed so.

    They are a power of two that fits the first caches, and fill a vector of so many lanes.
    """
    return length & (length - 1) == 0 and 4 * lanes <= length <= LONGEST


def reordered(fourier: Fourier, length: int, element: Element) -> Planes:
    """A line with the digits of its positions reversed, of elements that `element` reads."""
    order = fourier.builder.insert(arith.ConstantOp(_reversed_digits(length))).result

    def body(s: ScalarBuilder, e: Values) -> Number:
        return element(s, s.emit(arith.IndexCastOp, (e[0],), INDEX))

    return fourier.made((length, 1), [(order, indexed(dimension(1), rank=3))], body)


def element_of(line: SSAValue, part: AnyFloat) -> Element:
    """Reads a line in order, from planes."""

    def element(s: ScalarBuilder, number: SSAValue) -> Number:
        zero, one = s.constant(0, INDEX), s.constant(1, INDEX)
        real = s.emit(tensor.ExtractOp, (line, zero, number, zero), part)
        return real, s.emit(tensor.ExtractOp, (line, one, number, zero), part)

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
    _, length, _ = sizes_of(x)
    wide = length // radix
    values: list[SSAValue] = [x]
    if radix > 2:
        exponents = np.outer(np.arange(1, radix), np.arange(wide) // (length // done))
        values.append(fourier.table(roots(exponents, done, fourier.sign)))

    def make(inner: Fourier, values: Sequence[SSAValue]) -> Planes:
        source = reshape(values[0], (2, wide, radix), inner.builder.op)
        d = dimension(2)
        inputs = [(source, indexed(c, d, i, rank=3)) for i in range(radix) for c in (0, 1)]
        for factors in values[1:]:
            places = [(c, i, d) for i in range(radix - 1) for c in (0, 1)]
            inputs += [(factors, indexed(*place, rank=3)) for place in places]

        def body(s: ScalarBuilder, e: Sequence[SSAValue]) -> Sequence[SSAValue]:
            butterfly = Butterfly(s, fourier.sign)
            pairs = list(zip(e[: len(inputs) : 2], e[1 : len(inputs) : 2], strict=True))
            numbers = pairs[:radix]
            for i, factor in enumerate(pairs[radix:], 1):
                numbers[i] = butterfly.times(numbers[i], factor)
            return [part for number in butterfly.transform(numbers) for part in number]

        outputs = [(inner.empty(1, 1, wide), identity(3)) for _ in range(2 * radix)]
        parts = generic(inner.builder, inputs, outputs, iterators(3), body)
        target = inner.empty(2, radix, wide)
        for number, part in enumerate(parts):
            target = insert_slice(inner.builder, part, target, (number % 2, number // 2, 0))
        return reshape(target, (2, length, 1), inner.builder.op)

    return fourier.shared(f"stage_of_{radix}", values, make)
