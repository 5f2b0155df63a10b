"""The pass `linalg-fuse-producers-and-siblings`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from lowerings.rewriting.counting import attempt
from lowerings.rewriting.dead_code import remove_dead_code
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.tensors.fusion_decisions import remove_decision, take_decisions
from lowerings.tensors.fusion_emission import GroupEmission, emit_generic, emit_scalar
from lowerings.tensors.fusion_graph import FusionGroup
from lowerings.tensors.fusion_plan import FusionPlan, FusionRemarks
from lowerings.tensors.purity import is_pure


@dataclass(frozen=True)
class LinalgFuseProducersAndSiblingsPass(ModulePass):
    """
    Fuses elementwise producers into their consumers, and siblings that iterate over the same input.

    Elementwise producers (with broadcasts, transposes, slices, fills, constants and reshapes) move
    into the bodies of elementwise operations and reductions. Cheap ones may be computed by several
    users; what several need and is not cheap is stored by the first of them, as one more result.
    Nothing but data movement moves into a contraction. It is what XLA's instruction fusion and
    multi-output fusion do, decided at once, for whether a producer is stored depends on both.

    What `fusion.group`, `fusion.inline` and `fusion.alone` decide, as `linalg-plan-fusion` and
    people write them, is done; where it cannot be, the pass fails with the place and the reason.
    An operation that has a schedule stays as it is.

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
    takes = ON_TENSORS

    file: str = ""
    """A file of decisions for operations that carry none."""
    print_reasons: bool = False
    """Says on stderr what is computed with what, and why or why not."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        take_decisions(self.file, op)
        fuse(op, FusionRemarks(op).print_plan if self.print_reasons else _ignore)


def _ignore(plan: FusionPlan) -> None:
    """Nobody wants to know."""


def fuse(module: ModuleOp, planned: Callable[[FusionPlan], None]) -> None:
    """
    Fuses in every block from the outside in; `planned` is called with what is going to be done.

    Raises PassFailedException for decisions that cannot be followed.
    """
    remove_dead_code(module.body.block, is_pure)
    _fuse_blocks(module.body.block, planned)
    remove_dead_code(module.body.block, is_pure)


def _fuse_blocks(block: Block, planned: Callable[[FusionPlan], None]) -> None:
    """Fuses in a block and in the regions of what is left there."""
    plan = FusionPlan(block)
    planned(plan)
    for group in plan.groups:
        attempt(partial(_emit, plan, group))
    for op in plan.given:
        remove_decision(op)
    plan.forget_places()
    remove_dead_code(block, is_pure, in_regions=False)
    for op in block.ops:
        if op.name not in _STRUCTURED:
            for region in op.regions:
                for inner in region.blocks:
                    _fuse_blocks(inner, planned)


def _emit(plan: FusionPlan, group: FusionGroup) -> None:
    emission = GroupEmission(plan, group)
    if group.scalar is None:
        emit_generic(emission)
    else:
        emit_scalar(emission, group.scalar)


_STRUCTURED = ("linalg.generic", "linalg.fill")
"""Operations whose regions are bodies."""
