"""Batch normalization and its gradient, in f32, or f64 where that is the element type."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import Float64Type, f32

from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.ops.normalization import (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
)
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.types import Array, sizes_of

Values = Sequence[XlaValue]
BatchNorm = BatchNormTrainingOp | BatchNormInferenceOp | BatchNormGradOp


class Features:
    """Arithmetic of an array and of vectors with one element for each of its features."""

    def __init__(self, b: XlaBuilder, op: BatchNorm):
        operand = cast(Array, op.operand.type)
        self.b, self.element_type, self.sizes = b, operand.element_type, sizes_of(operand)
        self.feature, self.epsilon = op.feature_index.value.data, op.epsilon.value.data
        self.others = [d for d in range(len(self.sizes)) if d != self.feature]

    def per_element(self, total: XlaValue, x: XlaValue) -> XlaValue:
        """Totals divided by the number of elements that each feature of `x` has."""
        static = prod(self.sizes[d] for d in self.others if not is_dynamic([self.sizes[d]]))
        count = self.b.constant(float(static), total.element_type)
        for d in self.others:
            if is_dynamic([self.sizes[d]]):
                size = self.b.get_dimension_size(x, d)
                count = count * self.b.convert_element_type(size, total.element_type)
        return total / count

    def wide(self, values: Values) -> list[XlaValue]:
        """The values converted to the type of the computation."""
        is_double = isinstance(self.element_type, Float64Type)
        type_ = self.element_type if is_double else f32
        return [self.b.convert_element_type(value, type_) for value in values]

    def rounded(self, values: Values) -> list[XlaValue]:
        """The values in the operand's type."""
        return [self.b.convert_element_type(value, self.element_type) for value in values]

    def spread(self, vector: XlaValue) -> XlaValue:
        """A vector of one element per feature, broadcast to the shape of the operand."""
        return self.b.broadcast_in_dim(vector, self.sizes, [self.feature])

    def total(self, x: XlaValue) -> XlaValue:
        """The sum of each feature."""
        return self.b.reduce(x, 0, self.b.add, self.others)

    def mean(self, x: XlaValue) -> XlaValue:
        """The mean of each feature; NaN of no elements."""
        return self.per_element(self.total(x), x)

    def normalized(
        self, x: XlaValue, scale: XlaValue, offset: XlaValue, mean: XlaValue, variance: XlaValue
    ) -> XlaValue:
        """`scale * (x - mean) / sqrt(variance + epsilon) + offset`."""
        factor = scale * self.b.rsqrt(variance + self.epsilon)
        return self.spread(factor) * (x - self.spread(mean)) + self.spread(offset)


def training(b: XlaBuilder, op: BatchNormTrainingOp, *operands: XlaValue) -> Values:
    """Normalized by the moments of the operand itself, which are results too."""
    features = Features(b, op)
    x, scale, offset = features.wide(operands)
    mean = features.mean(x)
    centered = x - features.spread(mean)
    variance = features.mean(centered * centered)
    normalized = features.normalized(x, scale, offset, mean, variance)
    return features.rounded((normalized, mean, variance))


def inference(b: XlaBuilder, op: BatchNormInferenceOp, *operands: XlaValue) -> Values:
    """Normalized by the given moments."""
    features = Features(b, op)
    return features.rounded([features.normalized(*features.wide(operands))])


def gradient(b: XlaBuilder, op: BatchNormGradOp, *operands: XlaValue) -> Values:
    """The gradients of operand, scale and offset, by the formulas of the operation."""
    features = Features(b, op)
    x, scale, mean, variance, result = features.wide(operands)
    centered = x - features.spread(mean)
    root = b.rsqrt(variance + features.epsilon)
    products, sums = features.total(result * centered), features.total(result)
    along = features.spread(features.per_element(products * root * root, x))
    shifted = result - features.spread(features.per_element(sums, x)) - along * centered
    found = features.spread(scale * root) * shifted
    return features.rounded((found, products * root, sums))
