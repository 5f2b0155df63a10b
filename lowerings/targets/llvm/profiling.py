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

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from lowerings.ir.functions import ENTRY, KERNEL, calls_of, functions_of, reaching
from lowerings.profiling.source_operations import SourceOperation, source_operations
from lowerings.profiling.work import Work
from lowerings.runtime import CLOCK, NOTE_RUN, NOTE_TASK
from lowerings.runtime.declarations import constants
from lowerings.targets.llvm.constants import symbol
from xla_dialect.xdsl.traversal import operations_in

_WORDS = constants("runtime.h")
PROFILED_THREADS = _WORDS["XLA_PROFILED_THREADS"]
WORDS_OF_A_THREAD = _WORDS["XLA_WORDS_OF_A_THREAD"]
WORDS_OF_A_SITE = _WORDS["XLA_WORDS_OF_A_SITE"]
WORDS_OF_AN_EVENT = _WORDS["XLA_WORDS_OF_AN_EVENT"]
WORDS_BEFORE_EVENTS = _WORDS["XLA_WORDS_BEFORE_EVENTS"]
"""An i64 each; the header of the library in C says what they are."""
LOOPS = (scf.ForOp, scf.WhileOp, scf.ParallelOp)

START = f"call i64 @{CLOCK}()"
"""The instruction that tells the time."""


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
    row: int | None = None
    """The row of the loop that is being printed."""

    @staticmethod
    def of(module: ModuleOp, name: str) -> ProfileWriter:
        """A profile of which nothing is printed yet."""
        functions = functions_of(module)
        above = _above_kernels(functions)
        below = [each for each in functions if each not in above]
        rows = [MeasuredPart(name, Work.of(functions[name])) for name in below]
        numbers = {name: number for number, name in enumerate(below, 1)}
        return ProfileWriter(name, [MeasuredPart("program"), *rows], numbers, [Site(0, ())])

    def call_program(self, call: str) -> list[str]:
        """The lines that call the body of the entry."""
        return [
            f"  %started = {START}",
            call,
            f"  %events = {self.load_events()}",
            f"  {self.note(0, '%started', '%events')}",
        ]

    def load_events(self) -> str:
        """The instruction that loads where events go."""
        return f"load ptr, ptr {self._symbol('events')}, align 8"

    def note(self, site: int, started: str, events: str) -> str:
        """The instruction that adds the time since `started` to that of a site."""
        sites = symbol(self.name)
        return f"call void @{NOTE_RUN}(ptr {sites}, ptr {events}, i64 {site}, i64 {started})"

    def row_of_task(self, function: str) -> int | None:
        """The row to which a parallel loop of a function belongs that is printed now, if any."""
        return self.numbers.get(function) if self.row is None else self.row

    def end_task(self, started: str, row: int) -> str:
        """The instruction that adds the time since `started` to that of this thread."""
        return f"call void @{NOTE_TASK}(ptr {self._symbol('busy')}, i64 {row}, i64 {started})"

    def measures(self, op: Operation, function: str) -> bool:
        """Whether an operation in a function is measured, and nothing around it is."""
        return self.row is None and function not in self.numbers and self._is_leaf(op)

    def begin(self, op: Operation) -> int:
        """The number of a new site; what is printed until `row` is None belongs to its row."""
        self.row = self._row_for(op)
        self.sites.append(Site(self.row, source_operations(op.location)))
        return len(self.sites) - 1

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
        return symbol(f"{self.name}.{part}")

    def definitions(self) -> list[str]:
        """The globals, when everything else is printed, and what is called of the library in C."""
        sites = len(self.sites) * WORDS_OF_A_SITE
        words = len(self.rows) * PROFILED_THREADS * WORDS_OF_A_THREAD
        counters, busy = symbol(self.name), self._symbol("busy")
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


def _above_kernels(functions: Mapping[str, func.FuncOp]) -> Collection[str]:
    """The entries, and the functions that reach a kernel or a function outside by calls."""
    ends = {
        name
        for name, function in functions.items()
        if KERNEL in function.attributes or not function.body.blocks
    }
    entries = {name for name, function in functions.items() if ENTRY in function.attributes}
    calls = {name: called for name, called in calls_of(functions).items() if name not in ends}
    return entries | (reaching(calls, ends) - ends)
