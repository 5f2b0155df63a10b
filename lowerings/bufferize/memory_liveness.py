"""
Live ranges of the allocations of a function, at the buffers level.

Positions are numbered as in `lowerings.bufferize.liveness`. Views of an allocation count as the
allocation. What is used inside a loop but allocated outside is in use during the whole loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Block, Operation, Region, SSAValue

from lowerings.bufferize.liveness import Positions
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
class MemoryLiveness(Positions):
    """The uses of all memory that a function needs."""

    uses: list[MemoryUse] = field(default_factory=list[MemoryUse])
    arguments: dict[SSAValue, MemoryUse] = field(default_factory=dict[SSAValue, MemoryUse])
    """When the memory is in use that the caller provides; the operation is that of the block."""
    arena: SSAValue | None = None
    """The memory whose parts count as allocations, once they are planned."""
    _use_of: dict[SSAValue, MemoryUse] = field(default_factory=dict[SSAValue, MemoryUse])
    """What each memref is a view of."""
    _everlasting: list[MemoryUse] = field(default_factory=list[MemoryUse])

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
        is_allocation = kind is memref.AllocOp or (
            kind is memref.ViewOp and operands_of(op)[0] is self.arena
        )
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
            if kind in VIEW_OPERATIONS:
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
