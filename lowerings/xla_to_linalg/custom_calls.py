"""Custom calls become calls of declared functions."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import DictionaryAttr, FunctionType, SymbolRefAttr
from xdsl.ir import Region

from lowerings.conversion import ConversionBuilder
from lowerings.custom_calls import CUSTOM_CALL, description_of
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.types import is_array


def convert_custom_call(op: CustomCallOp, builder: ConversionBuilder) -> str | None:
    """
    ```
    %r = xla.custom_call %x {custom_call_target = "f"} : (tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes
    ```
    func.func private @custom_call_f(tensor<4xf32>) -> tensor<4xf32> attributes {custom_call = {..}}
    %r = func.call @custom_call_f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """
    types = (*op.operand_types, *op.result_types)
    if not all(map(is_array, types)):
        return "it passes tuples or tokens"
    if op.called_computations:
        return "it passes computations"
    description = description_of(op)
    name = _declaration(builder, op, description)
    call = func.CallOp(SymbolRefAttr(name), op.inputs, op.result_types)
    builder.replace(builder.insert(call).results)
    return None


def _declaration(builder: ConversionBuilder, op: CustomCallOp, description: DictionaryAttr) -> str:
    """The name of the function that is declared for such calls, or is declared now."""
    base = name = f"custom_call_{op.custom_call_target.data}"
    functions = {
        each.sym_name.data: each
        for each in builder.module.body.block.ops
        if isinstance(each, func.FuncOp)
    }
    number = 0
    while name in functions and functions[name].attributes.get(CUSTOM_CALL) != description:
        number += 1
        name = f"{base}_{number}"
    if name not in functions:
        type_ = FunctionType.from_lists(list(op.operand_types), list(op.result_types))
        declared = func.FuncOp(name, type_, Region(), "private")
        declared.attributes[CUSTOM_CALL] = description
        declared.location = op.location
        builder.module.body.block.add_op(declared)
    return name
