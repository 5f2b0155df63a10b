"""Reductions and scatters whose result is folded over devices start from what changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.partitioning.folds import FOLDS, fold_of, neutral_number
from lowerings.simplify.known_values import splat_of
from xla_dialect.literals.arrays import from_numpy
from xla_dialect.op import XlaOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.sharding.attributes import SHARDING
from xla_dialect.types import Array
from xla_dialect.xdsl.linking import insert_before, replace_uses


def start_of(op: XlaOp) -> int | None:
    """The number of the operand that a fold starts from; None where it is neutral or missing."""
    match op:
        case ReduceOp():
            place = 1
        case ScatterOp():
            place = 0
        case _:
            return None
    fold = fold_of(op)
    number = splat_of(op.operands[place])
    if fold is not None and number is not None:
        neutral = neutral_number(fold, number_type(op))
        if neutral is not None and np.array_equal(number, neutral):
            return None
    return place


def number_type(op: XlaOp) -> Attribute:
    """The element type of a fold."""
    return cast(Array, op.results[0].type).element_type


def split_start(op: XlaOp, place: int) -> tuple[Sequence[Operation], Sequence[Operation]]:
    """
    Lets a fold start from what changes nothing, and folds its result with the old start.

    Returns what was made before and behind it.
    """
    fold = fold_of(op)
    assert fold is not None
    result = op.results[0]
    type_ = cast(Array, result.type)
    start = op.operands[place]
    neutral = neutral_number(fold, type_.element_type)
    assert neutral is not None
    following = op.next_op
    assert following is not None
    constant = ConstantOp.make((), {"value": from_numpy(neutral)})
    before: list[Operation] = [constant]
    value: SSAValue = constant.result
    if value.type != start.type:
        before.append(BroadcastOp.make([value], {}, result_types=[start.type]))
        value = before[-1].results[0]
    behind: list[Operation] = []
    if start.type != type_:
        behind.append(BroadcastOp.make([start], {}, result_types=[type_]))
        start = behind[-1].results[0]
    combined = FOLDS[fold].make([start, result], {}, result_types=[type_])
    op.operands[place] = value
    replace_uses(result, combined.result)
    combined.operands[1] = result
    if SHARDING in op.attributes:
        combined.attributes[SHARDING] = op.attributes[SHARDING]
    behind.append(combined)
    for anchor, made in ((op, before), (following, behind)):
        for each in made:
            each.location = op.location
            insert_before(each, anchor)
    return before, behind
