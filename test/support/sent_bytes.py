"""
What collectives send, counted without sending it: every rank begins them, one after the other, in
one thread and without memory for arrays.

It is the code that carries them out, so that plans for more ranks than there are can be checked.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from xdsl.ir import Attribute

from xla_dialect import types
from xla_dialect.devices.process_grid import (
    Array,
    Arrays,
    Exchange,
    LogicalId,
    Process,
    ProcessGrid,
)
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops import asynchronous, collectives
from xla_dialect.ops.collectives import CollectiveOp
from xla_dialect.reference.collectives import CollectiveFunctions

_FOLDED = (
    collectives.AllReduceOp,
    collectives.ReduceScatterOp,
    asynchronous.AllReduceStartOp,
)


@dataclass(frozen=True)
class Sent:
    """What one rank sends to others, and has for what comes."""

    messages: int = 0
    bytes: int = 0
    received: int = 0
    """Bytes of arrays that others fill."""

    def __add__(self, other: Sent) -> Sent:
        return Sent(
            self.messages + other.messages,
            self.bytes + other.bytes,
            self.received + other.received,
        )


@dataclass(eq=False)
class CountingProcess(Process):
    """A rank of which nothing is sent, and to which nothing comes."""

    sent: Sent = field(default_factory=Sent)

    def exchange(
        self,
        key: Hashable,
        members: tuple[LogicalId, ...],
        outgoing: Sequence[Arrays],
        what: str,
        borrowed: bool = False,
    ) -> Exchange:
        """Counts what is for others."""
        me = members.index(self.place)
        sizes = [a.nbytes for n, arrays in enumerate(outgoing) if n != me for a in arrays]
        self.sent += Sent(sum(size > 0 for size in sizes), sum(sizes))
        return _Received(self, me)


@dataclass(eq=False)
class _Received(Exchange):
    process: CountingProcess
    me: int
    number: int = 1

    def take(self, into: Sequence[Arrays]) -> None:
        """Counts what others would fill."""
        others = sum(a.nbytes for n, arrays in enumerate(into) if n != self.me for a in arrays)
        self.process.sent += Sent(received=others)


def count_sent(
    op: CollectiveOp, replicas: int, partitions: int, ranks: Sequence[int] | None = None
) -> list[Sent]:
    """
    What ranks send in one execution of a collective: these of so many, or all, replica by replica.

    Raises XlaError for a collective that they cannot carry out, and for a ragged one, whose sizes
    depend on its operands.
    """
    grid = ProcessGrid(replicas, partitions, most=replicas * partitions)
    operands = [_without_memory(type_) for type_ in op.operand_types]
    is_start = isinstance(op, asynchronous.AllReduceStartOp)
    declared = op.operand_types if is_start else op.result_types
    found: list[Sent] = []
    for rank in range(len(grid.places)) if ranks is None else ranks:
        place = grid.places[rank]
        process = CountingProcess(grid, place)
        functions = CollectiveFunctions(process)
        write = (
            functions.reduced(op, _first, operands)
            if isinstance(op, _FOLDED)
            else functions.begin(op, operands)
        )
        leaves = types.flatten(declared)
        if isinstance(op, asynchronous.AllGatherStartOp | asynchronous.CollectivePermuteStartOp):
            leaves = leaves[len(operands) : 2 * len(operands)]
        write([_without_memory(type_, is_written=True) for type_ in leaves])
        found.append(process.sent)
    return found


def _first(total: Array, _: Array) -> tuple[Array, ...]:
    """A fold that reads nothing."""
    return (total,)


def _without_memory(type_: Attribute, is_written: bool = False) -> Array:
    """An array of a type; one that is written is only reserved, and what is written is little."""
    array = cast("types.Array", type_)
    dtype, sizes = numpy_dtype(array.element_type), types.extents(array)
    return np.empty(sizes, dtype) if is_written else np.broadcast_to(np.zeros((), dtype), sizes)
