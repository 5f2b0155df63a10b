"""The reduction that `all-reduce` and its like apply to the operands of a group's members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Region

from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.builder.recorder import XlaComputation

UNROLLED = 8
"""So many members, at most, are folded in one pass over their arrays."""


def fold(
    computation: Region, is_full: bool, b: XlaBuilder, *brought: XlaValue
) -> Sequence[XlaValue]:
    """
    The left fold over the members, every array by itself.

    `brought`: arrays with a place for each member along dimension 0, and the number of members.
    The result is place 0 where that is at most 1. `is_full`: whether all places are always taken.
    """
    *stacks, count = brought
    reducer = XlaComputation("to_apply", computation.clone(), True, ())
    places = stacks[0].shape[0] if stacks else 0
    if places <= UNROLLED:
        known = None if is_full else count
        return [_folded_at_once(b, stack, known, reducer) for stack in stacks]
    return _folded_in_a_loop(b, stacks, count, reducer)


def _folded_at_once(
    b: XlaBuilder, stack: XlaValue, count: XlaValue | None, reducer: XlaComputation
) -> XlaValue:
    places, *sizes = stack.shape
    zeros = [0] * len(sizes)
    rows = [
        b.reshape(b.slice(stack, [number, *zeros], [number + 1, *sizes]), sizes)
        for number in range(places)
    ]
    total = rows[0]
    for number, row in enumerate(rows[1:], 1):
        combined = b.map([total, row], reducer)
        total = combined if count is None else b.select(count > number, combined, total)
    return total


def _folded_in_a_loop(
    b: XlaBuilder, stacks: Sequence[XlaValue], count: XlaValue, reducer: XlaComputation
) -> Sequence[XlaValue]:
    def place(stack: XlaValue, number: Any) -> XlaValue:
        sizes = stack.shape[1:]
        starts = [number, *[b.constant(0, "s32")] * len(sizes)]
        return b.reshape(b.dynamic_slice(stack, starts, [1, *sizes]), sizes)

    def combined(number: XlaValue, *totals: XlaValue) -> Sequence[XlaValue]:
        parts = [place(stack, number) for stack in stacks]
        pairs = zip(totals, parts, strict=True)
        return (number + 1, *(b.map(list(pair), reducer) for pair in pairs))

    first = [place(stack, b.constant(0, "s32")) for stack in stacks]
    start = [b.constant(1, "s32"), *first]

    def goes_on(number: XlaValue, *totals: XlaValue) -> XlaValue:
        return number < count

    return b.while_(goes_on, combined, start)[1:]
