"""
Fourier transforms of planes: tensors of sizes `[2, length, lanes]`, real and imaginary parts.

Lanes are what is not transformed, and lies in the lanes of vectors. The transforms along a column
take stages, each of which reads all and writes all: butterflies of a few numbers that are far apart
(the autosort algorithm of T. Stockham, 1966). Where a butterfly's numbers are, and its factors, are
tables: the stages of one radix share their code. Tables are computed in f64 and rounded.

A line, a plane of one lane, is seen as a matrix: its columns are transformed, multiplied by
factors, turned to rows, and transformed again (the four steps of D. Bailey, "FFTs in external or
hierarchical memory", 1990). A length with a large prime factor is a convolution of a length without
one (L. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform",
1970).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf, isqrt
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float64Type,
    TensorType,
    i32,
)
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.fourier.butterflies import (
    LARGEST_PRIME,
    Butterfly,
    Number,
    operation_count,
    smallest_prime,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from lowerings.xla_to_linalg.shared_functions import shared_call
from lowerings.xla_to_linalg.structured import (
    affine_map,
    constant,
    empty,
    extract_slice,
    fill_into,
    generic,
    identity,
    insert_slice,
    iterators,
)
from xla_dialect.xdsl.traversal import tensor_shape

Complex: TypeAlias = np.ndarray[Any, np.dtype[np.complex128]]
Input: TypeAlias = "tuple[SSAValue, AffineMapAttr]"
Expression: TypeAlias = "AffineExpr | int"
Planes: TypeAlias = SSAValue

LINE_BYTES = 64
"""The size of a cache line and of the widest vector."""
LARGEST_RADIX = 16
"""More numbers than this do not stay in registers."""
LONGEST_SIDE = 1 << 8
"""Matrices have longer sides than this only as far as needed: the caches would not hold them."""
MOVE_COST = 12
"""The cost of reading and writing a number in a stage, in arithmetic operations."""
CODE_COST = 0.2
"""The cost of compiling one operation of a stage's code, in operations per number."""


def roots(exponents: np.ndarray[Any, Any], length: int, sign: int) -> Complex:
    """`e^(sign 2 pi i k / length)`, from angles of at most an eighth of a turn."""
    quarters = exponents % length * 4
    nearest = (2 * quarters + length) // (2 * length)
    angles = np.pi / 2 * ((quarters - nearest * length) / length)
    found = (np.cos(angles) + 1j * np.sin(angles)) * np.array([1, 1j, -1, -1j])[nearest % 4]
    return found if sign > 0 else np.conj(found)


def is_smooth(length: int) -> bool:
    """Whether all prime factors are small."""
    while length > 1:
        prime = smallest_prime(length)
        if prime > LARGEST_PRIME:
            return False
        length //= prime
    return True


@cache
def radices(length: int) -> tuple[int, ...]:
    """The lengths of the stages of a smooth length that cost least; equal ones are last."""
    return tuple(sorted(found := _cheapest(length, LARGEST_RADIX)[1], key=found.count))


def cost(length: int) -> float:
    """The cost per number of the transform of a column of a smooth length."""
    return _cheapest(length, LARGEST_RADIX)[0]


@cache
def _cheapest(length: int, largest: int) -> tuple[float, tuple[int, ...]]:
    """The cost per number and the radices, none more than `largest`."""
    if length == 1:
        return 0.0, ()
    found: list[tuple[float, tuple[int, ...]]] = []
    for radix in range(2, largest + 1):
        rest, stages, own = length, (), CODE_COST * _operations(radix)
        while rest % radix == 0:
            rest //= radix
            stages = (*stages, radix)
            own += _stage_cost(radix)
            others, smaller = _cheapest(rest, radix - 1)
            found.append((own + others, (*stages, *smaller)))
    return min(found, default=(inf, ()))


def _operations(radix: int) -> int:
    """The arithmetic operations of a stage's code."""
    return operation_count(radix) + 6 * (radix - 1)


def _stage_cost(radix: int) -> float:
    """The cost per number of a stage."""
    return MOVE_COST + _operations(radix) / radix


def indexed(*indices: Expression, rank: int) -> AffineMapAttr:
    """The map of an iteration space of that rank to these expressions and constants."""
    expressions = (AffineExpr.constant(i) if isinstance(i, int) else i for i in indices)
    return affine_map(rank, tuple(expressions))


def dimension(number: int) -> AffineExpr:
    """A dimension of an iteration space."""
    return AffineExpr.dimension(number)


def in_order(planes: SSAValue) -> list[Input]:
    """The parts of planes, for an iteration space `[1, length, lanes]`."""
    return [(planes, indexed(c, dimension(1), dimension(2), rank=3)) for c in (0, 1)]


@dataclass(frozen=True)
class Fourier:
    """Transforms without their scale."""

    builder: ConversionBuilder
    part: AnyFloat
    """The type of the parts."""
    sign: int
    """Of the exponent: -1 forward, 1 for the inverse."""

    def within(self, builder: ConversionBuilder) -> Fourier:
        """The same with another builder, for operations inside of a loop."""
        return replace(self, builder=builder)

    @property
    def lanes(self) -> int:
        """The numbers in a cache line."""
        return LINE_BYTES // (8 if isinstance(self.part, Float64Type) else 4)

    def padded(self, count: int) -> int:
        """The lanes that fill cache lines."""
        return -(-count // self.lanes) * self.lanes

    def empty(self, *sizes: int) -> SSAValue:
        """A tensor of parts."""
        return empty(self.builder, TensorType(self.part, sizes))

    def table(self, values: Complex, *, parts_last: bool = False) -> SSAValue:
        """Constants, with a first or last dimension for both parts."""
        parts = np.stack([values.real, values.imag], axis=-1 if parts_last else 0)
        data = parts.astype(np.float64 if isinstance(self.part, Float64Type) else np.float32)
        literal = DenseIntOrFPElementsAttr(
            TensorType(self.part, data.shape), BytesAttr(data.tobytes())
        )
        return self.builder.insert(arith.ConstantOp(literal)).result

    def made(
        self,
        sizes: tuple[int, int],
        inputs: Sequence[Input],
        body: Callable[[ScalarBuilder, Values], Number],
        into: Planes | None = None,
    ) -> Planes:
        """
        Planes of elements that a body computes; the iteration space is `[1, *sizes]`.

        They are put `into` larger planes if those are given.
        """
        into = self.empty(2, *sizes) if into is None else into
        outputs = [(self.empty(1, *sizes), identity(3)) for _ in range(2)]
        parts = generic(self.builder, inputs, outputs, iterators(3), body)
        for number, part in enumerate(parts):
            into = insert_slice(self.builder, part, into, (number, 0, 0))
        return into

    def transformed(self, x: Planes) -> Planes:
        """The transforms along the columns of planes, or of a line in order."""
        _, length, lanes = tensor_shape(x)
        if not is_smooth(length):
            return self._convolved(x)
        split = None if lanes > 1 else matrix_sizes(length, self.lanes)
        if split is None:
            return self.columns(x, length)
        first, second = split
        rows = reshape(x, (2, first, second), self.builder.op)
        padded = self.padded(first), self.padded(second)
        if padded != split:
            rows = insert_slice(self.builder, rows, self.empty(2, *padded), (0, 0, 0))
        matrix = self.matrix(rows, first, second)
        found = extract_slice(self.builder, matrix, (0, 0, 0), (2, second, first))
        return reshape(found, (2, length, 1), self.builder.op)

    def columns(self, x: Planes, length: int) -> Planes:
        """
        The transforms along the columns of the first `length` rows, a smooth number.

        The result has as many rows as `x`, with unspecified elements in the rest.
        """
        done = 1
        for radix in radices(length):
            done *= radix
            x = self._stage(x, length, radix, done)
        return x

    def _stage(self, x: Planes, length: int, radix: int, done: int) -> Planes:
        """
        Transforms of length `done` from those of a length that is a `radix`-th of it.

        Of `x[k, i, s]`, the number `i` of `radix` parts, and `y[i, k, s]` afterwards.
        """
        _, rows, lanes = tensor_shape(x)
        at_once = self.lanes if lanes % self.lanes == 0 else lanes
        parts = lanes // at_once
        count, wide = length // done, length // radix * parts
        k, s = np.divmod(np.arange(wide), count * parts)
        numbers = np.arange(radix)
        places = (k[:, None] * radix + numbers) * count * parts + s[:, None]
        literal = DenseIntOrFPElementsAttr(
            TensorType(i32, places.shape), BytesAttr(places.astype(np.int32).tobytes())
        )
        blocks = reshape(x, (2, rows * parts, at_once), self.builder.op)
        values = [blocks, self.builder.insert(arith.ConstantOp(literal)).result]
        if done > radix or radices(length).count(radix) > 1:
            values.append(
                self.table(roots(np.outer(k, numbers[1:]), done, self.sign), parts_last=True)
            )

        def make(inner: Fourier, values: Values) -> Planes:
            x, places, *tables = values
            d1 = dimension(1)
            inputs = [(places, indexed(d1, i, rank=3)) for i in range(radix)]
            for factors in tables:
                pairs = [(i, c) for i in range(radix - 1) for c in (0, 1)]
                inputs += [(factors, indexed(d1, *pair, rank=3)) for pair in pairs]

            def body(s: ScalarBuilder, e: Values) -> Values:
                butterfly = Butterfly(s, self.sign)
                numbers = [self._number(s, x, place) for place in e[:radix]]
                factors = e[radix : len(inputs)]
                for i, factor in enumerate(zip(factors[::2], factors[1::2], strict=True), 1):
                    numbers[i] = butterfly.times(numbers[i], factor)
                return [part for number in butterfly.transform(numbers) for part in number]

            outputs = [(inner.empty(1, wide, at_once), identity(3)) for _ in range(2 * radix)]
            parts = generic(inner.builder, inputs, outputs, iterators(3), body)
            target = inner.empty(*tensor_shape(x))
            for number, part in enumerate(parts):
                i, c = divmod(number, 2)
                target = insert_slice(inner.builder, part, target, (c, i * wide, 0))
            return target

        direction = "forward" if self.sign < 0 else "backward"
        spelled = "x".join(map(str, (*tensor_shape(blocks), self.part)))
        computes = f"fourier_{direction}_stage_of_{radix}_{spelled}"
        (found,) = shared_call(
            self.builder, computes, values, lambda b, values: [make(self.within(b), values)]
        )
        return reshape(found, (2, rows, lanes), self.builder.op)

    def _number(self, s: ScalarBuilder, x: Planes, place: SSAValue) -> Number:
        """The number at a place, an i32, of a column."""
        at = s.emit(arith.IndexCastOp, (place,), INDEX), s.index(2)
        real, imaginary = (
            s.emit(tensor.ExtractOp, (x, s.constant(c, INDEX), *at), self.part) for c in (0, 1)
        )
        return real, imaginary

    def matrix(self, x: Planes, first: int, second: int) -> Planes:
        """
        The transforms of lines that are matrices, `[2, first, second]` with padded sides.

        The results are matrices `[2, second, first]` with padded sides.
        """
        _, rows, lanes = tensor_shape(x)
        columns = self.columns(x, first)
        inputs = [(columns, indexed(c, dimension(2), dimension(1), rank=3)) for c in (0, 1)]
        factors = self.between(lanes, rows, first * second)
        turned = self.product((lanes, rows), [*inputs, *in_order(factors)])
        return self.columns(turned, second)

    def between(self, rows: int, columns: int, length: int = 0) -> SSAValue:
        """
        The factors between the transforms of a line's columns and those of its rows, turned.

        The line has `length` numbers, by default as many as there are factors.
        """
        exponents = np.outer(np.arange(rows), np.arange(columns))
        return self.table(roots(exponents, length or rows * columns, self.sign))

    def _convolved(self, x: Planes) -> Planes:
        """
        Transforms of any length by a convolution with `e^(-sign pi i k^2 / length)`.

        The inverse transform in it is a forward one of conjugates: what goes into both is
        multiplied and conjugated, so that both are the same code.
        """
        _, length, lanes = tensor_shape(x)
        wide = convolution_length(length, self.lanes if lanes == 1 else None)
        index = np.arange(length)
        chirp = roots(index * index % (2 * length), 2 * length, self.sign)
        kernel = np.zeros(wide, np.complex128)
        kernel[:length] = np.conj(chirp)
        kernel[wide - length + 1 :] = np.conj(chirp[:0:-1])
        transform = np.fft.fft if self.sign < 0 else np.fft.ifft
        spectrum: Complex = transform(kernel, norm="backward" if self.sign < 0 else "forward")
        zero = constant(self.builder, 0.0, self.part)
        rest = fill_into(self.builder, zero, self.empty(2, wide - length, lanes))
        into = insert_slice(self.builder, rest, self.empty(2, wide, lanes), (0, length, 0))
        x = self.transformed(self._scaled(x, chirp, conjugate=True, into=into))
        x = self.transformed(self._scaled(x, np.conj(spectrum / wide), conjugate=True))
        found = extract_slice(self.builder, x, (0, 0, 0), (2, length, lanes))
        return self._scaled(found, chirp)

    def _scaled(
        self, x: Planes, factors: Complex, *, conjugate: bool = False, into: Planes | None = None
    ) -> Planes:
        """Each column times the factors; with `conjugate` the conjugates of that."""
        _, length, lanes = tensor_shape(x)
        table = self.table(factors)
        turns = [(table, indexed(c, dimension(1), rank=3)) for c in (0, 1)]
        return self.product((length, lanes), [*in_order(x), *turns], into, conjugate=conjugate)

    def product(
        self,
        sizes: tuple[int, int],
        inputs: Sequence[Input],
        into: Planes | None = None,
        *,
        conjugate: bool = False,
    ) -> Planes:
        """The products of two numbers, given by their parts; with `conjugate` the conjugates."""

        def body(s: ScalarBuilder, e: Values) -> Number:
            real, imaginary = Butterfly(s, self.sign).times((e[0], e[1]), (e[2], e[3]))
            return real, s.negf(imaginary) if conjugate else imaginary

        return self.made(sizes, inputs, body, into)


@cache
def matrix_sizes(length: int, lanes: int) -> tuple[int, int] | None:
    """
    Rows and columns of the matrix that a line is seen as; None if it has no smooth ones.

    Neither is so short that it leaves most of a vector empty.
    """
    found: list[tuple[int, float, tuple[int, int]]] = []
    for shorter in range(lanes // 2, isqrt(length) + 1):
        longer, rest = divmod(length, shorter)
        if rest or not (is_smooth(shorter) and is_smooth(longer)):
            continue
        for first, second in ((shorter, longer), (longer, shorter)):
            work, codes = 0.0, set[tuple[int, int]]()
            for rows, columns in ((first, second), (second, first)):
                numbers = rows * -(-columns // lanes) * lanes
                for radix in radices(rows):
                    work += numbers * _stage_cost(radix)
                    codes.add((radix, numbers))
            # Stages of as many numbers share their code.
            work += length * CODE_COST * sum(_operations(radix) for radix, _ in codes)
            found.append((max(longer, LONGEST_SIDE), work, (first, second)))
    return min(found)[-1] if found else None


@cache
def convolution_length(length: int, lanes: int | None) -> int:
    """
    The length that is best for a convolution, at least `2 length - 1`.

    With `lanes`, that of a line, which is seen as a matrix that fills so many lanes.
    """
    step = lanes * lanes if lanes else 1
    least = -(-(2 * length - 1) // step)
    power = 1 << (least - 1).bit_length()
    found = (n * step for n in (*range(least, least * 9 // 8 + 1), power) if is_smooth(n))
    return min(found, key=lambda wide: wide * cost(wide))
