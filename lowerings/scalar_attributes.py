"""Numbers as attributes of scalar types."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute


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
