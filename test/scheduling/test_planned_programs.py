"""The schedules of planned programs are read as they are printed, and made by primitives."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from loops_level import context

from lowerings.dialects.schedule import schedule_of, schedule_text
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.loops.nest import NESTS
from lowerings.scheduling.primitives import LoopNest, primitives_of
from lowerings.scheduling.schedule_file import parse_schedule_file
from xla_dialect.diagnostics import XlaError
from xla_dialect.xdsl.traversal import operations_in

PROGRAMS = sorted((Path(__file__).parents[1] / "run").glob("*.mlir"))


def check(paths: Iterable[Path]) -> int:
    """How many operations have a schedule."""
    count = 0
    for path in paths:
        module = load_program(path)
        try:
            PassManager(context()).run(module, parse_passes("native{to=schedules}"))
        except XlaError:
            continue  # Several devices, or what only the reference computes.
        for op in operations_in(module):
            schedule = schedule_of(op) if type(op) in NESTS else None
            if schedule is None or not schedule.steps:
                continue
            text = f'schedules {{ "key" = #schedule.nest<{schedule_text(schedule)}> }}'
            (entry,) = parse_schedule_file(text).entries
            assert entry.schedule == schedule
            loops = LoopNest.of(op)
            for primitive in primitives_of(schedule, loops.nest.loop_dimensions):
                loops = loops.after(primitive.name, *primitive.arguments)
            assert loops.schedule == schedule, path.name
            count += 1
    return count


def test_some_planned_programs() -> None:
    assert check(PROGRAMS[::15]) > 40


@pytest.mark.full
def test_all_planned_programs() -> None:
    assert check(PROGRAMS) > 1000
