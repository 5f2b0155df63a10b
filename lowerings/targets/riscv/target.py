"""
The target `xdsl-riscv-asm`: the way from scalar loops to assembly through xDSL's RISC-V backend,
and from the buffers level to Snitch's streams and hardware loops.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from xdsl.backend.assembly_printer import AssemblyPrintable
from xdsl.backend.register_stack import OutOfRegisters
from xdsl.backend.riscv.lowering.convert_arith_to_riscv import ConvertArithToRiscvPass
from xdsl.backend.riscv.lowering.convert_func_to_riscv_func import ConvertFuncToRiscvFuncPass
from xdsl.backend.riscv.lowering.convert_memref_to_riscv import ConvertMemRefToRiscvPass
from xdsl.backend.riscv.lowering.convert_riscv_scf_to_riscv_cf import ConvertRiscvScfToRiscvCfPass
from xdsl.backend.riscv.lowering.convert_scf_to_riscv_scf import ConvertScfToRiscvPass
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.riscv.abstract_ops import print_assembly
from xdsl.passes import ModulePass
from xdsl.transforms.arith_add_fastmath import AddArithFastMathFlagsPass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.convert_linalg_to_memref_stream import ConvertLinalgToMemRefStreamPass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.transforms.linalg_generalize_named_ops import LinalgGeneralizeNamedOpsPass
from xdsl.transforms.memref_stream_legalize import MemRefStreamLegalizePass
from xdsl.transforms.reconcile_unrealized_casts import ReconcileUnrealizedCastsPass
from xdsl.transforms.riscv_allocate_registers import RISCVAllocateRegistersPass
from xdsl.transforms.riscv_lower_parallel_mov import RISCVLowerParallelMovPass
from xdsl.transforms.riscv_scf_for_infer_constant_step import RiscvScfForInferConstantStepPass
from xdsl.transforms.test_lower_linalg_to_snitch import (
    LOWER_MEMREF_STREAM_TO_SNITCH_STREAM_PASSES,
    LOWER_SNITCH_STREAM_TO_ASM_PASSES,
    OPTIMISE_MEMREF_STREAM_PASSES,
)
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from lowerings.rewriting.passes import require_at_least
from lowerings.targets.riscv.adaptations import (
    ConvertExecutedLoopsToRiscvCfPass,
    MemrefStreamDropUnusedInputsPass,
    RiscvRemoveRedundantMovesPass,
    RiscvRepeatConstantsPass,
    RiscvScfLegalizeYieldsPass,
    RvExpandPseudoPass,
)
from lowerings.targets.riscv.convert_loops_to_rv64 import ConvertLoopsToRv64Pass, require_lowerings
from lowerings.targets.riscv.riscv_scf_strength_reduction import RiscvScfStrengthReductionPass
from lowerings.targets.riscv.scf_unroll_and_jam import ScfUnrollAndJamPass
from xla_dialect.diagnostics import XlaError
from xla_dialect.violations import located_error
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class RegisterTile:
    """What the schedule of a kernel decides."""

    rows: int
    columns: int
    steps: int
    hoisted_loads: int
    pointers: bool = True
    """Whether loops carry the addresses of what they access; else each access computes its own."""

    @property
    def unrolling(self) -> tuple[ModulePass, ...]:
        """The passes on scalar loops; what they make can be compiled in any other way, too."""
        return (
            ScfUnrollAndJamPass(self.columns, self.rows, steps=self.steps),
            CanonicalizePass(),
            CommonSubexpressionElimination(),
        )

    @property
    def lowering(self) -> tuple[ModulePass, ...]:
        """
        The passes from unrolled loops to what is printed. In between nothing may fold constants:
        xDSL makes immediate operands of them that no instruction can hold.
        """
        strength = RiscvScfStrengthReductionPass(hoisted_loads=self.hoisted_loads)
        return (
            ConvertLoopsToRv64Pass(),
            ConvertMemRefToRiscvPass(),
            ConvertScfToRiscvPass(),
            ConvertArithToRiscvPass(),
            ConvertFuncToRiscvFuncPass(),
            ReconcileUnrealizedCastsPass(),
            RiscvScfForInferConstantStepPass(),
            *((strength,) if self.pointers else ()),
            DeadCodeElimination(),
            RiscvRepeatConstantsPass(inside=not self.pointers),
            RiscvScfLegalizeYieldsPass(),
            RISCVAllocateRegistersPass(),
            ConvertExecutedLoopsToRiscvCfPass(),
            ConvertRiscvScfToRiscvCfPass(),
            RISCVLowerParallelMovPass(),
            RiscvRemoveRedundantMovesPass(),
            RvExpandPseudoPass(),
        )


TILES: tuple[RegisterTile, ...] = (
    *(
        RegisterTile(rows, columns, steps, hoisted_loads)
        for rows, columns in ((2, 4), (1, 4), (1, 2), (1, 1))
        for steps in (4, 1)
        for hoisted_loads in (10, 0)
    ),
    RegisterTile(1, 1, 1, 0, pointers=False),
)
"""The larger first."""


def lower(
    ctx: Context, module: ModuleOp, tiles: Sequence[RegisterTile] = TILES
) -> tuple[ModuleOp, RegisterTile]:
    """
    Scalar loops as operations that print as assembly, and the tile that was chosen: the first that
    xDSL's register allocator, which does not spill, finds registers for.

    Raises XlaError for operations that have no lowering, and where registers never suffice.
    """
    for tile in tiles:
        lowered = module.clone()
        try:
            for each in tile.unrolling:
                each.apply(ctx, lowered)
            require_lowerings(lowered)
            for each in tile.lowering:
                each.apply(ctx, lowered)
            return lowered, tile
        except OutOfRegisters:
            continue
    raise XlaError("the registers do not suffice, and xDSL's allocator cannot spill")


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


@dataclass(frozen=True)
class XdslRiscvAssemblyTarget(Target):
    """
    RV64GC assembly by xDSL's own backend, for loops over scalars or for its RISC-V dialects; with
    `snitch=true` for linalg on memrefs, with Snitch's streams and hardware loops.

    A function takes a pointer for each memref, as in C. `rows` and `columns` are the iterations of
    the two innermost parallel loops that run together, `steps` those of a long reduction,
    `hoisted_loads` how many loads at most are moved before a loop; without them the largest tile is
    taken that registers suffice for.
    """

    name = "xdsl-riscv-asm"

    rows: int = 0
    """Iterations of the second innermost parallel loop that run together."""
    columns: int = 0
    """Iterations of the innermost parallel loop that run together."""
    steps: int = 0
    """Iterations of a long reduction that follow each other in one."""
    hoisted_loads: int = 0
    """How many loads at most are moved before a loop."""
    snitch: bool = False
    """Whether it is for Snitch, with its streams and hardware loops."""

    def __post_init__(self) -> None:
        require_at_least(0, rows=self.rows, columns=self.columns, steps=self.steps)
        require_at_least(0, hoisted_loads=self.hoisted_loads)

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Writes the assembly; raises XlaError without a lowering, or registers, for it."""
        if self.snitch:
            module = lower_to_snitch(ctx, module)
        elif any(isinstance(op, FuncOp) for op in module.ops):
            rows, columns, steps = (max(1, size) for size in (self.rows, self.columns, self.steps))
            tile = RegisterTile(rows, columns, steps, self.hoisted_loads)
            is_given = self.rows or self.columns or self.steps or self.hoisted_loads
            chosen = (tile, TILES[-1]) if is_given else TILES
            module, _ = lower(ctx, module, chosen)
        for op in module.body.walk():
            if not isinstance(op, AssemblyPrintable):
                raise located_error(op, "there is no assembly for it")
        print_assembly(module, output)
