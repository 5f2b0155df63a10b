"""
Results as places for temporaries: until a function writes a result, its memory is free.

Taken are temporaries of the type of the result that are not used any more when the result is used
first. Those that begin last are taken first, which takes as many as possible, and leaves the arena
to what is needed while the result is made.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, memref
from xdsl.ir import SSAValue

from lowerings.bufferize.aliased_results import aliased_parameters
from lowerings.bufferize.bufferize_func import ENTRY_ATTRIBUTE
from lowerings.bufferize.memory_liveness import MemoryLiveness, MemoryUse
from lowerings.bufferize.written_arguments import WrittenArguments

__all__ = ["reuse_results"]


def reuse_results(function: func.FuncOp, written: WrittenArguments) -> None:
    """
    Replaces allocations of an entry by results that are free as long as these are needed.

    Other functions keep theirs: what they write may be a part of what their callers use meanwhile.
    A result that is where a parameter is has that in it from the first.
    """
    if ENTRY_ATTRIBUTE not in function.attributes:
        return
    block = function.body.block
    liveness = MemoryLiveness.of(block)
    indices = written.of(function.sym_name.data) - aliased_parameters(function).keys()
    waiting = sorted(
        (use for use in liveness.uses if isinstance(use.op, memref.AllocOp) and use.is_used),
        key=lambda use: use.first,
        reverse=True,
    )
    for result in block.args:
        use = liveness.arguments[result]
        if result.index in indices and use.is_used:
            taken = _fitting(waiting, result, use.first)
            waiting = [each for each in waiting if each not in taken]
            for each in taken:
                _replace(each, result)


def _fitting(waiting: Sequence[MemoryUse], result: SSAValue, first: int) -> list[MemoryUse]:
    """Those that can be in the memory of a result one after the other, before `first`."""
    taken: list[MemoryUse] = []
    for use in waiting:
        if use.op.results[0].type == result.type and use.last < first:
            taken.append(use)
            first = use.first
    return taken


def _replace(use: MemoryUse, result: SSAValue) -> None:
    alloc = use.op
    for each in tuple(alloc.results[0].uses):
        if isinstance(each.operation, memref.DeallocOp):
            dealloc = each.operation
            assert dealloc.parent is not None
            dealloc.parent.erase_op(dealloc)
    alloc.results[0].replace_all_uses_with(result)
    assert alloc.parent is not None
    alloc.parent.erase_op(alloc)
