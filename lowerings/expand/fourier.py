"""
Fourier transforms of any length, as products with small matrices.

Complex numbers are pairs of reals here, the last dimension of every array: a transform of a short
length is then one real contraction, for which there are fast kernels. Longer lengths are divided,
`N = n1 n2`, into n2 transforms of length n1, factors, and n1 transforms of length n2 (J. Cooley, J.
Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965). What has a large
prime factor becomes a convolution of a length that is a power of two (L. Bluestein, "A linear
filtering approach to the computation of discrete Fourier transform", 1970). Matrices and factors
are computed in f64 and rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np

from xla_dialect.attributes import FftType
from xla_dialect.builder import DotDimensionNumbers, XlaBuilder, XlaValue
from xla_dialect.op import decode
from xla_dialect.ops.linear_algebra import FftOp
from xla_dialect.types import Array, component_type

Complex = np.ndarray[Any, np.dtype[np.complex128]]

LONGEST_PRODUCT = 32
"""Up to this length a transform is one product where it could be divided, too."""
LONGEST_PRIME = 128
"""Up to this length a transform that cannot be divided is one product."""


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
    x = fourier.pairs(operand)
    if kind == FftType.RFFT:
        x = fourier.along(x, dimensions.pop())
        x = b.slice(x, [0] * (rank + 1), [*x.shape[:-2], sizes[-1], 2])
    last = dimensions.pop() if kind == FftType.IRFFT else None
    for dimension in dimensions:
        x = fourier.along(x, dimension)
    if last is not None:
        x = fourier.along(fourier.completed(x, last, lengths[-1]), last)
    if fourier.sign > 0:
        x = x * (1 / prod(lengths))
    real, imaginary = fourier.parts(x)
    return [real if kind == FftType.IRFFT else b.complex(real, imaginary)]


def _as_pairs(numbers: Complex) -> np.ndarray[Any, Any]:
    """Real and imaginary parts along a new last dimension."""
    return np.stack([numbers.real, numbers.imag], axis=-1)


def _roots(exponents: np.ndarray[Any, Any], length: int, sign: int) -> Complex:
    """`e^(sign 2 pi i k / length)`, exact for multiples of a quarter turn."""
    eighths = exponents * 8 % (8 * length)
    angles = sign * np.pi / 4 * (eighths / length)
    parts = (np.cos(angles), np.sin(angles))
    at_quarters = eighths % (2 * length) == 0
    real, imaginary = (np.where(at_quarters, np.round(part), part) for part in parts)
    return real + 1j * imaginary


def _divisor(length: int) -> int | None:
    """The largest divisor of a length that is transformed by one product; None for 1."""
    found = [d for d in range(2, LONGEST_PRODUCT + 1) if length % d == 0]
    return found[-1] if found else None


@dataclass(frozen=True)
class Fourier:
    """Transforms without their scale; arrays have a last dimension for both parts."""

    b: XlaBuilder
    element_type: Any
    sign: int
    """Of the exponent: -1 forward, 1 for the inverse."""

    def pairs(self, x: XlaValue) -> XlaValue:
        """The parts of an array of complex or real numbers."""
        parts = [self.b.real(x), self.b.imag(x)]
        sizes = [*x.shape, 1]
        return self.b.concatenate([self.b.reshape(part, sizes) for part in parts], len(x.shape))

    def parts(self, x: XlaValue) -> tuple[XlaValue, XlaValue]:
        """The real and the imaginary part."""
        *sizes, _ = x.shape
        first, second = (
            self.b.slice(x, [*[0] * len(sizes), part], [*sizes, part + 1]) for part in (0, 1)
        )
        return self.b.reshape(first, sizes), self.b.reshape(second, sizes)

    def along(self, x: XlaValue, dimension: int) -> XlaValue:
        """The transforms along a dimension."""
        rank = len(x.shape)
        order = [*(d for d in range(rank - 1) if d != dimension), dimension, rank - 1]
        moved = self.b.transpose(x, order)
        length = x.shape[dimension]
        lines = self.b.reshape(moved, [prod(moved.shape[:-2]), length, 2])
        found = self.b.reshape(self.lines(lines), moved.shape)
        return self.b.transpose(found, [order.index(d) for d in range(rank)])

    def lines(self, x: XlaValue) -> XlaValue:
        """The transforms of an array of sizes `[lines, length, 2]`."""
        length = x.shape[1]
        first = _divisor(length)
        if length <= LONGEST_PRODUCT or (first is None and length <= LONGEST_PRIME):
            return self.product(x)
        return self.convolved(x) if first is None else self.divided(x, first)

    def product(self, x: XlaValue) -> XlaValue:
        """Transforms along dimension 1, which becomes the one before the last, as one product."""
        length, last = x.shape[1], len(x.shape) - 1
        index = np.arange(length)
        roots = _roots(np.outer(index, index) % length, length, self.sign)
        # (a + ib)(c + id): the row of a has c and d, the row of b has -d and c.
        rows = np.stack([_as_pairs(roots), _as_pairs(1j * roots)], axis=1)
        matrix = self.b.constant(rows, self.element_type)
        numbers = DotDimensionNumbers([1, last], [0, 1])
        return self.b.dot_general(x, matrix, numbers)

    def times(self, x: XlaValue, factors: Complex) -> XlaValue:
        """Every line multiplied by factors."""
        real, imaginary = self.parts(x)
        c, d = (
            self.b.broadcast_in_dim(
                self.b.constant(part, self.element_type),
                real.shape,
                list(range(1, len(real.shape))),
            )
            for part in (factors.real, factors.imag)
        )
        parts = real * c - imaginary * d, real * d + imaginary * c
        sizes = [*real.shape, 1]
        return self.b.concatenate([self.b.reshape(part, sizes) for part in parts], len(real.shape))

    def divided(self, x: XlaValue, first: int) -> XlaValue:
        """Transforms of a length that `first` divides."""
        count, length, _ = x.shape
        second = length // first
        columns = self.product(self.b.reshape(x, [count, first, second, 2]))
        exponents = np.outer(np.arange(second), np.arange(first))
        turned = self.times(columns, _roots(exponents, length, self.sign))
        rows = self.b.transpose(turned, [0, 2, 1, 3])
        found = self.lines(self.b.reshape(rows, [count * first, second, 2]))
        found = self.b.reshape(found, [count, first, second, 2])
        return self.b.reshape(self.b.transpose(found, [0, 2, 1, 3]), [count, length, 2])

    def convolved(self, x: XlaValue) -> XlaValue:
        """Transforms of any length by a convolution with `e^(-sign pi i k^2 / length)`."""
        count, length, _ = x.shape
        padded = 1 << (2 * length - 2).bit_length()
        index = np.arange(length)
        chirp = _roots(index * index % (2 * length), 2 * length, self.sign)
        kernel = np.zeros(padded, np.complex128)
        kernel[:length] = np.conj(chirp)
        kernel[padded - length + 1 :] = np.conj(chirp[:0:-1])
        forward, backward = (Fourier(self.b, self.element_type, sign) for sign in (-1, 1))
        start = self.b.pad(self.times(x, chirp), 0.0, [(0, 0), (0, padded - length), (0, 0)])
        product = self.times(forward.lines(start), np.fft.fft(kernel) / padded)
        found = self.b.slice(backward.lines(product), [0, 0, 0], [count, length, 2])
        return self.times(found, chirp)

    def completed(self, x: XlaValue, dimension: int, length: int) -> XlaValue:
        """The half that a transform of reals leaves out: the conjugates, read backwards."""
        rank = len(x.shape)
        sizes = list(x.shape)
        starts = [0] * rank
        starts[dimension] = 1
        sizes[dimension] = (length + 1) // 2
        mirrored = self.b.rev(self.b.slice(x, starts, sizes), [dimension])
        signs = self.b.constant([1.0, -1.0], self.element_type)
        conjugates = mirrored * self.b.broadcast_in_dim(signs, mirrored.shape, [rank - 1])
        return self.b.concatenate([x, conjugates], dimension)
