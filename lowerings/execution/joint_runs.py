"""
Programs that need no Python while they run, on several devices: see `joint_runs.c`.

What a collective copies is planned as numbers. The reference says it, once for each device: it is
run on arrays that take down what is written into them, by a process whose exchanges take down what
is sent and taken.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias
from weakref import finalize

import numpy as np

from lowerings.communication.process_calls import GATHER, SITE, ProcessCall, read_process_call
from lowerings.execution.arrays import address_of
from lowerings.execution.code import Workspace, functions_with_records, record_of
from lowerings.execution.declared_functions import DeclaredFunction
from lowerings.execution.links import Link
from lowerings.runtime import library
from lowerings.runtime.declarations import constants, structure
from xla_dialect.devices import process_grid
from xla_dialect.devices.process_grid import Arrays, Exchange, LogicalId, Process, ProcessGrid
from xla_dialect.diagnostics import XlaError
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
_HEADER = "runtime.h"
_Copy, _Plan, _Participant = (
    structure(_HEADER, name) for name in ("xla_copy", "xla_exchange_plan", "xla_participant")
)
_FAILED = constants(_HEADER)["XLA_RUN_FAILED"]


@dataclass
class ExchangePlan:
    """What one process does in a call; arrays are numbered as its pointers are, in bytes."""

    members: tuple[LogicalId, ...] = ()
    """Whom it meets first; nobody where it needs nothing of others."""
    key: Hashable = None
    """Processes meet who come with equal keys."""
    copies: list[Any] = field(default_factory=list[Any])
    """As C has them."""
    constants: list[Array] = field(default_factory=list[Array])
    """The memory that is copied from outside."""


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
                member = self.grid.number(members[number])
                sources = sender.routes[0][2][me]
                for source, target in zip(sources, targets, strict=True):
                    at, to = _owner(source, sender.arrays), _owner(target, self.arrays)
                    plan.copies += _copies(member, at, source, to, target)
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
) -> Iterator[Any]:
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
        yield _Copy(
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


_pointer = ctypes.c_void_p
_Function = ctypes.CFUNCTYPE(ctypes.c_int32)
_New = ctypes.CFUNCTYPE(_pointer, ctypes.c_int64, _pointer, ctypes.c_int64, ctypes.c_uint64)
_Run = ctypes.CFUNCTYPE(ctypes.c_int32, _pointer, ctypes.c_int32)
_Free = ctypes.CFUNCTYPE(None, _pointer)


class NativeCollectives:
    """The collectives of a program, as functions of machine code that it calls."""

    def __init__(self, functions: Mapping[str, DeclaredFunction], fallbacks: Mapping[str, Any]):
        self._functions = functions
        self._plans: _Plans | None = None
        counts = {
            name: len(each.operand_types) + len(each.result_types)
            for name, each in functions.items()
        }
        # Negative where no participant of a joint run calls it.
        self._code = functions_with_records(counts, EXCHANGE, fallbacks)
        self.symbols = {name: _Function(self._code.address(name)) for name in functions}
        """The functions by their names; where Python runs a process they call the fallbacks."""

    @staticmethod
    def of(
        functions: Mapping[str, DeclaredFunction], fallbacks: Mapping[str, Any]
    ) -> NativeCollectives | None:
        """
        Those of a program; None where it calls what machine code cannot carry out. `fallbacks` are
        C functions that do the same, by the same names.
        """
        calls = [each.op for each in functions.values()]
        if all(isinstance(op, CustomCallOp) and can_be_planned(op) for op in calls):
            return NativeCollectives(functions, fallbacks)
        return None

    def plans(self, counts: tuple[int, int]) -> _Plans:
        """What the participants of a grid do; raises XlaError where that makes no sense."""
        if self._plans is None:
            self._plans = _Plans(self._functions, counts)
            for name, address in self._plans.addresses.items():
                self._code.point(record_of(name), address)
        return self._plans


EXCHANGE = "xla_exchange"


class _Plans:
    """The plans of all functions of a program as machine code reads them."""

    def __init__(self, functions: Mapping[str, DeclaredFunction], counts: tuple[int, int]):
        self.addresses: dict[str, int] = {}
        """By the names of functions: a plan for each process."""
        self._grid = ProcessGrid(*counts)
        self._rendezvous: dict[Hashable, int] = {}
        self._kept: list[Any] = []
        for name, function in functions.items():
            assert isinstance(function.op, CustomCallOp)
            plans = plans_of(function.op, *counts)
            records = (_Plan * len(plans))()
            for record, plan in zip(records, plans, strict=True):
                self._fill(record, plan)
            self.addresses[name] = ctypes.addressof(records)
            self._kept += [records, plans]

    @property
    def rendezvous_count(self) -> int:
        """How many rendezvous there are."""
        return len(self._rendezvous)

    def _fill(self, record: Any, plan: ExchangePlan) -> None:
        numbers = [self._grid.number(place) for place in plan.members]
        members = (ctypes.c_int64 * len(numbers))(*numbers)
        copies = (_Copy * len(plan.copies))(*plan.copies)
        if numbers:
            key = plan.key, plan.members
            record.rendezvous = self._rendezvous.setdefault(key, len(self._rendezvous))
        record.member_count, record.members = len(numbers), ctypes.addressof(members)
        record.copy_count, record.copies = len(plan.copies), ctypes.addressof(copies)
        copied = sum(each.rows * each.row_bytes for each in plan.copies)
        record.copies_alone = copied >= process_grid.PIECES_FROM
        self._kept += [members, copies]


@dataclass(frozen=True)
class Others:
    """The participants of a program that other processes run."""

    links: Sequence[Link | None]
    """Of each participant, in their order; None for one of this process."""
    program: int
    """What all processes know the program by."""


class JointRun:
    """All participants of a program, to be run together, once at a time."""

    def __init__(
        self,
        own: Sequence[Workspace],
        plans: _Plans | None,
        others: Others | None = None,
    ):
        """`own`: of the participants that this process runs; nobody else uses them."""
        self._own = own
        self._kept = plans, others
        links = [None] * len(own) if others is None else others.links
        left = iter(own)
        participants = (_Participant * len(links))()
        for participant, link in zip(participants, links, strict=True):
            if link is not None:
                participant.link = link.address
                continue
            workspace = next(left)
            participant.entry, participant.state = workspace.code.entry, workspace.state
            participant.pointers = workspace.table
        count = 0 if plans is None else plans.rendezvous_count
        new = _New(("xla_joint_run_new", library()))
        program = 0 if others is None else others.program
        self.address: int | None = new(len(links), ctypes.addressof(participants), count, program)
        if self.address is None:
            raise MemoryError
        self._run = _Run(("xla_run_jointly", library()))
        finalize(self, _Free(("xla_joint_run_free", library())), self.address).atexit = False

    def run(self, addresses: Sequence[Sequence[int]], in_turn: bool) -> bool:
        """
        Runs the participants on arrays of the caller; `in_turn`: by this thread alone.

        Whether all was well: nobody has waited forever.
        """
        for workspace, each in zip(self._own, addresses, strict=True):
            workspace.pointers[: len(each)] = each
        return self._run(self.address, in_turn) != _FAILED

    @property
    def pointers(self) -> list[int]:
        """Of each participant where the pointers are that its code takes."""
        return [workspace.table for workspace in self._own]


LONG_RUN = 100e-6
"""Seconds of a processor for a process from which on threads pay, which have to be woken."""
LONG_RUNS = 3
"""A program is long after so many that were, one by one: a first run waits for memory, too."""


class JointRuns:
    """Runs of all processes of a program, of which those at the same time have their own code."""

    def __init__(self, make: Callable[[], JointRun]):
        self.make = make
        """Makes what runs all of them once at a time."""
        self._idle: list[JointRun] = []
        self._long_runs = 0
        """How many of the last that were in turn have been long."""
        self._short_runs = 0
        """How many of the last have not."""

    @property
    def are_short(self) -> bool:
        """Whether nobody needs to look any more how long a run takes."""
        return self._short_runs >= LONG_RUNS

    def run(self, addresses: Sequence[Sequence[int]], in_turn: bool | None = None) -> bool:
        """As `JointRun.run`; by default in turn until the program is found to be long."""
        try:
            joint = self._take()
        except XlaError:
            return False
        if in_turn is not None or self._long_runs >= LONG_RUNS:
            is_well = joint.run(addresses, bool(in_turn))
        else:
            start = time.thread_time()
            is_well = joint.run(addresses, True)
            is_long = time.thread_time() - start > LONG_RUN * len(addresses)
            self._long_runs = self._long_runs + 1 if is_long else 0
            self._short_runs = 0 if is_long else self._short_runs + 1
        self._idle.append(joint)
        return is_well

    def _take(self) -> JointRun:
        try:
            return self._idle.pop()
        except IndexError:  # asked for and not looked up: other threads may take the last one
            return self.make()
