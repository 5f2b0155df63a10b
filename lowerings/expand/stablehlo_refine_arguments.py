"""The pass `stablehlo-refine-arguments`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from lowerings.expand.convert_stablehlo_to_xla import ArgumentTypesError, argument_types
from xla_dialect.types import fits, spell_all


@dataclass(frozen=True)
class StablehloRefineArgumentsPass(ModulePass):
    """
    Gives the arguments of `@main` types with more known sizes; nothing else changes.

    ```
    // stablehlo-refine-arguments{types="2xf32"}
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = "stablehlo.negate"(%x) : (tensor<?xf32>) -> tensor<?xf32>
      func.return %0 : tensor<?xf32>
    }
    // becomes
    func.func @main(%x: tensor<2xf32>) -> tensor<?xf32> {
      %0 = "stablehlo.negate"(%x) : (tensor<2xf32>) -> tensor<?xf32>
      func.return %0 : tensor<?xf32>
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
            for argument, type_ in zip(function.args, types, strict=True):
                Rewriter.replace_value_with_new_type(argument, type_)
