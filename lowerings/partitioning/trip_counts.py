"""How often loops of HLO run, where it can be seen."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from lowerings.partitioning.resharding import is_annotation
from lowerings.simplify.known_values import splat_of
from xla_dialect.attributes import ComparisonDirection
from xla_dialect.ops.control_flow import WhileOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.ops.elementwise import AddOp, CompareOp, SubtractOp
from xla_dialect.xdsl.traversal import operands_of

_KNOWN = re.compile(r"known_trip_count\W+n\W+(\d{1,18})")
_UP = {ComparisonDirection.LT: 0, ComparisonDirection.LE: 1, ComparisonDirection.NE: 0}
_DOWN = {ComparisonDirection.GT: 0, ComparisonDirection.GE: 1, ComparisonDirection.NE: 0}


def trip_count(op: WhileOp) -> int | None:
    """
    How often the body of a loop runs; None where that depends on data.

    What XLA has noted counts; else the loop has to count one of its values from a constant by a
    constant to a constant, as JAX's `scan` and `fori_loop` do.
    """
    for name in ("xla.backend_config", "mhlo.backend_config"):
        noted = op.attributes.get(name)
        found = _KNOWN.search(noted.data) if isinstance(noted, StringAttr) else None
        if found:
            return int(found.group(1))
    compared = operands_of(op.condition.block.last_op)[0].owner  # pyright: ignore
    if not isinstance(compared, CompareOp):
        return None
    counter = _source(compared.lhs)
    if not isinstance(counter, BlockArgument) or counter.block is not op.condition.block:
        return None
    i = counter.index
    start, limit = _number(op, operands_of(op)[i]), _number(op, compared.rhs)
    last = op.body.block.last_op
    assert last is not None
    step = _step(op, _source(operands_of(last)[i]), i)
    if start is None or limit is None or not step:
        return None
    beyond = (_UP if step > 0 else _DOWN).get(compared.direction.data)
    if beyond is None:
        return None
    distance = (limit - start if step > 0 else start - limit) + beyond
    return max(0, -(-distance // abs(step)))


def _source(value: SSAValue) -> SSAValue:
    """Behind copies, conversions and what only says how it is split."""
    while isinstance(op := value.owner, CopyOp | ConvertOp) or (
        isinstance(op, Operation) and is_annotation(op)
    ):
        value = operands_of(op)[0]
    return value


def _number(op: WhileOp, value: SSAValue) -> int | None:
    """A constant integer, also one that a loop carries along unchanged."""
    value = _source(value)
    if isinstance(value, BlockArgument) and value.block in (op.condition.block, op.body.block):
        returned = operands_of(op.body.block.last_op)[value.index]  # pyright: ignore
        if _source(returned) is not op.body.block.args[value.index]:
            return None
        return _number(op, operands_of(op)[value.index])
    found: Any = splat_of(value)
    if found is None or not np.issubdtype(found.dtype, np.integer):
        return None
    return int(found)


def _step(op: WhileOp, value: SSAValue, i: int) -> int | None:
    """What a body adds to its parameter i."""
    made = value.owner
    if not isinstance(made, AddOp | SubtractOp):
        return None
    lhs, rhs = _source(made.lhs), _source(made.rhs)
    counter = op.body.block.args[i]
    if lhs is counter:
        number = _number(op, rhs)
        return None if number is None else number * (1 if isinstance(made, AddOp) else -1)
    return _number(op, lhs) if rhs is counter and isinstance(made, AddOp) else None
