"""Programs that need no Python while they run, on several devices: see `joint_runs.c`."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import finalize

from lowerings.execution.code import LoadedCode
from lowerings.execution.declared_functions import DeclaredFunction
from lowerings.execution.exchange_plans import ExchangePlan, can_be_planned, plans_of
from lowerings.runtime import library
from lowerings.runtime.declarations import constants, structure
from lowerings.targets.llvm.machine import host
from xla_dialect.devices import process_grid
from xla_dialect.devices.process_grid import ProcessGrid
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.custom_calls import CustomCallOp

_HEADER = "runtime.h"
_Copy, _Plan, _Participant = (
    structure(_HEADER, name) for name in ("xla_copy", "xla_exchange_plan", "xla_participant")
)
_FAILED = constants(_HEADER)["XLA_RUN_FAILED"]

_pointer = ctypes.c_void_p
_Function = ctypes.CFUNCTYPE(ctypes.c_int32)
_New = ctypes.CFUNCTYPE(_pointer, ctypes.c_int64, _pointer, ctypes.c_int64)
_Run = ctypes.CFUNCTYPE(ctypes.c_int32, _pointer, ctypes.c_int32)
_Free = ctypes.CFUNCTYPE(None, _pointer)


@cache
def _can_run_in_turn() -> bool:
    return bool(library().xla_can_run_in_turn())


class NativeCollectives:
    """The collectives of a program, as functions of machine code that it calls."""

    def __init__(self, functions: Mapping[str, DeclaredFunction], fallbacks: Mapping[str, Any]):
        self._functions = functions
        self._plans: _Plans | None = None
        called = {f"python.{name}": fallbacks[name] for name in functions}
        called[EXCHANGE] = getattr(library(), EXCHANGE)
        names = list(functions)
        counts = [len(each.operand_types) + len(each.result_types) for each in functions.values()]
        self._code = LoadedCode(
            host().object_code(_module(dict(zip(names, counts, strict=True))), 0),
            names[0],
            functions=called,
            exported=[*names[1:], *(f"plans.{name}" for name in names)],
        )
        self.symbols = {name: _Function(self._code.address(name)) for name in names}
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
        are_planned = all(isinstance(op, CustomCallOp) and can_be_planned(op) for op in calls)
        if are_planned and _can_run_in_turn():
            return NativeCollectives(functions, fallbacks)
        return None

    def plans(self, counts: tuple[int, int]) -> _Plans:
        """What the participants of a grid do; raises XlaError where that makes no sense."""
        if self._plans is None:
            self._plans = _Plans(self._functions, counts)
            for name, address in self._plans.addresses.items():
                place = self._code.address(f"plans.{name}")
                ctypes.c_void_p.from_address(place).value = address
        return self._plans


EXCHANGE = "xla_exchange"


def _module(counts: Mapping[str, int]) -> str:
    """LLVM IR of the functions that a program calls, by their numbers of pointers."""
    lines = [f"declare i32 @{EXCHANGE}(ptr, ptr)"]
    for name, count in counts.items():
        given = ", ".join(f"ptr %p{n}" for n in range(count))
        lines += [
            f'@"plans.{name}" = global ptr null',
            f'declare i32 @"python.{name}"({given})',
            f'define i32 @"{name}"({given}) {{',
            f"  %arrays = alloca ptr, i64 {max(count, 1)}",
            *(f"  %at{n} = getelementptr ptr, ptr %arrays, i64 {n}" for n in range(count)),
            *(f"  store ptr %p{n}, ptr %at{n}" for n in range(count)),
            f'  %plans = load ptr, ptr @"plans.{name}"',
            f"  %how = call i32 @{EXCHANGE}(ptr %plans, ptr %arrays)",
            # Negative where no participant of a joint run calls it.
            "  %is_alone = icmp slt i32 %how, 0",
            "  br i1 %is_alone, label %python, label %done",
            "python:",
            f'  %found = call i32 @"python.{name}"({given})',
            "  ret i32 %found",
            "done:",
            "  ret i32 %how",
            "}",
        ]
    return "\n".join(lines)


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
        copies = (_Copy * len(plan.copies))(
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
            record.rendezvous = self._rendezvous.setdefault(key, len(self._rendezvous))
        record.member_count, record.members = len(numbers), ctypes.addressof(members)
        record.copy_count, record.copies = len(plan.copies), ctypes.addressof(copies)
        record.copies_alone = plan.byte_count >= process_grid.PIECES_FROM
        self._kept += [members, copies]


@dataclass(frozen=True)
class ParticipantCode:
    """The code of one participant, which nobody else uses."""

    entry: int
    """The address of a function of one pointer: `pointers`."""
    pointers: Any
    """The arrays that it takes."""
    state: int | None
    """The address of its `RunState`, if it has one."""
    kept: object
    """What has to live as long."""


class JointRun:
    """All participants of a program, to be run together, once at a time."""

    def __init__(self, codes: Sequence[ParticipantCode], plans: _Plans | None):
        self._codes = codes
        self._plans = plans
        participants = (_Participant * len(codes))(
            *((code.entry, ctypes.addressof(code.pointers), code.state) for code in codes)
        )
        count = 0 if plans is None else plans.rendezvous_count
        new = _New(("xla_joint_run_new", library()))
        self.address: int | None = new(len(codes), ctypes.addressof(participants), count)
        if self.address is None:
            raise MemoryError
        self._run = _Run(("xla_run_jointly", library()))
        finalize(self, _Free(("xla_joint_run_free", library())), self.address).atexit = False

    def run(self, addresses: Sequence[Sequence[int]], in_turn: bool) -> bool:
        """
        Runs the participants on arrays of the caller; `in_turn`: by this thread alone.

        Whether all was well: nobody has waited forever.
        """
        for code, each in zip(self._codes, addresses, strict=True):
            code.pointers[: len(each)] = each
        return self._run(self.address, in_turn) != _FAILED

    @property
    def pointers(self) -> list[int]:
        """Of each participant where the pointers are that its code takes."""
        return [ctypes.addressof(code.pointers) for code in self._codes]


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
            return self._make()
