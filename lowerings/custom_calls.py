"""Custom calls below the xla level: calls of functions that the program only declares.

What the function is to do stands at its declaration, so that a module at any level has all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block

from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import without_layout

CUSTOM_CALL = "custom_call"
"""The attribute of a declaration that says which custom call it stands for."""

_TARGET = "custom_call_target"
_ATTRIBUTES = "attributes"
_OPERANDS = "operand_types"
_RESULTS = "result_types"

_BUILTIN = (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
"""Attributes that MLIR knows without our dialect; of others a declaration says nothing."""


def description_of(op: CustomCallOp) -> DictionaryAttr:
    """What a declaration says of a custom call: target, types with signs, attributes."""
    kept: dict[str, Attribute] = {}
    for name, value in op.attributes.items():
        if isinstance(value, _BUILTIN):
            kept[name] = value
    return DictionaryAttr(
        {
            _TARGET: op.custom_call_target,
            _OPERANDS: ArrayAttr([_plain(type_) for type_ in op.operand_types]),
            _RESULTS: ArrayAttr([_plain(type_) for type_ in op.result_types]),
            _ATTRIBUTES: DictionaryAttr(kept),
        }
    )


def _plain(type_: Attribute) -> Attribute:
    return without_layout(cast(ArrayType, type_))


def operation_of(description: DictionaryAttr) -> CustomCallOp:
    """A custom call as `description_of` has described it, on arguments of a block of its own."""
    fields = cast("dict[str, Any]", description.data)
    operands, results = (
        cast("Sequence[Attribute]", cast("ArrayAttr[Attribute]", fields[name]).data)
        for name in (_OPERANDS, _RESULTS)
    )
    block = Block(arg_types=operands)
    op = CustomCallOp.make(
        tuple(block.args),
        {
            _TARGET: cast(Attribute, fields[_TARGET]),
            "custom_call_has_side_effect": BoolAttr.from_bool(False),
        },
        result_types=results,
        attributes=dict(cast(DictionaryAttr, fields[_ATTRIBUTES]).data),
    )
    block.add_op(op)
    return op
