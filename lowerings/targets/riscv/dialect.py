"""The dialect `rv_pseudo`: what is one instruction to register allocation, and to no processor."""

from __future__ import annotations

from xdsl.backend.register_allocatable import RegisterConstraints
from xdsl.dialects.riscv.abstract_ops import RISCVRegallocOperation
from xdsl.dialects.riscv.registers import FloatRegisterType, IntRegisterType
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException


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
