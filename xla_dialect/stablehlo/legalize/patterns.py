"""The patterns of all families, for operations that differ in more than their classes state."""

from __future__ import annotations

from xla_dialect.stablehlo.conversion import Legalize
from xla_dialect.stablehlo.dynamic_shapes import convert_dynamic_reshape
from xla_dialect.stablehlo.legalize import (
    control_flow,
    data_movement,
    elementwise,
    reduction,
    tuples,
)
from xla_dialect.stablehlo.legalize.from_xla import LegalizeFromXla
from xla_dialect.stablehlo.ops.data_movement import DynamicReshapeOp
from xla_dialect.xdsl.operation_table import OperationTable

TO_XLA = OperationTable[Legalize](
    {
        **elementwise.TO_XLA,
        **data_movement.TO_XLA,
        **reduction.TO_XLA,
        **control_flow.TO_XLA,
        **tuples.TO_XLA,
    }
).add(DynamicReshapeOp, convert_dynamic_reshape)

FROM_XLA = OperationTable[LegalizeFromXla](
    {
        **elementwise.FROM_XLA,
        **data_movement.FROM_XLA,
        **control_flow.FROM_XLA,
        **tuples.FROM_XLA,
    }
)
