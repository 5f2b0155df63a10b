"""Fourier transforms, Cholesky and triangular solve of StableHLO."""

from __future__ import annotations

from collections.abc import Mapping

from xla_dialect.attributes import FftTypeAttr, TransposeAttr
from xla_dialect.ops.linear_algebra import CholeskyOp, FftOp, TriangularSolveOp
from xla_dialect.stablehlo.conversion import Row
from xla_dialect.stablehlo.correspondence import flag, integers, named, same, word
from xla_dialect.stablehlo.syntax import flag_clause, form, integers_clause, same_type, word_clause

ROWS: Mapping[str, Row] = {
    "stablehlo.fft": Row(
        form(type=word_clause("fft_type", "fft_type"), length=integers_clause("fft_length")),
        same(
            FftOp,
            named(word("fft_type", "fft_type", FftTypeAttr), integers("fft_length")),
        ),
        operands=1,
    ),
    "stablehlo.cholesky": Row(
        form(same_type, lower=flag_clause("lower")),
        same(CholeskyOp, named(flag("lower"))),
        operands=1,
    ),
    "stablehlo.triangular_solve": Row(
        None,
        same(
            TriangularSolveOp,
            named(
                *(flag(name, None) for name in ("left_side", "lower", "unit_diagonal")),
                word("transpose_a", "transpose", TransposeAttr),
            ),
        ),
        operands=2,
    ),
}
