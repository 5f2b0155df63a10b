"""The pass `stablehlo-refine-arguments`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from lowerings.expand.convert_stablehlo_to_xla import ArgumentTypesError, argument_types
from xla_dialect.stablehlo import STABLEHLO
from xla_dialect.stablehlo.legalize.custom_calls import SHAPE_OPERANDS, WRAPPER
from xla_dialect.types import Array, extents, fits, spell_all
from xla_dialect.xdsl.creation import create

_CLASSES = {op.name: op for op in STABLEHLO.operations}


@dataclass(frozen=True)
class StablehloRefineArgumentsPass(ModulePass):
    """
    Gives the arguments of `@main` types with more known sizes.

    Their users go on with the types that were declared, through a custom call that
    `stablehlo-refine-shapes` takes away: operations and called functions stay valid.

    ```
    // stablehlo-refine-arguments{types="2xf32"}
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = "stablehlo.negate"(%x) : (tensor<?xf32>) -> tensor<?xf32>
      func.return %0 : tensor<?xf32>
    }
    // becomes
    func.func @main(%x: tensor<2xf32>) -> tensor<?xf32> {
      %0 = "stablehlo.constant"() <{value = dense<2> : tensor<1xi64>}> : () -> tensor<1xi64>
      %1 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %0) {
        indices_of_shape_operands = dense<1> : tensor<1xi64>
      } : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
      %2 = "stablehlo.negate"(%1) : (tensor<?xf32>) -> tensor<?xf32>
      func.return %2 : tensor<?xf32>
    }
    ```
    """

    name = "stablehlo-refine-arguments"

    types: str = ""
    """The types of all arguments, `3x4xf32,?xi32`; where none are given, all stay as they are."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raises ArgumentTypesError for types that are no refinement of the declared ones."""
        if not self.types:
            return
        types = argument_types(self.types, ctx)
        for function in op.ops:
            if not isinstance(function, FuncOp) or function.sym_name.data != "main":
                continue
            declared = function.function_type.inputs.data
            if len(types) != len(declared) or not all(map(fits, types, declared)):
                takes, given = spell_all(declared), spell_all(types)
                raise ArgumentTypesError(f"@main takes {takes}, the types are {given}")
            outputs = function.function_type.outputs.data
            function.properties["function_type"] = FunctionType.from_lists(types, outputs)
            added: list[Operation] = []
            for argument, type_ in zip(function.args, types, strict=True):
                if argument.type != type_:
                    added += _refine(argument, type_)
            Rewriter.insert_op(added, InsertPoint.at_start(function.body.block))


def _refine(argument: BlockArgument, type_: Attribute) -> Sequence[Operation]:
    """Gives an argument its type; what makes one of the declared type of it, for its users."""
    sizes = extents(cast(Array, type_))
    added: list[Operation] = []
    attributes: dict[str, Attribute] = {}
    if DYNAMIC_INDEX not in sizes:
        literal = DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(sizes)]), sizes)
        added.append(
            create(
                _CLASSES["stablehlo.constant"],
                result_types=[literal.type],
                properties={"value": literal},
            )
        )
        positions = DenseIntOrFPElementsAttr.from_list(TensorType(i64, [1]), [1])
        attributes[SHAPE_OPERANDS] = positions
    wrapper = create(
        _CLASSES["stablehlo.custom_call"],
        operands=[argument, *(value for op in added for value in op.results)],
        result_types=[argument.type],
        properties={"call_target_name": StringAttr(WRAPPER)},
        attributes=attributes,
    )
    argument.replace_uses_with_if(wrapper.results[0], lambda use: use.operation is not wrapper)
    Rewriter.replace_value_with_new_type(argument, type_)
    return [*added, wrapper]
