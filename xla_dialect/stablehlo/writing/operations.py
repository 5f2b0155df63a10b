"""The writer of every operation, or why StableHLO cannot express it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from xdsl.ir import Operation

from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import ScaledDotOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.random import RngGetAndUpdateStateOp, StochasticConvertOp
from xla_dialect.self_checking.check import CHECK
from xla_dialect.self_checking.interpreter import INTERPRETER
from xla_dialect.stablehlo.attribute_text import attribute_text
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.legalize.from_xla import SAME
from xla_dialect.stablehlo.legalize.patterns import FROM_XLA
from xla_dialect.stablehlo.writing import (
    control_flow,
    data_movement,
)
from xla_dialect.stablehlo.writing.body import BodyWriter, Write
from xla_dialect.xdsl.operation_table import OperationTable

INEXPRESSIBLE: Mapping[type[XlaOp], str] = {
    RngGetAndUpdateStateOp: "StableHLO has no generator with a state of its own",
    StochasticConvertOp: "StableHLO has no rounding by chance",
    ScaledDotOp: "StableHLO has no contraction of scaled blocks",
}
"""The operations that StableHLO cannot express, with the reason."""


def _write_inexpressible(reason: str, op: Operation, body: BodyWriter) -> None:
    raise Inexpressible(reason)


def write_kept(op: Operation, body: BodyWriter) -> None:
    """A check, print, probe or `run_parallel`, unchanged."""
    body.generic(
        op,
        op.name,
        body.leaves(op.operands),
        body.types(value.type for value in op.operands),
        {name: attribute_text(value) for name, value in op.properties.items()},
        body.types(op.result_types),
    )


WRITERS = OperationTable[Write](
    {
        **data_movement.WRITERS,
        **control_flow.WRITERS,
        **{op: partial(_write_inexpressible, reason) for op, reason in INEXPRESSIBLE.items()},
    }
).add((*CHECK.operations, *INTERPRETER.operations), write_kept)
"""The operations that are written as text."""


def has_stablehlo(operation: type[XlaOp]) -> bool:
    """Whether StableHLO text has an operation, or what is exactly the same."""
    has_form = any(operation in table for table in (SAME, FROM_XLA, WRITERS))
    return operation is ReturnOp or (operation not in INEXPRESSIBLE and has_form)
