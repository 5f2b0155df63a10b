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
    i1,
    i32,
    i64,
)
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from xla_dialect.attributes import FusionKind, FusionKindAttr
from xla_dialect.ops import control_flow, data_movement, random, sorting, transfers
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops.data_movement import MovementOp
from xla_dialect.xdsl.directives import SameType


@irdl_attr_definition
class MhloFusionKindAttr(EnumAttribute[FusionKind], SpacedOpaqueSyntaxAttribute):
    """A `FusionKind` as an attribute."""

    name = "mhlo.fusion_kind"


@irdl_op_definition
class CopyOp(StableHloOp):
    """The operand, possibly in another layout or memory space."""

    name = "mhlo.copy"
    SAME: ClassVar = data_movement.CopyOp
    operand = operand_def()
    cross_program_prefetch_index = opt_prop_def(IntegerAttr.constr(i32))
    result = result_def()
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)
    custom_directives = (SameType,)
    assembly_format = "operands attr-dict `:` custom<SameType>(type(operands), type(results))"

    def xla_properties(self) -> dict[str, Attribute]:
        """None: what is fetched ahead means nothing here."""
        return {}


@irdl_op_definition
class BitcastOp(MovementOp):
    """
    The bytes of the operand, read as another type.

    Attributes of its dictionary, `source_layout` and `result_layout`, are the layouts of both.
    """

    name = "mhlo.bitcast"
    SAME: ClassVar = data_movement.BitcastOp
    operand = operand_def()


@irdl_op_definition
class AddDependencyOp(MovementOp):
    """The operand, not before a token."""

    name = "mhlo.add_dependency"
    SAME: ClassVar = transfers.AddDependencyOp
    operand = operand_def()
    token = operand_def()


@irdl_op_definition
class TopKOp(StableHloOp):
    """The k largest or smallest elements along the last dimension, and their indices."""

    name = "mhlo.topk"
    SAME: ClassVar = sorting.TopkOp
    operand = operand_def()
    k = prop_def(IntegerAttr.constr(i64))
    largest = opt_prop_def(IntegerAttr.constr(i1))
    values = result_def()
    indices = result_def()
    traits = traits_def(Pure())
    assembly_format = (
        "`(` $operand `,` `k` `=` $k (`,` `largest` `=` $largest^)? `)` attr-dict `:` "
        "type($operand) `->` `(` type($values) `,` type($indices) `)`"
    )


@irdl_op_definition
class FusionOp(StableHloOp):
    """The results of a computation that is compiled as a whole."""

    name = "mhlo.fusion"
    SAME: ClassVar = control_flow.FusionOp
    inputs = var_operand_def()
    fusion_kind = opt_prop_def(MhloFusionKindAttr)
    output_operand_aliases = opt_prop_def(ArrayAttr)
    outputs = var_result_def()
    fused_computation = region_def()

    def xla_properties(self) -> dict[str, Attribute]:
        """The kind, if any."""
        kind = self.fusion_kind
        return {} if kind is None else {"kind": FusionKindAttr(kind.data)}


@irdl_op_definition
class StochasticConvertOp(StableHloOp):
    """The operand in another element type, rounded by random bits."""

    name = "mhlo.stochastic_convert"
    SAME: ClassVar = random.StochasticConvertOp
    operand = operand_def()
    random = operand_def()
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class RngGetAndUpdateStateOp(StableHloOp):
    """The state of the random numbers of a device, which goes on by `delta`."""

    name = "mhlo.xla.rng_get_and_update_state"
    SAME: ClassVar = random.RngGetAndUpdateStateOp
    delta = prop_def(IntegerAttr.constr(i64))
    result = result_def(TensorType(IntegerType(64, Signedness.UNSIGNED), (2,)))
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"


OPERATIONS = (
    CopyOp,
    BitcastOp,
    AddDependencyOp,
    TopKOp,
    FusionOp,
    StochasticConvertOp,
    RngGetAndUpdateStateOp,
)
"""They are apart from the families: `xla` is never written in them."""
