"""Batch normalization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    traits_def,
    var_result_def,
)
from xdsl.traits import Pure

from xla_dialect.attributes import INTEGER
from xla_dialect.constraints import ArrayOf, require_same_elements, require_same_shape
from xla_dialect.dimensions import Factor, FactorType, Numbering, RelationsBuilder, Traversal
from xla_dialect.op import PureOp, Types, XlaOp
from xla_dialect.shapes.size_arithmetic import united
from xla_dialect.types import Array, ElementClass, array, sizes_of, united_type
from xla_dialect.violations import require

EPSILON: Any = FloatAttr.constr(f32)


def _require_features(
    operand: Array, features: Mapping[str, Array], feature_index: int
) -> tuple[Array, Array]:
    """
    The type of the operand, and of an array with one element per feature.

    Raises Violation (C1) to (C3).
    """
    sizes = sizes_of(operand)
    for name, vector in features.items():
        require_same_elements(operand, vector, f"operand and {name}", "C1")
    require(
        0 <= feature_index < len(sizes),
        "C2",
        "feature_index {} of an operand of rank {}",
        feature_index,
        len(sizes),
    )
    expected = array(operand.element_type, (sizes[feature_index],))
    for name, vector in features.items():
        require_same_shape(expected, vector, f"features and {name}", "C3")
    joined = list(sizes)
    found = map(sizes_of, (expected, *features.values()))
    (joined[feature_index],) = united(*found)
    vector = array(operand.element_type, (joined[feature_index],))
    return array(operand.element_type, joined), vector


def _relate_features(
    relations: RelationsBuilder,
    feature_index: int,
    arrays: Sequence[int],
    vectors: Sequence[int],
    vector_results: Sequence[int],
) -> None:
    """
    The numbers of the operands that are arrays or vectors, and of the results that are vectors.

    Where there are such results, all of a feature goes into them, and they into result 0.
    """
    for d, size in enumerate(relations.operands[0]):
        mine = dict.fromkeys(arrays, d)
        if d == feature_index:
            results = dict.fromkeys(vector_results, 0)
            relations.add(size, mine | dict.fromkeys(vectors, 0), {0: d} | results)
        elif vector_results:
            whole = Factor(size, FactorType.NEED_REPLICATION, Traversal.WHOLE)
            relations.add(whole, mine, {0: d})
        else:
            relations.add(size, mine, {0: d})


class BatchNormOp(XlaOp):
    """A normalization over all dimensions but the feature dimension."""

    NUMBERING: ClassVar = {"feature_index": Numbering(numbers=0)}
    epsilon = prop_def(EPSILON)
    feature_index = prop_def(INTEGER)
    traits = traits_def(Pure())


@irdl_op_definition
class BatchNormTrainingOp(BatchNormOp):
    """
    Normalizes over all dimensions but the feature dimension l; gives mean and variance too.

    `mean[l] = (1/M) Σ x[..l..]`, `variance[l] = (1/M) Σ (x[..l..] - mean[l])²`,
    `result = scale[l] * (x - mean[l]) / sqrt(variance[l] + epsilon) + offset[l]`.

    (C1) all operands have one float element type. (C2) `feature_index` is a dimension of the
    operand. (C3) scale and offset are vectors with one element per feature.
    """

    name = "xla.batch_norm_training"
    operand = scale = offset = operand_def(ArrayOf(ElementClass.FLOAT))
    outputs = var_result_def()

    @staticmethod
    def infer(operand: Array, scale: Array, offset: Array, *, feature_index: int) -> Types:
        """The operand's type, and a vector for mean and for variance."""
        vectors = {"scale": scale, "offset": offset}
        source, vector = _require_features(operand, vectors, feature_index)
        return source, vector, vector

    @staticmethod
    def relate(relations: RelationsBuilder, *, feature_index: int) -> None:
        """All of a feature makes its mean and variance."""
        _relate_features(relations, feature_index, (0,), (1, 2), (1, 2))


@irdl_op_definition
class BatchNormInferenceOp(BatchNormOp, PureOp):
    """
    `result = scale[l] * (x - mean[l]) / sqrt(variance[l] + epsilon) + offset[l]`, l the feature.

    (C1) all operands have one float element type. (C2) `feature_index` is a dimension of the
    operand. (C3) scale, offset, mean and variance are vectors with one element per feature.
    """

    name = "xla.batch_norm_inference"
    operand = scale = offset = mean = variance = operand_def(ArrayOf(ElementClass.FLOAT))

    @staticmethod
    def infer(
        operand: Array,
        scale: Array,
        offset: Array,
        mean: Array,
        variance: Array,
        *,
        feature_index: int,
    ) -> Types:
        """The operand's type."""
        vectors = {"scale": scale, "offset": offset, "mean": mean, "variance": variance}
        source, _ = _require_features(operand, vectors, feature_index)
        return (source,)

    @staticmethod
    def relate(relations: RelationsBuilder, *, feature_index: int) -> None:
        """Features go together."""
        _relate_features(relations, feature_index, (0,), range(1, 5), ())


@irdl_op_definition
class BatchNormGradOp(BatchNormOp):
    """
    The gradients of batch-norm-training with respect to operand, scale and offset.

    With Σ over all M elements of a feature l, `r = 1 / sqrt(variance[l] + epsilon)`,
    `c = (1/M) Σ grad * (x - mean[l]) * r²` and `d = (1/M) Σ grad`:
    `grad_operand = scale[l] * r * (grad - d - c * (x - mean[l]))`,
    `grad_scale[l] = Σ grad * (x - mean[l]) * r`, `grad_offset[l] = Σ grad`.

    (C1) all operands have one float element type. (C2) `feature_index` is a dimension of the
    operand. (C3) scale, mean and variance are vectors with one element per feature.
    (C4) `grad_output` has the dimensions of the operand.
    """

    name = "xla.batch_norm_grad"
    operand = scale = mean = variance = grad_output = operand_def(ArrayOf(ElementClass.FLOAT))
    outputs = var_result_def()

    @staticmethod
    def infer(
        operand: Array,
        scale: Array,
        mean: Array,
        variance: Array,
        grad_output: Array,
        *,
        feature_index: int,
    ) -> Types:
        """The operand's type, and a vector for scale and for offset."""
        vectors = {"scale": scale, "mean": mean, "variance": variance}
        source, vector = _require_features(operand, vectors, feature_index)
        require_same_elements(source, grad_output, "operand and grad_output", "C1")
        require_same_shape(source, grad_output, "operand and grad_output", "C4")
        source = united_type(source, grad_output)
        vector = array(source.element_type, (sizes_of(source)[feature_index],))
        return source, vector, vector

    @staticmethod
    def relate(relations: RelationsBuilder, *, feature_index: int) -> None:
        """All of a feature makes its mean and variance."""
        _relate_features(relations, feature_index, (0, 4), (1, 2, 3), (1, 2))
