"""
What a collective copies, as numbers for machine code.

The reference says it, once for each process: it is run on arrays that take down what is written
into them, by a process whose exchanges take down what is sent and taken.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from lowerings.communication.process_calls import GATHER, SITE, ProcessCall, read_process_call
from lowerings.execution.arrays import address_of
from xla_dialect.devices.process_grid import Arrays, Exchange, LogicalId, Process, ProcessGrid
from xla_dialect.literals.arrays import Array, numpy_dtype
from xla_dialect.ops import collectives
from xla_dialect.ops.asynchronous import CollectivePermuteStartOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import element_count, sizes_of

_PLANNED = {
    op_class.name
    for op_class in (
        collectives.AllGatherOp,
        collectives.AllReduceOp,
        collectives.AllToAllOp,
        collectives.CollectiveBroadcastOp,
        collectives.CollectivePermuteOp,
        collectives.PartitionIdOp,
        collectives.ReduceScatterOp,
        collectives.ReplicaIdOp,
    )
} | {collectives.AllReduceOp.name + GATHER}
_FROM_OUTSIDE = -1
"""In the place of a member: the copy is from memory that no process has."""


@dataclass(frozen=True)
class PlannedCopy:
    """`rows` of `row_bytes` from an array of a member of the group into one of one's own."""

    member: int
    source: int
    source_offset: int
    target: int
    target_offset: int
    rows: int
    row_bytes: int
    source_step: int
    target_step: int

    @property
    def is_from_outside(self) -> bool:
        """Whether it is from memory that no process has, at the address `source_offset`."""
        return self.member == _FROM_OUTSIDE


@dataclass
class ExchangePlan:
    """What one process does in a call; arrays are numbered as its pointers are, in bytes."""

    members: tuple[LogicalId, ...] = ()
    """Whom it meets first; nobody where it needs nothing of others."""
    key: Hashable = None
    """Processes meet who come with equal keys."""
    copies: list[PlannedCopy] = field(default_factory=list[PlannedCopy])
    constants: list[Array] = field(default_factory=list[Array])
    """The memory that is copied from outside."""

    @property
    def byte_count(self) -> int:
        """How many bytes are copied."""
        return sum(each.rows * each.row_bytes for each in self.copies)


def can_be_planned(op: CustomCallOp) -> bool:
    """Whether what a call copies depends on no array, and is done when it returns."""
    if op.custom_call_target.data not in _PLANNED:
        return False
    called = read_process_call(op).operation
    match called:
        case collectives.CollectiveBroadcastOp():
            return not called.has_dynamic_root.value.data
        case collectives.CollectivePermuteOp() | CollectivePermuteStartOp():
            return called.slice_sizes is None
        case _:
            return True


def plans_of(op: CustomCallOp, replicas: int, partitions: int) -> list[ExchangePlan]:
    """What each process of a grid does in a call; raises XlaError where the reference does."""
    grid = ProcessGrid(replicas, partitions)
    call = read_process_call(op)
    traces = {place: _Trace(op, call, grid, place) for place in grid.places}
    return [trace.plan(traces) for trace in traces.values()]


class _Traced(np.ndarray[Any, np.dtype[Any]]):
    """An array that takes down what is written into it, and its views."""

    written: list[tuple[Array, Any]]

    def __array_finalize__(self, obj: Any, /) -> None:
        self.written = getattr(obj, "written", [])

    def __setitem__(self, place: Any, value: Any, /) -> None:
        self.written.append((self[place, ...] if place is not ... else self[...], value))


_Route: TypeAlias = "tuple[tuple[LogicalId, ...], Hashable, Sequence[Arrays], list[Arrays]]"


class _Trace(Process):
    """A process that carries out one call, and takes down what it is to do."""

    def __init__(self, op: CustomCallOp, call: ProcessCall, grid: ProcessGrid, place: LogicalId):
        from lowerings.execution.process_calls import ProcessCalls  # noqa: PLC0415

        super().__init__(grid, place)
        self.routes: list[_Route] = []
        self.written: list[tuple[Array, Any]] = []
        said = {name: value for name, value in op.attributes.items() if name != SITE}
        self.signature = (
            op.custom_call_target,
            frozenset(said.items()),
            *op.operand_types,
            *op.result_types,
        )
        self.arrays = [self._array(type_) for type_ in (*op.operand_types, *op.result_types)]
        count = len(op.operand_types)
        ProcessCalls(self).carry_out(call, self.arrays[:count], self.arrays[count:])

    def _array(self, type_: Any) -> Array:
        array_type: ArrayType = type_
        sizes, dtype = sizes_of(array_type), numpy_dtype(array_type.element_type)
        # More bytes than needed: arrays without elements lie at places of their own, too.
        memory = np.empty(element_count(sizes) * dtype.itemsize + 1, np.uint8).view(_Traced)
        memory.written = self.written
        return memory[:-1].view(dtype).reshape(sizes)

    def exchange(
        self,
        key: Hashable,
        members: tuple[LogicalId, ...],
        outgoing: Sequence[Arrays],
        what: str,
        borrowed: bool = False,
    ) -> Exchange:
        """Takes down what is sent; to take takes down what comes."""
        into: list[Arrays] = []
        self.routes.append((members, key, outgoing, into))
        return _TracedExchange(1, into)

    def plan(self, traces: dict[LogicalId, _Trace]) -> ExchangePlan:
        """What it does, as what is sent by others says."""
        plan = ExchangePlan()
        for members, key, _, into in self.routes:
            plan.members, plan.key = members, (key, self.signature)
            me = members.index(self.place)
            for number, targets in enumerate(into):
                sender = traces[members[number]]
                sources = sender.routes[0][2][me]
                for source, target in zip(sources, targets, strict=True):
                    at, to = _owner(source, sender.arrays), _owner(target, self.arrays)
                    plan.copies += _copies(number, at, source, to, target)
        for target, value in self.written:
            constant = np.zeros(target.shape, target.dtype)
            if np.any(value):
                constant[...] = value
            plan.constants.append(constant)
            to = _owner(target, self.arrays)
            plan.copies += _copies(_FROM_OUTSIDE, (0, address_of(constant)), constant, to, target)
        return plan


@dataclass(frozen=True)
class _TracedExchange(Exchange):
    number: int
    into: list[Arrays]

    def take(self, into: Sequence[Arrays]) -> None:
        """Takes down where it is copied to."""
        self.into[:] = into


def _owner(view: Array, arrays: Sequence[Array]) -> tuple[int, int]:
    """The number of the array that a view is of, and how many bytes from its start it begins."""
    address = address_of(view)
    for number, array in enumerate(arrays):
        offset = address - address_of(array)
        if 0 <= offset <= array.nbytes and np.may_share_memory(view, array):
            return number, offset
    assert not view.size, "the reference exchanges what is no array of the call"
    return 0, 0


def _copies(
    member: int, at: tuple[int, int], source: Array, to: tuple[int, int], target: Array
) -> Iterator[PlannedCopy]:
    """The copies of an array into one of the same shape."""
    if not target.size:
        return
    row_bytes = target.itemsize
    dims = [
        (size, source.strides[d], target.strides[d])
        for d, size in enumerate(target.shape)
        if size != 1
    ]
    while dims and dims[-1][1] == dims[-1][2] == row_bytes:
        row_bytes *= dims.pop()[0]
    # Dimensions that follow on each other in both arrays are one.
    merged: list[tuple[int, int, int]] = []
    for size, from_step, to_step in dims:
        if merged and merged[-1][1:] == (size * from_step, size * to_step):
            merged[-1] = (merged[-1][0] * size, from_step, to_step)
        else:
            merged.append((size, from_step, to_step))
    rows, source_step, target_step = merged.pop() if merged else (1, 0, 0)
    for index in product(*(range(size) for size, _, _ in merged)):
        back = sum(n * step for n, (_, step, _) in zip(index, merged, strict=True))
        ahead = sum(n * step for n, (_, _, step) in zip(index, merged, strict=True))
        yield PlannedCopy(
            member,
            at[0],
            at[1] + back,
            to[0],
            to[1] + ahead,
            rows,
            row_bytes,
            source_step,
            target_step,
        )
