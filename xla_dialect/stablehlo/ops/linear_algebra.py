"""Fourier transforms, Cholesky, triangular solve and batch normalization."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, i1, i64
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xla_dialect.ops import linear_algebra as xla
from xla_dialect.ops import normalization
from xla_dialect.stablehlo.attributes import StableHloFftTypeAttr, StableHloTransposeAttr
from xla_dialect.stablehlo.op import StableHloOp, just_as
from xla_dialect.xdsl.directives import Integers, SameType

_FLAG: Any = IntegerAttr.constr(i1)


@just_as(xla.FftOp)
class FftOp(StableHloOp):
    """A discrete Fourier transform of the last dimensions."""

    name = "stablehlo.fft"
    fft_type = prop_def(StableHloFftTypeAttr)
    fft_length = prop_def(DenseArrayBase.constr(i64))
    traits = traits_def(Pure())
    custom_directives = (Integers,)
    assembly_format = (
        "$operand `,` `type` `=` $fft_type `,` `length` `=` custom<Integers>($fft_length) "
        "attr-dict `:` functional-type(operands, results)"
    )


@just_as(xla.CholeskyOp)
class CholeskyOp(StableHloOp):
    """The triangular factor of positive definite matrices."""

    name = "stablehlo.cholesky"
    lower = opt_prop_def(_FLAG, default_value=BoolAttr.from_bool(False))
    traits = traits_def(Pure())
    custom_directives = (SameType,)
    assembly_format = (
        "$a (`,` `lower` `=` $lower^)? attr-dict `:` "
        "custom<SameType>(type(operands), type(results))"
    )


@just_as(xla.TriangularSolveOp)
class TriangularSolveOp(StableHloOp):
    """Solves systems of linear equations with triangular matrices."""

    name = "stablehlo.triangular_solve"
    left_side = prop_def(_FLAG)
    lower = prop_def(_FLAG)
    unit_diagonal = prop_def(_FLAG)
    transpose_a = prop_def(StableHloTransposeAttr)
    traits = traits_def(Pure())


class BatchNormOp(StableHloOp):
    """Normalizes along one dimension, the features."""

    epsilon = prop_def(normalization.EPSILON)
    feature_index = prop_def(IntegerAttr.constr(i64))
    traits = traits_def(Pure())


@just_as(normalization.BatchNormTrainingOp)
class BatchNormTrainingOp(BatchNormOp):
    """Normalizes by mean and variance of the operand, which it returns too."""

    name = "stablehlo.batch_norm_training"
    output = result_def()
    batch_mean = result_def()
    batch_var = result_def()


@just_as(normalization.BatchNormInferenceOp)
class BatchNormInferenceOp(BatchNormOp):
    """Normalizes by a given mean and variance."""

    name = "stablehlo.batch_norm_inference"


@just_as(normalization.BatchNormGradOp)
class BatchNormGradOp(BatchNormOp):
    """The gradients of operand, scale and offset."""

    name = "stablehlo.batch_norm_grad"
    grad_operand = result_def()
    grad_scale = result_def()
    grad_offset = result_def()
