"""The way from the buffers level to Snitch's streams and hardware loops, by xDSL's passes."""

from __future__ import annotations

import warnings

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from xdsl.passes import ModulePass
from xdsl.transforms.arith_add_fastmath import AddArithFastMathFlagsPass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.convert_linalg_to_memref_stream import ConvertLinalgToMemRefStreamPass
from xdsl.transforms.linalg_generalize_named_ops import LinalgGeneralizeNamedOpsPass
from xdsl.transforms.memref_stream_legalize import MemRefStreamLegalizePass
from xdsl.transforms.test_lower_linalg_to_snitch import (
    LOWER_MEMREF_STREAM_TO_SNITCH_STREAM_PASSES,
    LOWER_SNITCH_STREAM_TO_ASM_PASSES,
    OPTIMISE_MEMREF_STREAM_PASSES,
)
from xdsl.utils.exceptions import DiagnosticException

from lowerings.targets.riscv.memref_stream_drop_unused_inputs import (
    MemrefStreamDropUnusedInputsPass,
)
from xla_dialect.diagnostics import XlaError
from xla_dialect.runtime.errors import located_error
from xla_dialect.xdsl.traversal import operations_in

SNITCH: tuple[ModulePass, ...] = (
    # xDSL converts generic operations only, and leaves `linalg.fill` with a yield of another
    # dialect.
    LinalgGeneralizeNamedOpsPass(),
    AddArithFastMathFlagsPass(flags=("contract",)),
    CanonicalizePass(),
    ConvertLinalgToMemRefStreamPass(),
    MemrefStreamDropUnusedInputsPass(),
    MemRefStreamLegalizePass(),
    *OPTIMISE_MEMREF_STREAM_PASSES,
    *LOWER_MEMREF_STREAM_TO_SNITCH_STREAM_PASSES,
    *LOWER_SNITCH_STREAM_TO_ASM_PASSES,
)


def lower_to_snitch(ctx: Context, module: ModuleOp) -> ModuleOp:
    """
    Linalg on memrefs as operations that print as assembly for Snitch.

    Raises XlaError for what xDSL's passes do not convert.
    """
    lowered = module.clone()
    with warnings.catch_warnings():
        # What warnings say of conversions left undone becomes an error.
        warnings.simplefilter("ignore")
        for each in SNITCH:
            try:
                each.apply(ctx, lowered)
            except (AssertionError, DiagnosticException, NotImplementedError) as error:
                raise XlaError(f"{each.name}: {error}") from None
    for op in operations_in(lowered):
        if isinstance(op, UnrealizedConversionCastOp):
            raise located_error(op, "xDSL's passes to Snitch leave a conversion undone")
    return lowered
