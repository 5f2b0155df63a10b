"""The pass `riscv-scf-legalize-yields`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import riscv_scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.riscv import ops as riscv
from xdsl.dialects.riscv.registers import FloatRegisterType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class RiscvScfLegalizeYieldsPass(ModulePass):
    """
    Copies of what loops yield where register allocation needs them.

    xDSL's allocator gives a value that a loop carries, the one it begins with and the one that the
    loop yields the same register, and does not ask whether they live at the same time. Here the
    three are made to live one after the other: a value is copied before the loop unless the loop is
    its only use, and at the end of the loop if it is yielded before the carried one is used last.

    ```mlir
    riscv_scf.for ... iter_args(%x = %p) -> (!riscv.reg) {
      %sum = riscv.addi %x, 8 : (!riscv.reg) -> !riscv.reg
      riscv.fsd %x, %v, 0 : (!riscv.reg, !riscv.freg) -> ()
      riscv_scf.yield %sum : !riscv.reg
    }
    ```
    becomes
    ```mlir
    %first = riscv.mv %p : (!riscv.reg) -> !riscv.reg
    riscv_scf.for ... iter_args(%x = %first) -> (!riscv.reg) {
      %sum = riscv.addi %x, 8 : (!riscv.reg) -> !riscv.reg
      riscv.fsd %x, %v, 0 : (!riscv.reg, !riscv.freg) -> ()
      %0 = riscv.mv %sum : (!riscv.reg) -> !riscv.reg
      %next = riscv.mv %0 : (!riscv.reg) -> !riscv.reg
      riscv_scf.yield %next : !riscv.reg
    }
    ```
    """

    name = "riscv-scf-legalize-yields"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in operations_in(op):
            if isinstance(loop, riscv_scf.ForOp):
                _copy_initial_values(loop)
                _copy_yielded_values(loop)


def _copy(builder: Builder, value: SSAValue) -> SSAValue:
    """A copy in another register: of a float, all 64 bits of it, whatever its type."""
    kind = riscv.FMvDOp if isinstance(value.type, FloatRegisterType) else riscv.MVOp
    return builder.insert(kind(value)).rd


def _copy_initial_values(loop: riscv_scf.ForOp) -> None:
    before = Builder(InsertPoint.before(loop))
    first = len(loop.operands) - len(loop.iter_args)
    for number, value in enumerate(loop.iter_args, first):
        owner = value.owner
        is_fresh = (
            isinstance(owner, Operation)
            and owner.parent is loop.parent
            and not isinstance(owner, riscv_scf.ForOp)
            and value.has_one_use()
        )
        if not is_fresh:
            loop.operands[number] = _copy(before, value)


def _copy_yielded_values(loop: riscv_scf.ForOp) -> None:
    block = loop.body.block
    terminator = block.last_op
    assert terminator is not None
    carried = block.args[1:]
    wrong = [
        number
        for number, value in enumerate(terminator.operands)
        if not _replaces(value, carried[number], block)
    ]
    end = Builder(InsertPoint.before(terminator))
    # All are read before one is written: they may be each other's.
    copies = [_copy(end, terminator.operands[number]) for number in wrong]
    for number, copied in zip(wrong, copies, strict=True):
        terminator.operands[number] = _copy(end, copied)


def _replaces(value: SSAValue, carried: SSAValue, block: Block) -> bool:
    """Whether a value of a block can take the register of a carried one when it is computed."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.parent is not block:
        return False
    if sum(operand is value for operand in block.last_op.operands) > 1:  # pyright: ignore
        return False
    if isinstance(owner, riscv_scf.ForOp):
        # Its register is written while the loop runs.
        return not any(_within(use.operation, block) is owner for use in carried.uses) and (
            _last_use(carried, block) < block.get_operation_index(owner)
        )
    return _last_use(carried, block) <= block.get_operation_index(owner)


def _last_use(value: SSAValue, block: Block) -> int:
    places = [block.get_operation_index(_within(use.operation, block)) for use in value.uses]
    return max(places, default=-1)


def _within(op: Operation, block: Block) -> Operation:
    """The operation of a block that an operation is, or is inside of."""
    found = block.find_ancestor_op_in_block(op)
    assert found is not None
    return found
