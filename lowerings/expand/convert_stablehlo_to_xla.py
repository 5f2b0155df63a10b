"""The pass `convert-stablehlo-to-xla`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ParseError

from xla_dialect.diagnostics import XlaError
from xla_dialect.stablehlo import ArithmeticName, convert_stablehlo, has_source_operations
from xla_dialect.xdsl.text import MlirParser


class ArgumentTypesError(XlaError):
    """The option `arguments` is no list of types."""


def argument_types(text: str, ctx: Context) -> list[Attribute]:
    """The array types of `3x4xf32,5xi32`; raises ArgumentTypesError."""
    types: list[Attribute] = []
    for part in text.split(","):
        try:
            parser = MlirParser(ctx, f"tensor<{part.strip()}>")
            types.append(parser.parse_type())
        except ParseError as error:
            raise ArgumentTypesError(f"{part!r} is no type like 3x4xf32: {error.msg}") from None
    return types


def convert_in_place(
    op: ModuleOp, types: Sequence[Attribute] = (), arithmetic: ArithmeticName = "integer"
) -> None:
    """Replaces the functions of a module of StableHLO; raises XlaError for an unknown size."""
    result = convert_stablehlo(op, types, arithmetic)
    for function in list(op.ops):
        function.detach()
        function.erase(safe_erase=False)
    for function in list(result.ops):
        function.detach()
        op.body.block.add_op(function)
    op.attributes.update(result.attributes)


@dataclass(frozen=True)
class ConvertStablehloToXlaPass(ModulePass):
    """
    Reads operations of StableHLO as those of `xla`, once their arrays have sizes.

    Programs with static types are read so at once. One that JAX exported for any batch size stays
    StableHLO until `arguments` say the types of its arguments: sizes follow from them, operands
    that say a shape become constants, and functions whose types depend on them are put in the
    place of their calls.

    ```
    // convert-stablehlo-to-xla{arguments="2xf32"}
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = "stablehlo.negate"(%x) : (tensor<?xf32>) -> tensor<?xf32>
      func.return %0 : tensor<?xf32>
    }
    // becomes
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = xla.negate %x : tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }
    ```
    """

    name = "convert-stablehlo-to-xla"

    arguments: str = ""
    """The types of the arguments of the public function: `3x4xf32,5xi32`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replaces the functions of the module; raises XlaError where a size is not known."""
        types = argument_types(self.arguments, ctx) if self.arguments else ()
        if has_source_operations(op):
            convert_in_place(op, types)
