"""
Fourier transforms of any length, those with a large prime factor by a convolution.

That is of a length without one (L. Bluestein, "A linear filtering approach to the computation of
discrete Fourier transform", 1970).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from xdsl.ir import SSAValue

from lowerings.ir.reshapes import reshape
from lowerings.xla_to_linalg.fourier.butterflies import Butterfly, Number
from lowerings.xla_to_linalg.fourier.fourier_lines import is_short, is_staged, long_line
from lowerings.xla_to_linalg.fourier.fourier_planes import (
    Complex,
    Fourier,
    Planes,
    cost,
    dimension,
    indexed,
    is_smooth,
    matrix_sizes,
    roots,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder
from lowerings.xla_to_linalg.structured import (
    constant,
    extract_slice,
    fill_into,
    insert_slice,
    sizes_of,
)


def transformed(fourier: Fourier, x: Planes) -> Planes:
    """The transforms along the columns of planes, or of a line in order."""
    _, length, lanes = sizes_of(x)
    if not is_smooth(length):
        return _convolved(fourier, x)
    if lanes > 1:
        return fourier.columns(x)
    if is_staged(length) and not is_short(length):
        return long_line(fourier, x)
    split = matrix_sizes(length, fourier.lanes)
    if split is None:
        return fourier.columns(x)
    first, second = split
    rows = fourier.padded_rows(reshape(x, (2, first, second), fourier.builder.op))
    found = fourier.matrix(rows, second)
    found = extract_slice(fourier.builder, found, (0, 0, 0), (2, second, first))
    return reshape(found, (2, length, 1), fourier.builder.op)


def _convolved(fourier: Fourier, x: Planes) -> Planes:
    """
    Transforms of any length by a convolution with `e^(-sign pi i k^2 / length)`.

    The inverse transform in it is a forward one of conjugates: what goes into both is multiplied
    and conjugated, so that both are the same code.
    """
    _, length, lanes = sizes_of(x)
    wide = convolution_length(length, fourier.lanes if lanes == 1 else None)
    index = np.arange(length)
    chirp = roots(index * index % (2 * length), 2 * length, fourier.sign)
    kernel = np.zeros(wide, np.complex128)
    kernel[:length] = np.conj(chirp)
    kernel[wide - length + 1 :] = np.conj(chirp[:0:-1])
    transform = np.fft.fft if fourier.sign < 0 else np.fft.ifft
    spectrum: Complex = transform(kernel, norm="backward" if fourier.sign < 0 else "forward")
    padded = np.zeros(wide, np.complex128)
    padded[:length] = chirp
    zeros = fill_into(
        fourier.builder, constant(fourier.builder, 0.0, fourier.part), fourier.empty(2, wide, lanes)
    )
    x = insert_slice(fourier.builder, x, zeros, (0, 0, 0))
    for factors in (padded, np.conj(spectrum / wide)):
        x = transformed(fourier, _multiplied(fourier, x, factors, conjugate=True))
    found = extract_slice(fourier.builder, x, (0, 0, 0), (2, length, lanes))
    return _multiplied(fourier, found, chirp)


def _multiplied(
    fourier: Fourier, x: Planes, factors: Complex, *, conjugate: bool = False
) -> Planes:
    """Columns times factors; with `conjugate` the conjugates of that."""
    _, length, lanes = sizes_of(x)
    d1, d2 = dimension(1), dimension(2)
    table = fourier.table(factors)
    inputs = [(x, indexed(c, d1, d2, rank=3)) for c in (0, 1)]
    inputs += [(table, indexed(c, d1, rank=3)) for c in (0, 1)]

    def body(s: ScalarBuilder, e: Sequence[SSAValue]) -> Number:
        real, imaginary = Butterfly(s, fourier.sign).times((e[0], e[1]), (e[2], e[3]))
        return real, s.negf(imaginary) if conjugate else imaginary

    return fourier.made((length, lanes), inputs, body)


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
