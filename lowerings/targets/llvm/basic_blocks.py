"""
Control flow as basic blocks: counted loops, and functions of several blocks (`cf`), whose arguments
become phis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import cf
from xdsl.ir import Block, Operation, SSAValue

from lowerings.ir.switch_cases import flag_bits, switch_cases
from lowerings.targets.llvm.emitter import Component, FunctionEmitter
from lowerings.targets.llvm.types import EmissionError, ValueType
from xla_dialect.xdsl.dominance import reverse_postorder


@dataclass(frozen=True, slots=True)
class Bound:
    """An integer operand, and its value where that is known."""

    operand: str
    known: int | None = None

    @staticmethod
    def of(operand: str) -> Bound:
        """The bound for an operand that is a register or a number."""
        return Bound(operand, None if operand.startswith("%") else int(operand))


LoopBody: TypeAlias = Callable[[Bound, Sequence[str]], Sequence[str]]
"""
Prints one iteration, given the induction variable and the carried registers; returns what the
next iteration gets of these.
"""


def trip_count(lower: Bound, upper: Bound, step: Bound) -> int | None:
    """How often a loop runs, where that is known."""
    if lower.known is None or upper.known is None or not step.known:
        return None
    return max(0, -((lower.known - upper.known) // step.known))


def ends_at_upper(lower: Bound, upper: Bound, step: Bound) -> bool:
    """Whether the last step of a loop that runs is known to lead to `upper` itself."""
    if step.known == 1:
        return True
    if lower.known is None or upper.known is None or step.known is None:
        return False
    return (upper.known - lower.known) % step.known == 0


def emit_loop(
    e: FunctionEmitter,
    type_: ValueType,
    lower: Bound,
    upper: Bound,
    step: Bound,
    carried: Sequence[Component],
    body: LoopBody,
    properties: Sequence[str] = (),
    interval: int = 0,
) -> list[str]:
    """
    Prints a loop from `lower` to below `upper`, compared as signed integers of `type_`. If it is to
    poll after an `interval` of iterations, it is one in another, which polls.

    The loop tests at its end; a test before it is printed only where it is unknown whether the
    loop runs at all. A loop known to run once is no loop. Returns the registers that hold the
    carried values after it.
    """
    if interval:
        return _emit_polling_loop(e, type_, lower, upper, step, carried, body, properties, interval)
    count = trip_count(lower, upper, step)
    initial = [component.operand for component in carried]
    if count == 0:
        return initial
    if count == 1:
        return list(body(lower, initial))
    before = e.label
    head, leave = e.new_label("loop"), e.new_label("done")
    if count is None:
        runs = e.temporary(f"icmp slt {type_.text} {lower.operand}, {upper.operand}")
        e.emit(f"br i1 {runs}, label %{head}, label %{leave}")
    else:
        e.branch(head)
    e.start_block(head)
    variable, phi_line = e.name(), e.reserve_line()
    inside = [e.name() for _ in carried]
    phi_lines = [e.reserve_line() for _ in carried]
    yielded = body(Bound(variable), inside)
    last = e.label
    following = e.temporary(f"add nsw {type_.text} {variable}, {step.operand}")
    # Equality, where the last step is known to end there: LLVM then needs no register to count.
    comparison = "ne" if ends_at_upper(lower, upper, step) else "slt"
    again = e.temporary(f"icmp {comparison} {type_.text} {following}, {upper.operand}")
    note = f", !llvm.loop {e.symbols.loop_metadata(properties)}" if properties else ""
    e.emit(f"br i1 {again}, label %{head}, label %{leave}{note}")
    e.fill_line(
        phi_line,
        f"{variable} = phi {type_.text} [ {lower.operand}, %{before} ], [ {following}, %{last} ]",
    )
    for line, name, component, next_operand in zip(
        phi_lines, inside, carried, yielded, strict=True
    ):
        e.fill_line(
            line,
            f"{name} = phi {component.type} "
            f"[ {component.operand}, %{before} ], [ {next_operand}, %{last} ]",
        )
    e.start_block(leave)
    if count is not None:
        return list(yielded)
    return [
        e.temporary(
            f"phi {component.type} [ {component.operand}, %{before} ], [ {after}, %{last} ]"
        )
        for component, after in zip(carried, yielded, strict=True)
    ]


def _emit_polling_loop(
    e: FunctionEmitter,
    type_: ValueType,
    lower: Bound,
    upper: Bound,
    step: Bound,
    carried: Sequence[Component],
    body: LoopBody,
    properties: Sequence[str],
    interval: int,
) -> list[str]:
    def poll_first(first: Bound, inside: Sequence[str]) -> Sequence[str]:
        assert e.guards is not None
        e.guards.poll(e)
        if distance is None:
            return body(first, inside)
        end = e.temporary(f"add nsw {type_.text} {first.operand}, {distance}")
        both = f"{type_.text} {end}, {type_.text} {upper.operand}"
        end = e.temporary(f"call {type_.text} @llvm.smin.{type_.text}({both})")
        values = [Component(c.type, name) for c, name in zip(carried, inside, strict=True)]
        return emit_loop(e, type_, first, Bound(end), step, values, body, properties)

    distance = None if interval == 1 or step.known is None else interval * step.known
    outer = step if distance is None else Bound(str(distance), distance)
    return emit_loop(e, type_, lower, upper, outer, carried, poll_first)


BRANCHES = (cf.BranchOp, cf.ConditionalBranchOp, cf.SwitchOp)
"""The terminators that go to other blocks."""


@dataclass
class _Target:
    """A block that others go to."""

    label: str
    registers: list[tuple[str, str]]
    """Types and names of the components of its arguments."""
    lines: list[int]
    """Where their phis are to stand."""
    ways: list[tuple[Sequence[str], str]] = field(default_factory=list[tuple[Sequence[str], str]])
    """The operands from each block before, with its label."""


class _Blocks:
    """The blocks of a function while they are printed."""

    def __init__(self, e: FunctionEmitter):
        self.e = e
        self.targets: dict[Block, _Target] = {}
        self.begun: set[Block] = set()

    def add(self, block: Block) -> None:
        """Names what other blocks need to know of a block."""
        types = [text for a in block.args for text in self.e.component_types(a.type)]
        registers = [(text, self.e.name()) for text in types]
        self.targets[block] = _Target(self.e.new_label("block"), registers, [])

    def begin(self, block: Block) -> None:
        """Starts a block other than the first."""
        target = self.targets[block]
        self.e.start_block(target.label)
        target.lines = [self.e.reserve_line() for _ in target.registers]
        self.e.bind_all(block.args, [name for _, name in target.registers])

    def go(self, block: Block, values: Sequence[SSAValue]) -> str:
        """The label of a block that the one being printed goes to with some values."""
        target = self.targets[block]
        operands = [c.operand for value in values for c in self.e.components(value)]
        target.ways.append((operands, self.e.label))
        return target.label

    def branch(self, op: Operation) -> None:
        """Prints a terminator that goes to other blocks."""
        e = self.e
        if e.guards is not None and not self.begun.isdisjoint(op.successors):
            # How often a loop of blocks goes round is unknown, so each round looks for a request.
            e.guards.poll(e)
        if isinstance(op, cf.BranchOp):
            e.branch(self.go(op.successor, op.arguments))
            return
        if isinstance(op, cf.SwitchOp):
            self.switch(op)
            return
        assert isinstance(op, cf.ConditionalBranchOp)
        condition = e.values[op.cond]
        # A block of its own, for the same one may be reached with other values.
        otherwise = e.new_label("otherwise")
        then = self.go(op.then_block, op.then_arguments)
        e.emit(f"br i1 {condition}, label %{then}, label %{otherwise}")
        e.start_block(otherwise)
        e.branch(self.go(op.else_block, op.else_arguments))

    def switch(self, op: cf.SwitchOp) -> None:
        """Prints a switch: each case has a block of its own, as several may reach the same one."""
        e, type_ = self.e, f"i{flag_bits(op)}"
        cases = [
            (value, e.new_label("case"), block, part)
            for value, (block, part) in switch_cases(op).items()
        ]
        default = self.go(op.default_block, op.default_operands)
        table = " ".join(f"{type_} {value}, label %{label}" for value, label, _, _ in cases)
        e.emit(f"switch {type_} {e.values[op.flag]}, label %{default} [ {table} ]")
        for _, label, block, part in cases:
            e.start_block(label)
            e.branch(self.go(block, op.operands[part]))

    def finish(self) -> None:
        """Fills in the phis."""
        for target in self.targets.values():
            for number, (line, (type_, name)) in enumerate(
                zip(target.lines, target.registers, strict=True)
            ):
                ways = ", ".join(f"[ {ops[number]}, %{label} ]" for ops, label in target.ways)
                self.e.fill_line(line, f"{name} = phi {type_} {ways}")


def emit_blocks(
    e: FunctionEmitter, entry: Block, emit_end: Callable[[FunctionEmitter, Operation], None]
) -> None:
    """
    Prints the blocks of a function, those that are never reached left out; `emit_end` prints
    terminators that leave it. The arguments of the first are bound. Raises EmissionError.
    """
    order = reverse_postorder(entry)
    blocks = _Blocks(e)
    for block in order[1:]:
        blocks.add(block)
    for block in order:
        blocks.begun.add(block)
        if block is not entry:
            blocks.begin(block)
        terminator = e.emit_block(block)
        if isinstance(terminator, BRANCHES):
            blocks.branch(terminator)
        elif terminator.successors:
            raise EmissionError(terminator, "only operations of cf go to other blocks")
        else:
            emit_end(e, terminator)
    blocks.finish()
