"""What only MHLO has: the dialect that StableHLO came from, as older tools and XLA write it.

All other operations, attributes and types of MHLO are read as those of StableHLO and CHLO that have
their names (`StableHloParser`). Nothing is written in MHLO.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    i32,
)
from xdsl.irdl import (
    opt_prop_def,
    region_def,
    result_def,
    var_operand_def,
)

from xla_dialect.attributes import FLAG
from xla_dialect.ops import control_flow, data_movement, random, sorting, transfers
from xla_dialect.stablehlo.attributes import MhloFusionKindAttr
from xla_dialect.stablehlo.op import PureOp, StableHloOp, just_as, same_as
from xla_dialect.stablehlo.ops.data_movement import MovementOp
from xla_dialect.stablehlo.ops.sorting import TopKBase


@just_as(data_movement.CopyOp)
class CopyOp(PureOp):
    """The operand, possibly in another layout or memory space."""

    name = "mhlo.copy"
    cross_program_prefetch_index = opt_prop_def(IntegerAttr.constr(i32))
    assembly_format = "operands attr-dict `:` custom<SameType>(type(operands), type(results))"


@just_as(data_movement.BitcastOp)
class BitcastOp(MovementOp):
    """
    The bytes of the operand, read as another type.

    Attributes of its dictionary, `source_layout` and `result_layout`, are the layouts of both.
    """

    name = "mhlo.bitcast"


AddDependencyOp = same_as(transfers.AddDependencyOp, MovementOp, "mhlo.add_dependency")


@just_as(sorting.TopkOp)
class TopKOp(TopKBase):
    """The k largest or smallest elements along the last dimension, and their indices."""

    name = "mhlo.topk"
    largest = opt_prop_def(FLAG)
    assembly_format = (
        "`(` $operand `,` `k` `=` $k (`,` `largest` `=` $largest^)? `)` attr-dict `:` "
        "type($operand) `->` `(` type($values) `,` type($indices) `)`"
    )


@just_as(control_flow.FusionOp)
class FusionOp(StableHloOp):
    """The results of a computation that is compiled as a whole."""

    name = "mhlo.fusion"
    NAMES: ClassVar = {"fusion_kind": "kind"}
    inputs = var_operand_def()
    fusion_kind = opt_prop_def(MhloFusionKindAttr)
    output_operand_aliases = opt_prop_def(ArrayAttr)
    fused_computation = region_def()


StochasticConvertOp = same_as(random.StochasticConvertOp, StableHloOp, "mhlo.stochastic_convert")
RngGetAndUpdateStateOp = same_as(
    random.RngGetAndUpdateStateOp,
    StableHloOp,
    "mhlo.xla.rng_get_and_update_state",
    result=result_def(TensorType(IntegerType(64, Signedness.UNSIGNED), (2,))),
    assembly_format="attr-dict",
)
