"""Fourier transforms, Cholesky and triangular solve of StableHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import SSAValue

from xla_dialect.attributes import FftType, FftTypeAttr, Transpose, TransposeAttr
from xla_dialect.ops.linear_algebra import CholeskyOp, FftOp, TriangularSolveOp
from xla_dialect.stablehlo.conversion import Conversion, dimension_list
from xla_dialect.stablehlo.elementwise import taken_member
from xla_dialect.stablehlo.source import Row, SourceOp
from xla_dialect.stablehlo.syntax import flag_clause, form, integers_clause, word_clause


def convert_fft(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.fft`."""
    properties = {
        "fft_type": FftTypeAttr(taken_member(op, "fft_type", FftType)),
        "fft_length": dimension_list(op.integers("fft_length")),
    }
    return conversion.emit(FftOp, conversion.operands(op), conversion.result_types(op), properties)


def convert_cholesky(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.cholesky`."""
    lower = BoolAttr.from_bool(op.flag("lower"))
    return conversion.emit(
        CholeskyOp, conversion.operands(op), conversion.result_types(op), {"lower": lower}
    )


def convert_triangular_solve(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.triangular_solve`."""
    properties = {
        name: BoolAttr.from_bool(op.flag(name, None))
        for name in ("left_side", "lower", "unit_diagonal")
    }
    transpose = TransposeAttr(taken_member(op, "transpose_a", Transpose))
    return conversion.emit(
        TriangularSolveOp,
        conversion.operands(op),
        conversion.result_types(op),
        {**properties, "transpose_a": transpose},
    )


ROWS: Mapping[str, Row] = {
    "stablehlo.fft": Row(
        form(type=word_clause("fft_type", "fft_type"), length=integers_clause("fft_length")),
        convert_fft,
        operands=1,
    ),
    "stablehlo.cholesky": Row(form(lower=flag_clause("lower")), convert_cholesky, operands=1),
    "stablehlo.triangular_solve": Row(None, convert_triangular_solve, operands=2),
}
