"""`cf`: which block of a function comes next, and with which values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects import cf
from xdsl.ir import Block, Operation

from lowerings.ir.branches import flag_bits, switch_cases
from xla_dialect.xdsl.operation_table import OperationTable

Jump: TypeAlias = Callable[[Sequence[Any]], tuple[Block, Sequence[Any]]]
"""From the operands of a terminator to the next block, and the values of its arguments."""


def branch(op: cf.BranchOp) -> Jump:
    """Always to the same block."""
    return lambda operands: (op.successor, operands)


def conditional_branch(op: cf.ConditionalBranchOp) -> Jump:
    """To one of two blocks."""
    end = 1 + len(op.then_arguments)

    def jump(operands: Sequence[Any]) -> tuple[Block, Sequence[Any]]:
        if operands[0]:
            return op.then_block, operands[1:end]
        return op.else_block, operands[end:]

    return jump


def switch(op: cf.SwitchOp) -> Jump:
    """To the block of a value, else to the default one."""
    cases, mask = switch_cases(op), (1 << flag_bits(op)) - 1
    otherwise = op.default_block, slice(1, 1 + len(op.default_operands))

    def jump(operands: Sequence[Any]) -> tuple[Block, Sequence[Any]]:
        block, part = cases.get(int(operands[0]) & mask, otherwise)
        return block, operands[part]

    return jump


JUMPS: Mapping[type[Operation], Callable[[Any], Jump]] = OperationTable[Callable[[Any], Jump]](
    {cf.BranchOp: branch, cf.ConditionalBranchOp: conditional_branch, cf.SwitchOp: switch}
)
"""Where terminators go to; all others leave the function."""

TERMINATORS = frozenset(op.name for op in JUMPS)
