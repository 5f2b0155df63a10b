"""The reduction that `all-reduce` and its like apply to the operands of a group's members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Region

from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.builder.computations import XlaComputation


def fold(computation: Region, b: XlaBuilder, *brought: XlaValue) -> Sequence[XlaValue]:
    """
    The left fold over the members, every array by itself.

    `brought`: arrays with a place for each member along dimension 0, and the number of members.
    The result is place 0 where that is at most 1.
    """
    *stacks, count = brought
    reducer = XlaComputation("to_apply", computation.clone(), True, ())

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
