"""The pass `rv-expand-pseudo`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import rv64
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.riscv import ops as riscv
from xdsl.dialects.riscv.attrs import LabelAttr
from xdsl.dialects.riscv.registers import FloatRegisterType, Registers
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from lowerings.targets.riscv.dialect import MoveIfZeroOp
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class RvExpandPseudoPass(ModulePass):
    """
    Conditional moves in allocated registers to branches around moves.

    The last pass: what comes out is right as text, where the move writes the register of another
    value, and no longer as a data flow graph.

    `rv_pseudo.move_if_zero`, its condition in `t0`, the old value in `ft0`, the new one in `ft1`,
    becomes
    ```
        bne t0, zero, kept_0
        fmv.d ft0, ft1
    kept_0:
    ```
    """

    name = "rv-expand-pseudo"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        moves = [each for each in operations_in(op) if isinstance(each, MoveIfZeroOp)]
        for number, move in enumerate(moves):
            builder = Builder(InsertPoint.before(move))
            zero = builder.insert(rv64.GetRegisterOp(Registers.ZERO))
            label = LabelAttr(f"kept_{number}")
            builder.insert(riscv.BneOp(move.condition, zero, label))
            is_float = isinstance(move.rd.type, FloatRegisterType)
            kind = riscv.FMvDOp if is_float else riscv.MVOp
            moved = builder.insert(kind(move.new, rd=move.rd.type))  # pyright: ignore
            builder.insert(riscv.LabelOp(label))
            move.rd.replace_all_uses_with(moved.rd)
            Rewriter.erase_op(move)
