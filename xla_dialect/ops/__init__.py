"""All operations of the dialect, by family; a family has the same file name in every folder."""

from __future__ import annotations

from inspect import isabstract, isclass
from types import ModuleType

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
