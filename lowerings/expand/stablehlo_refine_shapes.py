"""The pass `stablehlo-refine-shapes`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.expand.convert_stablehlo_to_xla import convert_in_place
from xla_dialect.stablehlo import has_source_operations


@dataclass(frozen=True)
class StablehloRefineShapesPass(ModulePass):
    """
    Gives every array the sizes that follow from the arguments, which have to be known.

    Shapes are computed, calls of functions that depend on them inlined. The program is one of
    `xla` then; the target `stablehlo` prints it as StableHLO.

    ```
    func.func @main(%x: tensor<2xf32>) -> tensor<?xf32> {
      %0 = "stablehlo.negate"(%x) : (tensor<2xf32>) -> tensor<?xf32>
      func.return %0 : tensor<?xf32>
    }
    // becomes
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = xla.negate %x : tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }
    ```
    """

    name = "stablehlo-refine-shapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raises XlaError where a size does not follow; a program of `xla` stays as it is."""
        if has_source_operations(op):
            convert_in_place(op)
