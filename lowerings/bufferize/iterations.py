"""Memory that one iteration of a loop hands on to the next."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from lowerings.bufferize.liveness import LOOPS
from lowerings.bufferize.memory_liveness import SELECTING, VIEW_OPERATIONS
from xla_dialect.xdsl.traversal import ancestors


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
    return loops, block if block is not None and block in _reached(_successors(block)) else None


def _successors(block: Block) -> Iterable[Block]:
    last = block.last_op
    return () if last is None else last.successors


def _reached(blocks: Iterable[Block]) -> set[Block]:
    waiting, found = list(blocks), set[Block]()
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            waiting.extend(_successors(block))
    return found


def _may_be_operand_of(op: Operation) -> Iterable[SSAValue]:
    """What may be the memory of an operand of an operation."""
    if isinstance(op, (*VIEW_OPERATIONS, *SELECTING)):
        yield from op.results
    for block in op.successors:
        yield from block.args
    around = op.parent_op() if isinstance(op, (scf.YieldOp, scf.ConditionOp)) else op
    if isinstance(around, (scf.ForOp, scf.WhileOp, scf.IfOp, scf.IndexSwitchOp)):
        yield from around.results
        for region in around.regions:
            for block in region.blocks:
                yield from block.args
