"""The `xla` dialect: its operations by family, which has the same file name in every folder."""

from __future__ import annotations

from inspect import isabstract, isclass
from types import ModuleType

from xdsl.ir import Dialect

from xla_dialect.attributes import ENUM_ATTRIBUTES
from xla_dialect.devices.replica_groups import ReplicaGroupsAttr, SourceTargetPairsAttr
from xla_dialect.layout import LayoutAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops import (
    asynchronous,
    collectives,
    contraction,
    control_flow,
    conversion,
    creation,
    custom_calls,
    data_movement,
    dynamic_shapes,
    elementwise,
    gather_scatter,
    linear_algebra,
    normalization,
    random,
    reduction,
    sorting,
    transfers,
    tuples,
)
from xla_dialect.shapes.window import ConvolutionLabelsAttr, WindowAttr
from xla_dialect.sharding.hlo_sharding import HloShardingAttr
from xla_dialect.types import BufferType, OpaqueType, TokenType

FAMILIES: tuple[ModuleType, ...] = (
    creation,
    elementwise,
    conversion,
    data_movement,
    dynamic_shapes,
    random,
    reduction,
    sorting,
    contraction,
    gather_scatter,
    linear_algebra,
    normalization,
    control_flow,
    tuples,
    collectives,
    asynchronous,
    transfers,
    custom_calls,
)


def operations_of(family: ModuleType) -> tuple[type[XlaOp], ...]:
    """The operation classes that a family defines, in the order of its file."""
    return tuple(
        member
        for member in vars(family).values()
        if isclass(member)
        # First, for an abstract base asks all its subclasses about a class that is none of them.
        and member.__module__ == family.__name__
        and issubclass(member, XlaOp)
        and not isabstract(member)
        and "name" in vars(member)
    )


OPERATIONS: tuple[type[XlaOp], ...] = tuple(
    operation for family in FAMILIES for operation in operations_of(family)
)
"""Every operation of the dialect."""


def opcode(operation: type[XlaOp]) -> str:
    """The HLO opcode of an operation class: `xla.dynamic_slice` is `dynamic-slice`."""
    return operation.name.removeprefix("xla.").replace("_", "-")


BY_OPCODE: dict[str, type[XlaOp]] = {
    opcode(operation): operation
    for operation in OPERATIONS
    if operation is not control_flow.ReturnOp
}
"""From the HLO opcode to the class; `xla.return` only ends a computation."""

XLA = Dialect(
    "xla",
    list(OPERATIONS),
    [
        LayoutAttr,
        TokenType,
        OpaqueType,
        BufferType,
        WindowAttr,
        ConvolutionLabelsAttr,
        ReplicaGroupsAttr,
        SourceTargetPairsAttr,
        HloShardingAttr,
        *ENUM_ATTRIBUTES,
    ],
)
"""The dialect as xDSL registers it."""
