"""
How machine code ends before its time: where a check fails, and where its caller asks it to stop.

A module with guards has one global of words, `RunState`. Its first is 0 while all is well. What
finds another number there returns at once, and so do its callers: no exception passes through
machine code, and every thread ends by itself.

Long runs look whether they are to end. Each operation counts as one step, a loop as often as it
runs. What takes fewer steps than a `LONG` part of a run, some milliseconds, does not look. In a
longer loop the outermost level looks whose iterations are short enough, every so many of them that
looking costs nothing; after calls one looks where those since the last look make a long part. A
loop of unknown length is taken for long. `scf.while` and loops of blocks look at every turn, and so
does one before each call to the outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from lowerings.ir.functions import reaching
from lowerings.ir.independent_loops import parallel_bounds
from lowerings.ir.scalar_attributes import constant_integer, number_of_iterations
from lowerings.targets.llvm.constants import symbol
from lowerings.targets.llvm.interface import Guard, ModuleGuards, RunState
from xla_dialect.types import element_count
from xla_dialect.violations import place_of

LONG = 1 << 24
"""Steps that take 4 to 50 ms."""
GRAIN = 1 << 14
"""Steps in which a look is lost, in the loops that look most often."""
UNKNOWN = 1 << 20
"""How often a loop may run of which nothing is known."""
COPIED_ELEMENTS = 8
"""How many elements are copied in a step."""


class PollPlan:
    """The places of functions where a run looks whether it is to end."""

    def __init__(self, check_bounds: bool):
        """Of no function yet. With `check_bounds` each function may end before its time."""
        self.intervals: dict[Operation, tuple[int, ...]] = {}
        """After how many iterations a loop looks, for each of its dimensions: 0 if never."""
        self.after: set[Operation] = set()
        """Calls of functions after which one looks."""
        self.stopping: set[str] = set()
        """The functions with a body that may end before their time."""
        self._check_bounds = check_bounds
        self._functions: dict[str, func.FuncOp] = {}
        self._calls: dict[str, set[str]] = {}
        """The functions that each one calls."""
        self._steps_of: dict[str, int] = {}
        """By the names of functions with a body, 1 while it is counted."""
        self._loops: dict[Operation, tuple[Sequence[int], int]] = {}
        """How often each dimension of a loop runs, and the steps of its body."""
        self._blocks: set[Block] = set()
        """Those that are long."""
        self._looking: set[str] = set()
        """The functions that look themselves."""

    def add(self, functions: Iterable[func.FuncOp]) -> None:
        """Chooses the places in functions with a body that call each other, and those before."""
        added = {each.sym_name.data: each for each in functions}
        self._functions |= added
        for name in added:
            self._count_function(name)
        calls = {name: self._calls.get(name, ()) for name in added}
        ends = added.keys() if self._check_bounds else self._looking
        self.stopping |= reaching(calls, self.stopping | ends)

    def _count_function(self, name: str) -> int:
        steps = self._steps_of.get(name)
        if steps is None:
            self._steps_of[name] = 1
            blocks = self._functions[name].body.blocks
            steps = self._steps_of[name] = sum(self._count(block, name) for block in blocks)
            looks = [self._look_in(block) for block in blocks]
            if any(looks):
                self._looking.add(name)
        return steps

    # ---- how long it takes

    def _count(self, block: Block, function: str) -> int:
        """The steps of a block of a function."""
        steps = 0
        for op in block.ops:
            kind = type(op)
            if kind is func.CallOp:
                steps += self._count_call(cast(func.CallOp, op), function)
            elif kind is memref.CopyOp:
                steps += 1 + _copied_elements(cast(memref.CopyOp, op)) // COPIED_ELEMENTS
            elif op.regions:
                steps += self._count_inside(op, function)
            else:
                steps += 1
        if block.last_op is not None and block.last_op.successors:
            self._looking.add(function)
        if steps >= LONG:
            self._blocks.add(block)
        return steps

    def _count_call(self, op: func.CallOp, function: str) -> int:
        name = op.callee.string_value()
        if name not in self._functions:
            self._looking.add(function)
            return 1
        self._calls.setdefault(function, set()).add(name)
        return self._count_function(name)

    def _count_inside(self, op: Operation, function: str) -> int:
        inside = sum(
            self._count(block, function) for region in op.regions for block in region.blocks
        )
        if isinstance(op, scf.WhileOp):
            self._looking.add(function)
            return UNKNOWN * inside
        if isinstance(op, scf.ForOp):
            counts = [_most_iterations(op.lb, op.ub, op.step)]
        elif isinstance(op, scf.ParallelOp):
            bounds = zip(*parallel_bounds(op), strict=True)
            counts = [_most_iterations(*each) for each in bounds]
        else:
            return 1 + inside
        steps = inside * math.prod(counts)
        if steps >= LONG:
            self._loops[op] = counts, inside
        return steps

    # ---- where to look

    def _look_in(self, block: Block) -> bool:
        """Chooses places in a block; whether there is one."""
        if block not in self._blocks:
            return False
        found, since = False, 0
        for op in block.ops:
            if type(op) is func.CallOp:
                steps = self._steps_of.get(op.callee.string_value(), 1)
                # A function that is long looks itself.
                since = 0 if steps >= LONG else since + steps
                if since * 4 >= LONG:
                    self.after.add(op)
                    found, since = True, 0
            elif op in self._loops:
                found = self._look_in_loop(op) or found
            elif op.regions:
                inner = [self._look_in(each) for region in op.regions for each in region.blocks]
                found = any(inner) or found
        return found

    def _look_in_loop(self, op: Operation) -> bool:
        counts, inside = self._loops[op]
        intervals: list[int] = []
        for depth, count in enumerate(counts):
            steps = inside * math.prod(counts[depth + 1 :])
            looks = count > 1
            intervals.append(max(1, GRAIN // max(steps, 1)) if looks else 0)
            if looks and steps < LONG:
                intervals += [0] * (len(counts) - len(intervals))
                break
        else:
            for region in op.regions:
                for block in region.blocks:
                    self._look_in(block)
        self.intervals[op] = tuple(intervals)
        return True


def _copied_elements(op: memref.CopyOp) -> int:
    sizes = cast("MemRefType[Any]", op.source.type).get_shape()
    return UNKNOWN if -1 in sizes else element_count(sizes)


def _most_iterations(lower: SSAValue, upper: SSAValue, step: SSAValue) -> int:
    """How often a loop may run that starts at 0 or above, `UNKNOWN` where nothing is known."""
    start, distance = constant_integer(lower) or 0, constant_integer(step) or 1
    found = number_of_iterations(start, _most(upper, lower), distance)
    return UNKNOWN if found is None else found


def _most(upper: SSAValue, lower: SSAValue) -> int | None:
    """A number that a bound does not exceed, counted from `lower` if that is no constant."""
    known = constant_integer(upper)
    if known is not None:
        return known
    owner = upper.owner
    if isinstance(owner, arith.MinSIOp | arith.MinUIOp):
        ends = [_most(each, lower) for each in owner.operands]
        return min((each for each in ends if each is not None), default=None)
    if isinstance(owner, arith.AddiOp) and lower in owner.operands:
        (other,) = [each for each in owner.operands if each is not lower] or [lower]
        return constant_integer(other)
    return None


@dataclass
class Guards:
    """The guards of a module while it is printed."""

    name: str
    """Of the global, and with `.fail` of the function that notes a failure."""
    plan: PollPlan
    """Where loops and calls look."""
    guards: list[Guard] = field(default_factory=list[Guard])
    may_fail: bool = False
    """Whether there is something that may fail."""

    @property
    def state(self) -> str:
        """The symbol of the global."""
        return symbol(self.name)

    @property
    def failure(self) -> str:
        """The symbol of the function that notes a failure."""
        return symbol(f"{self.name}.fail")

    def word(self, word: RunState) -> str:
        """The instruction for the address of a word of the global."""
        return f"getelementptr inbounds i64, ptr {self.state}, i64 {word.value}"

    def number(self, op: Operation, message: str = "") -> int:
        """The number of a new guard at an operation."""
        self.guards.append(Guard(message, place_of(op.location)))
        return len(self.guards) - 1

    def declarations(self) -> list[str]:
        """The global, and if need be the function that notes a failure, the first of a run only."""
        # `dso_local`: defined in this object, so that code addresses it without the GOT.
        state = f"{self.state} = dso_local global [{len(RunState)} x i64] zeroinitializer, align 64"
        if not self.may_fail:
            return [state]
        return [
            state,
            f"define internal void {self.failure}(i64 %number, i64 %found, i64 %limit) "
            "cold noinline nounwind {\n"
            "  %failure = add i64 %number, 1\n"
            f"  %before = cmpxchg ptr {self.state}, i64 0, i64 %failure monotonic monotonic\n"
            "  %first = extractvalue { i64, i1 } %before, 1\n"
            "  br i1 %first, label %note, label %end\n"
            "note:\n"
            f"  %word1 = {self.word(RunState.FOUND)}\n"
            f"  %word2 = {self.word(RunState.LIMIT)}\n"
            "  store i64 %found, ptr %word1, align 8\n"
            "  store i64 %limit, ptr %word2, align 8\n"
            "  br label %end\n"
            "end:\n"
            "  ret void\n"
            "}",
        ]

    def written(self) -> ModuleGuards:
        """What a caller needs to know, when all functions are printed."""
        return ModuleGuards(self.name, tuple(self.guards))
