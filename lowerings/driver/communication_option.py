"""The option of tools about communication: a pass that reports it."""

from __future__ import annotations

from collections.abc import Sequence

from lowerings.driver.pass_manager import ScheduledPass, parse_schedule

REPORT = "xla-report-communication"
PARTITIONING = ("xla-partition", "xla-combine-collectives")
"""The passes after which a program is that of one device."""


def with_communication_report(schedule: Sequence[ScheduledPass]) -> tuple[ScheduledPass, ...]:
    """Passes with the report, as soon as the program is that of one device: maybe at once."""
    places = [i for i, each in enumerate(schedule, 1) if each.module_pass.name in PARTITIONING]
    place = max(places, default=0)
    return (*schedule[:place], *parse_schedule(REPORT), *schedule[place:])
