"""Convolutions: what is not there is padding."""

from __future__ import annotations

from collections.abc import Sequence

from lowerings.expand.dynamic_dimensions.regular import masked, placements
from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.xdsl.operation_table import OperationTable


def convolution(rules: Rules, op: ConvolutionOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """
    The window fits as often as it does into what is there.

    The relations do not tell that of windows that divide the base into factors.
    """
    (lhs, rhs), labels = operands, op.dim_labels.data
    (batch, _, *base), (output, *_) = labels.lhs_order(), labels.rhs_order()
    (result,) = rules.again(*masked(rules))
    found = [lhs.sizes.get(batch), rhs.sizes.get(output)]
    for d, dimension in zip(base, op.window.data.dimensions, strict=True):
        size = lhs.sizes.get(d)
        found.append(None if size is None else placements(rules, dimension, size))
    places = zip(labels.result_order(), found, strict=True)
    return [Sized(result, {d: count for d, count in places if count is not None})]


RULES = OperationTable[Rule]().add(ConvolutionOp, convolution)
