"""What StableHLO has left of earlier dialects: Einstein sums, and PyTorch's index_select."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops.contraction import ContractionOp

_END = "`config` `=` $einsum_config attr-dict `:` functional-type(operands, results)"


class EinsumBase(StableHloOp):
    """A sum over letters, `ij,jk->ik`, one for each dimension; subclasses have the operands."""

    einsum_config = prop_def(StringAttr)
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class EinsumOp(ContractionOp, EinsumBase):
    """Sums of products of two arrays."""

    name = "stablehlo.einsum"
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = f"$lhs `,` $rhs `,` {_END}"


@irdl_op_definition
class UnaryEinsumOp(EinsumBase):
    """Sums of one array."""

    name = "stablehlo.unary_einsum"
    operand = operand_def()
    assembly_format = f"$operand `,` {_END}"


@irdl_op_definition
class TorchIndexSelectOp(StableHloOp):
    """The parts along `dim` that indices say; the first `batch_dims` are those of both operands."""

    name = "stablehlo.torch_index_select"
    operand = operand_def()
    index = operand_def()
    dim = prop_def(IntegerAttr.constr(i64))
    batch_dims = prop_def(IntegerAttr.constr(i64))
    result = result_def()
    traits = traits_def(Pure())
