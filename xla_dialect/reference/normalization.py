"""What batch normalization computes, in double precision, rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xla_dialect.literals.arrays import Array
from xla_dialect.ops import normalization as ops
from xla_dialect.reference.registration import registration
from xla_dialect.reference.rounding import rounded


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


def batch_norm_training(
    operand: Array, scale: Array, offset: Array, *, epsilon: float, feature_index: int
) -> tuple[Array, ...]:
    """Normalized by the moments of the operand itself, which are results too."""
    x = by_feature(operand, feature_index)
    scale, offset = columns([scale, offset])
    mean = mean_of(x)
    variance = mean_of((x - mean) ** 2)
    found = normalized(x, scale, offset, mean, variance, epsilon)
    moments = (rounded(moment[:, 0], operand.dtype) for moment in (mean, variance))
    return (like_operand(found, operand, feature_index), *moments)


def batch_norm_inference(
    operand: Array, *vectors: Array, epsilon: float, feature_index: int
) -> Array:
    """Normalized by the given moments: `vectors` are scale, offset, mean and variance."""
    x = by_feature(operand, feature_index)
    scale, offset, mean, variance = columns(vectors)
    found = normalized(x, scale, offset, mean, variance, epsilon)
    return like_operand(found, operand, feature_index)


def batch_norm_grad(
    operand: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    grad_output: Array,
    *,
    epsilon: float,
    feature_index: int,
) -> tuple[Array, ...]:
    """The formulas of the operation."""
    x, gradient = by_feature(operand, feature_index), by_feature(grad_output, feature_index)
    scale, mean, variance = columns([scale, mean, variance])
    spread = variance + epsilon
    centered = x - mean
    c = mean_of(gradient * centered / spread)
    d = mean_of(gradient)
    grad_operand = scale / np.sqrt(spread) * (gradient - d - c * centered)
    sums = total(gradient * centered / np.sqrt(spread)), total(gradient)
    return (
        like_operand(grad_operand, operand, feature_index),
        *(rounded(column[:, 0], operand.dtype) for column in sums),
    )


NormalizationFunctions = registration(
    "NormalizationFunctions",
    {
        ops.BatchNormTrainingOp: batch_norm_training,
        ops.BatchNormInferenceOp: batch_norm_inference,
        ops.BatchNormGradOp: batch_norm_grad,
    },
)
