"""
What the functions that print operations work with: the text of one function as it grows.

A value of MLIR is known here by the operand that stands for it (`values`), a memref by its view
(`views`). The functions that print the operations of a dialect are in the module of the
dialect's name; each takes the emitter and the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count
from typing import TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.ir.functions import SymbolNames
from lowerings.targets.llvm.constants import symbol
from lowerings.targets.llvm.guards import Guards
from lowerings.targets.llvm.interface import RunState
from lowerings.targets.llvm.profiling import ProfileWriter
from lowerings.targets.llvm.types import (
    INDEX,
    POINTER,
    EmissionError,
    MemRefLayout,
    UnsupportedType,
    ValueType,
    layout_of,
    value_type_of,
)
from xla_dialect.extensions import LLVM_HANDLERS, failures, loadable_extensions
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import AttributeMemo


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """
    A memref: an address, sizes and strides, counted in elements.

    `parameter` is the number of the function's argument that the memory belongs to, None if
    it is not known.
    """

    layout: MemRefLayout
    pointer: str
    sizes: tuple[str, ...]
    strides: tuple[str, ...]
    parameter: int | None = None
    offset: int = 0
    """
    How far behind `pointer` element (0, ..., 0) is. Views of one memory that differ by it share
    their addresses, and LLVM sees that their elements are neighbours.
    """


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a value that LLVM holds in a register of its own: a typed operand."""

    type: str
    operand: str

    def __str__(self) -> str:
        return f"{self.type} {self.operand}"


class Symbols:
    """What functions ask of the module around them while they are printed."""

    def __init__(self, module: ModuleOp, handlers: Mapping[type[Operation], Handler]):
        self.names = SymbolNames(module)
        self.handlers = dict(handlers)
        self.named_handlers: dict[str, Handler] = {}
        """Those of operations whose classes are not loaded before a program has them."""
        self.type_of = AttributeMemo(value_type_of)
        """The types of the registers for the types of scalars and vectors."""
        self.layout = AttributeMemo(layout_of)
        """What the types of memrefs say."""
        self.features: Sequence[str] = ()
        """Those of the processor that code is generated for, as LLVM spells them."""
        self.scales_indices = False
        """
        Whether an address may be a base, a scaled index and a number: then loops need no pointers
        that go with their variables.
        """
        self.has_threads = False
        """Whether parallel loops may run on several threads."""
        self.guards: Guards | None = None
        """Where runs of the module may end before their time; None if nowhere."""
        self.profile: ProfileWriter | None = None
        """Where the module keeps the time that its parts take; None if nowhere."""
        self.callees: dict[str, str] = {}
        """The symbols to call for functions."""
        self.outside: set[str] = set()
        """Functions outside, which say whether the program goes on."""
        self.forks: dict[str, func.FuncOp] = {}
        """Functions that only start a parallel loop, which is printed where they are called."""
        self.globals: dict[str, tuple[str, bool]] = {}
        """The symbols of globals, and whether each holds the global's address instead."""
        self.nodes: dict[str, str] = {}
        """The numbers of metadata nodes."""
        self.declarations: dict[str, str] = {}
        self.task_lines: list[str] = []
        """The functions that threads are to run."""
        self.task_starts: dict[tuple[str, ...], str] = {}
        """The functions that start tasks which take values of some types."""

    def unused(self, name: str) -> str:
        """A name that no symbol has: `name`, or `name` with a number."""
        return self.names.take(chain((name,), (f"{name}.{number}" for number in count(1))))

    def metadata(self, text: str) -> str:
        """The number of a metadata node, e.g. `!3` for `!{}`."""
        return self.nodes.setdefault(text, f"!{len(self.nodes)}")

    def declare(self, name: str, declaration: str) -> None:
        """Declares a function of the C library, unless the module does."""
        if symbol(name) not in self.callees.values():
            self.declarations[name] = declaration


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
        symbols: Symbols,
        function: str,
        arguments_do_not_alias: bool,
        is_task: bool = False,
    ):
        self.symbols = symbols
        self.function = function
        """The name of the function that is printed, or that a task is a part of."""
        self.arguments_do_not_alias = arguments_do_not_alias
        """Whether the memory of an argument is reached through no other one."""
        self.is_task = is_task
        """Whether it is a task: the body of a parallel loop, outlined."""
        self.lines: list[str] = []
        self.values = Values()
        self.views: dict[SSAValue, View] = {}
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
        self.stack_slots: list[str] = []
        """Instructions for the start of the function."""
        self._count = 0

    def of_callee(self, function: str) -> FunctionEmitter:
        """What prints the body of a called kernel here; `go_on_after` it."""
        inner = FunctionEmitter(self.symbols, function, arguments_do_not_alias=True)
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

    def call(self, intrinsic: str, type_: ValueType, *operands: str, flags: str = "") -> str:
        """Appends a call of an intrinsic whose operands and result have a type; its result."""
        arguments = ", ".join([f"{type_.text} {operand}" for operand in operands])
        name = f"@llvm.{intrinsic}.{type_.suffix}"
        return self.temporary(f"call {flags}{type_.text} {name}({arguments})")

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

    # ---- the end of a run before its time

    def require(
        self, op: Operation, condition: str, message: str, found: str = "0", limit: str = "0"
    ) -> None:
        """
        Ends the run unless an i1 is true. `found` and `limit` are operands of type i64, for which
        `{found}` and `{limit}` stand in the message.
        """
        guards = self.symbols.guards
        assert guards is not None
        if condition == "true":
            return
        guards.may_fail = True
        number = guards.number(op, f"{op.name} in @{self.function}: {message}")
        inside, outside = self.new_label("inside"), self.new_label("outside")
        self.emit(f"br i1 {condition}, label %{inside}, label %{outside}")
        self.start_block(outside)
        self.emit(f"call void {guards.failure}(i64 {number}, i64 {found}, i64 {limit})")
        self.leave()
        self.start_block(inside)

    def poll(self) -> None:
        """Ends the run if its caller asks for it, in a module whose runs may end."""
        if self.symbols.guards is not None:
            # Volatile: another thread writes it. Not atomic, which would order other accesses too.
            self._leave_if_failed(self.symbols.guards, "load volatile")

    def after_call(self, op: func.CallOp) -> None:
        """Ends the run if that of a called function has ended, or polls where that is due."""
        guards = self.symbols.guards
        if guards is None:
            return
        if op.callee.string_value() in guards.plan.stopping:
            self._leave_if_failed(guards, "load", op)
        elif op in guards.plan.after:
            self.poll()

    def after_task(self) -> None:
        """Ends the run if a thread has ended it that did a part of this function."""
        guards = self.symbols.guards
        if guards is not None and self.function in guards.plan.stopping:
            self._leave_if_failed(guards, "load")

    def _leave_if_failed(self, guards: Guards, load: str, call: Operation | None = None) -> None:
        """Ends the run if it is to end, and notes the call in which it was."""
        number = None if call is None or place_of(call.location) is None else guards.number(call)
        failure = self.temporary(f"{load} i64, ptr {guards.state}, align 8")
        goes_on = self.temporary(f"icmp eq i64 {failure}, 0")
        on, out = self.new_label("on"), self.new_label("out")
        self.emit(f"br i1 {goes_on}, label %{on}, label %{out}")
        self.start_block(out)
        if number is not None:
            word = self.temporary(guards.word(RunState.CALL))
            self.emit(f"store i64 {number + 1}, ptr {word}, align 8")
        self.leave()
        self.start_block(on)

    def leave(self) -> None:
        """Returns from the function; callers ignore the result of a run that has ended."""
        zero = "" if self.result_type == "void" else " zeroinitializer"
        self.emit(f"ret {self.result_type}{zero}")

    # ---- values

    def type_of(self, value: SSAValue) -> ValueType:
        """The type of a scalar or vector."""
        return self.symbols.type_of(value.type)

    def layout(self, type_: Attribute) -> MemRefLayout:
        """What a memref type says; raises UnsupportedType."""
        return self.symbols.layout(type_)

    def typed(self, value: SSAValue) -> str:
        """A scalar or vector as an operand with its type."""
        return f"{self.type_of(value).text} {self.values[value]}"

    def view(self, value: SSAValue) -> View:
        """The memory that a memref stands for."""
        found = self.views.get(value)
        if found is None:
            raise UndefinedValue(value)
        return found

    def start_of(self, view: View) -> str:
        """The address of element (0, ..., 0) of a view."""
        if not view.offset:
            return view.pointer
        moved = f"{view.layout.element.memory}, ptr {view.pointer}, i64 {view.offset}"
        return self.temporary(f"getelementptr inbounds {moved}")

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
            Component(POINTER, self.start_of(view)),
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
        handlers = self.symbols.handlers
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
            handler = self.symbols.handlers.get(base)
            if handler is not None:
                return handler
        named = self.symbols.named_handlers.get(op.name) or _added_handlers().get(op.__class__)
        if named is not None:
            return named
        if op.name.startswith("math."):
            raise EmissionError(op, "must be expanded by expand-math")
        reason = "this operation has no form in LLVM IR here; lower it before"
        raise EmissionError(op, reason + failures(LLVM_HANDLERS))


def number_of(operand: str) -> int | None:
    """The number that an operand is; None for a register."""
    return None if operand.startswith("%") else int(operand)


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
