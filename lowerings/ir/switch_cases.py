"""The cases of `cf.switch`, whose operands are written one after another."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import cf
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Block

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
