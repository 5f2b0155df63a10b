"""A module of the loops level as one LLVM module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError
from itertools import chain
from math import inf
from pkgutil import resolve_name
from typing import Any, cast

from xdsl.dialects import func, memref
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
)
from xdsl.dialects.scf import ForOp, IfOp, ParallelOp
from xdsl.ir import Operation, Region

from lowerings.ir.functions import (
    ENTRY,
    KERNEL,
    callees_first,
    calls_of,
    defined_functions,
    functions_of,
)
from lowerings.ir.functions import INLINED as MARKED_INLINED
from lowerings.ir.independent_loops import iterations_of
from lowerings.targets.llvm import accesses, arith, complex, math, scf, vector
from lowerings.targets.llvm import func as functions
from lowerings.targets.llvm import memref as memory
from lowerings.targets.llvm.bounds_checks import CHECKS
from lowerings.targets.llvm.constants import bytes_literal, memory_image
from lowerings.targets.llvm.constants import symbol as spell_symbol
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler, Symbols
from lowerings.targets.llvm.guards import Guards, PollPlan
from lowerings.targets.llvm.instruction_origins import marking
from lowerings.targets.llvm.interface import THREADS, ExternalConstant, ModuleGuards
from lowerings.targets.llvm.machine import (
    APART,
    GLUE,
    INLINED,
    PLAIN,
    Machine,
    definitions,
)
from lowerings.targets.llvm.memref import ALLOCATION_ALIGNMENT
from lowerings.targets.llvm.profiling import LOOPS, START, ModuleProfile, ProfileWriter
from lowerings.targets.llvm.scf import NUMBER_OF_THREADS, is_task
from lowerings.targets.llvm.types import EmissionError, UnsupportedType, layout_of
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import operations_in

INLINE_CONSTANT_BYTES = 4096
"""Constants up to this size stand in the text; LLVM can then fold reads of them."""

HANDLERS = OperationTable[Handler](
    {
        **accesses.HANDLERS,
        **arith.HANDLERS,
        **complex.HANDLERS,
        **functions.HANDLERS,
        **math.HANDLERS,
        **memory.HANDLERS,
        **scf.HANDLERS,
        **vector.HANDLERS,
    }
)
"""How each operation is printed."""


@dataclass(frozen=True)
class EmittedModule:
    """LLVM IR, and what is not in its text."""

    text: str
    constants: tuple[ExternalConstant, ...]
    entries: tuple[str, ...]
    """The names of the exported functions `void name(void **arguments)`."""
    has_tasks: bool = False
    """Whether its pointer `THREADS` must be set before it runs, and it calls the runtime."""
    guards: ModuleGuards | None = None
    """Where runs may end before their time; None if nowhere."""
    profile: ModuleProfile | None = None
    """Where it keeps the time that its parts take; None if nowhere."""


def emit_module(
    module: ModuleOp,
    machine: Machine | None = None,
    *,
    inline_constants: bool = False,
    interruptible: bool = False,
    check_bounds: bool = False,
    threads: bool = False,
    profile: bool = False,
    numbers: Mapping[Operation, int] | None = None,
    lower: Callable[[func.FuncOp], None] | None = None,
    take: Callable[[str], None] | None = None,
) -> EmittedModule:
    """
    Prints a module of the loops level (`func scf memref vector arith math complex`) for a machine,
    or for LLVM's default one.

    With `inline_constants` all constants stand in the text, whatever their size. An `interruptible`
    program looks in its loops whether it shall end, and `check_bounds` ends one that is about to
    access memory outside of its arrays; `EmittedModule.guards` says how. With `threads` parallel
    loops are tasks for the threads of the runtime, else loops like others. With `profile` it
    measures the time of its kernels. Instructions end with the number of their operation, where it
    is in `numbers` (see `instruction_origins`). `lower` brings functions of the level above to that
    of loops, each before it is printed, and may add functions to the module. `take` gets what is
    printed as soon as it is: a function after those that it calls, with all that these use. Raises
    EmissionError for what has no form in LLVM IR.
    """
    calls = calls_of(functions_of(module))
    if lower is not None and (profile or _is_recursive(calls)):
        for function in defined_functions(module):
            lower(function)
        lower, calls = None, calls_of(functions_of(module))
    emitter = _ModuleEmitter(module, HANDLERS)
    emitter.inline_constants = inline_constants
    emitter.has_threads = threads
    if machine is not None:
        emitter.features = machine.features.split(",")
        emitter.scales_indices = machine.scales_indices
    if interruptible or check_bounds:
        emitter.guards = Guards(emitter.unused("xla.state"), PollPlan(check_bounds))
    if check_bounds:
        emitter.add_checks()
    if profile:
        emitter.profile = ProfileWriter.of(module, emitter.unused("xla.profile"))
        emitter.add_measurements(emitter.profile)
    if numbers is not None:
        emitter.handlers = marking(emitter.handlers, numbers)
    return emitter.emit(module, machine, calls, lower, take)


def _is_recursive(calls: Mapping[str, Iterable[str]]) -> bool:
    try:
        callees_first(calls)
    except CycleError:
        return True
    return False


class _ModuleEmitter(Symbols):
    """A module while it is printed."""

    inline_constants = False

    def __init__(self, module: ModuleOp, handlers: Mapping[type[Operation], Handler]):
        super().__init__(module, handlers)
        # Its dialect takes 30 ms to load.
        self.named_handlers["llvm.call_intrinsic"] = _emit_intrinsic
        self.calls: Counter[str] = Counter()
        self.called_by_entries: set[str] = set()
        """What entries call, in no loop."""
        self.inlined: set[str] = set()
        self.long_entries: set[func.FuncOp] = set()
        self.constants: list[ExternalConstant] = []
        self.global_lines: list[str] = []
        self.written: dict[func.FuncOp, list[str]] = {}
        """The lines of functions, none yet for those to come."""
        self.handed: set[str] = set()
        self.handed_tasks = 0
        """What was given to who takes it as it is printed, and how many lines of tasks."""

    def add_checks(self) -> None:
        """Has operations be checked before they are printed."""
        for kind, check in CHECKS.items():
            self.handlers[kind] = _both(check, self.handlers[kind])

    def add_measurements(self, profile: ProfileWriter) -> None:
        """Has the time of calls and loops be measured."""
        for kind in (func.CallOp, *LOOPS):
            self.handlers[kind] = _measured(profile, self.handlers[kind])

    # ---- the module

    def emit(
        self,
        module: ModuleOp,
        machine: Machine | None,
        calls: Mapping[str, Sequence[str]],
        lower: Callable[[func.FuncOp], None] | None,
        take: Callable[[str], None] | None,
    ) -> EmittedModule:
        self.names.taken.add(THREADS)
        bodies = self._declare(module.body.block.ops)
        # An entry after what it calls, for how it is compiled depends on what is inlined.
        groups = [sorted(bodies, key=_is_entry)]
        entries = [each for each in bodies if _is_entry(each)]
        waiting: set[func.FuncOp] = set()
        if lower is not None:
            waiting = {each for each in bodies if each.body.blocks}.difference(entries)
            added = [each for entry in entries for each in self._lowered(entry, module, lower)]
            by_name = {each.sym_name.data: each for each in bodies}
            ordered = [by_name[name] for name in callees_first(calls)]
            groups = [added, *([each] for each in sorted(ordered, key=_is_entry))]
        self._count_calls(entries, calls)
        head: list[str] = []
        if machine is not None:
            head = [f'target triple = "{machine.triple}"']
            head += [f'target datalayout = "{machine.data_layout}"']
        for group in groups:
            if lower is not None:
                for function in waiting.intersection(group):
                    group += self._lowered(function, module, lower)
            self._emit_functions(group)
            if take is not None:
                self._hand_over(take, group, (*head, *definitions(machine, inlines=True)))
        lines = [line for written in self.written.values() for line in written]
        text = "\n".join(
            [
                *head,
                *self.global_lines,
                *lines,
                *self._tasks(),
                *self._declared(),
                *definitions(machine, inlines=bool(self.inlined)),
                *self._nodes(),
                "",
            ]
        )
        guards = self.guards if self.guards is not None and self.guards.plan.stopping else None
        return EmittedModule(
            text,
            tuple(self.constants),
            tuple(entry.sym_name.data for entry in entries),
            bool(self.task_lines),
            None if guards is None else guards.written(),
            None if self.profile is None else self.profile.written(),
        )

    def _lowered(
        self, function: func.FuncOp, module: ModuleOp, lower: Callable[[func.FuncOp], None]
    ) -> list[func.FuncOp]:
        """Lowers a function; the functions that this adds to the module."""
        last = module.body.block.last_op
        lower(function)
        return self._declare(_behind(last))

    def _declare(self, ops: Iterable[Operation]) -> list[func.FuncOp]:
        """Makes the symbols of a module known, or of what was added to it; its functions."""
        found: list[func.FuncOp] = []
        for op in ops:
            if isinstance(op, memref.GlobalOp):
                self.global_lines += self._global(op)
            elif isinstance(op, func.FuncOp):
                found.append(op)
                self.written[op] = []
                self.callees[op.sym_name.data] = self._function_symbol(op)
                if functions.is_outside(op):
                    self.outside.add(op.sym_name.data)
            else:
                raise EmissionError(op, "only functions and memref.global may stand here")
        return found

    def _count_calls(
        self, entries: Sequence[func.FuncOp], calls: Mapping[str, Sequence[str]]
    ) -> None:
        self.calls = Counter(chain.from_iterable(calls.values()))
        self.called_by_entries = {
            op.callee.string_value()
            for entry in entries
            for block in entry.body.blocks
            for op in block.ops
            if type(op) is func.CallOp
        }
        for entry in filter(_is_long, entries):
            self.long_entries.add(entry)
            # Counted twice, what they call is inlined nowhere.
            self.calls.update(calls[entry.sym_name.data])

    def _emit_functions(self, group: Sequence[func.FuncOp]) -> None:
        """Prints functions that call each other and those that were printed before."""
        if self.guards is not None:
            self.guards.plan.add(each for each in group if each.body.blocks)
        self._find_forks(group)
        for function in group:
            self.written[function] = self._function(function)

    def _hand_over(
        self, take: Callable[[str], None], group: Iterable[func.FuncOp], head: Iterable[str]
    ) -> None:
        """Gives what was printed of functions, and all else that is new since the last time."""
        tasks = self._tasks()[self.handed_tasks :]
        self.handed_tasks += len(tasks)
        lines = [line for function in group for line in self.written[function]]
        beside = (*head, *self.global_lines, *self._declared(), *self._nodes())
        new = [each for each in beside if each not in self.handed]
        self.handed.update(new)
        take("\n".join([*new, *lines, *tasks, ""]))

    def _tasks(self) -> list[str]:
        return [NUMBER_OF_THREADS, *self.task_lines] if self.task_lines else []

    def _declared(self) -> Sequence[str]:
        """What functions use besides each other: guards, the runtime, the profile."""
        is_guarded = self.guards is not None and self.guards.plan.stopping
        return (
            *(self.guards.declarations() if self.guards is not None and is_guarded else ()),
            *self.declarations.values(),
            *(() if self.profile is None else self.profile.definitions()),
        )

    def _nodes(self) -> Sequence[str]:
        return [f"{number} = {node}" for node, number in self.nodes.items()]

    def _function_symbol(self, op: func.FuncOp) -> str:
        """
        The symbol that calls go to. That of an entry is its body's, for its own takes an array; a
        private function gets a name that no function of the C library has, for LLVM takes a
        function `exp` for that one.
        """
        name = op.sym_name.data
        return spell_symbol(self.unused(f"xla.{name}") if _is_internal(op) else name)

    def _find_forks(self, bodies: Sequence[func.FuncOp]) -> None:
        """Finds what entries call once that only starts a parallel loop; it is printed there."""
        if self.profile is not None:
            return
        for op in bodies:
            name = op.sym_name.data
            is_once = self.calls[name] == 1 and name in self.called_by_entries
            if is_once and KERNEL in op.attributes and _only_forks(op):
                if not self.has_threads:
                    return
                self.forks[name] = op

    def _function(self, op: func.FuncOp) -> list[str]:
        name = op.sym_name.data
        if name in self.forks:
            return []
        linkage = "internal " if _is_internal(op) else ""
        body = self.callees[name]
        is_glue = op in self.long_entries or (_is_entry(op) and _only_calls(op, self.inlined))

        def group(size: int) -> str:
            if is_glue:
                return GLUE
            if self.profile is None and _only_forks(op) and self.has_threads:
                return GLUE
            found = _attribute_group(op, size, self.calls[name])
            if self.profile is not None and KERNEL in op.attributes:
                # Inlined, its instructions could move out of the time that is measured.
                return APART
            if found == INLINED:
                self.inlined.add(name)
            return found

        lines = functions.emit_function(op, body, linkage, group, self)
        if not _is_entry(op):
            return lines
        functions.require_entry(op)
        exported, nonnull = spell_symbol(name), self.metadata("!{}")
        if self.profile is not None:
            surround = self.profile.call_program
        elif not self.calls[name] and all(map(_leaves_memory_alone, operations_in(op.body))):
            return functions.entry_alone(op, exported, lines, nonnull)
        else:
            surround = _alone
        return lines + functions.entry_wrapper(op, exported, body, nonnull, surround)

    def _global(self, op: memref.GlobalOp) -> list[str]:
        name = op.sym_name.data
        try:
            layout = layout_of(op.type)
            if not layout.is_static:
                raise UnsupportedType(f"the size of {op.type} is not known")
            image = self._image(op)
        except UnsupportedType as error:
            raise EmissionError(op, str(error)) from error
        alignment = ALLOCATION_ALIGNMENT
        if isinstance(op.alignment, IntegerAttr):
            alignment = max(alignment, cast("IntegerAttr[Any]", op.alignment).value.data)
        if image is None:
            self.globals[name] = spell_symbol(name), False
            return [
                f"{spell_symbol(name)} = internal global [{layout.span()} x i8] zeroinitializer, "
                f"align {alignment}"
            ]
        is_constant = op.constant is not None
        if is_constant and not self.inline_constants and len(image) > INLINE_CONSTANT_BYTES:
            pointer = self.unused(f"{name}.ptr")
            self.constants.append(ExternalConstant(pointer, image))
            self.globals[name] = spell_symbol(pointer), True
            return [f"{spell_symbol(pointer)} = global ptr null, align 8"]
        self.globals[name] = spell_symbol(name), False
        kind = "unnamed_addr constant" if is_constant else "global"
        return [
            f"{spell_symbol(name)} = internal {kind} [{len(image)} x i8] {bytes_literal(image)}, "
            f"align {alignment}"
        ]

    def _image(self, op: memref.GlobalOp) -> bytes | None:
        """The initial bytes of a global, None where nothing is said of them."""
        if not isinstance(op.initial_value, DenseIntOrFPElementsAttr):
            return None
        dense = cast("DenseIntOrFPElementsAttr[Any]", op.initial_value)
        return memory_image(op.type, dense)


def _alone(call: str) -> Sequence[str]:
    return (call,)


SMALL_KERNEL_LINES = 30
"""A function takes LLVM about half a millisecond, whatever it does; up to this size that is a good
part of what it costs."""


def _attribute_group(op: func.FuncOp, size: int, calls: int) -> str:
    """The group of attributes of a function of so many lines that is called so often."""
    if MARKED_INLINED in op.attributes:
        return INLINED
    if KERNEL not in op.attributes:
        return PLAIN
    # Inlining a large kernel, even into its only caller, makes code generation slow.
    return INLINED if calls == 1 and size <= SMALL_KERNEL_LINES else APART


LONG_ENTRY_CALLS = 40
OWN_OPERATIONS_A_CALL = 8
"""
An entry with more calls, and with few operations of its own for each, is left to the plain code
generator, with no kernel inlined. Where it takes hundreds of arrays the careful allocation of
registers to their addresses takes as long as a tenth of all kernels, to no use.
"""


def _is_long(op: func.FuncOp) -> bool:
    calls = sum(type(inner) is func.CallOp for inner in operations_in(op))
    own = _operations_run(op.body) if calls > LONG_ENTRY_CALLS else inf
    return own <= OWN_OPERATIONS_A_CALL * calls


def _operations_run(region: Region) -> float:
    """How many operations run that neither call nor view; infinite where that is not known."""
    count = 0.0
    for op in (op for block in region.blocks for op in block.ops):
        if type(op) is not func.CallOp and type(op) not in _BESIDE_CALLS:
            count += 1
            if op.regions:
                times = iterations_of(op) if isinstance(op, ForOp) else int(isinstance(op, IfOp))
                count += sum(map(_operations_run, op.regions)) * times if times else inf
    return count


_BESIDE_CALLS = {*memory.VIEWS, ConstantOp, func.ReturnOp}


def _only_forks(op: func.FuncOp) -> bool:
    """Whether a function does no more than to start one parallel loop, if there are threads."""
    inner = list(op.body.block.ops) if len(op.body.blocks) == 1 else []
    loops = [each for each in inner if type(each) is ParallelOp]
    others = {type(each) for each in inner if type(each) is not ParallelOp}
    return len(loops) == 1 and others <= _BESIDE_CALLS and is_task(loops[0])


def _only_calls(op: func.FuncOp, inlined: Collection[str]) -> bool:
    """Whether all that a function does is to call others, none of them inlined, on views."""
    return all(
        inner.callee.string_value() not in inlined
        if type(inner) is func.CallOp
        else type(inner) in _BESIDE_CALLS
        for inner in operations_in(op)
        if inner is not op
    )


def _leaves_memory_alone(op: Operation) -> bool:
    """Whether an operation itself accesses no memory; what a call does is the callee's."""
    if type(op) in (*_BESIDE_CALLS, memref.GetGlobalOp):
        return True
    return op.name.partition(".")[0] in ("arith", "cf", "func", "scf")


def _is_entry(op: func.FuncOp) -> bool:
    return ENTRY in op.attributes


def _behind(op: Operation | None) -> Iterator[Operation]:
    """The operations behind one in its block."""
    while op is not None and (op := op.next_op) is not None:
        yield op


def _is_internal(op: func.FuncOp) -> bool:
    """Whether a function is for calls from inside the module only."""
    if not op.body.blocks:
        return False
    private = op.sym_visibility is not None and op.sym_visibility.data == "private"
    return private or _is_entry(op)


def _emit_intrinsic(e: FunctionEmitter, op: Operation) -> None:
    resolve_name("lowerings.targets.llvm.intrinsics:emit_call")(e, op)


def _both(check: Handler, handler: Handler) -> Handler:
    """The handler of an operation that is checked before."""

    def emit(e: FunctionEmitter, op: Operation) -> None:
        check(e, op)
        handler(e, op)

    return emit


def _measured(profile: ProfileWriter, handler: Handler) -> Handler:
    """The handler of an operation whose time is measured, unless it is a part of what is."""

    def emit(e: FunctionEmitter, op: Operation) -> None:
        if not profile.measures(op, e.function):
            handler(e, op)
            return
        site = profile.begin(op)
        started = e.temporary(START)
        handler(e, op)
        profile.row = None
        events = e.temporary(profile.load_events())
        e.emit(profile.note(site, started, events))

    return emit
