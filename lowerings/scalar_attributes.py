"""Numbers as attributes of scalar types, and as constants."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue


def scalar_attribute(value: float, type_: Attribute) -> Attribute:
    """
    A number as an attribute of a float, integer or index type.

    Integers wrap to the width of their type, which loses its sign.
    """
    if isinstance(type_, IndexType):
        return IntegerAttr(int(value), type_)
    if isinstance(type_, IntegerType):
        signless = IntegerType(cast(IntegerType, type_).width.data)
        return IntegerAttr(int(value), signless, truncate_bits=True)
    return FloatAttr(float(value), cast(AnyFloat, type_))


def constant_integer(value: SSAValue) -> int | None:
    """The number that an integer constant is; None for other values."""
    if isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return value.owner.value.value.data
    return None
