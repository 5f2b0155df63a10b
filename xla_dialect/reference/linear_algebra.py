"""What Fourier transforms, Cholesky and triangular solve compute, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from xla_dialect.attributes import FftType, Transpose
from xla_dialect.literals.arrays import Array, DType
from xla_dialect.op import Ints
from xla_dialect.ops import linear_algebra as ops
from xla_dialect.reference.conversion import result_dtype
from xla_dialect.reference.data_movement import array_type
from xla_dialect.reference.registration import registration
from xla_dialect.reference.rounding import DOUBLE_DTYPES, rounded

TRANSFORMS: Mapping[FftType, Callable[..., Array]] = {
    FftType.FFT: np.fft.fftn,
    FftType.IFFT: np.fft.ifftn,
    FftType.RFFT: np.fft.rfftn,
    FftType.IRFFT: np.fft.irfftn,
}


def adjoint(matrices: Array) -> Array:
    """The conjugate transpose of every matrix."""
    return np.conj(np.swapaxes(matrices, -1, -2))


def lower_factor(a: Array) -> Array:
    """
    The l of `a = l * l^H`, column by column, of the lower triangles of `a`.

    All NaN where a pivot is not positive.
    """
    factor = np.zeros_like(a)
    is_definite = np.ones(a.shape[:-2], np.bool_)
    for j in range(a.shape[-1]):
        row = factor[..., j, :j]
        pivot = np.real(a[..., j, j]) - np.sum(np.real(row * np.conj(row)), axis=-1)
        is_definite &= pivot > 0
        root = np.sqrt(pivot)
        factor[..., j, j] = root
        products = factor[..., j + 1 :, :j] @ np.conj(row)[..., None]
        factor[..., j + 1 :, j] = (a[..., j + 1 :, j] - products[..., 0]) / root[..., None]
    return np.where(is_definite[..., None, None], factor, factor * np.nan)


def solve_lower(a: Array, b: Array, unit_diagonal: bool) -> Array:
    """The x of `a * x = b`, row by row, of the lower triangles of `a`."""
    x = np.zeros_like(b)
    for i in range(a.shape[-1]):
        found = b[..., i, :] - (a[..., i, None, :i] @ x[..., :i, :])[..., 0, :]
        x[..., i, :] = found if unit_diagonal else found / a[..., i, i, None]
    return x


def solve_triangular(a: Array, b: Array, lower: bool, unit_diagonal: bool) -> Array:
    """The x of `a * x = b`, of the named triangles of `a`."""
    if lower:
        return solve_lower(a, b, unit_diagonal)
    # Read backwards, upper triangles are lower ones.
    backwards = solve_lower(a[..., ::-1, ::-1], b[..., ::-1, :], unit_diagonal)
    return backwards[..., ::-1, :]


def in_precision(x: Array, dtype: DType) -> Array:
    """Numbers of double precision rounded to a float or complex type."""
    return x.astype(dtype) if dtype.kind == "c" else rounded(x, dtype)


def fft(operand: Array, *, fft_type: FftType, fft_length: Ints, op: ops.FftOp) -> Array:
    """The transform over the last dimensions; nothing where there are no elements."""
    dtype = result_dtype(op)
    if operand.size == 0:
        last = array_type(op.result).get_shape()[-1]
        return np.zeros((*operand.shape[:-1], last), dtype)
    wide = operand.astype(DOUBLE_DTYPES[operand.dtype])
    axes = range(-len(fft_length), 0)
    return in_precision(TRANSFORMS[fft_type](wide, fft_length, axes), dtype)


def cholesky(a: Array, *, lower: bool) -> Array:
    """l, or u = l^H of the conjugate transpose."""
    wide = a.astype(DOUBLE_DTYPES[a.dtype])
    factor = lower_factor(wide) if lower else adjoint(lower_factor(adjoint(wide)))
    return in_precision(factor, a.dtype)


def triangular_solve(
    a: Array,
    b: Array,
    *,
    left_side: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose_a: Transpose,
) -> Array:
    """Substitution; `x * a = b` is `a^T * x^T = b^T`."""
    dtype = a.dtype
    a, b = (x.astype(DOUBLE_DTYPES[dtype]) for x in (a, b))
    if transpose_a == Transpose.ADJOINT:
        a = np.conj(a)
    if (transpose_a == Transpose.NO_TRANSPOSE) != left_side:
        a, lower = np.swapaxes(a, -1, -2), not lower
    if left_side:
        x = solve_triangular(a, b, lower, unit_diagonal)
    else:
        transposed = solve_triangular(a, np.swapaxes(b, -1, -2), lower, unit_diagonal)
        x = np.swapaxes(transposed, -1, -2)
    return in_precision(x, dtype)


LinearAlgebraFunctions = registration(
    "LinearAlgebraFunctions",
    {ops.FftOp: fft, ops.CholeskyOp: cholesky, ops.TriangularSolveOp: triangular_solve},
)
