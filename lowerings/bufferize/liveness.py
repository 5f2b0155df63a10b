"""
When tensors and memory are in use, as positions in the order of a function's operations.

Operations are numbered from first to last, with the operations of a region between the number of
the operation that holds it and that operation's end. A use inside a loop of a value defined
outside counts as a use at the loop's end, because the next iteration uses it again. Bodies of
linalg operations are part of them. Views of an allocation count as the allocation: what is used
inside a loop but allocated outside is in use during the whole loop.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import cast

from xdsl.dialects import arith, func, memref, scf, vector
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, Region, SSAValue

from lowerings.bufferize.tensor_operands import (
    captured_tensors,
    destination_of_result,
    is_linalg_operation,
    is_tensor,
    linalg_outputs,
    view_source,
)
from lowerings.dialects import vector_extension
from lowerings.ir.custom_calls import declared_operation
from lowerings.ir.memref_views import VIEWS
from xla_dialect.types import TokenType
from xla_dialect.xdsl.dominance import reverse_postorder, successors
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import ancestors, block_of, operands_of, operations_in

NEVER = -1
"""Before every position."""

LOOPS = frozenset[type[Operation]]((scf.ForOp, scf.WhileOp, scf.ParallelOp))


@dataclass(eq=False)
class Positions:
    """The positions of a function's operations, and the loops around them."""

    position: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """In this order."""
    end: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """For operations with regions: a position after all that is inside."""
    loops: dict[Block, tuple[Operation, ...]] = field(
        default_factory=dict[Block, tuple[Operation, ...]]
    )
    """Those around each block, the outermost first."""

    def add(self, block: Block, position: int = 0, loops: tuple[Operation, ...] = ()) -> int:
        """Numbers the operations of a block from a position on; returns the position after them."""
        self.loops[block] = loops
        for op in block.ops:
            self.position[op] = position
            position += 1
            if op.regions and not is_linalg_operation(op):
                inside = (*loops, op) if type(op) in LOOPS else loops
                for region in op.regions:
                    for nested in region.blocks:
                        position = self.add(nested, position, inside)
                self.end[op] = position
                position += 1
        return position

    def repeating(self, op: Operation, depth: int) -> Operation | None:
        """The outermost loop around an operation that repeats it, inside of `depth` loops."""
        loops = self.loops[cast(Block, op.parent)]
        return loops[depth] if depth < len(loops) else None


@dataclass(eq=False)
class Liveness(Positions):
    """The last uses of the tensor values of a function."""

    last_use: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Values without a use are missing."""
    view_last_use: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The last use of a view or of a view of it, for the results of view operations."""
    _view_root: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    _overwrites: dict[SSAValue, list[int]] = field(default_factory=dict[SSAValue, list[int]])
    _views: list[tuple[SSAValue, SSAValue]] = field(default_factory=list[tuple[SSAValue, SSAValue]])

    @staticmethod
    def of(block: Block) -> Liveness:
        """Computes the liveness of a function from the block of its body."""
        liveness = Liveness()
        liveness.add(block)
        for op in liveness.position:
            liveness._collect_uses(op)
        for source, view in reversed(liveness._views):
            last = liveness.view_last_use.get(view, NEVER)
            last = max(last, liveness.last_use.get(view, NEVER))
            liveness.view_last_use[view] = last
            before = liveness.view_last_use.get(source, NEVER)
            liveness.view_last_use[source] = max(last, before)
        return liveness

    def root(self, value: SSAValue) -> SSAValue:
        """The value that this one is a view of, through any number of views."""
        return self._view_root.get(value, value)

    def next_overwrite(self, value: SSAValue, position: int) -> int | None:
        """
        The first position after `position` at which an operation would like to change, in place,
        the buffer that `value` is a view of.
        """
        overwrites = self._overwrites.get(self.root(value))
        if overwrites is None:
            return None
        index = bisect_right(overwrites, position)
        return overwrites[index] if index < len(overwrites) else None

    def _collect_uses(self, op: Operation) -> None:
        for operand in operands_of(op):
            if is_tensor(operand):
                self._use(operand, op)
        if is_linalg_operation(op):
            for extract in captured_tensors(op.regions[0]):
                self._use(extract.tensor, op)
        self._collect_results(op)

    def _depth(self, value: SSAValue) -> int:
        return len(self.loops[block_of(value)])

    def _use(self, value: SSAValue, op: Operation) -> None:
        loop = self.repeating(op, self._depth(value))
        position = self.position[op] if loop is None else self.end[loop]
        if position > self.last_use.get(value, NEVER):
            self.last_use[value] = position

    def _collect_results(self, op: Operation) -> None:
        source = view_source(op)
        if source is not None:
            view = op.results[0]
            self._view_root[view] = self.root(source)
            self._views.append((source, view))
            return
        for index, result in enumerate(op.results):
            if not is_tensor(result):
                continue
            destination = destination_of_result(op, index)
            # What is defined outside of the loop around `op` is never changed in place by it.
            if destination is not None and self._depth(destination) == self._depth(result):
                self._overwrites.setdefault(self.root(destination), []).append(self.position[op])


SELECTING = (arith.SelectOp,)
"""Operations whose result is one of their operands."""

_RETAINING = (
    *SELECTING,
    func.ReturnOp,
    scf.ConditionOp,
    scf.ForOp,
    scf.IfOp,
    scf.IndexSwitchOp,
    scf.WhileOp,
    scf.YieldOp,
)
"""Operations whose results or block arguments may alias a memref, which is not tracked."""


@dataclass(eq=False, slots=True)
class MemoryUse:
    """An operation that needs memory, and from which position to which it is in use."""

    op: Operation
    loops: int
    """How many loops are around it."""
    first: int
    last: int
    is_used: bool = False
    """Whether `first` is a use: before the first one it is where the memory is asked for."""


@dataclass(eq=False)
class MemoryLiveness(Positions):
    """The uses of all memory that a function needs."""

    uses: list[MemoryUse] = field(default_factory=list[MemoryUse])
    arguments: dict[SSAValue, MemoryUse] = field(default_factory=dict[SSAValue, MemoryUse])
    """When the memory is in use that the caller provides; the operation is that of the block."""
    arenas: set[SSAValue] = field(default_factory=set[SSAValue])
    """The memory whose parts count as allocations, once they are planned."""
    _use_of: dict[SSAValue, MemoryUse] = field(default_factory=dict[SSAValue, MemoryUse])
    """What each memref is a view of."""
    _everlasting: list[MemoryUse] = field(default_factory=list[MemoryUse])

    @staticmethod
    def of(body: Region, arena: SSAValue | None = None) -> MemoryLiveness:
        """
        Computes the uses of the allocations of a function from its body; views of an `arena`, or of
        parts of it, are allocations.

        Calls count as needing memory themselves, while they run: the callee may. Where there are
        several blocks, everything is in use all the time.
        """
        liveness = MemoryLiveness()
        if arena is not None:
            liveness.arenas.add(arena)
        function = body.parent_op()
        if function is not None and body.blocks:
            arguments = body.blocks[0].args
            liveness.arguments = {each: MemoryUse(function, 0, 0, 0) for each in arguments}
            liveness._use_of.update(liveness.arguments)
        end = 0
        for block in body.blocks:
            end = liveness.add(block, end)
        for op in liveness.position:
            liveness._note_uses(op, op)
            if is_linalg_operation(op):
                for inner in operations_in(op.regions[0]):
                    liveness._note_uses(inner, op)
        if len(body.blocks) > 1:
            liveness._everlasting.extend(liveness.uses)
        for use in liveness._everlasting:
            use.first, use.last = 0, end
        return liveness

    def span(self, op: Operation) -> tuple[int, int]:
        """The first and the last position of an operation with regions."""
        return self.position[op], self.end[op]

    def _note_uses(self, op: Operation, place: Operation) -> None:
        """`place` is the linalg operation that `op` is in the body of, or `op`."""
        kind, position = type(op), self.position[place]
        is_allocation = kind is memref.AllocOp
        if kind is memref.ViewOp and operands_of(op)[0] in self.arenas:
            if is_viewed(op.results[0]):
                self.arenas.add(op.results[0])
                return
            is_allocation = True
        if is_allocation or kind is func.CallOp:
            needed = MemoryUse(op, len(self.loops[cast(Block, place.parent)]), position, position)
            self.uses.append(needed)
            if is_allocation:
                self._use_of[op.results[0]] = needed
                return
        if kind is memref.DeallocOp:
            return
        for operand in operands_of(op):
            use = self._use_of.get(operand)
            if use is None:
                continue
            if kind in VIEWS:
                self._use_of[op.results[0]] = use
                continue
            first = last = position
            if kind in _RETAINING:
                self._everlasting.append(use)
            elif (loop := self.repeating(place, use.loops)) is not None:
                first, last = self.span(loop)
            use.last = max(use.last, last)
            if not use.is_used:
                use.first = first
                use.is_used = True


def is_viewed(memory: SSAValue) -> bool:
    """Whether there are views of some bytes: then these are an arena, or part of one."""
    return any(isinstance(use.operation, memref.ViewOp) for use in memory.uses)


def outlives_its_iteration(allocation: Operation) -> bool:
    """
    Whether an allocation may still be in use when a loop around it, of `scf` or of blocks, makes it
    again: then the memory of one is not enough.
    """
    loops, block = _loops_around(allocation)
    if not loops and block is None:
        return False
    aliases: list[SSAValue] = list(allocation.results)
    seen = set(aliases)
    while aliases:
        for use in aliases.pop().uses:
            op = use.operation
            if block is not None and op.successors:
                return True
            if isinstance(op, scf.YieldOp) and op.parent_op() in loops:
                return True
            for value in _may_be_operand_of(op):
                if isinstance(value.type, MemRefType) and value not in seen:
                    seen.add(value)
                    aliases.append(value)
    return False


def _loops_around(op: Operation) -> tuple[list[Operation], Block | None]:
    """The loops around an operation, and its block of the function if branches lead back to it."""
    around = list(takewhile(lambda each: not isinstance(each, func.FuncOp), ancestors(op)))
    loops = [each for each in around if type(each) in LOOPS]
    block = (around[-1] if around else op).parent
    following = () if block is None else successors(block)
    return loops, block if any(block in reverse_postorder(each) for each in following) else None


def _may_be_operand_of(op: Operation) -> Iterable[SSAValue]:
    """What may be the memory of an operand of an operation."""
    if isinstance(op, (*VIEWS, *SELECTING)):
        yield from op.results
    for block in op.successors:
        yield from block.args
    around = op.parent_op() if isinstance(op, (scf.YieldOp, scf.ConditionOp)) else op
    if isinstance(around, (scf.ForOp, scf.WhileOp, scf.IfOp, scf.IndexSwitchOp)):
        yield from around.results
        for region in around.regions:
            for block in region.blocks:
                yield from block.args


@dataclass(eq=False)
class WrittenArguments:
    """The arguments that the functions of a module write, found when they are asked for."""

    functions: Mapping[str, func.FuncOp]
    """The functions by name, without recursion."""
    _found: dict[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])

    def of(self, name: str) -> frozenset[int]:
        """The positions of the arguments that a function, or one that it calls, writes."""
        if name not in self._found:
            function = self.functions[name]
            block = function.body.blocks.first
            if block is None:
                self._found[name] = _written_outside(function)
            else:
                self._found[name] = frozenset(
                    argument.index for argument in block.args if self._is_written(argument)
                )
        return self._found[name]

    def _is_written(self, value: SSAValue) -> bool:
        for use in value.uses:
            op = use.operation
            if isinstance(op, VIEWS):
                if use.index == 0 and self._is_written(op.results[0]):
                    return True
            elif isinstance(op, func.CallOp):
                callee = op.callee.root_reference.data
                if callee in self.functions and use.index in self.of(callee):
                    return True
            elif any(target is value for target in written_operands(op)):
                return True
        return False


_STORES = (
    OperationTable[Callable[[Operation], SSAValue]]()
    .add(memref.CopyOp, lambda op: op.destination)
    .add(memref.StoreOp, lambda op: op.memref)
    .add(vector.StoreOp, lambda op: op.base)
    .add(vector.MaskedStoreOp, lambda op: op.base)
    .add(vector_extension.ScatterOp, lambda op: op.base)
    .add(vector.TransferWriteOp, lambda op: op.source)
)
"""Where operations write that are no linalg operation."""


def _written_outside(declared: func.FuncOp) -> frozenset[int]:
    """The arguments for the results of the operation that a declared function stands for."""
    op = declared_operation(declared)
    if op is None:
        return frozenset()
    given = sum(not isinstance(type_, TokenType) for type_ in op.operand_types)
    return frozenset(range(given, len(declared.function_type.inputs)))


def written_operands(op: Operation) -> Sequence[SSAValue]:
    """The memrefs that an operation itself writes."""
    if is_linalg_operation(op):
        return linalg_outputs(op)
    target = _STORES.get(type(op))
    return () if target is None else (target(op),)
