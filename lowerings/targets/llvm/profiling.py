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

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from lowerings.profiling.source_operations import SourceOperation, source_operations
from lowerings.profiling.work import Work
from lowerings.runtime import CLOCK, NOTE_RUN, NOTE_TASK
from lowerings.runtime.declarations import constants
from lowerings.targets.llvm.constants import symbol as spell_symbol
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler
from lowerings.targets.llvm.func import ENTRY, KERNEL, is_marked
from xla_dialect.xdsl.traversal import operations_in

_WORDS = constants("runtime.h")
PROFILED_THREADS = _WORDS["XLA_PROFILED_THREADS"]
WORDS_OF_A_THREAD = _WORDS["XLA_WORDS_OF_A_THREAD"]
WORDS_OF_A_SITE = _WORDS["XLA_WORDS_OF_A_SITE"]
WORDS_OF_AN_EVENT = _WORDS["XLA_WORDS_OF_AN_EVENT"]
WORDS_BEFORE_EVENTS = _WORDS["XLA_WORDS_BEFORE_EVENTS"]
"""An i64 each; the header of the library in C says what they are."""
_LOOPS = (scf.ForOp, scf.WhileOp, scf.ParallelOp)


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
        """A profile of which nothing is printed yet."""
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
        events = f"  %events = load ptr, ptr {self._symbol('events')}, align 8"
        return [
            f"  %started = call i64 @{CLOCK}()",
            call,
            events,
            f"  {self._note(0, '%started', '%events')}",
        ]

    def _note(self, site: int, started: str, events: str) -> str:
        sites = spell_symbol(self.name)
        return f"call void @{NOTE_RUN}(ptr {sites}, ptr {events}, i64 {site}, i64 {started})"

    def start(self, e: FunctionEmitter) -> str:
        """The time now."""
        return e.temporary(f"call i64 @{CLOCK}()")

    def row_of_task(self, e: FunctionEmitter) -> int | None:
        """The row to which a parallel loop belongs that is printed now, if any."""
        if self._row is not None:
            return self._row
        return self.numbers.get(e.function.name)

    def end_task(self, e: FunctionEmitter, started: str, row: int) -> None:
        """Adds the time since `started` to that of this thread."""
        busy = self._symbol("busy")
        e.emit(f"call void @{NOTE_TASK}(ptr {busy}, i64 {row}, i64 {started})")

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
            events = e.temporary(f"load ptr, ptr {self._symbol('events')}, align 8")
            e.emit(self._note(site, started, events))

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

    def definitions(self) -> list[str]:
        """The globals, when everything else is printed, and what is called of the library in C."""
        sites = len(self.sites) * WORDS_OF_A_SITE
        words = len(self.rows) * PROFILED_THREADS * WORDS_OF_A_THREAD
        counters, busy = spell_symbol(self.name), self._symbol("busy")
        return [
            f"{counters} = dso_local global [{sites} x i64] zeroinitializer, align 64",
            f"{busy} = dso_local global [{words} x i64] zeroinitializer, align 64",
            f"{self._symbol('events')} = dso_local global ptr null, align 8",
            f"declare i64 @{CLOCK}()",
            f"declare void @{NOTE_RUN}(ptr, ptr, i64, i64)",
            f"declare void @{NOTE_TASK}(ptr, i64, i64)",
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
