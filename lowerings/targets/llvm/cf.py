"""`cf`: functions of several blocks, whose arguments become phis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import cf
from xdsl.ir import Block, Operation, SSAValue

from lowerings.ir.switch_cases import flag_bits, switch_cases
from lowerings.targets.llvm.emitter import FunctionEmitter
from lowerings.targets.llvm.errors import EmissionError
from xla_dialect.xdsl.dominance import reverse_postorder

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
