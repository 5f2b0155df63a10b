"""The patterns from `xla` of all families, for what differs in more than classes state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from xdsl.ir import Operation, SSAValue

from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import ScaledDotOp
from xla_dialect.ops.random import RngGetAndUpdateStateOp, StochasticConvertOp
from xla_dialect.stablehlo.attributes import Inexpressible
from xla_dialect.stablehlo.legalize import (
    chlo,
    collectives,
    control_flow,
    creation,
    custom_calls,
    data_movement,
    elementwise,
    program,
    sharding,
    sorting,
    transfers,
)
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla, same_operation
from xla_dialect.xdsl.operation_table import OperationTable

INEXPRESSIBLE: Mapping[type[XlaOp], str] = {
    RngGetAndUpdateStateOp: "StableHLO has no generator with a state of its own",
    StochasticConvertOp: "StableHLO has no rounding by chance",
    ScaledDotOp: "StableHLO has no contraction of scaled blocks",
}
"""The operations that StableHLO cannot express, with the reason."""


def _refuse(reason: str, op: Operation, legalization: FromXla) -> Sequence[SSAValue]:
    raise Inexpressible(reason)


FROM_XLA = OperationTable[LegalizeFromXla](
    {
        **sorting.FROM_XLA,
        **chlo.FROM_XLA,
        **program.FROM_XLA,
        **sharding.FROM_XLA,
        **control_flow.FROM_XLA,
        **creation.FROM_XLA,
        **custom_calls.FROM_XLA,
        **data_movement.FROM_XLA,
        **elementwise.FROM_XLA,
        **collectives.FROM_XLA,
        **transfers.FROM_XLA,
        **{op: partial(_refuse, reason) for op, reason in INEXPRESSIBLE.items()},
    }
)


def has_stablehlo(operation: type[XlaOp]) -> bool:
    """Whether StableHLO has an operation, or what is exactly the same."""
    try:
        return operation not in INEXPRESSIBLE and (
            operation in FROM_XLA or bool(same_operation(operation))
        )
    except Inexpressible:
        return False
