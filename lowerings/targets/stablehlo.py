"""The output formats `stablehlo` and `stablehlo-bytecode`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from lowerings.expand.xla_expand_bitcast import XlaExpandBitcastPass
from lowerings.targets.binary_target import BinaryTarget
from xla_dialect.analysis.mixed_precision import in_one_precision
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.data_movement import BitcastOp
from xla_dialect.stablehlo.writing import print_stablehlo, stablehlo_module
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
        output.write(print_stablehlo(_expressible(ctx, module), debug_info=self.debug_info))


@dataclass(frozen=True)
class StableHloBytecodeTarget(BinaryTarget):
    """
    A portable artifact of StableHLO for a module of the xla level: MLIR bytecode.

    Readers of StableHLO from `version` on take it.
    """

    name = "stablehlo-bytecode"

    version: str = "1.7.0"
    """The version of StableHLO that it is for, from 1.0.0 on."""

    def content(self, ctx: Context, module: ModuleOp) -> bytes:
        """The artifact; raises XlaError for what the version of StableHLO does not have."""
        match = _VERSION.fullmatch(self.version)
        if match is None:
            raise XlaError(f"target '{self.name}': {self.version!r} is no version like 1.7.0")
        # It loads the readers of all binary formats.
        from xla_dialect.binary import write_artifact  # noqa: PLC0415

        major, minor, patch = map(int, match.groups())
        return write_artifact(stablehlo_module(_expressible(ctx, module)), (major, minor, patch))


_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})")


def _expressible(ctx: Context, module: ModuleOp) -> ModuleOp:
    """The module without what StableHLO has no operation for."""
    module = in_one_precision(module)
    if any(isinstance(op, BitcastOp) for op in operations_in(module)):
        module = module.clone()
        XlaExpandBitcastPass().apply(ctx, module)
    return module
