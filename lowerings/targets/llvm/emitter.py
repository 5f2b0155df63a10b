"""
What the functions that print operations work with: the text of one function as it grows.

A value of MLIR is known here by the operand that stands for it (`values`), a memref by its view
(`views`). The functions that print the operations of a dialect are in the module of the
dialect's name; each takes the emitter and the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.targets.llvm.types import (
    INDEX,
    POINTER,
    EmissionError,
    MemRefLayout,
    UnsupportedType,
    ValueType,
    value_type_of,
)
from xla_dialect.extensions import LLVM_HANDLERS, failures, loadable_extensions
from xla_dialect.xdsl.traversal import AttributeMemo


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """
    A memref: the address of element (0, ..., 0), sizes and strides, counted in elements.

    `parameter` is the number of the function's argument that the memory belongs to, None if
    it is not known.
    """

    layout: MemRefLayout
    pointer: str
    sizes: tuple[str, ...]
    strides: tuple[str, ...]
    parameter: int | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a value that LLVM holds in a register of its own: a typed operand."""

    type: str
    operand: str

    def __str__(self) -> str:
        return f"{self.type} {self.operand}"


class Guards(Protocol):
    """What loops and calls need to know of how a run may end before its time."""

    def poll(self, e: FunctionEmitter) -> None:
        """Ends the run if its caller asks for it."""
        ...

    def intervals(self, op: Operation) -> Sequence[int]:
        """After how many iterations a loop polls, for each dimension: 0 if never."""
        ...

    def after_call(self, e: FunctionEmitter, op: func.CallOp) -> None:
        """Ends the run if that of a called function has ended, or polls where that is due."""
        ...

    def after_task(self, e: FunctionEmitter) -> None:
        """Ends the run if a thread has ended it that did a part of this function."""
        ...


class TaskClock(Protocol):
    """What parallel loops need to know of the time that is measured."""

    def row_of_task(self, e: FunctionEmitter) -> int | None:
        """What a parallel loop that is printed now belongs to; None if it is not measured."""
        ...

    def start(self, e: FunctionEmitter) -> str:
        """The time now."""
        ...

    def end_task(self, e: FunctionEmitter, started: str, row: int) -> None:
        """Adds the time since `started` to that of this thread."""
        ...


class Symbols(Protocol):
    """What a function needs to know of the module around it."""

    value_types: dict[int, tuple[Attribute, ValueType]]
    """The types met so far, by the identity of MLIR's, which is kept alive here."""

    layouts: AttributeMemo[MemRefLayout]
    """What the types of memrefs say."""

    @property
    def guards(self) -> Guards | None:
        """Where runs of the module may end before their time; None if nowhere."""
        ...

    @property
    def profile(self) -> TaskClock | None:
        """Where the module keeps the time that its parts take; None if nowhere."""
        ...

    def late_handler(self, op: Operation) -> Handler | None:
        """The handler of an operation that few programs have; None for others."""
        ...

    def callee(self, op: Operation, name: str) -> str:
        """The symbol to call for a function."""
        ...

    def only_fork(self, name: str) -> func.FuncOp | None:
        """A function that does no more than to start a parallel loop, printed where it is called;
        None for others."""
        ...

    def ends_programs(self, name: str) -> bool:
        """Whether a function is one outside that says whether the program goes on."""
        ...

    def global_pointer(self, op: Operation, name: str) -> tuple[str, bool]:
        """The symbol of a global, and whether it holds the global's address instead."""
        ...

    def metadata(self, text: str) -> str:
        """The number of a metadata node, e.g. `!3` for `!{}`."""
        ...

    def loop_metadata(self, properties: Sequence[str]) -> str:
        """The number of a node that tells LLVM how to treat one loop."""
        ...

    @property
    def features(self) -> Collection[str]:
        """The features of the processor that code is generated for, as LLVM spells them."""
        ...

    def declare(self, name: str, declaration: str) -> None:
        """Declares a function of the C library, unless the module does."""
        ...

    @property
    def has_threads(self) -> bool:
        """Whether parallel loops may run on several threads."""
        ...

    def new_symbol(self, name: str) -> str:
        """A symbol for a function that is printed for a part of another one."""
        ...

    def define_task(self, lines: Sequence[str]) -> None:
        """Adds the definition of a function that threads are to run."""
        ...

    def task_start(self, types: Sequence[str]) -> str:
        """The symbol of the function that starts tasks which take values of some types."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """What is known of the function that is printed."""

    name: str = ""
    arguments_do_not_alias: bool = False
    """Whether the memory of an argument is reached through no other one."""
    is_task: bool = False
    """Whether it is a task: the body of a parallel loop, outlined."""


class UndefinedValue(KeyError):
    """An operand that no operation before has defined."""


class Values(dict[SSAValue, str]):
    """The operand (without its type) for each value."""

    def __missing__(self, value: SSAValue) -> str:
        raise UndefinedValue(value)


class FunctionEmitter:
    """
    The text of one function's body.

    `lines` holds the instructions so far; the first block is open from the start.
    """

    def __init__(
        self,
        handlers: Mapping[type[Operation], Handler],
        symbols: Symbols,
        function: FunctionFacts = FunctionFacts(),
    ):
        self.handlers = dict(handlers)
        self.symbols = symbols
        self.function = function
        self.lines: list[str] = []
        self.values = Values()
        self.views: dict[SSAValue, View] = {}
        self.constants: dict[SSAValue, int] = {}
        """The values of integers that are known now."""
        self.counters: set[SSAValue] = set()
        """The variables of loops that are known to start at 0 or above."""
        self.addresses: dict[tuple[str, ...], str] = {}
        """Addresses that were computed in the block that is being written, by what they are of."""
        self.label = "entry"
        """The block that is being written."""
        self.stored_parameters: set[int] = set()
        """The arguments whose memory is or may be written."""
        self.stores_through_unknown = False
        """Whether memory is written that may belong to any argument."""
        self.result_type = "void"
        """LLVM's type of what the function returns."""
        self.guards = symbols.guards
        """Where the run may end; None in a module whose runs always go to the end."""
        self.stack_slots: list[str] = []
        """Instructions for the start of the function."""
        self._count = 0
        self._types = symbols.value_types

    def of_callee(self, function: FunctionFacts) -> FunctionEmitter:
        """What prints the body of a called function here; `go_on_after` it."""
        inner = FunctionEmitter(self.handlers, self.symbols, function)
        inner.lines, inner.stack_slots, inner._count = self.lines, self.stack_slots, self._count
        inner.label = self.label
        return inner

    def go_on_after(self, inner: FunctionEmitter) -> None:
        """Goes on where the body of a called function ends."""
        self._count, self.label, self.addresses = inner._count, inner.label, {}

    # ---- instructions

    def emit(self, instruction: str) -> None:
        """Appends an instruction without result."""
        self.lines.append("  " + instruction)

    def name(self) -> str:
        """A new register."""
        self._count += 1
        return f"%v{self._count}"

    def temporary(self, instruction: str) -> str:
        """Appends an instruction; returns its result."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def define(self, result: SSAValue, instruction: str) -> None:
        """Appends the instruction that computes `result`."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {instruction}")
        self.values[result] = name

    def new_label(self, purpose: str) -> str:
        """The name of a block to come."""
        self._count += 1
        return f"{purpose}{self._count}"

    def start_block(self, label: str) -> None:
        """Ends the block being written (its branch must have been emitted) and opens another."""
        self.lines.append(f"{label}:")
        self.label = label
        self.addresses = {}

    def branch(self, label: str) -> None:
        """Appends a jump."""
        self.lines.append(f"  br label %{label}")

    def reserve_line(self) -> int:
        """The number of a line to be filled in later."""
        self.lines.append("")
        return len(self.lines) - 1

    def fill_line(self, number: int, instruction: str) -> None:
        """Fills in a reserved line."""
        self.lines[number] = "  " + instruction

    # ---- values

    def type_of(self, value: SSAValue) -> ValueType:
        """The type of a scalar or vector."""
        type_ = value.type
        found = self._types.get(id(type_))
        if found is None:
            found = self._types[id(type_)] = type_, value_type_of(type_)
        return found[1]

    def layout(self, type_: Attribute) -> MemRefLayout:
        """What a memref type says; raises UnsupportedType."""
        return self.symbols.layouts(type_)

    def typed(self, value: SSAValue) -> str:
        """A scalar or vector as an operand with its type."""
        return f"{self.type_of(value).text} {self.values[value]}"

    def view(self, value: SSAValue) -> View:
        """The memory that a memref stands for."""
        found = self.views.get(value)
        if found is None:
            raise UndefinedValue(value)
        return found

    def mark_stored(self, view: View) -> None:
        """Notes that memory of a view is written."""
        if view.parameter is None:
            self.stores_through_unknown = True
        else:
            self.stored_parameters.add(view.parameter)

    def components(self, value: SSAValue) -> list[Component]:
        """A value as registers: a memref is a pointer, then sizes and strides not in its type."""
        if not isinstance(value.type, MemRefType):
            return [Component(self.type_of(value).text, self.values[value])]
        view = self.view(value)
        return [
            Component(POINTER, view.pointer),
            *(Component(INDEX.text, number) for number in _unknown_numbers(view)),
        ]

    def component_types(self, type_: Attribute) -> list[str]:
        """The types of the registers that hold a value of a type."""
        if not isinstance(type_, MemRefType):
            return [value_type_of(type_).text]
        layout = self.layout(cast(Attribute, type_))
        return [POINTER] + [INDEX.text] * (layout.shape + layout.strides).count(None)

    def bind(self, value: SSAValue, operands: Sequence[str], parameter: int | None = None) -> None:
        """Maps `value` to the registers that hold it, ordered as `components` has them."""
        type_: Attribute = value.type
        if not isinstance(type_, MemRefType):
            (self.values[value],) = operands
            return
        layout = self.layout(cast(Attribute, type_))
        unknown = iter(operands[1:])
        numbers = [
            next(unknown) if number is None else str(number)
            for number in layout.shape + layout.strides
        ]
        rank = len(layout.shape)
        self.views[value] = View(
            layout, operands[0], tuple(numbers[:rank]), tuple(numbers[rank:]), parameter
        )

    def bind_all(self, values: Sequence[SSAValue], operands: Sequence[str]) -> None:
        """`bind` for several values whose registers follow each other."""
        start = 0
        for value in values:
            end = start + len(self.component_types(value.type))
            self.bind(value, operands[start:end])
            start = end

    # ---- operations

    def emit_block(self, block: Block) -> Operation:
        """Prints the operations of a block except its terminator, which is returned."""
        handlers = self.handlers
        terminator = block.last_op
        if terminator is None:
            raise UnsupportedType("a block without operations")
        op = terminator
        try:
            for op in block.ops:
                if op is terminator:
                    break
                handler = handlers.get(op.__class__)
                if handler is None:
                    handler = handlers[op.__class__] = self._inherited_handler(op)
                handler(self, op)
        except UnsupportedType as error:
            raise EmissionError(op, str(error)) from error
        except UndefinedValue as error:
            raise EmissionError(op, "an operand is not defined before its use") from error
        return terminator

    def _inherited_handler(self, op: Operation) -> Handler:
        """The handler of a base class, so that a subclass of xDSL's operation is printed alike."""
        for base in op.__class__.__mro__:
            handler = self.handlers.get(base)
            if handler is not None:
                return handler
        late = self.symbols.late_handler(op) or _added_handlers().get(op.__class__)
        if late is not None:
            return late
        if op.name.startswith("math."):
            raise EmissionError(op, "must be expanded by expand-math")
        reason = "this operation has no form in LLVM IR here; lower it before"
        raise EmissionError(op, reason + failures(LLVM_HANDLERS))


Handler: TypeAlias = Callable[[FunctionEmitter, Operation], None]
"""Prints one operation."""


@cache
def _added_handlers() -> Mapping[type[Operation], Handler]:
    """How operations are printed that installed packages add."""
    found: dict[type[Operation], Handler] = {}
    for handlers in loadable_extensions(LLVM_HANDLERS):
        found.update(handlers)
    return found


def _unknown_numbers(view: View) -> list[str]:
    """The sizes, then the strides, that the type of a memref leaves open."""
    layout = view.layout
    return [
        number
        for known, number in zip(
            layout.shape + layout.strides, view.sizes + view.strides, strict=True
        )
        if known is None
    ]
