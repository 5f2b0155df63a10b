"""The output format `stablehlo`; `xla_dialect.stablehlo.writing` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from lowerings.expand.xla_expand_bitcast import XlaExpandBitcastPass
from xla_dialect.analysis.mixed_precision import in_one_precision
from xla_dialect.ops.data_movement import BitcastOp
from xla_dialect.stablehlo.writing import print_stablehlo
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class StableHloTarget(Target):
    """
    StableHLO and CHLO text for a module of the xla level.

    A `bitcast` becomes what it does to the logical array, see `xla-expand-bitcast`; operations that
    mix precisions get conversions, see `xla-expand-mixed-precision`. With `debug_info` locations
    are printed.
    """

    name = "stablehlo"

    debug_info: bool = False
    """Whether locations are printed."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Prints the module; raises StableHloPrintError for what StableHLO cannot express."""
        module = in_one_precision(module)
        if any(isinstance(op, BitcastOp) for op in operations_in(module)):
            module = module.clone()
            XlaExpandBitcastPass().apply(ctx, module)
        output.write(print_stablehlo(module, debug_info=self.debug_info))
