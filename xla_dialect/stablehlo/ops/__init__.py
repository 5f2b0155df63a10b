"""
The operations of StableHLO, CHLO and MHLO, and of `arith`, `shape` and `tensor` where they make
shapes, by family; a family has the same file name everywhere.

A family is loaded when a text names one of its operations. A new one is a file here, perhaps one
among the patterns, `legalize`, and a name in the lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from inspect import isclass
from types import ModuleType

from xdsl.ir import Dialect, Operation

from xla_dialect.stablehlo.op import StableHloOp

FAMILIES: Mapping[str, Sequence[str]] = {
    "chlo": ("chlo", "contraction", "sorting"),
    "stablehlo": (
        *("creation", "elementwise", "data_movement", "reduction", "control_flow"),
        *("contraction", "gather_scatter", "custom_calls", "sorting", "linear_algebra"),
        *("dynamic_shapes", "collectives", "transfers", "quantization"),
    ),
    "mhlo": ("mhlo",),
    "sdy": ("shardy",),
    **dict.fromkeys(("arith", "shape", "tensor"), ("dynamic_shapes",)),
}
"""By dialect, the families that have its operations: those first that most programs need."""


def operations_of(family: ModuleType) -> tuple[type[StableHloOp], ...]:
    """The operation classes that a family names, and those that it only lists."""
    return tuple(
        member
        for member in (*vars(family).values(), *getattr(family, "OPERATIONS", ()))
        if isclass(member) and issubclass(member, StableHloOp) and "name" in vars(member)
    )


@cache
def _operations_by_name(family: str) -> Mapping[str, type[Operation]]:
    if family == "shardy":
        return {op.name: op for op in import_module("xla_dialect.shardy").SHARDY.operations}
    module = import_module(f"{__name__}.{family}")
    return {operation.name: operation for operation in operations_of(module)}


def operation_named(name: str) -> type[Operation] | None:
    """The class of an operation; families are loaded until one has it."""
    families = map(_operations_by_name, FAMILIES.get(name.partition(".")[0], ()))
    return next(filter(None, (family.get(name) for family in families)), None)


def operations_of_dialect(dialect: str) -> Sequence[type[Operation]]:
    """The classes of the operations of one dialect."""
    found = [op for family in FAMILIES[dialect] for op in _operations_by_name(family).values()]
    return [op for op in dict.fromkeys(found) if op.name.startswith(f"{dialect}.")]


class LazyDialect(Dialect):
    """A dialect whose operations are loaded when they are asked for."""

    @property
    def operations(self) -> Iterator[type[Operation]]:
        """The classes of all operations."""
        return iter(operations_of_dialect(self.name))
