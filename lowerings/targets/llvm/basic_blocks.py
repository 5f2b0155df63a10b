"""
Control flow as basic blocks: counted loops, and functions of several blocks (`cf`), whose arguments
become phis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import cf
from xdsl.ir import Block, Operation, SSAValue

from lowerings.ir.branches import edges_of, flag_bits, switch_cases
from lowerings.ir.scalar_attributes import number_of_iterations
from lowerings.targets.llvm.emitter import Component, FunctionEmitter, number_of
from lowerings.targets.llvm.types import EmissionError, ValueType
from xla_dialect.xdsl.dominance import reverse_postorder

LoopBody: TypeAlias = Callable[[str, Sequence[str]], Sequence[str]]
"""
Prints one iteration, given the induction variable and the carried registers; returns what the
next iteration gets of these.
"""


class Join:
    """A block that others go to, with a phi for each register that they hand over."""

    def __init__(self, e: FunctionEmitter, purpose: str, types: Sequence[str]):
        self.e, self.types, self.label = e, types, e.new_label(purpose)
        self.ways: list[tuple[str, Sequence[str]]] = []
        """The blocks that go here, with the operands of the phis."""
        self.registers: Sequence[str] = ()
        self.first_line = 0

    def add_way(self, operands: Sequence[str]) -> str:
        """Notes that the block being written goes here with some operands; the label to go to."""
        self.ways.append((self.e.label, operands))
        return self.label

    def start(self) -> Sequence[str]:
        """Opens the block; the registers of its phis, which `finish` prints."""
        self.e.start_block(self.label)
        self.registers = [self.e.name() for _ in self.types]
        self.first_line = len(self.e.lines)
        self.e.lines += self.registers
        return self.registers

    def finish(self) -> Sequence[str]:
        """Prints the phis, when all ways are known; their registers."""
        for number, (type_, register) in enumerate(zip(self.types, self.registers, strict=True)):
            ways = ", ".join(f"[ {operands[number]}, %{label} ]" for label, operands in self.ways)
            self.e.lines[self.first_line + number] = f"  {register} = phi {type_} {ways}"
        return self.registers


def trip_count(lower: str, upper: str, step: str) -> int | None:
    """How often a loop runs, where that is known."""
    return number_of_iterations(*map(number_of, (lower, upper, step)))


def _ends_at_upper(lower: str, upper: str, step: str) -> bool:
    """Whether the last step of a loop that runs is known to lead to `upper` itself."""
    if step == "1":
        return True
    if "%" in lower + upper + step:
        return False
    return (int(upper) - int(lower)) % int(step) == 0


def emit_loop(
    e: FunctionEmitter,
    type_: ValueType,
    lower: str,
    upper: str,
    step: str,
    carried: Sequence[Component],
    body: LoopBody,
    interval: int = 0,
) -> Sequence[str]:
    """
    Prints a loop from `lower` to below `upper`, compared as signed integers of `type_`. If it is to
    poll after an `interval` of iterations, it is one in another, which polls.

    The loop tests at its end; a test before it is printed only where it is unknown whether the
    loop runs at all. A loop known to run once is no loop. Returns the registers that hold the
    carried values after it.
    """
    if interval:
        return _emit_polling_loop(e, type_, lower, upper, step, carried, body, interval)
    count = trip_count(lower, upper, step)
    initial = [component.operand for component in carried]
    if count == 0:
        return initial
    if count == 1:
        return body(lower, initial)
    types = [component.type for component in carried]
    head = Join(e, "loop", [type_.text, *types])
    leave = Join(e, "done", types if count is None else ())
    if count is None:
        runs = e.temporary(f"icmp slt {type_.text} {lower}, {upper}")
        e.emit(f"br i1 {runs}, label %{head.label}, label %{leave.add_way(initial)}")
    else:
        e.branch(head.label)
    head.add_way([lower, *initial])
    variable, *inside = head.start()
    yielded = body(variable, inside)
    following = e.temporary(f"add nsw {type_.text} {variable}, {step}")
    if e.symbols.scales_indices:
        # Of a frozen number LLVM knows no recurrence, so it looks for no cheaper ones.
        following = e.temporary(f"freeze {type_.text} {following}")
    # Equality, where the last step is known to end there: LLVM then needs no register to count.
    comparison = "ne" if _ends_at_upper(lower, upper, step) else "slt"
    again = e.temporary(f"icmp {comparison} {type_.text} {following}, {upper}")
    goes_on, ends = head.add_way([following, *yielded]), leave.add_way(yielded)
    e.emit(f"br i1 {again}, label %{goes_on}, label %{ends}")
    head.finish()
    leave.start()
    return leave.finish() or yielded


def _emit_polling_loop(
    e: FunctionEmitter,
    type_: ValueType,
    lower: str,
    upper: str,
    step: str,
    carried: Sequence[Component],
    body: LoopBody,
    interval: int,
) -> Sequence[str]:
    def poll_first(first: str, inside: Sequence[str]) -> Sequence[str]:
        e.poll()
        if distance is None:
            return body(first, inside)
        end = e.temporary(f"add nsw {type_.text} {first}, {distance}")
        end = e.call("smin", type_, end, upper)
        values = [Component(c.type, name) for c, name in zip(carried, inside, strict=True)]
        return emit_loop(e, type_, first, end, step, values, body)

    known = number_of(step)
    distance = None if interval == 1 or known is None else str(interval * known)
    return emit_loop(e, type_, lower, upper, distance or step, carried, poll_first)


def emit_blocks(
    e: FunctionEmitter, entry: Block, emit_end: Callable[[FunctionEmitter, Operation], None]
) -> None:
    """
    Prints the blocks of a function, those that are never reached left out; `emit_end` prints
    terminators that leave it. The arguments of the first are bound. Raises EmissionError.
    """
    order = reverse_postorder(entry)
    joins = {
        block: Join(e, "block", [t for a in block.args for t in e.component_types(a.type)])
        for block in order[1:]
    }
    begun: set[Block] = set()
    for block in order:
        begun.add(block)
        if block is not entry:
            e.bind_all(block.args, joins[block].start())
        terminator = e.emit_block(block)
        if not terminator.successors:
            emit_end(e, terminator)
            continue
        if not begun.isdisjoint(terminator.successors):
            # How often a loop of blocks goes round is unknown, so each round looks for a request.
            e.poll()
        _emit_branch(e, terminator, joins)
    for join in joins.values():
        join.finish()


def _emit_branch(e: FunctionEmitter, op: Operation, joins: dict[Block, Join]) -> None:
    """
    Prints a terminator that goes to other blocks. Each of several ways but one has a block of its
    own, as the same block may be reached with other values.
    """
    edges = edges_of(op)
    if edges is None:
        raise EmissionError(op, "only operations of cf go to other blocks")

    def go(block: Block, values: Sequence[SSAValue]) -> str:
        operands = [c.operand for value in values for c in e.components(value)]
        return joins[block].add_way(operands)

    *ways, last = reversed(edges) if isinstance(op, cf.ConditionalBranchOp) else edges
    labels = [e.new_label("case") for _ in ways]
    if isinstance(op, cf.SwitchOp):
        type_ = f"i{flag_bits(op)}"
        cases = zip(switch_cases(op), labels, strict=True)
        table = " ".join(f"{type_} {value}, label %{label}" for value, label in cases)
        e.emit(f"switch {type_} {e.values[op.flag]}, label %{go(*last)} [ {table} ]")
    elif isinstance(op, cf.ConditionalBranchOp):
        e.emit(f"br i1 {e.values[op.cond]}, label %{go(*last)}, label %{labels[0]}")
    else:
        e.branch(go(*last))
    for label, way in zip(labels, ways, strict=True):
        e.start_block(label)
        e.branch(go(*way))
