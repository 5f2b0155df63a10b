"""
Reuse of results for temporaries: before a function first writes a result, its memory is free.

Eligible are temporaries of the element type of the result and at most its size whose live range
ends before the first use of the result; several share it if their live ranges are disjoint. Which
of them to take has no simple best answer, so several orders are tried, and the one is taken that
leaves least to the arena.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import prod
from operator import attrgetter

from xdsl.dialects import func, memref
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.bufferize.arena import Lifetime, max_live_bytes
from lowerings.bufferize.liveness import MemoryLiveness, MemoryUse, WrittenArguments
from lowerings.bufferize.signatures import aliased_parameters
from lowerings.bufferize.storage import MemRef, make_dense, memref_type
from lowerings.bufferize.strided import has_identity_layout, static_bytes
from lowerings.ir.functions import ENTRY
from lowerings.ir.independent_loops import SharedLoop
from lowerings.rewriting.counting import attempt
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses

__all__ = ["reuse_results"]


def reuse_results(function: func.FuncOp, written: WrittenArguments) -> None:
    """
    Replaces allocations of an entry function by results that are free during their live ranges.

    Results of other functions are not taken: they may be slices of a buffer that the caller uses
    during the call. Nor are results that alias a parameter, as they hold its data from the start.
    """
    if ENTRY not in function.attributes:
        return
    liveness = MemoryLiveness.of(function.body)
    indices = written.of(function.sym_name.data) - aliased_parameters(function).keys()
    results: dict[SSAValue, int] = {
        result: use.first
        for result in function.body.blocks[0].args
        if result.index in indices and (use := liveness.arguments[result]).is_used
    }
    waiting = [
        use
        for use in liveness.uses
        if isinstance(use.op, memref.AllocOp)
        and use.is_used
        # Iterations of a parallel loop cannot share the memory of one result.
        and SharedLoop.around(use.op) is None
    ]
    if not results or not waiting:
        return
    plans = [_plan(sorted(waiting, key=order), results) for order in _ORDERS]
    lifetimes = {use: Lifetime(use.first, use.last, _bytes(use)) for use in waiting}

    def left(plan: Mapping[MemoryUse, SSAValue]) -> int:
        return max_live_bytes([each for use, each in lifetimes.items() if use not in plan])

    for use, result in min(plans, key=left).items():
        attempt(partial(_replace, use, result))


_ORDERS: tuple[Callable[[MemoryUse], tuple[int, int]], ...] = (
    # The latest start first: greedy interval scheduling, which fits the most into one result.
    lambda use: (-use.first, -_bytes(use)),
    lambda use: (-_bytes(use), -use.first),
)


@dataclass(eq=False)
class _ResultBuffer:
    """The memory of one result, and the live ranges of the temporaries assigned to it."""

    result: SSAValue
    size: int
    """In elements."""
    until: int
    """The position at which the result is used first."""
    taken: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """The disjoint live ranges (first and last position) assigned to it, sorted."""

    def take(self, use: MemoryUse) -> bool:
        """Assigns a buffer if its live range overlaps no other; whether it did."""
        if use.last >= self.until:
            return False
        index = bisect_left(self.taken, (use.first, use.last))
        if index > 0 and self.taken[index - 1][1] >= use.first:
            return False
        if index < len(self.taken) and self.taken[index][0] <= use.last:
            return False
        self.taken.insert(index, (use.first, use.last))
        return True


class _ResultBuffers:
    """Results by the type of buffers that fit into them; the smallest first."""

    def __init__(self, results: Mapping[SSAValue, int]) -> None:
        self._like: dict[Attribute, list[_ResultBuffer]] = {}
        for result, first in results.items():
            type = memref_type(result)
            place = _ResultBuffer(result, prod(type.get_shape()), first)
            self._like.setdefault(_kind(type), []).append(place)
        for places in self._like.values():
            places.sort(key=_size)

    def take(self, use: MemoryUse) -> _ResultBuffer | None:
        """Assigns a buffer to the smallest result with room during its live range, if any."""
        type = memref_type(use.op.results[0])
        places = self._like.get(_kind(type), ())
        start = bisect_left(places, prod(type.get_shape()), key=_size)
        return next((each for each in islice(places, start, None) if each.take(use)), None)


def _kind(type: MemRef) -> Attribute:
    """Buffers of equal kind fit into each other by size: a dense one by its element type alone."""
    return type.element_type if has_identity_layout(type) else type


_size = attrgetter("size")


def _plan(
    waiting: Sequence[MemoryUse], results: Mapping[SSAValue, int]
) -> Mapping[MemoryUse, SSAValue]:
    """Assigns buffers to results, in this order and each to the smallest that has room."""
    places = _ResultBuffers(results)
    found = ((use, places.take(use)) for use in waiting)
    return {use: place.result for use, place in found if place is not None}


def _bytes(use: MemoryUse) -> int:
    return static_bytes(use.op.results[0].type)


def _replace(use: MemoryUse, result: SSAValue) -> None:
    wanted = memref_type(use.op.results[0])
    if wanted != result.type:
        result = insert_before(make_dense(result, wanted), use.op).results[0]
        result.name_hint = use.op.results[0].name_hint
    replace_allocation(use.op, result)


def replace_allocation(alloc: Operation, memory: SSAValue) -> None:
    """Has memory that is never freed in the place of an allocation."""
    for use in tuple(alloc.results[0].uses):
        if isinstance(use.operation, memref.DeallocOp):
            erase(use.operation)
    replace_uses(alloc.results[0], memory)
    erase(alloc)
