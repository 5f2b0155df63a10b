"""Fourier transforms, Cholesky, triangular solve and batch normalization."""

from __future__ import annotations

from xdsl.irdl import prop_def, result_def

from xla_dialect.attributes import FLAG
from xla_dialect.ops import linear_algebra as xla
from xla_dialect.ops import normalization
from xla_dialect.stablehlo.attributes import StableHloTransposeAttr
from xla_dialect.stablehlo.op import StableHloOp, just_as, same_as

FftOp = same_as(
    xla.FftOp,
    StableHloOp,
    assembly_format=(
        "$operand `,` `type` `=` $fft_type `,` `length` `=` custom<Integers>($fft_length) "
        "attr-dict `:` functional-type(operands, results)"
    ),
)
CholeskyOp = same_as(
    xla.CholeskyOp,
    StableHloOp,
    assembly_format=(
        "$a (`,` `lower` `=` $lower^)? attr-dict `:` "
        "custom<SameType>(type(operands), type(results))"
    ),
)
TriangularSolveOp = same_as(
    xla.TriangularSolveOp,
    StableHloOp,
    left_side=prop_def(FLAG),
    lower=prop_def(FLAG),
    unit_diagonal=prop_def(FLAG),
    transpose_a=prop_def(StableHloTransposeAttr),
)


@just_as(normalization.BatchNormTrainingOp)
class BatchNormTrainingOp(StableHloOp):
    """Normalizes by mean and variance of the operand, which it returns too."""

    output = result_def()
    batch_mean = result_def()
    batch_var = result_def()


BatchNormInferenceOp = same_as(normalization.BatchNormInferenceOp, StableHloOp)


@just_as(normalization.BatchNormGradOp)
class BatchNormGradOp(StableHloOp):
    """The gradients of operand, scale and offset."""

    grad_operand = result_def()
    grad_scale = result_def()
    grad_offset = result_def()
