"""Fourier transforms, Cholesky and triangular solve (docs/generated/ops.md#linear-algebra)."""

from __future__ import annotations

from collections.abc import Sequence

from xla_dialect.attributes import FftType, FftTypeAttr, Transpose, TransposeAttr
from xla_dialect.builder.recorder import Recorder
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.linear_algebra import CholeskyOp, FftOp, TriangularSolveOp


class LinearAlgebraMethods(Recorder):
    """Methods for transforms and equations."""

    def fft(
        self, operand: XlaValue, fft_type: FftType | str, fft_length: Sequence[int]
    ) -> XlaValue:
        """
        The Fourier transform over the last dimensions, as many as there are lengths.

        `fft_type`: FFT, IFFT, RFFT (of reals, half of the result) or IRFFT (its inverse).
        Example: `b.fft(x, "RFFT", [8])`.
        """
        kind = self._word("fft", FftTypeAttr, fft_type)
        return self._append_one(FftOp, self._ssa(operand), fft_type=kind, fft_length=fft_length)

    def cholesky(self, a: XlaValue, lower: bool = False) -> XlaValue:
        """
        The lower (or upper) triangular factor of every Hermitian positive definite matrix.

        Example: `b.cholesky(x @ b.transpose(x, [1, 0]), lower=True)`.
        """
        return self._append_one(CholeskyOp, self._ssa(a, "a"), lower=lower)

    def triangular_solve(
        self,
        a: XlaValue,
        b: XlaValue,
        left_side: bool,
        lower: bool,
        unit_diagonal: bool,
        transpose_a: Transpose | str,
    ) -> XlaValue:
        """
        The x of `op(a) * x = b` (`left_side`) or `x * op(a) = b`, for triangular matrices `a`.

        `op` is NO_TRANSPOSE, TRANSPOSE or ADJOINT; `lower` says which triangle of `a` is read, with
        `unit_diagonal` its diagonal is 1. Example:
        `b.triangular_solve(x @ b.transpose(x, [1, 0]), y, True, True, False, "NO_TRANSPOSE")`.
        """
        return self._append_one(
            TriangularSolveOp,
            self._ssa(a, "a"),
            self._ssa(b, "b"),
            left_side=left_side,
            lower=lower,
            unit_diagonal=unit_diagonal,
            transpose_a=self._word("triangular_solve", TransposeAttr, transpose_a),
        )
