"""Custom calls, checks, prints and probes become calls of declared functions."""

from __future__ import annotations

from itertools import chain, count
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr
from xdsl.ir import Operation, Region

from lowerings.ir.custom_calls import (
    CUSTOM_CALL,
    OBSERVATION,
    description_of,
    description_of_observation,
)
from lowerings.ir.functions import SymbolNames
from lowerings.rewriting.conversion import ConversionBuilder
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.runtime.self_checking import CHECK_CALLS
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
    target = op.custom_call_target.data
    declared = func.FuncOp(
        f"custom_call_{target}",
        FunctionType.from_lists(list(op.operand_types), list(op.result_types)),
        Region(),
        "private",
    )
    declared.attributes[CUSTOM_CALL] = description_of(op)
    # A failing check reports its location, so each check has a declaration of its own.
    shared = None if target in CHECK_CALLS else CUSTOM_CALL
    name = _declare(declared, op, builder, shared)
    call = func.CallOp(SymbolRefAttr(name), op.inputs, op.result_types)
    builder.replace(builder.insert(call).results)
    return None


def convert_observation(op: Operation, builder: ConversionBuilder) -> None:
    """
    ```
    check.expect_eq %x, %y : tensor<4xf32>
    ```
    becomes
    ```
    func.func private @check_expect_eq(tensor<4xf32>, tensor<4xf32>) attributes {observation = {..}}
    func.call @check_expect_eq(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> ()
    ```
    """
    type_ = FunctionType.from_lists(list(op.operand_types), [])
    declared = func.FuncOp(op.name.replace(".", "_"), type_, Region(), "private")
    declared.attributes[OBSERVATION] = description_of_observation(op)
    name = _declare(declared, op, builder)
    builder.insert(func.CallOp(SymbolRefAttr(name), op.operands, []))
    builder.replace(op.operands[: len(op.results)])


def _declare(
    declared: func.FuncOp, op: Operation, builder: ConversionBuilder, shared: str | None = None
) -> str:
    """
    Adds a declaration to the module, under a unique name, which is returned.

    A declaration with an equal attribute `shared` is used instead, if there is one.
    """
    base = declared.sym_name.data
    for other in builder.module.body.block.ops:
        known = other.attributes.get(shared) if shared else None
        if known is not None and known == declared.attributes[shared or ""]:
            return cast(func.FuncOp, other).sym_name.data
    names = chain([base], (f"{base}_{number}" for number in count(1)))
    name = SymbolNames(builder.module).take(names)
    declared.properties["sym_name"] = StringAttr(name)
    declared.location = op.location
    builder.module.body.block.add_op(declared)
    return name
