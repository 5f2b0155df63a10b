"""Calls and barriers; loops and branches are lowered by convert-xla-to-scf."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import TupleType

from lowerings.rewriting.conversion import ConversionBuilder
from xla_dialect.ops.control_flow import (
    CallOp,
    ConditionalOp,
    DomainOp,
    FusionOp,
    OptBarrierOp,
    WhileOp,
)
from xla_dialect.ops.data_movement import BitcastOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp


def convert_call(op: CallOp, builder: ConversionBuilder) -> str | None:
    """`func.call`."""
    if any(isinstance(t, TupleType) for t in (*op.operand_types, *op.result_types)):
        return "it passes tuples; xla-flatten-tuples takes them apart"
    call = func.CallOp(op.to_apply, op.arguments, op.result_types)
    builder.replace(builder.insert(call).results)
    return None


def convert_boundary(op: OptBarrierOp | DomainOp, builder: ConversionBuilder) -> None:
    """The operand: an optimization barrier constrains passes of the xla level only."""
    builder.replace([op.operand])


def needs_inlining(_op: FusionOp, _builder: ConversionBuilder) -> str:
    """Why a `fusion` is left."""
    return "xla-inline puts its computation in its place"


def needs_flattening(_op: TupleOp | GetTupleElementOp, _builder: ConversionBuilder) -> str:
    """Why a `tuple` or `get_tuple_element` is left."""
    return "xla-flatten-tuples takes tuples apart"


def needs_scf(_op: WhileOp | ConditionalOp, _builder: ConversionBuilder) -> str:
    """Why a `while` or `conditional` is left."""
    return "convert-xla-to-scf lowers it"


def needs_expansion(_op: BitcastOp, _builder: ConversionBuilder) -> str:
    """Why a `bitcast` is left."""
    return "xla-expand-bitcast lowers it"
