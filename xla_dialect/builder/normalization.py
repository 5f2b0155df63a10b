"""Batch normalization (docs/generated/ops.md#normalization)."""

from __future__ import annotations

from xla_dialect.builder.recorder import Recorder, normalized
from xla_dialect.builder.value import XlaValue
from xla_dialect.op import XlaOp
from xla_dialect.ops import normalization as ops


class NormalizationMethods(Recorder):
    """Methods that normalize over all dimensions but the one of the features."""

    def batch_norm_training(
        self,
        operand: XlaValue,
        scale: XlaValue,
        offset: XlaValue,
        epsilon: float,
        feature_index: int,
    ) -> tuple[XlaValue, XlaValue, XlaValue]:
        """
        The normalized array, and the mean and variance of every feature.

        Example: `b.batch_norm_training(x, v, v, 0.001, 1)`.
        """
        operands = (operand, scale, offset)
        output, mean, variance = self._normalize(
            ops.BatchNormTrainingOp, operands, epsilon, feature_index
        )
        return output, mean, variance

    def batch_norm_inference(
        self,
        operand: XlaValue,
        scale: XlaValue,
        offset: XlaValue,
        mean: XlaValue,
        variance: XlaValue,
        epsilon: float,
        feature_index: int,
    ) -> XlaValue:
        """
        The array normalized by a given mean and variance of every feature.

        Example: `b.batch_norm_inference(x, v, v, v, v, 0.001, 1)`.
        """
        operands = (operand, scale, offset, mean, variance)
        return self._normalize(ops.BatchNormInferenceOp, operands, epsilon, feature_index)[0]

    def batch_norm_grad(
        self,
        operand: XlaValue,
        scale: XlaValue,
        mean: XlaValue,
        variance: XlaValue,
        grad_output: XlaValue,
        epsilon: float,
        feature_index: int,
    ) -> tuple[XlaValue, XlaValue, XlaValue]:
        """
        The gradients of `batch_norm_training` with respect to operand, scale and offset.

        Example: `b.batch_norm_grad(x, v, v, v, y, 0.001, 1)`.
        """
        operands = (operand, scale, mean, variance, grad_output)
        grad_operand, grad_scale, grad_offset = self._normalize(
            ops.BatchNormGradOp, operands, epsilon, feature_index
        )
        return grad_operand, grad_scale, grad_offset

    def _normalize(
        self,
        op_class: type[XlaOp],
        operands: tuple[XlaValue, ...],
        epsilon: float,
        feature_index: int,
    ) -> tuple[XlaValue, ...]:
        return self._append(
            op_class,
            *self._all_ssa(operands),
            epsilon=float(epsilon),
            feature_index=normalized(feature_index, operands[0].rank),
        )
