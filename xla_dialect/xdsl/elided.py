"""Literals whose elements were left out when a text was printed: HLO's `{...}`.

In MLIR they are `dense_resource<__elided__>`, as MLIR itself prints them.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseResourceAttr, StringAttr, TensorType
from xdsl.ir import Attribute

ELIDED = "__elided__"
"""The name of a resource that is nowhere."""

LEFT_OUT = (
    "the elements of the literal were left out when the text was printed; "
    "print it with large constants"
)
"""Why a program that needs them does not run."""


def elided(type_: TensorType[Attribute]) -> DenseResourceAttr:
    """The literal of this type that nobody knows."""
    return DenseResourceAttr.from_params(StringAttr(ELIDED), cast(Any, type_))


def is_elided(literal: Attribute) -> bool:
    """Whether elements of a literal, or of one in a tuple, are left out."""
    if isinstance(literal, ArrayAttr):
        return any(map(is_elided, cast("ArrayAttr[Attribute]", literal).data))
    return isinstance(literal, DenseResourceAttr) and literal.resource_handle.data == ELIDED
