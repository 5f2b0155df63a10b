"""
Live ranges of the allocations of a function, at the buffers level.

Positions are numbered as in `lowerings.bufferize.liveness`. Views of an allocation count as the
allocation. What is used inside a loop but allocated outside is in use during the whole loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Block, Operation, Region, SSAValue

from lowerings.bufferize.liveness import LOOPS
from lowerings.bufferize.tensor_operands import is_linalg_operation
from xla_dialect.xdsl.traversal import operands_of, operations_in

__all__ = ["VIEW_OPERATIONS", "MemoryLiveness", "MemoryUse"]

VIEW_OPERATIONS = (
    memref.AssumeAlignmentOp,
    memref.CastOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.ReinterpretCastOp,
    UnrealizedConversionCastOp,
    memref.SubviewOp,
    memref.ViewOp,
)
"""Operations whose result is a view of their first operand."""

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
class MemoryLiveness:
    """The uses of all memory that a function needs."""

    uses: list[MemoryUse] = field(default_factory=list[MemoryUse])
    arguments: dict[SSAValue, MemoryUse] = field(default_factory=dict[SSAValue, MemoryUse])
    """When the memory is in use that the caller provides; the operation is that of the block."""
    arena: SSAValue | None = None
    """The memory whose parts count as allocations, once they are planned."""
    _use_of: dict[SSAValue, MemoryUse] = field(default_factory=dict[SSAValue, MemoryUse])
    """What each memref is a view of."""
    _position: int = 0
    _everlasting: list[MemoryUse] = field(default_factory=list[MemoryUse])
    _in_loops: list[tuple[MemoryUse, Operation]] = field(
        default_factory=list[tuple[MemoryUse, Operation]]
    )
    _position_of: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _end_of: dict[Operation, int] = field(default_factory=dict[Operation, int])

    @staticmethod
    def of(body: Region, arena: SSAValue | None = None) -> MemoryLiveness:
        """
        Computes the uses of the allocations of a function from its body; views of an `arena` are
        allocations.

        Calls count as needing memory themselves, while they run: the callee may. Where there are
        several blocks, everything is in use all the time.
        """
        liveness = MemoryLiveness(arena=arena)
        function = body.parent_op()
        if function is not None and body.blocks:
            arguments = body.blocks[0].args
            liveness.arguments = {each: MemoryUse(function, 0, 0, 0) for each in arguments}
            liveness._use_of.update(liveness.arguments)
        for block in body.blocks:
            liveness._visit(block, ())
        if len(body.blocks) > 1:
            liveness._everlasting.extend(liveness.uses)
        for use, loop in liveness._in_loops:
            use.last = max(use.last, liveness._end_of[loop])
        for use in liveness._everlasting:
            use.first, use.last = 0, liveness._position
        return liveness

    def span(self, op: Operation) -> tuple[int, int]:
        """The first and the last position of an operation with regions."""
        return self._position_of[op], self._end_of[op]

    def _visit(self, block: Block, loops: tuple[Operation, ...]) -> None:
        for op in block.ops:
            position = self._position
            self._position += 1
            self._note_uses(op, position, loops)
            if is_linalg_operation(op):
                for inner in operations_in(op.regions[0]):
                    self._note_uses(inner, position, loops)
                continue
            self._position_of[op] = position
            inside = (*loops, op) if type(op) in LOOPS else loops
            for region in op.regions:
                for nested in region.blocks:
                    self._visit(nested, inside)
            if op.regions:
                self._end_of[op] = self._position
                self._position += 1

    def _note_uses(self, op: Operation, position: int, loops: tuple[Operation, ...]) -> None:
        kind = type(op)
        is_allocation = kind is memref.AllocOp or (
            kind is memref.ViewOp and operands_of(op)[0] is self.arena
        )
        if is_allocation or kind is func.CallOp:
            needed = MemoryUse(op, len(loops), position, position)
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
            if kind in VIEW_OPERATIONS:
                self._use_of[op.results[0]] = use
                continue
            first = position
            if kind in _RETAINING:
                self._everlasting.append(use)
            elif len(loops) > use.loops:
                loop = loops[use.loops]
                first = self._position_of[loop]
                self._in_loops.append((use, loop))
            else:
                use.last = max(use.last, position)
            if not use.is_used:
                use.first = first
                use.is_used = True
