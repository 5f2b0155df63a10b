"""The pass `linalg-fuse-producers-and-siblings`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from lowerings.rewriting.dead_code import remove_dead_code
from lowerings.tensors.fused_generic import emit_generic
from lowerings.tensors.fusion_emission import GroupEmission, emit_scalar
from lowerings.tensors.fusion_plan import FusionPlan
from lowerings.tensors.purity import is_pure


class LinalgFuseProducersAndSiblingsPass(ModulePass):
    """
    Fuses elementwise producers into their consumers, and siblings that iterate over the same input.

    Elementwise producers (with broadcasts, transposes, slices, fills, constants and reshapes) move
    into the bodies of elementwise operations and reductions. Cheap ones may be computed by several
    users; what several need and is not cheap is stored by the first of them, as one more result.
    Nothing but data movement moves into a contraction. It is what XLA's instruction fusion and
    multi-output fusion do, decided at once, for whether a producer is stored depends on both.

    ```
    %e = linalg.generic {.. parallel, parallel} ins(%x) ...  { exp }
    %s = linalg.generic {.. parallel, reduction} ins(%e) ... { addf }
    %d = linalg.generic {.. parallel, parallel} ins(%e, %s) ... { divf }
    // becomes
    %e, %s = linalg.generic {.. parallel, reduction} ins(%x) outs(.., ..) { exp, addf }
    %d = linalg.generic {.. parallel, parallel} ins(%e, %s) ... { divf }
    ```
    """

    name = "linalg-fuse-producers-and-siblings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Goes through every block from the outside in."""
        _fuse_blocks(op.body.block)
        remove_dead_code(op.body.block, is_pure)


def _fuse_blocks(block: Block) -> None:
    """Fuses in a block and in the regions of what is left there."""
    plan = FusionPlan(block)
    for group in plan.groups:
        emission = GroupEmission(plan, group)
        if group.scalar is None:
            emit_generic(emission)
        else:
            emit_scalar(emission, group.scalar)
    remove_dead_code(block, is_pure)
    for op in block.ops:
        if op.name not in _STRUCTURED:
            for region in op.regions:
                for inner in region.blocks:
                    _fuse_blocks(inner)


_STRUCTURED = ("linalg.generic", "linalg.fill")
"""Operations whose regions are bodies."""
