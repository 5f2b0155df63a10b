"""
How much memory a program takes at the buffers level and below, and how much of it is moved.

What is counted is what one call of the entry does: a kernel that several calls share counts once
for each of them. The body of a loop counts once, for how often it runs is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import CycleError

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue

from lowerings.bufferize.arena import Lifetime, max_live_bytes
from lowerings.bufferize.liveness import (
    MemoryLiveness,
    WrittenArguments,
    is_viewed,
    written_operands,
)
from lowerings.bufferize.signatures import aliased_parameters
from lowerings.bufferize.storage import memref_type, planned_extent
from lowerings.bufferize.strided import static_bytes
from lowerings.bufferize.tensor_operands import (
    is_linalg_operation,
    linalg_inputs,
    linalg_outputs,
    overwrites_destination,
    transposed_dimensions,
)
from lowerings.bufferize.xla_plan_buffers import ARENA_ATTRIBUTE, MAX_LIVE_ATTRIBUTE
from lowerings.ir.functions import (
    ENTRY,
    KERNEL,
    callees_first,
    calls_of,
    defined_functions,
    functions_of,
)
from lowerings.ir.independent_loops import SharedLoop
from lowerings.ir.scalar_attributes import constant_integer
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class MemoryUsage:
    """What one call of an entry needs; sizes are in bytes."""

    entry: str
    parameters: int
    """The size of the arguments that the entry only reads."""
    results: int
    """The size of the arguments that the entry writes."""
    aliased: int
    """The size of the results that may alias a parameter, which then counts once only."""
    constants: int
    """The size of all constants of the module."""
    allocations: int
    """Buffers for temporary results, on the heap or in the arena."""
    allocated: int
    """The sum of their sizes, as if none shared memory with another."""
    peak: int
    """The most that is live at one time, each buffer rounded up to whole cache lines."""
    arena: int | None
    """The size of the arena that the caller provides; None before buffers are planned."""
    stack: int
    """The size of the frames on the deepest path of calls; spilled registers may need more."""
    copies: int | None
    """Copies of one array to another; None where all are loops already, like everything else."""
    copied: int | None
    """The bytes that these copies write."""

    @property
    def temporary(self) -> int:
        """What has to be there beside parameters, results and constants."""
        return self.stack + (self.peak if self.arena is None else self.arena)


def memory_usage(module: ModuleOp) -> tuple[MemoryUsage, ...]:
    """
    The usage of each function of a module that is called from outside.

    Empty for a module above the buffers level, and for one with functions that call themselves:
    what they take has no bound. Arrays of unknown size count as empty.
    """
    analysis = _ModuleAnalysis(module)
    entries = [f for f in analysis.functions.values() if ENTRY in f.attributes]
    if not entries:
        return ()
    try:
        return tuple(map(analysis.usage, entries))
    except CycleError:
        return ()


@dataclass(frozen=True)
class MemoryTraffic:
    """
    What the linalg operations and copies of a function move, as if no cache kept anything: their
    operands, whole. Elements that a body loads by computed positions are not counted.
    """

    function: str
    is_kernel: bool
    calls: int
    """How often one call of the entry calls it; 1 for the entry."""
    operations: int
    """The linalg operations and copies in it."""
    read: int
    """Bytes, of one call."""
    written: int
    """Bytes, of one call."""

    @property
    def moved(self) -> int:
        """Bytes that all calls read and write."""
        return self.calls * (self.read + self.written)


def memory_traffic(module: ModuleOp, entry: str) -> tuple[MemoryTraffic, ...]:
    """
    The traffic of each function with linalg operations or copies that an entry calls, and its own.

    Empty for modules of another level, and for functions that call themselves.
    """
    analysis = _ModuleAnalysis(module)
    if ENTRY not in analysis.functions[entry].attributes:
        return ()
    try:
        return tuple(analysis.traffic(entry))
    except CycleError:
        return ()


@dataclass
class _Function:
    """What a function does by itself, without those that it calls."""

    buffers: list[int] = field(default_factory=list[int])
    """Bytes of each buffer for a temporary result."""
    copies: list[int] = field(default_factory=list[int])
    """Bytes that each copy writes."""
    stack: int = 0
    structured: int = 0
    """Operations that are loops later."""
    read: int = 0
    """Bytes that these read."""
    written: int = 0
    """Bytes that these write."""


@dataclass(eq=False)
class _ModuleAnalysis:
    module: ModuleOp
    _peaks: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        self.functions = functions_of(self.module)
        self.calls = calls_of(self.functions)
        self._own = {name: self._analysed(each) for name, each in self.functions.items()}

    def usage(self, entry: func.FuncOp) -> MemoryUsage:
        name = entry.sym_name.data
        times = self._times_called(name)
        own = [(self._own[each], count) for each, count in times.items()]
        buffers = [size for each, count in own for size in each.buffers * count]
        copies = [size for each, count in own for size in each.copies * count]
        structured = any(each.structured for each, _ in own)
        is_lowered = not structured and any(self._has_loops(each) for each in times)
        arena = _integer(entry, ARENA_ATTRIBUTE)
        aliased = aliased_parameters(entry).keys()
        written = WrittenArguments(self.functions).of(name) | aliased
        arguments = entry.function_type.inputs.data[: None if arena is None else -1]
        return MemoryUsage(
            entry=name,
            parameters=sum(static_bytes(t) for i, t in enumerate(arguments) if i not in written),
            results=sum(static_bytes(t) for i, t in enumerate(arguments) if i in written),
            aliased=sum(static_bytes(t) for i, t in enumerate(arguments) if i in aliased),
            constants=sum(
                static_bytes(op.type) for op in self.module.ops if isinstance(op, memref.GlobalOp)
            ),
            allocations=len(buffers),
            allocated=sum(buffers),
            peak=self._peak(name),
            arena=arena,
            stack=self._stack(name),
            copies=None if is_lowered else len(copies),
            copied=None if is_lowered else sum(copies),
        )

    def traffic(self, entry: str) -> Iterator[MemoryTraffic]:
        """See `memory_traffic`."""
        for name, calls in self._times_called(entry).items():
            own, is_kernel = (
                self._own[name],
                KERNEL in self.functions[name].attributes,
            )
            if own.structured:
                yield MemoryTraffic(name, is_kernel, calls, own.structured, own.read, own.written)

    def _times_called(self, entry: str) -> dict[str, int]:
        """The functions that an entry reaches, and how often each is called; raises CycleError."""
        times = dict.fromkeys(self.functions, 0)
        times[entry] = 1
        for name in reversed(callees_first(self.calls)):
            for callee in self.calls[name]:
                times[callee] += times[name]
        return {name: count for name, count in times.items() if count}

    def _analysed(self, function: func.FuncOp) -> _Function:
        own, arena = _Function(), _arena(function)
        for op in operations_in(function):
            if isinstance(op, memref.AllocOp) or (
                isinstance(op, memref.ViewOp)
                and (op.source is arena or _part(op) is not None)
                and not is_viewed(op.results[0])
                and not self._is_arena_of_callee(op.results[0])
            ):
                own.buffers.append(static_bytes(op.results[0].type))
            elif isinstance(op, memref.AllocaOp):
                own.stack += static_bytes(op.memref.type)
            elif isinstance(op, memref.CopyOp) or is_linalg_operation(op):
                written = sum(static_bytes(value.type) for value in written_operands(op))
                own.structured += 1
                own.read += sum(static_bytes(value.type) for value in _read(op))
                own.written += written
                if _is_copy(op):
                    own.copies.append(written)
        return own

    def _is_arena_of_callee(self, view: SSAValue) -> bool:
        for use in view.uses:
            op = use.operation
            if isinstance(op, func.CallOp) and use.index == len(op.operands) - 1:
                callee = self.functions.get(op.callee.root_reference.data)
                if callee is not None and _arena(callee) is not None:
                    return True
        return False

    def _has_loops(self, name: str) -> bool:
        return any(op.name.startswith("scf.") for op in operations_in(self.functions[name]))

    def _peak(self, name: str) -> int:
        """The most bytes that are live at one time in a function and those that it calls."""
        if name not in self._peaks:
            function = self.functions[name]
            planned = _integer(function, MAX_LIVE_ATTRIBUTE)
            self._peaks[name] = self._max_live(function) if planned is None else planned
        return self._peaks[name]

    def _max_live(self, function: func.FuncOp) -> int:
        lifetimes: list[Lifetime] = []
        for use in MemoryLiveness.of(function.body).uses:
            if isinstance(use.op, func.CallOp):
                callee = use.op.callee.root_reference.data
                size = self._peak(callee) if callee in self.functions else 0
            else:
                size = static_bytes(use.op.results[0].type)
            lifetimes.append(Lifetime(use.first, use.last, size))
        return max_live_bytes(lifetimes)

    def _stack(self, name: str) -> int:
        own = self._own[name]
        return own.stack + max((self._stack(callee) for callee in self.calls[name]), default=0)


def _read(op: Operation) -> list[SSAValue]:
    """The arrays that a copy or a linalg operation reads; what it replaces is not read."""
    if isinstance(op, memref.CopyOp):
        return [op.source]
    kept = (v for i, v in enumerate(linalg_outputs(op)) if not overwrites_destination(op, i))
    return [value for value in (*linalg_inputs(op), *kept) if isinstance(value.type, MemRefType)]


def _is_copy(op: Operation) -> bool:
    """Whether an operation copies, transposing or not."""
    is_named = isinstance(op, memref.CopyOp | linalg.CopyOp | linalg.TransposeOp)
    return is_named or transposed_dimensions(op) is not None


def _arena(function: func.FuncOp) -> SSAValue | None:
    """The argument that is the arena of a function, if it has one."""
    return function.body.blocks[0].args[-1] if ARENA_ATTRIBUTE in function.attributes else None


def _integer(op: Operation, name: str) -> int | None:
    attribute = op.attributes.get(name)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


@dataclass(frozen=True)
class ArenaBuffer:
    """A part of an arena, and for how long it is taken."""

    op: Operation
    """The view of it."""
    offset: int
    size: int
    """Bytes, both; of all iterations together where those of a loop may run at the same time."""
    first: int
    last: int
    """Positions in the function, as in `lowerings.bufferize.liveness`; both included."""


@dataclass(frozen=True)
class ArenaContents:
    """The arena of one function."""

    function: FuncOp
    size: int
    """Bytes."""
    buffers: tuple[ArenaBuffer, ...]
    """In the order of the program."""


def arena_contents(module: ModuleOp) -> Iterator[ArenaContents]:
    """The arena of each function that has one."""
    for function in defined_functions(module):
        if (arena := _arena(function)) is not None:
            size = memref_type(arena).get_shape()[0]
            yield ArenaContents(function, size, tuple(_buffers(function, arena)))


def _part(view: memref.ViewOp) -> memref.ViewOp | None:
    """The part of an arena that an iteration has, which a view is one of; None for other views."""
    return view.source.owner if isinstance(view.source.owner, memref.ViewOp) else None


def _buffers(function: FuncOp, arena: SSAValue) -> Iterator[ArenaBuffer]:
    for use in MemoryLiveness.of(function.body, arena).uses:
        if not isinstance(use.op, memref.ViewOp):
            continue
        extent, part = planned_extent(use.op), _part(use.op)
        assert extent is not None, "offsets are planned as constants"
        start, times = 0, 1
        if part is not None:
            loop, shift = SharedLoop.around(part), part.byte_shift.owner
            assert loop is not None
            assert isinstance(shift, arith.AddiOp)
            start, times = constant_integer(shift.lhs) or 0, loop.iterations
        offset, size = start + times * extent[0], times * (extent[1] - extent[0])
        yield ArenaBuffer(use.op, offset, size, use.first, use.last)
