"""Loops, branches and what ends a computation."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition, traits_def, var_operand_def
from xdsl.traits import IsTerminator

from xla_dialect.ops import control_flow as xla
from xla_dialect.stablehlo.op import StableHloOp


@irdl_op_definition
class ReturnOp(StableHloOp):
    """Ends a computation."""

    name = "stablehlo.return"
    SAME: ClassVar = xla.ReturnOp
    values = var_operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "$values attr-dict (`:` type($values)^)?"
