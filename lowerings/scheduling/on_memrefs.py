"""
Linalg operations on tensors as they will be on memrefs: their loops are the same, and what
schedules may ask of them is known there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg.ops import FillOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lowerings.bufferize.strided import identity_type
from lowerings.bufferize.tensor_operands import is_tensor, linalg_inputs, linalg_outputs
from lowerings.dialects.schedule import ScheduleError, schedule_of
from lowerings.loops.nest import NESTS, Nest, nest_of
from lowerings.loops.schedule_rules import located, loops_by
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.traversal import free_values, operations_in


@dataclass(frozen=True)
class _OnMemrefs:
    """A linalg operation on dense memrefs, in a block of its own."""

    op: Operation
    fills: Mapping[Operation, Operation]
    """What fills its outputs right before, with what does on tensors."""


def is_on_tensors(op: Operation) -> bool:
    """Whether an operation that can have a schedule is one on tensors."""
    return type(op) in NESTS and any(is_tensor(operand) for operand in op.operands)


def nest_on_memrefs(op: Operation, asker: str) -> Nest:
    """The nest of a linalg operation, for one on tensors as it will be; raises as `nest_of`."""
    return nest_of(on_memrefs(op).op if is_on_tensors(op) else op, asker)


def on_memrefs(op: Operation) -> _OnMemrefs:
    """A copy of a linalg operation on tensors, with the fills of its outputs, on memrefs."""
    block = Block()
    values: dict[SSAValue, SSAValue] = {}

    def own(value: SSAValue) -> SSAValue:
        if value not in values:
            owner = value.owner
            if isinstance(owner, arith.ConstantOp) and not is_tensor(value):
                constant = owner.clone()
                block.add_op(constant)
                values[value] = constant.result
            else:
                values[value] = _argument(block, value)
        return values[value]

    inputs = [own(value) for value in linalg_inputs(op)]
    # Each output has memory of its own, whatever it starts from.
    outputs = [_argument(block, value) for value in linalg_outputs(op)]
    fills: dict[Operation, Operation] = {}
    for value, output in zip(linalg_outputs(op), outputs, strict=True):
        if isinstance(value.owner, FillOp):
            scalar = own(value.owner.inputs[0])
            fill = _copied(value.owner, [scalar, output], values)
            block.add_op(fill)
            fills[fill] = value.owner
    for value in free_values(op.regions[0]):
        own(value)
    copy = _copied(op, [*inputs, *outputs], values)
    for inner in operations_in(copy.regions[0]):
        if isinstance(inner, tensor.ExtractOp):
            _load(inner)
    block.add_op(copy)
    return _OnMemrefs(copy, fills)


def _argument(block: Block, value: SSAValue) -> SSAValue:
    """A new argument for a value, a dense memref for a tensor."""
    type_ = value.type
    if isinstance(type_, TensorType):
        type_ = identity_type(cast("TensorType[Attribute]", type_))
    return block.insert_arg(type_, len(block.args))


def _copied(
    op: Operation, operands: list[SSAValue], values: Mapping[SSAValue, SSAValue]
) -> Operation:
    region = Region()
    op.regions[0].clone_into(region, value_mapper=dict(values))
    copy = create(type(op), operands=operands, properties=dict(op.properties), regions=[region])
    copy.location = op.location
    return copy


def _load(extract: tensor.ExtractOp) -> None:
    load = memref.LoadOp.get(extract.tensor, list(extract.indices))
    block = extract.parent
    assert block is not None
    block.insert_op_before(load, extract)
    extract.result.replace_all_uses_with(load.res)
    block.erase_op(extract)


def broken_rule(op: Operation, asker: str) -> ScheduleError | None:
    """
    The rule that the schedule of an operation breaks; None if it breaks none.

    Raises PassFailedException for arrays of unknown sizes.
    """
    schedule = schedule_of(op)
    assert schedule is not None
    try:
        loops_by(nest_on_memrefs(op, asker), schedule)
    except ScheduleError as error:
        return error
    return None


def require_admitted(op: Operation, asker: str) -> None:
    """Raises PassFailedException, with the place, for an operation whose schedule breaks a rule."""
    error = broken_rule(op, asker)
    if error is not None:
        raise located(op, asker, error)
