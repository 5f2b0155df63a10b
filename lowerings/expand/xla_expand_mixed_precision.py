"""The pass `xla-expand-mixed-precision`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from xla_dialect.analysis.mixed_precision import expand_mixed_precision


class XlaExpandMixedPrecisionPass(ReportingPass):
    """
    Gives every operation floats of one precision, by conversions before and behind it.

    That is the highest precision, of those it has, for which the constraints of the operation hold.

    ```
    %1 = xla.copy %0 : (tensor<5xf32>) -> tensor<5xbf16>
    // becomes
    %c = xla.copy %0 : tensor<5xf32>
    %1 = xla.convert %c : (tensor<5xf32>) -> tensor<5xbf16>
    ```
    """

    name = "xla-expand-mixed-precision"
    takes = UNLOWERED

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through the module once."""
        return expand_mixed_precision(op)
