"""The `xla` dialect as StableHLO text that StableHLO's own parser and verifier accept."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xla_dialect.stablehlo.inexpressible import StableHloPrintError
from xla_dialect.stablehlo.legalize.from_xla import FromXla
from xla_dialect.stablehlo.legalize.patterns import FROM_XLA
from xla_dialect.stablehlo.reader import has_source_operations
from xla_dialect.stablehlo.writing.printer import StableHloPrinter

__all__ = ["StableHloPrintError", "print_stablehlo"]


def print_stablehlo(module: ModuleOp, *, debug_info: bool = False) -> str:
    """
    Prints a verified module of functions with operations of the dialect as StableHLO and CHLO.

    What StableHLO has no operation for is expanded where that is exact. Tuples are taken apart,
    but for those of custom calls. Layouts of the entry become `mhlo.layout_mode`, those of custom
    calls `operand_layouts` and `result_layouts`; all others are dropped. `debug_info` prints
    locations; for programs from HLO text these are their metadata.

    Raises StableHloPrintError, a `LocatedError`, for what StableHLO cannot express.
    """
    if not has_source_operations(module):
        module = FromXla(FROM_XLA).module(module)
    return StableHloPrinter(debug_info).text(module)
