"""The pass `stablehlo-legalize-quant-to-math`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ResultDifference
from xla_dialect.ops.elementwise import RoundNearestEvenOp
from xla_dialect.quantized_types import has_quantized_arrays


@dataclass(frozen=True)
class StablehloLegalizeQuantToMathPass(ModulePass):
    """
    Makes arrays of stored integers of quantized arrays, and arithmetic of operations on them.

    Sums and products are computed in wide integers; one factor is left of the scales. Results are
    rounded half to even, and saturated. With `arithmetic=float` operations compute with the numbers
    that integers stand for, as the specification of StableHLO defines them; functions such as the
    exponential always do. The program is one of `xla` then; the target `stablehlo` prints it as
    StableHLO.

    ```
    func.func @main(%x: tensor<!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<f32> {
      %0 = "stablehlo.uniform_dequantize"(%x)
        : (tensor<!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<f32>
      func.return %0 : tensor<f32>
    }
    // becomes
    func.func @main(%x: tensor<i8>) -> tensor<f32> {
      %0 = xla.convert %x : (tensor<i8>) -> tensor<i32>
      %1 = xla.constant dense<5.000000e-01> : tensor<f32>
      %2 = xla.convert %0 : (tensor<i32>) -> tensor<f32>
      %3 = xla.multiply %2, %1 : tensor<f32>
      func.return %3 : tensor<f32>
    }
    ```
    """

    name = "stablehlo-legalize-quant-to-math"
    takes = UNLOWERED

    difference = ResultDifference(
        epsilons=1.0,
        reason="ties between stored integers are rounded after other roundings",
        inputs=("plain", "special", "limits"),
        complex_inputs=("plain", "special", "limits"),
        where=lambda op: isinstance(op, RoundNearestEvenOp),
    )

    arithmetic: Literal["integer", "float"] = "integer"
    """With what operations compute: with the integers that are stored, or the numbers they mean."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raises XlaError where a size is not known; leaves programs without such arrays alone."""
        if has_quantized_arrays(op):
            # The reader is loaded for programs that need it: it takes a third of the start.
            from lowerings.expand.stablehlo import convert_in_place  # noqa: PLC0415

            convert_in_place(op, (), self.arithmetic)
