"""The patterns of all families, for operations that differ in more than their classes state."""

from __future__ import annotations

from xla_dialect.stablehlo.conversion import Legalize
from xla_dialect.stablehlo.dynamic_shapes import convert_dynamic_reshape
from xla_dialect.stablehlo.legalize import (
    asynchronous,
    chlo,
    collectives,
    control_flow,
    creation,
    data_movement,
    elementwise,
    mhlo,
    reduction,
    shapes,
    transfers,
    tuples,
)
from xla_dialect.stablehlo.legalize.from_xla import LegalizeFromXla
from xla_dialect.stablehlo.ops.data_movement import DynamicReshapeOp
from xla_dialect.xdsl.operation_table import OperationTable

TO_XLA = OperationTable[Legalize](
    {
        **chlo.TO_XLA,
        **control_flow.TO_XLA,
        **creation.TO_XLA,
        **data_movement.TO_XLA,
        **elementwise.TO_XLA,
        **mhlo.TO_XLA,
        **reduction.TO_XLA,
        **shapes.TO_XLA,
        **tuples.TO_XLA,
        **collectives.TO_XLA,
        **asynchronous.TO_XLA,
        **transfers.TO_XLA,
    }
).add(DynamicReshapeOp, convert_dynamic_reshape)

FROM_XLA = OperationTable[LegalizeFromXla](
    {
        **chlo.FROM_XLA,
        **control_flow.FROM_XLA,
        **creation.FROM_XLA,
        **data_movement.FROM_XLA,
        **elementwise.FROM_XLA,
        **tuples.FROM_XLA,
        **collectives.FROM_XLA,
        **asynchronous.FROM_XLA,
        **transfers.FROM_XLA,
    }
)
