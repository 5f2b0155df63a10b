"""The pass `riscv-repeat-constants`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import riscv_func, rv32, rv64
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter


@dataclass(frozen=True)
class RiscvRepeatConstantsPass(ModulePass):
    """
    Integer constants of a function where they are used, each as often as there are nests of loops
    that use it: else it takes a register from the beginning of the function on.
    """

    name = "riscv-repeat-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, riscv_func.FuncOp) and function.body.blocks:
                _repeat_constants(function.body.block)


def _repeat_constants(block: Block) -> None:
    for op in list(block.ops):
        if not isinstance(op, rv32.LiOp | rv64.LiOp):
            continue
        copies = {block.find_ancestor_op_in_block(use.operation): op for use in op.rd.uses}
        for nest in copies:
            assert nest is not None
            copies[nest] = op.clone()
            Builder(InsertPoint.before(nest)).insert(copies[nest])
        for use in list(op.rd.uses):
            nest = block.find_ancestor_op_in_block(use.operation)
            use.operation.operands[use.index] = copies[nest].rd
        Rewriter.erase_op(op)
