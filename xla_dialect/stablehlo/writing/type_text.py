"""Types as StableHLO has them: `tensor<2x?xf32, #stablehlo.bounds<?, 4>>`, tuples, tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerType,
    NoneAttr,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute

from xla_dialect.layout import LayoutAttr
from xla_dialect.stablehlo import attributes
from xla_dialect.stablehlo.array_types import has_foreign_encoding
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.types import Array, TokenType, element_name, spell

TOKEN = "!stablehlo.token"


def type_text(type_: Attribute) -> str:
    """
    A type, without layouts: arrays of StableHLO have none.

    Raises Inexpressible.
    """
    if isinstance(type_, TensorType):
        return _array_text(cast(Array, type_))
    if isinstance(type_, TokenType | attributes.TokenType):
        return TOKEN
    if isinstance(type_, attributes.FutureType):
        return f"!stablehlo.future<{', '.join(map(type_text, type_.types.data))}>"
    if isinstance(type_, TupleType):
        return f"tuple<{', '.join(map(type_text, type_.types.data))}>"
    if isinstance(type_, IndexType | IntegerType):
        return str(
            cast(Attribute, type_)
        )  # a size in no array, of a program whose shapes depend on arguments
    raise Inexpressible(f"StableHLO has no type {spell(type_)}")


_MISSING = ("s1", "u1")
"""The element types of XLA that StableHLO has not."""


def _array_text(type_: Array) -> str:
    name = element_name(type_.element_type)
    if name in _MISSING:
        raise Inexpressible(f"StableHLO has no element type {name}")
    sizes = ["?" if size == DYNAMIC_INDEX else str(size) for size in type_.get_shape()]
    text = "x".join([*sizes, str(type_.element_type)])
    if has_foreign_encoding(type_):
        return f"tensor<{text}, {type_.encoding}>"
    if DYNAMIC_INDEX not in type_.get_shape() or isinstance(type_.encoding, NoneAttr):
        return f"tensor<{text}>"
    encoding = type_.encoding
    bounds = (
        encoding.data
        if isinstance(encoding, attributes.Bounds)
        else cast(LayoutAttr, encoding).data.bounds
    )
    if all(bound is None for bound in bounds):
        return f"tensor<{text}>"
    listed = ", ".join("?" if bound is None else str(bound) for bound in bounds)
    return f"tensor<{text}, #stablehlo.bounds<{listed}>>"


def signature_text(operands: Sequence[str], results: Sequence[str]) -> str:
    """`(a, b) -> c`, `(a) -> (b, c)`"""
    after = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(operands)}) -> {after}"
