"""What reading makes several operations of: it is one again in StableHLO."""

from __future__ import annotations

from typing import cast

from xdsl.ir import Operation, SSAValue

from xla_dialect.op import decode
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.data_movement import BroadcastOp, ReshapeOp, SliceOp
from xla_dialect.ops.dynamic_shapes import DynamicReshapeOp
from xla_dialect.stablehlo.conversion import sizes_of
from xla_dialect.types import is_scalar


def integers(op: Operation, name: str) -> tuple[int, ...]:
    """A property that is a list of integers; absent, it is empty."""
    return cast("tuple[int, ...] | None", decode(op.properties.get(name))) or ()


def sizes_array(op: DynamicReshapeOp) -> SSAValue | None:
    """The array whose elements are the sizes, as the reader takes it apart; None for others."""
    sources: list[SSAValue] = []
    for number, size in enumerate(op.dim_sizes):
        owner = size.owner
        if isinstance(owner, ConvertOp):
            owner = owner.operand.owner
        if not isinstance(owner, ReshapeOp) or not isinstance(owner.operand.owner, SliceOp):
            return None
        part = owner.operand.owner
        if integers(part, "start_indices") != (number,):
            return None
        sources.append(part.operand)
    same = len(set(sources)) == 1 and sizes_of(sources[0].type) == (len(sources),)
    return sources[0] if same else None


def feeds_sizes(op: Operation) -> bool:
    """Whether an operation only takes a size out of the array that a dynamic reshape prints."""
    while True:
        result = op.results[0]
        use = result.first_use
        if use is None or result.name_hint is not None or not result.has_one_use():
            return False
        user = use.operation
        if isinstance(user, DynamicReshapeOp):
            return use.index > 0 and sizes_array(user) is not None
        if not isinstance(user, ReshapeOp | ConvertOp):
            return False
        op = user


def only_broadcast(op: Operation) -> BroadcastOp | None:
    """
    The broadcast that makes an array of this scalar, where the scalar is there for that only.

    The reader makes these two of a literal with one value for all elements.
    """
    user = op.next_op
    result = op.results[0]
    if not isinstance(user, BroadcastOp) or result.name_hint is not None:
        return None
    if not is_scalar(result.type):
        return None
    use = result.first_use
    return user if use is not None and use.operation is user and result.has_one_use() else None
