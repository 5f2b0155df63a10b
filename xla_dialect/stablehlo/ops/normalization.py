"""Batch normalization."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from xla_dialect.ops import normalization as xla
from xla_dialect.stablehlo.op import StableHloOp


class BatchNormOp(StableHloOp):
    """Normalizes along one dimension, the features."""

    operand = operand_def()
    scale = operand_def()
    epsilon = prop_def(xla.EPSILON)
    feature_index = prop_def(IntegerAttr.constr(i64))
    traits = traits_def(Pure())


@irdl_op_definition
class BatchNormTrainingOp(BatchNormOp):
    """Normalizes by mean and variance of the operand, which it returns too."""

    name = "stablehlo.batch_norm_training"
    SAME: ClassVar = xla.BatchNormTrainingOp
    offset = operand_def()
    output = result_def()
    batch_mean = result_def()
    batch_var = result_def()


@irdl_op_definition
class BatchNormInferenceOp(BatchNormOp):
    """Normalizes by a given mean and variance."""

    name = "stablehlo.batch_norm_inference"
    SAME: ClassVar = xla.BatchNormInferenceOp
    offset = operand_def()
    mean = operand_def()
    variance = operand_def()
    result = result_def()


@irdl_op_definition
class BatchNormGradOp(BatchNormOp):
    """The gradients of operand, scale and offset."""

    name = "stablehlo.batch_norm_grad"
    SAME: ClassVar = xla.BatchNormGradOp
    mean = operand_def()
    variance = operand_def()
    grad_output = operand_def()
    grad_operand = result_def()
    grad_scale = result_def()
    grad_offset = result_def()
