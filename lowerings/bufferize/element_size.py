"""How many bytes elements take in memory."""

from __future__ import annotations

from typing import Any, cast, get_args

from xdsl.dialects.builtin import AnyFloat, ComplexType, IndexType, IntegerType
from xdsl.ir import Attribute

__all__ = ["element_bytes"]

_FLOATS = frozenset(get_args(AnyFloat))


def element_bytes(type: Attribute) -> int | None:
    """
    The bytes that one element takes in memory; None for what has no size there.

    Elements of less than a byte take a whole one; integers of other widths as many as the next
    power of two.
    """
    if type.__class__ in _FLOATS:
        return max(1, cast(AnyFloat, type).bitwidth // 8)
    if isinstance(type, IntegerType):
        width = cast(IntegerType, type).width.data
        return max(1, (1 << (width - 1).bit_length()) // 8)
    if isinstance(type, IndexType):
        return 8
    if isinstance(type, ComplexType):
        part = element_bytes(cast(ComplexType[Any], type).element_type)
        return None if part is None else 2 * part
    return None
