"""Data-flow edges, as Shardy calls them: how operations forward values through their computations.

An operation with computations on arrays, such as a loop, declares its edges in `data_flow_edges`,
not `relate`: what is true of a dimension of one value on an edge is true of that of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, Region, SSAValue

from xla_dialect.xdsl.traversal import operands_of


class OpOperand(NamedTuple):
    """An operand by its number: the place, not the value, as in MLIR."""

    operation: Operation
    number: int

    @property
    def value(self) -> SSAValue:
        """What it is now."""
        return operands_of(self.operation)[self.number]


class DataFlowEdge(NamedTuple):
    """Values of one shape: wherever the computations begin or end, each target is a source."""

    sources: Sequence[OpOperand]
    """Operands of the operation, and of the terminators of its computations."""
    parameters: Sequence[BlockArgument] = ()
    """Targets that are parameters of computations."""
    result: OpResult | None = None
    """The target that is a result of the operation."""

    @property
    def targets(self) -> Sequence[SSAValue]:
        """Parameters and the result."""
        return self.parameters if self.result is None else (*self.parameters, self.result)

    @property
    def types(self) -> Iterator[Attribute]:
        """The types of all sources and targets."""
        yield from (source.value.type for source in self.sources)
        yield from (target.type for target in self.targets)


def terminator(region: Region) -> Operation:
    """What ends a computation: its operands are the results."""
    last = region.block.last_op
    assert last is not None
    return last
