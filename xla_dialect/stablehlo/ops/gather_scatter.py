"""Indexed reads and writes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, Region
from xdsl.irdl import (
    SameVariadicOperandSize,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
)

from xla_dialect.attributes import FLAG
from xla_dialect.ops import gather_scatter as xla
from xla_dialect.stablehlo.attributes import GatherNumbers, ScatterNumbers
from xla_dialect.stablehlo.op import PureOp, just_as
from xla_dialect.stablehlo.ops.reduction import AccumulatingOp, accumulators_of


@just_as(xla.GatherOp)
class GatherOp(PureOp):
    """Windows of `slice_sizes` that start where indices say."""

    dimension_numbers = prop_def(GatherNumbers)
    slice_sizes = prop_def(DenseArrayBase.constr(i64))
    indices_are_sorted = opt_prop_def(FLAG)


@just_as(xla.ScatterOp)
class ScatterOp(AccumulatingOp):
    """The inputs, with updates combined into windows that start where indices say."""

    inputs = var_operand_def()
    scatter_indices = operand_def()
    updates = var_operand_def()
    scatter_dimension_numbers = prop_def(ScatterNumbers)
    indices_are_sorted = opt_prop_def(FLAG)
    unique_indices = opt_prop_def(FLAG)
    update_computation = region_def()
    irdl_options = (SameVariadicOperandSize(),)

    def accumulators(self, region: Region) -> Sequence[Attribute]:
        """Those of inputs and updates; between them the indices stay what they are."""
        found = accumulators_of(region, len(self.inputs))
        return [*found, self.scatter_indices.type, *found] if found else ()
