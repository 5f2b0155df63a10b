"""Schedules of a file in the place of planned ones."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

from xdsl.ir import Operation

from lowerings.loops.admission import reason_against
from lowerings.loops.body import Body
from lowerings.loops.initial_values import foldable_fills
from lowerings.loops.nest import nest_of
from lowerings.loops.views import collapse_groups
from lowerings.schedules.operation_key import operation_key
from lowerings.schedules.schedule import Schedule, ScheduleWarning
from lowerings.schedules.schedule_file import ScheduleFile, read_schedule_file


@dataclass(frozen=True)
class GivenSchedules:
    """The schedules of a file for one processor."""

    file: ScheduleFile
    processor: str

    @staticmethod
    def of(path: str, processor: str) -> GivenSchedules | None:
        """Those of a file, None without one; raises XlaError for one that cannot be read."""
        return GivenSchedules(read_schedule_file(path), processor) if path else None

    def schedule_for(self, op: Operation) -> Schedule | None:
        """
        The schedule of an operation, with those of its folded fills that it has here.

        None, after a warning, for one that the operation does not admit; None if there is none.
        """
        entry = self.file.entry(operation_key(op), self.processor)
        if entry is None:
            return None
        if reason := reason_against(op, entry.schedule):
            message = f"{entry.place}: {op.name} does not admit this schedule: {reason}"
            warnings.warn(message, ScheduleWarning, stacklevel=2)
            return None
        return with_fills(op, entry.schedule)


def with_fills(op: Operation, schedule: Schedule) -> Schedule:
    """An admitted schedule with those of its folded fills for which there is a fill before."""
    if not schedule.folded_fills:
        return schedule
    nest = collapse_groups(nest_of(op, ""), schedule.collapsed)
    found = foldable_fills(nest, Body(nest), schedule.steps)
    return replace(schedule, folded_fills=tuple(o for o in schedule.folded_fills if o in found))
