"""Views of memory, and what they are views of."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Operation, SSAValue

VIEWS: tuple[type[Operation], ...] = (
    memref.AssumeAlignmentOp,
    memref.CastOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.ExtractStridedMetaDataOp,
    memref.ReinterpretCastOp,
    UnrealizedConversionCastOp,
    memref.SubviewOp,
    memref.ViewOp,
)
"""Operations whose result is memory of their first operand."""


def viewed_by(value: SSAValue, views: tuple[type[Operation], ...] = VIEWS) -> SSAValue:
    """The memref that a chain of views starts from, as far as it is seen in its function."""
    while type(owner := value.owner) in views:
        value = cast(Operation, owner).operands[0]
    return value
