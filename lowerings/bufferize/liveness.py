"""
Live ranges of tensor values: last uses, as positions in the order of a function's operations.

Operations are numbered from first to last, with the operations of a region between the number of
the operation that holds it and that operation's end. A use inside a loop of a value defined
outside counts as a use at the loop's end, because the next iteration uses it again. Bodies of
linalg operations are part of them.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from lowerings.bufferize.tensor_operands import (
    captured_tensors,
    destination_of_result,
    is_linalg_operation,
    is_tensor,
    view_source,
)
from xla_dialect.xdsl.traversal import block_of, operands_of

__all__ = ["NEVER", "Liveness"]

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
