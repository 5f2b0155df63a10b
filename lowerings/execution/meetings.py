"""Programs that need no Python while they run, on several devices: see `meeting_code`."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lowerings.execution.capsules import keep_for_ever
from lowerings.execution.code import LoadedCode
from lowerings.execution.declared_functions import DeclaredFunction
from lowerings.execution.exchange_plans import ExchangePlan, can_be_planned, plans_of
from lowerings.execution.meeting_code import runtime_text, wrappers_text
from lowerings.execution.meeting_records import (
    CopyRecord,
    PlanRecord,
    ProcessRecord,
    RunRecord,
    WorkerRecord,
)
from lowerings.execution.run_control import RunControl
from lowerings.runtime import RUN, library, run_function
from lowerings.targets.llvm.machine import host
from xla_dialect.devices import exchange
from xla_dialect.devices.process_grid import ProcessGrid
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.custom_calls import CustomCallOp

_STACK_BYTES = 8 << 20
"""As many as the first thread of a process has; those that are not touched take no memory."""
_GUARD_BYTES = mmap.PAGESIZE

_Function = ctypes.CFUNCTYPE(ctypes.c_int32)


@cache
def can_meet() -> bool:
    """
    Whether the C library has stacks that can be switched, and locks that are zeros at first: those
    of Linux, though not all of them.
    """
    names = ("makecontext", "swapcontext")
    return sys.platform == "linux" and all(hasattr(ctypes.CDLL(None), name) for name in names)


class _Runtime:
    """The code that all programs share, and the key under which a thread has its process."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None)
        key = ctypes.c_uint32()
        if self._libc.pthread_key_create(ctypes.byref(key), None):
            raise XlaError("this process has no keys left for what its threads run")
        functions = ("current", "exchange", "work", "run_on_threads")
        code = host().object_code(runtime_text(), 0)
        exported = *functions, "current_key"
        run = {RUN: getattr(library(), RUN)}
        self._code = LoadedCode(code, "run_in_turn", functions=run, exported=exported)
        # Threads wait in it until the process ends, which is later than Python's modules do.
        keep_for_ever(self._code)
        ctypes.c_uint32.from_address(self._code.address("current_key")).value = key.value
        self.current, self.exchange, self._work, run_on_threads = map(self._code.address, functions)
        self.run_in_turn = self._code.entry
        """The address of what runs all processes of a run in this thread."""
        self.run_on_threads = run_on_threads
        """The address of what runs them by this thread, and the workers of the run."""
        self.idle_workers: list[WorkerRecord] = []
        """Threads without a job."""
        self.idle_stacks: list[_Stack] = []
        # A child of this process has none of its threads.
        os.register_at_fork(after_in_child=self.idle_workers.clear)

    def take_worker(self) -> WorkerRecord:
        """A thread without a job; raises XlaError where none can be started."""
        try:
            return self.idle_workers.pop()
        except IndexError:
            worker = WorkerRecord()
        thread = ctypes.c_uint64()
        # The thread reads the record for ever.
        keep_for_ever(worker)
        place = ctypes.c_void_p(ctypes.addressof(worker))
        work = ctypes.c_void_p(self._work)
        error = self._libc.pthread_create(ctypes.byref(thread), None, work, place)
        if error:
            raise XlaError(f"a process cannot be started: {os.strerror(error)}")
        return worker

    def take_stack(self) -> _Stack:
        """A stack that no process uses."""
        try:
            return self.idle_stacks.pop()
        except IndexError:
            return _Stack()


@cache
def _runtime() -> _Runtime:
    return _Runtime()


class Meetings:
    """The collectives of a program, as functions of machine code that it calls."""

    def __init__(self, functions: Mapping[str, DeclaredFunction], fallbacks: Mapping[str, Any]):
        self._functions = functions
        self._plans: _Plans | None = None
        runtime = _runtime()
        pointers = {f"python.{name}": _address(fallbacks[name]) for name in functions}
        pointers |= {"current": runtime.current, "exchange": runtime.exchange}
        names = list(functions)
        counts = [len(each.operand_types) + len(each.result_types) for each in functions.values()]
        self._code = LoadedCode(
            host().object_code(wrappers_text(list(zip(names, counts, strict=True))), 0),
            names[0],
            pointers=pointers,
            exported=[*names[1:], *(f"plans.{name}" for name in names)],
        )
        self.symbols = {name: _Function(self._code.address(name)) for name in names}
        """The functions by their names; where Python runs a process they call the fallbacks."""

    @staticmethod
    def of(
        functions: Mapping[str, DeclaredFunction], fallbacks: Mapping[str, Any]
    ) -> Meetings | None:
        """
        Those of a program; None where it calls what machine code cannot carry out. `fallbacks` are
        C functions that do the same, by the same names.
        """
        calls = [each.op for each in functions.values()]
        if can_meet() and all(isinstance(op, CustomCallOp) and can_be_planned(op) for op in calls):
            return Meetings(functions, fallbacks)
        return None

    def plans(self, counts: tuple[int, int]) -> _Plans:
        """What the processes of a grid do; raises XlaError where that makes no sense."""
        if self._plans is None:
            self._plans = _Plans(self._functions, counts)
            for name, address in self._plans.addresses.items():
                place = self._code.address(f"plans.{name}")
                ctypes.c_void_p.from_address(place).value = address
        return self._plans


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class _Plans:
    """The plans of all functions of a program as machine code reads them."""

    def __init__(self, functions: Mapping[str, DeclaredFunction], counts: tuple[int, int]):
        self.addresses: dict[str, int] = {}
        """By the names of functions: a plan for each process."""
        self._grid = ProcessGrid(*counts)
        self._meetings: dict[Hashable, int] = {}
        self._kept: list[Any] = []
        for name, function in functions.items():
            assert isinstance(function.op, CustomCallOp)
            plans = plans_of(function.op, *counts)
            records = (PlanRecord * len(plans))()
            for record, plan in zip(records, plans, strict=True):
                self._fill(record, plan)
            self.addresses[name] = ctypes.addressof(records)
            self._kept += [records, plans]

    @property
    def meeting_count(self) -> int:
        """How many meetings processes come to."""
        return len(self._meetings)

    def _fill(self, record: PlanRecord, plan: ExchangePlan) -> None:
        numbers = [self._grid.number(place) for place in plan.members]
        members = (ctypes.c_int64 * len(numbers))(*numbers)
        copies = (CopyRecord * len(plan.copies))(
            *(
                (
                    each.member if each.is_from_outside else numbers[each.member],
                    each.source,
                    each.source_offset,
                    each.target,
                    each.target_offset,
                    each.rows,
                    each.row_bytes,
                    each.source_step,
                    each.target_step,
                )
                for each in plan.copies
            )
        )
        if numbers:
            key = plan.key, plan.members
            record.meeting = self._meetings.setdefault(key, len(self._meetings))
        record.member_count, record.members = len(numbers), ctypes.addressof(members)
        record.copy_count, record.copies = len(plan.copies), ctypes.addressof(copies)
        record.copies_alone = plan.byte_count >= exchange.PIECES_FROM
        self._kept += [members, copies]


@dataclass(frozen=True)
class ProcessCode:
    """The code of one process, which nobody else uses."""

    entry: int
    """The address of a function of one pointer: `pointers`."""
    pointers: Any
    """The arrays that it takes."""
    control: RunControl | None
    kept: object
    """What has to live as long."""


class JointRun:
    """All processes of a program, to be run together, once at a time."""

    def __init__(self, codes: Sequence[ProcessCode], plans: _Plans | None):
        self._codes = codes
        self._plans = plans
        self._processes = (ProcessRecord * len(codes))()
        meetings = 0 if plans is None else plans.meeting_count
        self._arrived = (ctypes.c_int64 * max(meetings, 1))()
        self._workers = (ctypes.c_void_p * len(codes))()
        states = [code.control.address for code in codes if code.control is not None]
        self._states = (ctypes.c_void_p * max(len(states), 1))(*states)
        self._record = RunRecord(
            count=len(codes),
            processes=ctypes.addressof(self._processes),
            meeting_count=meetings,
            arrived=ctypes.addressof(self._arrived),
            workers=ctypes.addressof(self._workers),
            states=ctypes.addressof(self._states),
            state_count=len(states),
        )
        self.address = ctypes.addressof(self._record)
        self._stacks: list[_Stack] = []
        self._others = list(self._processes)[1:]
        for number, (process, code) in enumerate(zip(self._processes, codes, strict=True)):
            process.run, process.number = self.address, number
            process.entry, process.pointers = code.entry, ctypes.addressof(code.pointers)
            process.stack_size = _STACK_BYTES - _GUARD_BYTES

    def run(self, addresses: Sequence[Sequence[int]], in_turn: bool) -> bool:
        """
        Runs the processes on arrays of the caller; `in_turn`: by this thread alone.

        Whether all was well: nobody has waited forever.
        """
        for code, each in zip(self._codes, addresses, strict=True):
            code.pointers[: len(each)] = each
        self._record.in_turn = in_turn
        if in_turn:
            self._run_in_turn()
        else:
            self._run_on_threads()
        return not self._record.has_failed

    def detach(self) -> None:
        """Makes it what other machine code runs: in turn, and with stacks that nobody else uses."""
        self._record.in_turn = 1
        self._stacks = [_runtime().take_stack() for _ in self._others]
        for process, stack in zip(self._others, self._stacks, strict=True):
            process.stack = stack.bottom

    @property
    def pointers(self) -> list[int]:
        """Of each process where the pointers are that its code takes."""
        return [ctypes.addressof(code.pointers) for code in self._codes]

    @property
    def run_address(self) -> int:
        """Where the function is that runs it, given `address`."""
        return _runtime().run_in_turn

    def _run_in_turn(self) -> None:
        stacks = [_runtime().take_stack() for _ in self._others]
        for process, stack in zip(self._others, stacks, strict=True):
            process.stack = stack.bottom
        try:
            self._run(_runtime().run_in_turn)
        finally:
            _runtime().idle_stacks.extend(stacks)

    def _run_on_threads(self) -> None:
        workers = [_runtime().take_worker() for _ in self._others]
        self._workers[: len(workers)] = [ctypes.addressof(worker) for worker in workers]
        try:
            self._run(_runtime().run_on_threads)
        finally:
            _runtime().idle_workers.extend(workers)

    def _run(self, function: int) -> None:
        record = self._record
        run_function()(function, record.states, record.state_count, self.address)


class _Stack:
    """Memory for a stack."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _STACK_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        start = ctypes.addressof(ctypes.c_uint8.from_buffer(self._memory))
        # Nobody touches the lowest page: a stack that overflows does not write into other memory.
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(start), ctypes.c_size_t(_GUARD_BYTES), 0)
        self.bottom = start + _GUARD_BYTES


LONG_RUN = 100e-6
"""Seconds of a processor for a process from which on threads pay, which have to be woken."""
LONG_RUNS = 3
"""A program is long after so many that were, one by one: a first run waits for memory, too."""


class JointRuns:
    """Runs of all processes of a program, of which those at the same time have their own code."""

    def __init__(self, make: Callable[[], JointRun]):
        self._make = make
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
            if in_turn is not None or self._long_runs >= LONG_RUNS:
                is_well = joint.run(addresses, bool(in_turn))
            else:
                start = time.thread_time()
                is_well = joint.run(addresses, True)
                is_long = time.thread_time() - start > LONG_RUN * len(addresses)
                self._long_runs = self._long_runs + 1 if is_long else 0
                self._short_runs = 0 if is_long else self._short_runs + 1
        except XlaError:
            return False
        self._idle.append(joint)
        return is_well

    def _take(self) -> JointRun:
        try:
            return self._idle.pop()
        except IndexError:  # asked for and not looked up: other threads may take the last one
            return self._make()
