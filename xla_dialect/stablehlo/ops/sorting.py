"""Sorting."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import RecursiveMemoryEffect

from xla_dialect.ops import sorting as xla
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.types import as_array


@irdl_op_definition
class SortOp(StableHloOp):
    """Sorts the lines along a dimension of all inputs at once; -1 is the last dimension."""

    name = "stablehlo.sort"
    SAME: ClassVar = xla.SortOp
    inputs = var_operand_def()
    dimension = opt_prop_def(IntegerAttr.constr(i64))
    is_stable = opt_prop_def(IntegerAttr.constr(i1))
    outputs = var_result_def()
    comparator = region_def()
    traits = traits_def(RecursiveMemoryEffect())

    def xla_properties(self) -> dict[str, Attribute]:
        """The same, the dimension counted from the first one."""
        array = as_array(self.inputs[0].type) if self.inputs else None
        return self.properties_of_rank(0 if array is None else len(array.get_shape()))

    def properties_of_rank(self, rank: int) -> dict[str, Attribute]:
        """The properties in `xla` for inputs of a rank."""
        dimension = -1 if self.dimension is None else self.dimension.value.data
        counted = IntegerAttr(dimension + rank if dimension < 0 else dimension, i64)
        return {**super().xla_properties(), "dimension": counted}
