"""What operations make of dynamic dimensions of their operands, by how their dimensions relate.

Elements beyond the size at run time take part in nothing. `shared_dimensions` says which dimensions
of different operands have to be of one size, `undefined` what has no meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.ir import Operation

from xla_dialect.dimensions import DimensionRelations, Place
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.shapes.size_arithmetic import DynamicSize
from xla_dialect.types import Array, extents

Dimensions: TypeAlias = Sequence[Place]
"""Numbers of operands, each with one of its dimensions."""


def _relations(op: Operation) -> DimensionRelations | None:
    return op.dimension_relations() if isinstance(op, XlaOp) else None


def shared_dimensions(op: Operation) -> tuple[Dimensions, ...]:
    """
    The groups of dimensions of operands whose elements belong together.

    At run time the smallest size in a group is that of all of them.
    """
    relations = _relations(op)
    groups = () if relations is None else relations.sized_together
    return tuple(group for group in groups if len(group) > 1)


def undefined(op: Operation) -> str | None:
    """Why dynamic dimensions of the operands have no meaning for an operation; None if they do."""
    relations = _relations(op)
    if relations is None:
        return None
    for (i, d), reason in relations.static.items():
        if isinstance(extents(cast(Array, op.operands[i].type))[d], DynamicSize):
            return f"dimension {d} of operand {i} cannot be dynamic: {reason}"
    return None


def whole_windows(op: ScatterOp) -> dict[int, int]:
    """
    The window dimensions of the updates along which windows have a place and size of their own.

    For each the dimension of the inputs, all of which it takes in.
    """
    relations = op.dimension_relations()
    assert relations is not None
    updates = relations.operands[len(op.inputs) + 1]
    return {
        p: d
        for p in cast("tuple[int, ...]", decode(op.update_window_dims))
        for i, d in relations.operand_places(updates[p][0])
        if i == 0
    }
