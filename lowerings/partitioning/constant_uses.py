"""
Constants apart for each use, so that the sharding of one use does not become that of another.

What is computed of constants only, and broadcasts of scalars, cost nothing to make again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from lowerings.partitioning.op_rules import ELEMENTWISE, rank_of
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import (
    BroadcastOp,
    ConcatenateOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
)
from xla_dialect.sharding.attributes import SHARDING
from xla_dialect.xdsl.linking import insert_before
from xla_dialect.xdsl.traversal import operands_of, operations_in

_SOURCES = (ConstantOp, IotaOp)
_OF_CONSTANTS: tuple[type[Operation], ...] = (
    *ELEMENTWISE,
    BroadcastOp,
    ConcatenateOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
)


@dataclass(eq=False)
class ConstantUses:
    """The operations of a function that were made once for each use."""

    originals: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    """By the copies, and themselves."""

    @staticmethod
    def split(function: FuncOp) -> ConstantUses:
        """Gives every use of an array that is computed of constants its own operation."""
        found = ConstantUses()
        operations = operations_in(function.body)
        constant: set[SSAValue] = set()
        for op in operations:
            if isinstance(op, _SOURCES) or (
                isinstance(op, _OF_CONSTANTS) and all(v in constant for v in operands_of(op))
            ):
                constant.update(op.results)
        for op in reversed(operations):
            if len(op.results) != 1 or not rank_of(op.results[0].type):
                continue
            is_expansion = isinstance(op, BroadcastOp) and not rank_of(operands_of(op)[0].type)
            if op.results[0] in constant or is_expansion:
                found._copy_for_each_use(op)
        return found

    def _copy_for_each_use(self, op: Operation) -> None:
        others = list(op.results[0].uses)[1:]
        if not others:
            return
        original = self.originals.setdefault(op, op)
        for use in others:
            copy = op.clone()
            copy.location = op.location
            copy.results[0].name_hint = op.results[0].name_hint
            insert_before(copy, op)
            use.operation.operands[use.index] = copy.results[0]
            self.originals[copy] = original

    def merge(self) -> None:
        """Puts those together again whose operands and shardings are the same."""
        seen: dict[tuple[object, ...], Operation] = {}
        for op in self._in_order():
            key = op.parent, self.originals[op], operands_of(op), op.attributes.get(SHARDING)
            first = seen.setdefault(key, op)
            if first is not op:
                op.results[0].replace_all_uses_with(first.results[0])
                op.detach()
                op.erase()

    def _in_order(self) -> list[Operation]:
        """The operations, operands before what uses them; those of one block in its order."""
        done: dict[Operation, None] = {}

        def visit(op: Operation) -> None:
            if op not in self.originals or op in done:
                return
            for operand in operands_of(op):
                if isinstance(operand.owner, Operation):
                    visit(operand.owner)
            done[op] = None

        blocks = {op.parent for op in self.originals}
        for block in blocks:
            for op in () if block is None else block.ops:
                visit(op)
        return list(done)
