"""
Time measured inside of machine code: of the program, of each call of a kernel, and of each loop
outside of kernels.

What is measured does not contain anything else that is. Functions that call no kernel, directly or
not, are measured as kernels are; so are those outside. A module with a profile has three globals:
for each *site*, a call or a loop in the text, the number of its runs and their time; for each
*row*, a kernel or a loop, the nanoseconds that each thread has worked on its tasks; and where
*events* go, each run with its start and its end: null where nobody reads them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from lowerings.profiling.source_operations import SourceOperation, source_operations
from lowerings.profiling.work import Work
from lowerings.runtime import THREAD_NUMBER
from lowerings.targets.llvm.constants import symbol as spell_symbol
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler
from lowerings.targets.llvm.func import ENTRY, KERNEL, is_marked
from lowerings.targets.llvm.machine import APART
from xla_dialect.diagnostics import XlaError
from xla_dialect.xdsl.traversal import operations_in

PROFILED_THREADS = 64
"""Threads with a higher number count as the last of these."""
WORDS_OF_A_THREAD = 8
"""An i64 each; more than one, so that threads do not write to the same line of a cache."""
WORDS_OF_A_SITE = 3
"""Its runs, their nanoseconds, and the complement of the shortest one's: at first 0, as the others
are, and the largest is the shortest."""
WORDS_OF_AN_EVENT = 3
"""Its site, and the nanoseconds of the clock when it started and when it ended."""
WORDS_BEFORE_EVENTS = 2
"""How many events there were, and how many there is memory for: those after them are lost."""
_LOOPS = (scf.ForOp, scf.WhileOp, scf.ParallelOp)
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class MeasuredPart:
    """A function or loop whose time is measured."""

    name: str
    work: Work = field(default_factory=Work)
    """Of one run; nothing where it is not known."""


@dataclass(frozen=True)
class Site:
    """A place in the program from where something measured is run."""

    row: int
    operations: tuple[SourceOperation, ...]
    """What it computes, as the author of the program wrote it."""


@dataclass(frozen=True)
class ModuleProfile:
    """What a reader of the globals needs to know."""

    symbol: str
    """Of the global with `WORDS_OF_A_SITE` words for each site, i64 each."""
    busy_symbol: str
    """Of the global with `PROFILED_THREADS` times `WORDS_OF_A_THREAD` words for each row."""
    events_symbol: str
    """Of the pointer to memory for events, of `WORDS_OF_AN_EVENT` words each."""
    rows: tuple[MeasuredPart, ...]
    sites: tuple[Site, ...]
    """The first site and the first row are the program."""


@dataclass
class ProfileWriter:
    """The profile of a module while it is printed."""

    name: str
    """Of the global for sites; with a suffix of everything else."""
    rows: list[MeasuredPart]
    """The program, then functions by name; loops are added as they are met."""
    numbers: Mapping[str, int]
    """The rows of the functions whose calls are measured."""
    sites: list[Site] = field(default_factory=list[Site])
    _row: int | None = None
    """The row of the loop that is being printed."""

    @staticmethod
    def of(module: ModuleOp, name: str) -> ProfileWriter:
        """A profile of which nothing is printed yet; raises XlaError where there is no clock."""
        if not hasattr(time, "CLOCK_MONOTONIC"):
            raise XlaError("programs cannot be profiled here: there is no `clock_gettime`")
        functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
        above = _above_kernels(functions)
        below = {name: function for name, function in functions.items() if name not in above}
        rows = [
            MeasuredPart("program"),
            *(MeasuredPart(name, Work.of(each)) for name, each in below.items()),
        ]
        numbers = {name: number for number, name in enumerate(below, 1)}
        return ProfileWriter(name, rows, numbers, [Site(0, ())])

    def call_program(self, call: str) -> list[str]:
        """The lines that call the body of the entry."""
        started = f"  %started = call i64 {self._symbol('clock')}()"
        return [started, call, f"  call void {self._symbol('add')}(i64 0, i64 %started)"]

    def start(self, e: FunctionEmitter) -> str:
        """The time now."""
        return e.temporary(f"call i64 {self._symbol('clock')}()")

    def row_of_task(self, e: FunctionEmitter) -> int | None:
        """The row to which a parallel loop belongs that is printed now, if any."""
        if self._row is not None:
            return self._row
        return self.numbers.get(e.function.name)

    def end_task(self, e: FunctionEmitter, started: str, row: int) -> None:
        """Adds the time since `started` to that of this thread."""
        e.emit(f"call void {self._symbol('add_busy')}(i64 {row}, i64 {started})")

    def handlers(self, of: Mapping[type[Operation], Handler]) -> dict[type[Operation], Handler]:
        """The handlers, of which those of calls and loops measure their time."""
        return {**of, **{kind: self._measuring(of[kind]) for kind in (func.CallOp, *_LOOPS)}}

    def _measuring(self, handler: Handler) -> Handler:
        def emit(e: FunctionEmitter, op: Operation) -> None:
            if self._row is not None or e.function.name in self.numbers or not self._is_leaf(op):
                handler(e, op)
                return
            row = self._row_for(op)
            site = len(self.sites)
            self.sites.append(Site(row, source_operations(op.location)))
            started = self.start(e)
            self._row = row
            handler(e, op)
            self._row = None
            e.emit(f"call void {self._symbol('add')}(i64 {site}, i64 {started})")

        return emit

    def _is_leaf(self, op: Operation) -> bool:
        """Whether an operation is to be measured: in it nothing else is."""
        if isinstance(op, func.CallOp):
            return op.callee.string_value() in self.numbers
        return not any(isinstance(inner, func.CallOp) for inner in operations_in(op))

    def _row_for(self, op: Operation) -> int:
        if isinstance(op, func.CallOp):
            return self.numbers[op.callee.string_value()]
        self.rows.append(MeasuredPart(f"loop_{len(self.rows) - len(self.numbers) - 1}"))
        return len(self.rows) - 1

    def _symbol(self, part: str) -> str:
        return spell_symbol(f"{self.name}.{part}")

    def definitions(self, has_tasks: bool) -> list[str]:
        """The globals and functions, when everything else is printed."""
        counters, busy, events = (spell_symbol(self.name), *map(self._symbol, ("busy", "events")))
        clock, add = self._symbol("clock"), self._symbol("add")
        sites = len(self.sites) * WORDS_OF_A_SITE
        words = len(self.rows) * PROFILED_THREADS * WORDS_OF_A_THREAD
        lines = [
            f"{counters} = dso_local global [{sites} x i64] zeroinitializer, align 64",
            f"{busy} = dso_local global [{words} x i64] zeroinitializer, align 64",
            f"{events} = dso_local global ptr null, align 8",
            "declare i32 @clock_gettime(i32, ptr)",
            f"define internal i64 {clock}() {APART} {{",
            "  %time = alloca { i64, i64 }",
            f"  %status = call i32 @clock_gettime(i32 {time.CLOCK_MONOTONIC}, ptr %time)",
            "  %rest = getelementptr inbounds i64, ptr %time, i64 1",
            "  %seconds = load i64, ptr %time",
            "  %nanoseconds = load i64, ptr %rest",
            f"  %whole = mul i64 %seconds, {_NANOSECONDS}",
            "  %now = add i64 %whole, %nanoseconds",
            "  ret i64 %now",
            "}",
            f"define internal void {add}(i64 %site, i64 %started) {APART} {{",
            f"  %now = call i64 {clock}()",
            "  %passed = sub i64 %now, %started",
            "  %complement = xor i64 %passed, -1",
            f"  %runs = getelementptr inbounds [{WORDS_OF_A_SITE} x i64], "
            f"ptr {counters}, i64 %site",
            "  %time = getelementptr inbounds i64, ptr %runs, i64 1",
            "  %shortest = getelementptr inbounds i64, ptr %runs, i64 2",
            "  %runs.before = atomicrmw add ptr %runs, i64 1 monotonic, align 8",
            "  %time.before = atomicrmw add ptr %time, i64 %passed monotonic, align 8",
            "  %shortest.before = atomicrmw umax ptr %shortest, i64 %complement monotonic, align 8",
            f"  %events = load ptr, ptr {events}, align 8",
            "  %has_none = icmp eq ptr %events, null",
            "  br i1 %has_none, label %done, label %count",
            "count:",
            "  %number = atomicrmw add ptr %events, i64 1 monotonic, align 8",
            "  %room.at = getelementptr inbounds i64, ptr %events, i64 1",
            "  %room = load i64, ptr %room.at, align 8",
            "  %fits = icmp ult i64 %number, %room",
            "  br i1 %fits, label %keep, label %done",
            "keep:",
            f"  %distance = mul i64 %number, {WORDS_OF_AN_EVENT}",
            f"  %place = add i64 %distance, {WORDS_BEFORE_EVENTS}",
            "  %event = getelementptr inbounds i64, ptr %events, i64 %place",
            "  store i64 %site, ptr %event, align 8",
            "  %event.start = getelementptr inbounds i64, ptr %event, i64 1",
            "  store i64 %started, ptr %event.start, align 8",
            "  %event.end = getelementptr inbounds i64, ptr %event, i64 2",
            "  store i64 %now, ptr %event.end, align 8",
            "  br label %done",
            "done:",
            "  ret void",
            "}",
        ]
        return [*lines, *(self._busy_definitions() if has_tasks else ())]

    def _busy_definitions(self) -> Sequence[str]:
        return [
            f"declare i32 @{THREAD_NUMBER}()",
            f"define internal void {self._symbol('add_busy')}(i64 %row, i64 %started) {APART} {{",
            f"  %now = call i64 {self._symbol('clock')}()",
            "  %passed = sub i64 %now, %started",
            f"  %own = call i32 @{THREAD_NUMBER}()",
            "  %me = sext i32 %own to i64",
            f"  %thread = call i64 @llvm.umin.i64(i64 %me, i64 {PROFILED_THREADS - 1})",
            f"  %first = mul i64 %row, {PROFILED_THREADS}",
            "  %place = add i64 %first, %thread",
            f"  %words = getelementptr inbounds [{WORDS_OF_A_THREAD} x i64], "
            f"ptr {self._symbol('busy')}, i64 %place",
            "  %before = atomicrmw add ptr %words, i64 %passed monotonic, align 8",
            "  ret void",
            "}",
        ]

    def written(self) -> ModuleProfile:
        """What a reader needs to know, when all functions are printed."""
        busy, events = f"{self.name}.busy", f"{self.name}.events"
        return ModuleProfile(self.name, busy, events, tuple(self.rows), tuple(self.sites))


def _above_kernels(functions: Mapping[str, func.FuncOp]) -> frozenset[str]:
    """The entries, and the functions that reach a kernel or a function outside by calls."""
    ends = {
        name
        for name, function in functions.items()
        if is_marked(function, KERNEL) or not function.body.blocks
    }
    callers: dict[str, list[str]] = {}
    for name, function in functions.items():
        for op in operations_in(function):
            if type(op) is func.CallOp and name not in ends:
                callers.setdefault(op.callee.string_value(), []).append(name)
    found: set[str] = set()
    waiting = [caller for end in ends for caller in callers.get(end, ())]
    waiting += [name for name, each in functions.items() if is_marked(each, ENTRY)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(callers.get(name, ()))
    return frozenset(found)
