"""The pass `riscv-remove-redundant-moves`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.transforms.canonicalization_patterns.riscv import (
    RemoveRedundantFMv,
    RemoveRedundantFMvD,
    RemoveRedundantMv,
)


@dataclass(frozen=True)
class RiscvRemoveRedundantMovesPass(ModulePass):
    """
    Removes moves from a register to itself.

    They are xDSL's patterns of canonicalization, without those that fold constants into operands
    too small for them. In `mv t0, t1; mv t1, t1` the second becomes nothing.
    """

    name = "riscv-remove-redundant-moves"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns: list[RewritePattern] = [
            RemoveRedundantMv(),
            RemoveRedundantFMv(),
            RemoveRedundantFMvD(),
        ]
        PatternRewriteWalker(GreedyRewritePatternApplier(patterns)).rewrite_module(op)
