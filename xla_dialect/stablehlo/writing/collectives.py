"""The collective that StableHLO has not."""

from __future__ import annotations

from xla_dialect.ops import collectives as xla
from xla_dialect.stablehlo.ops.collectives import matrix_of_groups
from xla_dialect.stablehlo.writing.body import BodyWriter, Write
from xla_dialect.xdsl.operation_table import OperationTable


def write_ragged_all_to_all(op: xla.RaggedAllToAllOp, body: BodyWriter) -> None:
    """The custom call that XLA reads as this operation; StableHLO has none."""
    config = f"{{replica_groups = {matrix_of_groups(op.replica_groups.data)}}}"
    if op.channel is not None:
        config = f"{{channel_id = {op.channel} : i64, {config[1:]}"
    texts = {"api_version": "4 : i32", "backend_config": config}
    operands, types = body.leaves(op.operands), body.types(v.type for v in op.operands)
    results = body.types(op.result_types)
    body.define(
        op,
        f"stablehlo.custom_call @ragged_all_to_all({', '.join(operands)})"
        f"{body.attributes(op, texts)} : ({', '.join(types)}) -> {results[0]}",
        results,
    )


WRITERS = OperationTable[Write]().add(xla.RaggedAllToAllOp, write_ragged_all_to_all)
