"""Which orders of operands and results let an operation leave the elements where they are."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from lowerings.layouts.memory_order import MemoryOrder, canonical
from xla_dialect import ops
from xla_dialect.op import Ints, decode
from xla_dialect.shapes.size_arithmetic import without


def renamed_order(permutation: Sequence[int], before: MemoryOrder) -> MemoryOrder:
    """The order in which a transpose of an array in order `before` moves nothing."""
    return MemoryOrder(tuple(permutation.index(d) for d in before.major_to_minor))


def order_before(permutation: Sequence[int], after: MemoryOrder) -> MemoryOrder:
    """The order of an operand whose transpose in order `after` moves nothing."""
    return MemoryOrder(tuple(permutation[d] for d in after.major_to_minor))


def kept_order(order: MemoryOrder, dropped: Sequence[int]) -> MemoryOrder:
    """The order of the dimensions that are left when some are dropped, renumbered."""
    rank = len(order.major_to_minor)
    kept = without(range(rank), dropped)
    return MemoryOrder(tuple(kept.index(d) for d in order.major_to_minor if d in kept))


def dot_result_order(
    op: ops.contraction.DotOp, left: MemoryOrder, right: MemoryOrder
) -> MemoryOrder:
    """The order of a result whose free dimensions are as in the operands' memory."""
    found: list[int] = []
    batch = len(cast(Ints, decode(op.lhs_batch_dims)))
    found.extend(range(batch))
    sides = (
        (left, op.lhs_batch_dims, op.lhs_contracting_dims),
        (right, op.rhs_batch_dims, op.rhs_contracting_dims),
    )
    for order, batch_dims, contracting_dims in sides:
        used = (*cast(Ints, decode(batch_dims)), *cast(Ints, decode(contracting_dims)))
        free = kept_order(order, used).major_to_minor
        start = len(found)
        found.extend(start + d for d in free)
    return MemoryOrder(tuple(found))


def reshaped_order(
    before_sizes: Sequence[int], before: MemoryOrder, after_sizes: Sequence[int]
) -> MemoryOrder | None:
    """
    The order in which a reshape leaves the elements where they are; None if there is none.

    Dimensions that become each other have to stand side by side in memory, the most major first;
    these groups may be in any order. Sizes of 1 may be anywhere.
    """
    if before.tiles:
        return None
    if not prod(before_sizes):
        return MemoryOrder.default(len(after_sizes))
    groups = _groups(before_sizes, after_sizes)
    group_of = {dims[0]: (dims, others) for dims, others in groups}
    rest = _moving(before_sizes, before)
    found: list[int] = []
    while rest:
        dims, others = group_of.get(rest[0], ((), ()))
        if not dims or tuple(rest[: len(dims)]) != dims:
            return None
        found.extend(others)
        rest = rest[len(dims) :]
    ones = (d for d, size in enumerate(after_sizes) if size == 1)
    return canonical(MemoryOrder((*found, *ones)), tuple(after_sizes))


def is_free_reshape(
    before_sizes: Sequence[int],
    before: MemoryOrder,
    after_sizes: Sequence[int],
    after: MemoryOrder,
) -> bool:
    """Whether a reshape leaves the elements where they are."""
    found = reshaped_order(before_sizes, before, after_sizes)
    return found is not None and found == canonical(after, tuple(after_sizes))


def _moving(sizes: Sequence[int], order: MemoryOrder) -> list[int]:
    """The dimensions that are not of size 1, most major first."""
    return [d for d in order.major_to_minor if sizes[d] != 1]


def _groups(before: Sequence[int], after: Sequence[int]) -> list[tuple[Ints, Ints]]:
    """The smallest groups of dimensions, without sizes of 1, with equal products on both sides."""
    left = [d for d, size in enumerate(before) if size != 1]
    right = [d for d, size in enumerate(after) if size != 1]
    groups: list[tuple[Ints, Ints]] = []
    while left:
        dims, others = [left.pop(0)], [right.pop(0)]
        mine, theirs = before[dims[0]], after[others[0]]
        while mine != theirs:
            if mine < theirs:
                dims.append(left.pop(0))
                mine *= before[dims[-1]]
            else:
                others.append(right.pop(0))
                theirs *= after[others[-1]]
        groups.append((tuple(dims), tuple(others)))
    return groups
