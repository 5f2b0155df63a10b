"""Batch normalization of StableHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f32, i64
from xdsl.ir import SSAValue

from xla_dialect.op import XlaOp
from xla_dialect.ops.normalization import (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
)
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.source import Convert, Row, SourceOp


def batch_norm(op_class: type[XlaOp]) -> Convert:
    """The conversion to one operation with the same operands."""

    def convert(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        properties = {
            "epsilon": FloatAttr(op.number("epsilon"), f32),
            "feature_index": IntegerAttr(op.integer("feature_index"), i64),
        }
        return conversion.emit(
            op_class, conversion.operands(op), conversion.result_types(op), properties
        )

    return convert


ROWS: Mapping[str, Row] = {
    "stablehlo.batch_norm_training": Row(
        None, batch_norm(BatchNormTrainingOp), operands=3, results=3
    ),
    "stablehlo.batch_norm_inference": Row(None, batch_norm(BatchNormInferenceOp), operands=5),
    "stablehlo.batch_norm_grad": Row(None, batch_norm(BatchNormGradOp), operands=5, results=3),
}
