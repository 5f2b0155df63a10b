"""The operations of StableHLO and CHLO, by family; a family has the same file name everywhere.

A new family is a file here and one among the patterns, `legalize`, and a line in each of the lists.
"""

from __future__ import annotations

from inspect import isclass
from types import ModuleType

from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops import (
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
    linear_algebra,
    reduction,
    sorting,
    transfers,
)

FAMILIES = (
    chlo,
    creation,
    elementwise,
    data_movement,
    dynamic_shapes,
    reduction,
    control_flow,
    collectives,
    transfers,
    contraction,
    gather_scatter,
    sorting,
    linear_algebra,
    custom_calls,
)


def operations_of(family: ModuleType) -> tuple[type[StableHloOp], ...]:
    """The operation classes that a family names, in the order of its file."""
    return tuple(
        member
        for member in vars(family).values()
        if isclass(member) and issubclass(member, StableHloOp) and "name" in vars(member)
    )


OPERATIONS = tuple(dict.fromkeys(op for family in FAMILIES for op in operations_of(family)))
"""Every operation that has a class; of two with one meaning StableHLO's is behind that of CHLO."""


def operations_of_dialect(dialect: str) -> list[type[StableHloOp]]:
    """The classes of the operations of one dialect."""
    return [op for op in OPERATIONS if op.name.startswith(f"{dialect}.")]
