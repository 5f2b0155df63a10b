"""What batch normalization computes, in double precision, rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from xla_dialect.literals.arrays import Array
from xla_dialect.ops import normalization as ops
from xla_dialect.reference.rounding import rounded
from xla_dialect.reference.tuples import as_results


def by_feature(x: Array, feature_index: int) -> Array:
    """The array as [features, all other elements], in double precision."""
    moved = np.moveaxis(x.astype(np.float64), feature_index, 0)
    return moved.reshape((moved.shape[0], math.prod(moved.shape[1:])))


def like_operand(features: Array, operand: Array, feature_index: int) -> Array:
    """The inverse of `by_feature`, in the sizes and the type of the operand."""
    sizes = np.moveaxis(operand, feature_index, 0).shape
    return rounded(np.moveaxis(features.reshape(sizes), 0, feature_index), operand.dtype)


def columns(vectors: Sequence[Array]) -> list[Array]:
    """Vectors with one element per feature as columns, in double precision."""
    return [vector.astype(np.float64)[:, None] for vector in vectors]


def total(x: Array) -> Array:
    """The sums over all elements of each feature, as a column."""
    return np.sum(x, axis=1, keepdims=True)


def mean_of(x: Array) -> Array:
    """The means over all elements of each feature, as a column; NaN of no elements."""
    return total(x) / np.float64(x.shape[1])


def normalized(
    x: Array, scale: Array, offset: Array, mean: Array, variance: Array, epsilon: float
) -> Array:
    """`scale * (x - mean) / sqrt(variance + epsilon) + offset`."""
    return scale * (x - mean) / np.sqrt(variance + epsilon) + offset


@register_impls
class NormalizationFunctions(InterpreterFunctions):
    """Batch normalization and its gradient."""

    @impl(ops.BatchNormTrainingOp)
    def run_batch_norm_training(
        self, interpreter: Interpreter, op: ops.BatchNormTrainingOp, args: PythonValues
    ) -> PythonValues:
        """Normalized by the moments of the operand itself, which are results too."""
        operand: Array = args[0]
        feature = op.feature_index.value.data
        x = by_feature(operand, feature)
        scale, offset = columns(args[1:])
        mean = mean_of(x)
        variance = mean_of((x - mean) ** 2)
        found = normalized(x, scale, offset, mean, variance, op.epsilon.value.data)
        moments = (rounded(moment[:, 0], operand.dtype) for moment in (mean, variance))
        return as_results(op, (like_operand(found, operand, feature), *moments))

    @impl(ops.BatchNormInferenceOp)
    def run_batch_norm_inference(
        self, interpreter: Interpreter, op: ops.BatchNormInferenceOp, args: PythonValues
    ) -> PythonValues:
        """Normalized by the given moments."""
        operand: Array = args[0]
        feature = op.feature_index.value.data
        x = by_feature(operand, feature)
        scale, offset, mean, variance = columns(args[1:])
        found = normalized(x, scale, offset, mean, variance, op.epsilon.value.data)
        return (like_operand(found, operand, feature),)

    @impl(ops.BatchNormGradOp)
    def run_batch_norm_grad(
        self, interpreter: Interpreter, op: ops.BatchNormGradOp, args: PythonValues
    ) -> PythonValues:
        """The formulas of the operation."""
        operand: Array = args[0]
        feature = op.feature_index.value.data
        x, gradient = by_feature(operand, feature), by_feature(args[4], feature)
        scale, mean, variance = columns(args[1:4])
        spread = variance + op.epsilon.value.data
        centered = x - mean
        c = mean_of(gradient * centered / spread)
        d = mean_of(gradient)
        grad_operand = scale / np.sqrt(spread) * (gradient - d - c * centered)
        sums = total(gradient * centered / np.sqrt(spread)), total(gradient)
        return as_results(
            op,
            (
                like_operand(grad_operand, operand, feature),
                *(rounded(column[:, 0], operand.dtype) for column in sums),
            ),
        )
