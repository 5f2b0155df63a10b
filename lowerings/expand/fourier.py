"""
Fourier transforms of any length, as products with small matrices.

Complex numbers are two planes of reals here, along the first dimension of every array: a transform
of a short length is then one real contraction, for which there are fast kernels. Longer lengths are
divided, `N = n1 n2`, into n2 transforms of length n1, factors, and n1 transforms of length n2 (J.
Cooley, J. Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965). The
dimension that lies in the lanes of vectors is never transformed: of the last dimension, the results
of a first division move there. What has a large prime factor becomes a convolution of a length that
is a power of two (L. Bluestein, "A linear filtering approach to the computation of discrete Fourier
transform", 1970). Transforms of or to reals of even length have half that length, with even
elements as real and odd ones as imaginary parts. Matrices and factors are computed in f64 and
rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, prod
from typing import Any, cast

import numpy as np

from xla_dialect.attributes import FftType
from xla_dialect.builder import DotDimensionNumbers, XlaBuilder, XlaValue
from xla_dialect.op import decode
from xla_dialect.ops.linear_algebra import FftOp
from xla_dialect.types import Array, component_type

Complex = np.ndarray[Any, np.dtype[np.complex128]]

LONGEST_PRODUCT = 12
"""Up to this length a transform is one product where it could be divided, too."""
LONGEST_PRIME = 128
"""Up to this length a transform that cannot be divided is one product."""
LANES = range(16, 33)
"""Lengths that fill vectors, of the first division of the last dimension."""
LARGEST_FACTORED_MATRICES = 1 << 14
"""Numbers up to which matrices are multiplied with factors, for each result of the division."""


def transform(b: XlaBuilder, op: FftOp, operand: XlaValue) -> Sequence[XlaValue]:
    """The transform over the last dimensions."""
    result, kind = cast(Array, op.result.type), op.fft_type.data
    sizes, rank = result.get_shape(), result.get_num_dims()
    if 0 in sizes:
        return [b.broadcast(b.constant(0, result.element_type), sizes)]
    lengths = cast("tuple[int, ...]", decode(op.fft_length))
    dimensions = list(range(rank - len(lengths), rank))
    fourier = Fourier(
        b,
        component_type(cast(Array, op.operand.type).element_type),
        -1 if kind in (FftType.FFT, FftType.RFFT) else 1,
    )
    x = fourier.planes(operand) if kind != FftType.RFFT else operand
    if kind == FftType.RFFT:
        x = fourier.of_reals(x, dimensions.pop())
    last = dimensions.pop() if kind == FftType.IRFFT else None
    for dimension in dimensions:
        x = fourier.along(x, dimension + 1)
    scale = 1 / prod(lengths) if fourier.sign > 0 else 1.0
    if last is not None:
        return [fourier.to_reals(x, lengths[-1]) * scale]
    real, imaginary = fourier.parts(x if scale == 1 else x * scale)
    return [b.complex(real, imaginary)]


def _roots(exponents: np.ndarray[Any, Any], length: int, sign: int) -> Complex:
    """`e^(sign 2 pi i k / length)`, exact for multiples of a quarter turn."""
    eighths = exponents * 8 % (8 * length)
    angles = sign * np.pi / 4 * (eighths / length)
    parts = (np.cos(angles), np.sin(angles))
    at_quarters = eighths % (2 * length) == 0
    real, imaginary = (np.where(at_quarters, np.round(part), part) for part in parts)
    return real + 1j * imaginary


def _is_one_product(length: int) -> bool:
    """Whether the transform of a length is one product."""
    return length <= LONGEST_PRODUCT or (length <= LONGEST_PRIME and _divisor(length) is None)


def _divisor(length: int) -> int | None:
    """A divisor of a length, such that even pieces result; None if all are too large."""
    found = [d for d in range(2, LONGEST_PRODUCT + 1) if length % d == 0]
    pieces = ceil(log(length, LONGEST_PRODUCT) - 1e-9)
    even = [d for d in found if d**pieces >= length]
    return even[0] if even else found[-1] if found else None


def _divisor_for_lanes(length: int) -> int | None:
    """The divisor for the first division of the last dimension: it fills vectors if it can."""
    return next((d for d in LANES if length % d == 0), _divisor(length))


@dataclass(frozen=True)
class Fourier:
    """Transforms without their scale; arrays have a first dimension for both parts."""

    b: XlaBuilder
    element_type: Any
    sign: int
    """Of the exponent: -1 forward, 1 for the inverse."""

    def planes(self, x: XlaValue) -> XlaValue:
        """The parts of an array of complex or real numbers."""
        return self.joined(self.b.real(x), self.b.imag(x))

    def joined(self, real: XlaValue, imaginary: XlaValue) -> XlaValue:
        """The array of two planes."""
        sizes = [1, *real.shape]
        return self.b.concatenate([self.b.reshape(part, sizes) for part in (real, imaginary)], 0)

    def parts(self, x: XlaValue) -> tuple[XlaValue, XlaValue]:
        """The real and the imaginary part."""
        _, *sizes = x.shape
        first, second = (
            self.b.slice(x, [part, *[0] * len(sizes)], [part + 1, *sizes]) for part in (0, 1)
        )
        return self.b.reshape(first, sizes), self.b.reshape(second, sizes)

    def along(self, x: XlaValue, dimension: int) -> XlaValue:
        """The transforms along a dimension."""
        _, *sizes = x.shape
        length, before = x.shape[dimension], prod(x.shape[1:dimension])
        after = prod(x.shape[dimension + 1 :])
        if after == 1:
            return self.b.reshape(self.lines(self.b.reshape(x, [2, before, length])), x.shape)
        columns = self.columns(self.b.reshape(x, [2, before, length, after]))
        return self.b.reshape(self.b.transpose(columns, [0, 2, 1, 3]), [2, *sizes])

    def lines(self, x: XlaValue) -> XlaValue:
        """The transforms of an array of sizes `[2, lines, length]`."""
        _, count, length = x.shape
        if _is_one_product(length):
            numbers = DotDimensionNumbers([0, 2], [0, 1])
            found = self.b.dot_general(x, self.matrix(length), numbers)
            return self.b.transpose(found, [1, 0, 2])
        first = _divisor_for_lanes(length)
        if first is None:
            return self.convolved(x)
        second = length // first
        rows = self.b.reshape(x, [2, count, first, second])
        found = self.b.dot_general(self.matrix(first), rows, DotDimensionNumbers([0, 1], [0, 2]))
        exponents = np.outer(np.arange(first), np.arange(second))
        turned = self.times(found, _roots(exponents, length, self.sign), (1, 3))
        moved = self.b.transpose(turned, [0, 2, 3, 1])
        columns = self.b.transpose(self.columns(moved), [0, 2, 1, 3])
        return self.b.reshape(columns, [2, count, length])

    def columns(self, x: XlaValue) -> XlaValue:
        """
        The transforms along dimension 2 of an array of sizes `[2, count, length, lanes]`.

        The sizes of the result are `[2, length, count, lanes]`.
        """
        _, count, length, lanes = x.shape
        over_length = DotDimensionNumbers([0, 1], [0, 2])
        if _is_one_product(length):
            return self.b.dot_general(self.matrix(length), x, over_length)
        first = _divisor(length)
        if first is None:
            # All that is not transformed may lie in lanes.
            ordered = self.b.transpose(x, [0, 2, 1, 3])
            found = self.convolved(self.b.reshape(ordered, [2, length, count * lanes]), along=1)
            return self.b.reshape(found, [2, length, count, lanes])
        second = length // first
        rows = self.b.reshape(x, [2, count, first, second * lanes])
        found = self.b.dot_general(self.matrix(first), rows, over_length)
        found = self.b.reshape(found, [2, first, count, second, lanes])
        factors = _roots(np.outer(np.arange(first), np.arange(second)), length, self.sign)
        if _is_one_product(second) and 4 * second * length <= LARGEST_FACTORED_MATRICES:
            # [first, 2, count, lanes] for each result.
            numbers = DotDimensionNumbers([1, 2], [0, 3], [0], [1])
            found = self.b.dot_general(self.matrix(second, factors), found, numbers)
            found = self.b.transpose(found, [1, 2, 0, 3, 4])
        else:
            turned = self.times(found, factors, (1, 3))
            found = self.columns(self.b.reshape(turned, [2, first * count, second, lanes]))
        return self.b.reshape(found, [2, length, count, lanes])

    def matrix(self, length: int, factors: Complex | None = None) -> XlaValue:
        """
        The matrix of the transforms of a length: `[part, element, part, element]` to multiply with.

        With `factors[k, element]` it is one for each k, in a dimension before the others.
        """
        index = np.arange(length)
        roots = _roots(np.outer(index, index) % length, length, self.sign)
        if factors is not None:
            roots = factors[:, :, None] * roots
        # (a + ib)(c + id): a is multiplied with c and d, b with -d and c.
        rows = [np.stack([z.real, z.imag], axis=-2) for z in (roots, 1j * roots)]
        return self.b.constant(np.stack(rows, axis=-4), self.element_type)

    def times(self, x: XlaValue, factors: Complex, dimensions: Sequence[int]) -> XlaValue:
        """An array multiplied by factors that belong to some of its dimensions."""
        real, imaginary = self.parts(x)
        c, d = (
            self.b.broadcast_in_dim(
                self.b.constant(part, self.element_type), real.shape, [d - 1 for d in dimensions]
            )
            for part in (factors.real, factors.imag)
        )
        return self.joined(real * c - imaginary * d, real * d + imaginary * c)

    def convolved(self, x: XlaValue, along: int = 2) -> XlaValue:
        """
        Transforms of any length by a convolution with `e^(-sign pi i k^2 / length)`.

        Of an array of sizes `[2, lines, length]`, or `[2, length, lanes]` along dimension 1.
        """
        length = x.shape[along]
        padded = 1 << (2 * length - 2).bit_length()
        index = np.arange(length)
        chirp = _roots(index * index % (2 * length), 2 * length, self.sign)
        kernel = np.zeros(padded, np.complex128)
        kernel[:length] = np.conj(chirp)
        kernel[padded - length + 1 :] = np.conj(chirp[:0:-1])
        forward, backward = (Fourier(self.b, self.element_type, sign) for sign in (-1, 1))
        edges = [(0, padded - length if d == along else 0) for d in range(3)]
        start = self.b.pad(self.times(x, chirp, [along]), 0.0, edges)
        product = self.times(forward.along(start, along), np.fft.fft(kernel) / padded, [along])
        found = self.b.slice(backward.along(product, along), [0, 0, 0], x.shape)
        return self.times(found, chirp, [along])

    def of_reals(self, x: XlaValue, dimension: int) -> XlaValue:
        """The first half of the transforms of reals along the last dimension, and one more."""
        length, rank = x.shape[dimension], len(x.shape)
        kept = length // 2 + 1
        if length % 2:
            found = self.along(self.planes(x), rank)
            return self.b.slice(found, [0] * (rank + 1), [2, *x.shape[:-1], kept])
        pairs = self.b.reshape(x, [*x.shape[:-1], kept - 1, 2])
        found = self.along(self.b.transpose(pairs, [rank, *range(rank)]), rank)
        first = self.b.slice(found, [0] * (rank + 1), [*found.shape[:-1], 1])
        around = self.b.concatenate([found, first], rank)
        even, odd = self.halves(around)
        return even + self.times(odd, _roots(np.arange(kept), length, self.sign), [rank])

    def halves(self, x: XlaValue) -> tuple[XlaValue, XlaValue]:
        """
        What the even and the odd elements contribute to transforms of reals, from pairs of both.

        With `y_k` the conjugate of `x_(n - k)`: `(x + y) / 2` and `(x - y) / 2i`.
        """
        real, imaginary = (part * 0.5 for part in self.parts(x))
        last = len(real.shape) - 1
        backward, conjugate = self.b.rev(real, [last]), self.b.rev(imaginary, [last])
        even = self.joined(real + backward, imaginary - conjugate)
        return even, self.joined(imaginary + conjugate, backward - real)

    def to_reals(self, x: XlaValue, length: int) -> XlaValue:
        """Reals of this length, from the first half of their transforms in the last dimension."""
        last, sizes = len(x.shape) - 1, list(x.shape)
        if length % 2:
            real, _ = self.parts(self.along(self.completed(x, last, length), last))
            return real
        count = length // 2
        real, imaginary = self.parts(x)
        ends = [*[(0, 0)] * (last - 1), (1, 1)]
        # Those of reals are real at both ends, whatever stands there.
        inner = self.b.slice(imaginary, [*[0] * (last - 1), 1], [*imaginary.shape[:-1], count])
        even, odd = self.halves(self.joined(real, self.b.pad(inner, 0.0, ends)))
        # The even elements are those of x + y, the odd ones of (x - y) times factors: as imaginary
        # parts of the pairs, i (x - y) or -2 ((x - y) / 2i).
        turned = self.times(odd, -2 * _roots(np.arange(count + 1), length, self.sign), [last])
        pairs = self.b.slice(even * 2.0 + turned, [0] * (last + 1), [*sizes[:-1], count])
        found = self.parts(self.along(pairs, last))
        # No transpose, which the last product would make its own, and write its results apart.
        columns = [self.b.reshape(part, [*part.shape, 1]) for part in found]
        return self.b.reshape(self.b.concatenate(columns, last), [*sizes[1:-1], length])

    def completed(self, x: XlaValue, dimension: int, length: int) -> XlaValue:
        """The half that a transform of reals leaves out: the conjugates, read backwards."""
        sizes, starts = list(x.shape), [0] * len(x.shape)
        starts[dimension] = 1
        sizes[dimension] = (length + 1) // 2
        mirrored = self.b.rev(self.b.slice(x, starts, sizes), [dimension])
        signs = self.b.constant([1.0, -1.0], self.element_type)
        conjugates = mirrored * self.b.broadcast_in_dim(signs, mirrored.shape, [0])
        return self.b.concatenate([x, conjugates], dimension)
