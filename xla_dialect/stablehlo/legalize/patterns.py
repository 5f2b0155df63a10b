"""The patterns of all families, for operations that differ in more than their classes state."""

from __future__ import annotations

from xla_dialect.stablehlo.conversion import Legalize
from xla_dialect.stablehlo.legalize import (
    asynchronous,
    chlo,
    collectives,
    contraction,
    control_flow,
    creation,
    custom_calls,
    data_movement,
    dynamic_shapes,
    elementwise,
    gather_scatter,
    legacy,
    mhlo,
    program,
    random,
    reduction,
    shapes,
    sorting,
    transfers,
    tuples,
)
from xla_dialect.stablehlo.legalize.from_xla import LegalizeFromXla
from xla_dialect.stablehlo.quantization import expressed
from xla_dialect.xdsl.operation_table import OperationTable

TO_XLA = OperationTable[Legalize](
    {
        **chlo.TO_XLA,
        **control_flow.TO_XLA,
        **creation.TO_XLA,
        **custom_calls.TO_XLA,
        **data_movement.TO_XLA,
        **dynamic_shapes.TO_XLA,
        **elementwise.TO_XLA,
        **expressed.TO_XLA,
        **legacy.TO_XLA,
        **mhlo.TO_XLA,
        **reduction.TO_XLA,
        **shapes.TO_XLA,
        **tuples.TO_XLA,
        **collectives.TO_XLA,
        **asynchronous.TO_XLA,
        **transfers.TO_XLA,
        **contraction.TO_XLA,
        **gather_scatter.TO_XLA,
        **random.TO_XLA,
        **sorting.TO_XLA,
    }
)

FROM_XLA = OperationTable[LegalizeFromXla](
    {
        **sorting.FROM_XLA,
        **chlo.FROM_XLA,
        **program.FROM_XLA,
        **control_flow.FROM_XLA,
        **creation.FROM_XLA,
        **custom_calls.FROM_XLA,
        **data_movement.FROM_XLA,
        **elementwise.FROM_XLA,
        **tuples.FROM_XLA,
        **collectives.FROM_XLA,
        **asynchronous.FROM_XLA,
        **transfers.FROM_XLA,
        **random.FROM_XLA,
    }
)
