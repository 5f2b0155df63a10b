"""`dynamic-slice(x, i)` with all starts in one array of rank 1, as older HLO text has it.

Each start becomes a slice of that array, reshaped to a scalar: the dialect, and HLO today, has one
scalar per dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import SSAValue

from xla_dialect.hlo_text.syntax import Instruction
from xla_dialect.op import XlaOp
from xla_dialect.ops.data_movement import ReshapeOp, SliceOp
from xla_dialect.spelling import SpellingError
from xla_dialect.types import Array, array, extents, is_array, spell

FIRST_INDEX = {"dynamic-slice": 1, "dynamic-update-slice": 2}
"""Which operand is the first start."""


def index_vector(instruction: Instruction, values: Mapping[str, SSAValue]) -> SSAValue | None:
    """
    The array of rank 1 that holds all starts; None if the instruction has them one by one.

    Raises SpellingError, its position one in the whole text, at an array that does not have one
    start for each dimension.
    """
    first = FIRST_INDEX.get(instruction.opcode)
    if first is None or len(instruction.operands) != first + 1:
        return None
    operand, starts = (values.get(instruction.operands[i].name) for i in (0, first))
    if operand is None or starts is None:
        return None
    if not (is_array(starts.type) and is_array(operand.type)):
        return None
    vector = starts.type
    rank = len(operand.type.shape.data)
    if len(vector.shape.data) != 1:
        return None
    if vector.get_shape() != (rank,):
        position = instruction.operands[first].start
        message = f"{spell(vector)} does not hold one start for each of {rank} dimensions"
        raise SpellingError(message, position)
    return starts


def start_scalars(vector: SSAValue, location: LocationAttr) -> list[XlaOp]:
    """For every element of an array of rank 1 a slice and, right after it, the scalar."""
    scalar = array(cast(Array, vector.type).element_type, ())
    ops: list[XlaOp] = []
    for i in range(extents(cast(Array, vector.type))[0]):
        part = SliceOp(vector, start_indices=[i], limit_indices=[i + 1], strides=[1])
        ops += [part, ReshapeOp(part, result_types=[scalar])]
    for op in ops:
        op.location = location
    return ops


def with_scalars(instruction: Instruction, names: Iterable[str]) -> Instruction:
    """The instruction with values of these names in place of its array."""
    before = instruction.operands[: FIRST_INDEX[instruction.opcode]]
    last = instruction.operands[-1]
    operands = [*before, *(replace(last, name=name, type=None) for name in names)]
    return replace(instruction, operands=operands)
