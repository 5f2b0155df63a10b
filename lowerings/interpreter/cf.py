"""`cf`: which block of a function comes next, and with which values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import cf
from xdsl.ir import Block, Operation

from lowerings.ir.branches import flag_bits, switch_cases
from xla_dialect.violations import located_error

TERMINATORS = frozenset(op.name for op in (cf.BranchOp, cf.ConditionalBranchOp, cf.SwitchOp))
"""Those that go on in another block; all others leave the function."""


def successor(op: Operation, operands: Sequence[Any]) -> tuple[Block, Sequence[Any]]:
    """The next block, and the values of its arguments; raises for terminators not known."""
    match op:
        case cf.BranchOp():
            return op.successor, operands
        case cf.ConditionalBranchOp():
            end = 1 + len(op.then_arguments)
            if operands[0]:
                return op.then_block, operands[1:end]
            return op.else_block, operands[end:]
        case cf.SwitchOp():
            otherwise = op.default_block, slice(1, 1 + len(op.default_operands))
            value = int(operands[0]) & ((1 << flag_bits(op)) - 1)
            block, part = switch_cases(op).get(value, otherwise)
            return block, operands[part]
        case _:
            raise located_error(op, "the interpreter does not know this terminator")
