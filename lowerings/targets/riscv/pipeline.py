"""The way from scalar loops to assembly through xDSL's RISC-V backend, and to Snitch's streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.backend.register_stack import OutOfRegisters
from xdsl.backend.riscv.lowering.convert_arith_to_riscv import ConvertArithToRiscvPass
from xdsl.backend.riscv.lowering.convert_func_to_riscv_func import ConvertFuncToRiscvFuncPass
from xdsl.backend.riscv.lowering.convert_memref_to_riscv import ConvertMemRefToRiscvPass
from xdsl.backend.riscv.lowering.convert_riscv_scf_to_riscv_cf import ConvertRiscvScfToRiscvCfPass
from xdsl.backend.riscv.lowering.convert_scf_to_riscv_scf import ConvertScfToRiscvPass
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.transforms.reconcile_unrealized_casts import ReconcileUnrealizedCastsPass
from xdsl.transforms.riscv_allocate_registers import RISCVAllocateRegistersPass
from xdsl.transforms.riscv_lower_parallel_mov import RISCVLowerParallelMovPass
from xdsl.transforms.riscv_scf_for_infer_constant_step import RiscvScfForInferConstantStepPass

from lowerings.targets.riscv.convert_executed_loops_to_riscv_cf import (
    ConvertExecutedLoopsToRiscvCfPass,
)
from lowerings.targets.riscv.convert_loops_to_rv64 import ConvertLoopsToRv64Pass, require_lowerings
from lowerings.targets.riscv.riscv_remove_redundant_moves import RiscvRemoveRedundantMovesPass
from lowerings.targets.riscv.riscv_repeat_constants import RiscvRepeatConstantsPass
from lowerings.targets.riscv.riscv_scf_legalize_yields import RiscvScfLegalizeYieldsPass
from lowerings.targets.riscv.riscv_scf_strength_reduction import RiscvScfStrengthReductionPass
from lowerings.targets.riscv.rv_expand_pseudo import RvExpandPseudoPass
from lowerings.targets.riscv.scf_unroll_and_jam import ScfUnrollAndJamPass
from xla_dialect.diagnostics import XlaError


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
