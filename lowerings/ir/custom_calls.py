"""
Custom calls, checks, prints and probes below the xla level: calls of functions that the program
only declares.

The declaration carries the operation's attributes and types, so that no level loses them.
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
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation

from xla_dialect.analysis.computations import lacks_tokens, with_tokens
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.runtime.self_checking import OBSERVATIONS
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import without_layout
from xla_dialect.violations import located_error
from xla_dialect.xdsl.creation import create

CUSTOM_CALL = "custom_call"
"""The attribute of a declaration that says which custom call it stands for."""

OBSERVATION = "observation"
"""The attribute of a declaration that says which check, print or probe it stands for."""

_OBSERVING = {op_class.name: op_class for op_class in OBSERVATIONS}
_OPERATION = "operation"
_PROPERTIES = "properties"

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
    ModuleOp,
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
            _OPERANDS: _plain(op.operand_types),
            _RESULTS: _plain(op.result_types),
            _ATTRIBUTES: DictionaryAttr(kept),
        }
    )


def description_of_observation(op: Operation) -> DictionaryAttr:
    """What a declaration says of one of `OBSERVATIONS`: its name, types with signs, properties."""
    return DictionaryAttr(
        {
            _OPERATION: StringAttr(op.name),
            _OPERANDS: _plain(op.operand_types),
            _PROPERTIES: DictionaryAttr({k: _known(v) for k, v in op.properties.items()}),
        }
    )


def _known(value: Attribute) -> Attribute:
    """An attribute as MLIR knows it: literals have the order of indices, whatever their layout."""
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return value
    literal = cast("DenseIntOrFPElementsAttr[Any]", value)
    type_ = without_layout(cast(ArrayType, literal.type))
    return DenseIntOrFPElementsAttr(cast(Any, type_), literal.data)


def _plain(types: Sequence[Attribute]) -> ArrayAttr[Attribute]:
    return ArrayAttr([without_layout(cast(ArrayType, type_)) for type_ in types])


def declared_operation(declaration: FuncOp) -> Operation | None:
    """
    The operation that a declared function stands for, with its place; None for other functions.

    Its operands are arguments of a block of its own. It has its tokens again, which the declared
    function has not.
    """
    found = declaration.attributes.get(CUSTOM_CALL)
    if isinstance(found, DictionaryAttr):
        op = _custom_call(found)
    else:
        found = declaration.attributes.get(OBSERVATION)
        if not isinstance(found, DictionaryAttr):
            return None
        op = _observation(found)
    op.location = declaration.location
    return op


def _types(description: DictionaryAttr, name: str) -> Sequence[Attribute]:
    return cast("ArrayAttr[Attribute]", description.data[name]).data


def _entries(description: DictionaryAttr, name: str) -> dict[str, Attribute]:
    return dict(cast(DictionaryAttr, description.data[name]).data)


def _custom_call(description: DictionaryAttr) -> CustomCallOp:
    block = Block(arg_types=_types(description, _OPERANDS))
    op = CustomCallOp.make(
        tuple(block.args),
        {
            _TARGET: description.data[_TARGET],
            "custom_call_has_side_effect": BoolAttr.from_bool(False),
        },
        result_types=_types(description, _RESULTS),
        attributes=_entries(description, _ATTRIBUTES),
    )
    block.add_op(op)
    return with_tokens(op) if lacks_tokens(op) else op


def _observation(description: DictionaryAttr) -> Operation:
    op_class = _OBSERVING[cast(StringAttr, description.data[_OPERATION]).data]
    block = Block(arg_types=_types(description, _OPERANDS))
    # A print has its operand as its result; here it is carried out for what it does only.
    op = create(
        op_class,
        operands=block.args,
        properties=_entries(description, _PROPERTIES),
    )
    block.add_op(op)
    return op


def require_no_outside_calls(module: ModuleOp, caller: str) -> None:
    """Raises XlaError, with the place, for a call of a function outside of the program."""
    for op in module.body.block.ops:
        outside = declared_operation(op) if isinstance(op, FuncOp) else None
        if outside is not None:
            target = outside.properties.get("custom_call_target")
            what = f" '{target.data}'" if isinstance(target, StringAttr) else ""
            raise located_error(outside, f"{caller} cannot call{what} outside of it")
