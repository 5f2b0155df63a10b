"""The pass `convert-executed-loops-to-riscv-cf`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import riscv_cf, riscv_scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.riscv import ops as riscv
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import BlockInsertPoint, InsertPoint

from lowerings.targets.riscv.riscv_scf_strength_reduction import EXECUTES


class _LowerLoop(RewritePattern):
    """A loop with its condition at the end only."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: riscv_scf.ForOp, rewriter: PatternRewriter) -> None:
        if EXECUTES not in op.attributes or op.step_attr is None:
            return
        before = op.parent_block()
        assert before is not None
        body, last = op.body.blocks[0], op.body.blocks[-1]
        after = before.split_before(op, arg_types=body.arg_types)
        terminator = last.last_op
        assert isinstance(terminator, riscv_scf.YieldOp)
        index = body.args[0]
        next_index = riscv.AddiOp(index, op.step_attr.value.data, rd=index.type)  # pyright: ignore
        values = (next_index.rd, *terminator.operands)
        again = riscv_cf.BneOp(next_index.rd, op.stop, values, values, body, after)
        rewriter.replace(terminator, (next_index, again))
        rewriter.inline_region(op.body, BlockInsertPoint.before(after))
        first = riscv.MVOp(op.start, rd=index.type)  # pyright: ignore
        enter = riscv_cf.BranchOp((first.rd, *op.iter_args), body)
        rewriter.insert((first, enter), InsertPoint.at_end(before))
        rewriter.insert(riscv.LabelOp(f"loop_{self.number}"), InsertPoint.at_start(body))
        self.number += 1
        rewriter.replace(op, (), after.args[1:])


@dataclass(frozen=True)
class ConvertExecutedLoopsToRiscvCfPass(ModulePass):
    """
    Loops that are known to have an iteration, in allocated registers, to branches.

    xDSL's own conversion, which takes the others, asks before each loop whether it has one.

    ```mlir
    riscv_scf.for %i : !riscv.reg<t0> = %a : !riscv.reg<t1> to %b : !riscv.reg<t2> step 8 : si12 {
      ...
    } {executes}
    ```
    becomes
    ```
        mv t0, t1
    loop_0:
        ...
        addi t0, t0, 8
        bne t0, t2, loop_0
    ```
    """

    name = "convert-executed-loops-to-riscv-cf"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(_LowerLoop(), walk_regions_first=True).rewrite_module(op)
