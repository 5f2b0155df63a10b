"""How a module that was lowered by any pipeline, or comes from a text, goes on to machine code."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.bufferize.xla_plan_buffers import XlaPlanBuffersPass, unplannable
from lowerings.driver.levels import level_of
from lowerings.driver.pass_manager import ScheduledPass, parse_passes
from lowerings.pipelines import LEVELS, NATIVE
from lowerings.rewriting.levels import ON_BUFFERS, Level
from xla_dialect.xdsl.traversal import operations_in

_EXECUTABLE = "expand-small-floats,expand-math"
"""What brings loops, whoever wrote them, to operations that machine code has."""


def level_reached(module: ModuleOp, schedule: Sequence[ScheduledPass]) -> Level | None:
    """
    The level at which a pipeline has left a module: that of the last pass of a named pipeline, if
    the module is at that one. None for the xla level, before the passes that lead to it.
    """
    found = level_of(module)
    levels = [each.group[1] for each in schedule if each.group]
    last = levels[-1] if levels else None
    if found == LEVELS[0]:
        return found if last == found else None
    # To have a schedule shows in no type.
    return "schedules" if (found, last) == ("buffers", "schedules") else found


def unplanned_buffers(module: ModuleOp, here: Level | None) -> tuple[ModulePass, ...]:
    """
    The pass that gives allocations a place in an arena, if there are any and all can have one: what
    is allocated in a call would never be freed, unless the program does it.
    """
    if here not in ON_BUFFERS or not any(
        type(op) is memref.AllocOp for op in operations_in(module)
    ):
        return ()
    return () if unplannable(module) else (XlaPlanBuffersPass(),)


def continuing(module: ModuleOp) -> str:
    """The pipeline that brings a module, of whatever level, to that of machine code."""
    here = level_of(module)
    if here == LEVELS[0]:
        return "native"
    first = (str(each.spec()) for each in unplanned_buffers(module, here))
    return ",".join((*first, _EXECUTABLE if here == LEVELS[-1] else f"native{{from={here}}}"))


def finishing(here: Level | None, level: str) -> tuple[ModulePass, ...]:
    """The passes for a module that was at the level of machine code already."""
    return parse_passes(_EXECUTABLE) if here == level == NATIVE[-1].level else ()
