"""Whether an operation admits a schedule: all rules, also those that show as loops are written."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from lowerings.dialects.schedule import Schedule, set_schedule
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import FunctionConstants
from lowerings.loops.schedule_rules import scheduled_nest
from xla_dialect.xdsl.traversal import free_values


def reason_against(op: Operation, schedule: Schedule) -> str | None:
    """
    Why an operation does not admit a schedule; None if it does.

    Whether outputs can start from a fill is not asked: that depends on what stands before the
    operation. It takes as long as to convert the operation.
    """
    schedule = replace(schedule, folded_fills=())
    block = Block()
    values: dict[SSAValue, SSAValue] = {}
    for value in free_values(op):
        if isinstance(value.owner, arith.ConstantOp):
            constant = value.owner.clone()
            block.add_op(constant)
            values[value] = constant.result
        else:
            values[value] = block.insert_arg(value.type, len(block.args))
    copy = op.clone(values)
    block.add_op(copy)
    set_schedule(copy, schedule)
    builder = LoopBuilder(FunctionConstants(block))
    try:
        scheduled_nest(copy, "", builder.constants).emit(builder, "")
    except PassFailedException as error:
        return str(error).rpartition("schedule: ")[2]
    return None
