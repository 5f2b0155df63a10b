"""Scaled dots: dots of operands that have been multiplied by their scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Attribute

from xla_dialect.builder import DotDimensionNumbers, XlaBuilder, XlaValue
from xla_dialect.literals.arrays import accumulator_dtype, element_type_of, numpy_dtype
from xla_dialect.op import Ints, decode
from xla_dialect.ops.contraction import ScaledDotOp
from xla_dialect.types import Array


def scaled_dot(b: XlaBuilder, op: ScaledDotOp, *operands: XlaValue) -> Sequence[XlaValue]:
    """The dot in the type in which the reference adds up."""
    lhs, rhs, lhs_scale, rhs_scale = operands
    result = cast(Array, op.result.type).element_type
    types = (lhs.element_type, rhs.element_type, result)
    accumulator = element_type_of(accumulator_dtype(*map(numpy_dtype, types)))
    numbers = DotDimensionNumbers(
        *(
            cast(Ints, decode(dimensions))
            for dimensions in (
                op.lhs_contracting_dims,
                op.rhs_contracting_dims,
                op.lhs_batch_dims,
                op.rhs_batch_dims,
            )
        )
    )
    factors = (_scaled(b, lhs, lhs_scale, accumulator), _scaled(b, rhs, rhs_scale, accumulator))
    return [b.convert_element_type(b.dot_general(*factors, numbers), result)]


def _scaled(b: XlaBuilder, operand: XlaValue, scale: XlaValue, type_: Attribute) -> XlaValue:
    """Every block of the operand times its element of the scale; a scalar stands for none."""
    factor = b.convert_element_type(operand, type_)
    if not scale.rank:
        return factor
    sizes: list[int] = []
    for size, blocks in zip(operand.shape, scale.shape, strict=True):
        sizes += (blocks, size // blocks if blocks else 1)
    wide = b.convert_element_type(scale, type_)
    repeated = b.broadcast_in_dim(wide, sizes, list(range(0, len(sizes), 2)))
    return factor * b.reshape(repeated, operand.shape)
