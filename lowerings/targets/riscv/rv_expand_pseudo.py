"""
The pass `rv-expand-pseudo`, and the dialect `rv_pseudo`: what is one instruction to register
allocation, and to no processor.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.backend.register_allocatable import RegisterConstraints
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import rv64
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.riscv import ops as riscv
from xdsl.dialects.riscv.abstract_ops import RISCVRegallocOperation
from xdsl.dialects.riscv.attrs import LabelAttr
from xdsl.dialects.riscv.registers import FloatRegisterType, IntRegisterType, Registers
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from xla_dialect.xdsl.traversal import operations_in


@irdl_op_definition
class MoveIfZeroOp(RISCVRegallocOperation):
    """
    A conditional move: `old` where `condition` is not zero, else `new`.

    The result takes the register of `old`, which nothing reads afterwards. After allocation
    `rv-expand-pseudo` makes a move of it and a branch around it.
    """

    name = "rv_pseudo.move_if_zero"

    condition = operand_def(IntRegisterType)
    old = operand_def(IntRegisterType | FloatRegisterType)
    new = operand_def(IntRegisterType | FloatRegisterType)
    rd = result_def(IntRegisterType | FloatRegisterType)

    assembly_format = (
        "$condition `,` $old `,` $new attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        condition: SSAValue | Operation,
        old: SSAValue | Operation,
        new: SSAValue | Operation,
    ):
        old = SSAValue.get(old)
        super().__init__(operands=[condition, old, new], result_types=[old.type])

    def verify_(self) -> None:
        if self.old.type != self.rd.type:
            raise VerifyException("the result takes the register of the first value")
        if not self.old.has_one_use() or self.old.owner.parent is not self.parent:
            raise VerifyException("nothing else may read the register that it overwrites")

    def get_register_constraints(self) -> RegisterConstraints:
        return RegisterConstraints((self.condition, self.new), (), ((self.old, self.results[0]),))


RV_PSEUDO = Dialect("rv_pseudo", [MoveIfZeroOp])


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
