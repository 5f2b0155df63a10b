"""Where the terminators of `cf` go to, and with which values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects import cf
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

Edge: TypeAlias = tuple[Block, Sequence[SSAValue]]
"""A block that control may go to, and the values of its arguments."""

_INDEX_BITS = 64


def flag_bits(op: cf.SwitchOp) -> int:
    """The bits of what decides; those of an address for an `index`."""
    type_: Attribute = op.flag.type
    return type_.bitwidth if isinstance(type_, IntegerType) else _INDEX_BITS


def switch_cases(op: cf.SwitchOp) -> dict[int, tuple[Block, slice]]:
    """
    By its value, without sign, each case with its part of all operands; of equal values the first
    counts.
    """
    found: dict[int, tuple[Block, slice]] = {}
    if op.case_values is None:
        return found
    mask = (1 << flag_bits(op)) - 1
    values = op.case_values.get_values()
    segments = cast("DenseArrayBase[Any]", op.case_operand_segments).get_values()
    start = 1 + len(op.default_operands)
    for value, block, count in zip(values, op.case_blocks, segments, strict=True):
        found.setdefault(int(value) & mask, (block, slice(start, start + int(count))))
        start += int(count)
    return found


def edges_of(op: Operation | None) -> list[Edge] | None:
    """
    Where a terminator goes: if its condition holds, then if not; for the cases of a switch, then
    for all else. None for what is no branch of `cf`.
    """
    match op:
        case cf.BranchOp():
            return [(op.successor, tuple(op.arguments))]
        case cf.ConditionalBranchOp():
            then, otherwise = tuple(op.then_arguments), tuple(op.else_arguments)
            return [(op.then_block, then), (op.else_block, otherwise)]
        case cf.SwitchOp():
            cases = [(block, op.operands[part]) for block, part in switch_cases(op).values()]
            return [*cases, (op.default_block, tuple(op.default_operands))]
        case _:
            return None
