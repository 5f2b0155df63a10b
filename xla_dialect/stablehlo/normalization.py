"""Batch normalization of StableHLO."""

from __future__ import annotations

from collections.abc import Mapping

from xla_dialect.op import XlaOp
from xla_dialect.ops.normalization import (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
)
from xla_dialect.stablehlo.conversion import Row
from xla_dialect.stablehlo.correspondence import Same, integer, named, number, same


def batch_norm(op_class: type[XlaOp]) -> Same:
    """The correspondence of one operation with the same operands."""
    return same(op_class, named(number("epsilon"), integer("feature_index")))


ROWS: Mapping[str, Row] = {
    "stablehlo.batch_norm_training": Row(
        None, batch_norm(BatchNormTrainingOp), operands=3, results=3
    ),
    "stablehlo.batch_norm_inference": Row(None, batch_norm(BatchNormInferenceOp), operands=5),
    "stablehlo.batch_norm_grad": Row(None, batch_norm(BatchNormGradOp), operands=5, results=3),
}
