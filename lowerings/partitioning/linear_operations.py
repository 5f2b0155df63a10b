"""Operations that make of the terms of sums the terms of what they make of the sums."""

from __future__ import annotations

from typing import cast

from xla_dialect.op import XlaOp
from xla_dialect.ops import data_movement as movement
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.elementwise import AddOp, ImagOp, NegateOp, RealOp, SelectOp, SubtractOp
from xla_dialect.types import Array, ElementClass, element_class
from xla_dialect.xdsl.traversal import operands_of

_ONE = frozenset({0})
_TWO = frozenset({0, 1})

_LINEAR: dict[type[XlaOp], frozenset[int]] = {
    AddOp: _TWO,
    ConvertOp: _ONE,
    ImagOp: _ONE,
    NegateOp: _ONE,
    RealOp: _ONE,
    SelectOp: frozenset({1, 2}),
    SubtractOp: _TWO,
    movement.BroadcastOp: _ONE,
    movement.CopyOp: _ONE,
    movement.DynamicSliceOp: _ONE,
    movement.DynamicUpdateSliceOp: _TWO,
    movement.PadOp: _TWO,
    movement.ReshapeOp: _ONE,
    movement.ReverseOp: _ONE,
    movement.SliceOp: _ONE,
    movement.TransposeOp: _ONE,
}
_FRACTIONS = ElementClass.FLOAT | ElementClass.COMPLEX


def linear_operands(op: XlaOp) -> frozenset[int]:
    """The operands that the result is linear in, all together; none for other operations."""
    if isinstance(op, movement.ConcatenateOp):
        return frozenset(range(len(op.operands)))
    if isinstance(op, ConvertOp):
        types = (cast(Array, value.type) for value in (*operands_of(op), op.result))
        # Sums of integers wrap around where their type ends.
        if not all(element_class(each.element_type) & _FRACTIONS for each in types):
            return frozenset()
    return _LINEAR.get(type(op), frozenset())
