"""Conversion of all types of a module to signless integers without layouts, in one walk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, NoneAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from lowerings.xla_to_linalg.scalar_functions.scalars import storage
from xla_dialect.types import Array
from xla_dialect.xdsl.traversal import AttributeMemo, inventory, operations_in


def signless(type_: Attribute) -> Attribute:
    """Integers without sign, arrays of such and without layout; any other type itself."""
    if not isinstance(type_, TensorType):
        return storage(type_)
    type_ = cast(Array, type_)
    element_type = storage(type_.element_type)
    if element_type is type_.element_type and isinstance(type_.encoding, NoneAttr):
        return type_
    return TensorType(element_type, type_.shape)


def make_signless(module: ModuleOp) -> None:
    """Changes the types of all values and functions of a module in place."""
    if all(signless(type_) is type_ for type_ in inventory(module).types):
        return
    new_type = AttributeMemo(signless)
    for op in operations_in(module):
        if isinstance(op, func.FuncOp):
            _change_function(op)
        values: list[SSAValue] = [*op.results]
        for region in op.regions:
            for block in region.blocks:
                values.extend(cast("Sequence[SSAValue]", block.args))
        for value in values:
            type_ = new_type(value.type)
            if type_ is not value.type:
                Rewriter.replace_value_with_new_type(cast("Any", value), type_)


def _change_function(op: func.FuncOp) -> None:
    old = op.function_type
    inputs, outputs = _all(old.inputs.data), _all(old.outputs.data)
    op.properties["function_type"] = FunctionType.from_lists(inputs, outputs)


def _all(types: Sequence[Attribute]) -> list[Attribute]:
    return [signless(t) for t in types]
