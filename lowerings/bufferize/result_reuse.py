"""
Results as places for temporaries: until a function writes a result, its memory is free.

Taken are temporaries of the element type of the result, and at most its size, that are not used any
more when the result is used first; one after the other. Which of them to take has no simple best
answer, so several orders are tried, and the one is taken that leaves least to the arena.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import func, memref
from xdsl.ir import SSAValue

from lowerings.bufferize.aliased_results import aliased_parameters
from lowerings.bufferize.arena import Lifetime, max_live_bytes
from lowerings.bufferize.bufferize_func import ENTRY_ATTRIBUTE
from lowerings.bufferize.element_size import element_bytes
from lowerings.bufferize.memory_liveness import MemoryLiveness, MemoryUse
from lowerings.bufferize.shared_loops import SharedLoop
from lowerings.bufferize.storage import make_dense, memref_type
from lowerings.bufferize.strided import has_identity_layout
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
    results: dict[SSAValue, int] = {
        result: use.first
        for result in block.args
        if result.index in indices and (use := liveness.arguments[result]).is_used
    }
    waiting = [
        use
        for use in liveness.uses
        if isinstance(use.op, memref.AllocOp)
        and use.is_used
        # A result is one place, for one iteration at a time.
        and SharedLoop.around(use.op) is None
    ]
    if not results or not waiting:
        return
    plans = [_plan(sorted(waiting, key=order), results) for order in _ORDERS]
    lifetimes = {use: Lifetime(use.first, use.last, _bytes(use)) for use in waiting}

    def left(plan: Mapping[MemoryUse, SSAValue]) -> int:
        return max_live_bytes([each for use, each in lifetimes.items() if use not in plan])

    for use, result in min(plans, key=left).items():
        _replace(use, result)


_ORDERS: tuple[Callable[[MemoryUse], tuple[int, int]], ...] = (
    # Takes as many as possible of one size, and leaves to the arena what makes the results.
    lambda use: (-use.first, -_bytes(use)),
    lambda use: (-_bytes(use), -use.first),
)


@dataclass(eq=False)
class _Place:
    """The memory of one result, and what it is given to."""

    result: SSAValue
    until: int
    """The position at which the result is used first."""
    taken: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """The first and last positions of what is in it, in order."""

    def take(self, use: MemoryUse) -> bool:
        """Whether there is room for a buffer, which is then in it."""
        if use.last >= self.until or not self._fits(use):
            return False
        index = bisect_left(self.taken, (use.first, use.last))
        if index > 0 and self.taken[index - 1][1] >= use.first:
            return False
        if index < len(self.taken) and self.taken[index][0] <= use.last:
            return False
        self.taken.insert(index, (use.first, use.last))
        return True

    def _fits(self, use: MemoryUse) -> bool:
        own, other = memref_type(self.result), memref_type(use.op.results[0])
        if own == other:
            return True
        return (
            own.element_type == other.element_type
            and has_identity_layout(own)
            and has_identity_layout(other)
            and prod(other.get_shape()) <= prod(own.get_shape())
        )


def _plan(
    waiting: Sequence[MemoryUse], results: Mapping[SSAValue, int]
) -> Mapping[MemoryUse, SSAValue]:
    """The results that buffers are put into: in this order, into the smallest that has room."""
    places = [_Place(result, first) for result, first in results.items()]
    places.sort(key=lambda place: prod(memref_type(place.result).get_shape()))
    plan: dict[MemoryUse, SSAValue] = {}
    for use in waiting:
        place = next((each for each in places if each.take(use)), None)
        if place is not None:
            plan[use] = place.result
    return plan


def _bytes(use: MemoryUse) -> int:
    type = memref_type(use.op.results[0])
    return prod(type.get_shape()) * (element_bytes(type.element_type) or 0)


def _replace(use: MemoryUse, result: SSAValue) -> None:
    alloc = use.op
    block = alloc.parent
    assert block is not None
    for each in tuple(alloc.results[0].uses):
        if isinstance(each.operation, memref.DeallocOp):
            dealloc = each.operation
            assert dealloc.parent is not None
            dealloc.parent.erase_op(dealloc)
    wanted = memref_type(alloc.results[0])
    if wanted != result.type:
        view = make_dense(result, wanted)
        view.location = alloc.location
        view.results[0].name_hint = alloc.results[0].name_hint
        block.insert_op_before(view, alloc)
        result = view.results[0]
    alloc.results[0].replace_all_uses_with(result)
    block.erase_op(alloc)
