"""docs/schedules.md: its schedules are admitted and compute the product; the last is the default."""

import re
from pathlib import Path

import pytest
from einsums import Einsum
from loops_level import context, parse
from machine_code import MachineCode
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp

from lowerings.dialects.schedule import Schedule, schedule_of, schedule_text
from lowerings.loops.convert_linalg_to_vector_loops import ConvertLinalgToVectorLoopsPass
from lowerings.scheduling.primitives import LoopNest, primitives_of
from lowerings.scheduling.schedule_file import operation_key, parse_schedule_file
from lowerings.scheduling.xla_plan_schedules import XlaPlanSchedulesPass

PAGE = (Path(__file__).parents[2] / "docs" / "schedules.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\+#schedule\.nest<(.*)>$", PAGE, re.MULTILINE)
PYTHON = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SIZE = 1024


def product_of(module: ModuleOp) -> GenericOp:
    (op,) = (op for op in module.walk() if isinstance(op, GenericOp))
    return op


@pytest.mark.parametrize("step", range(6))
def test_steps_compute_the_product(step: int) -> None:
    """Of 64 rows, so that plain loops do not take seconds."""
    case = Einsum("mk,kn->mn", (SIZE, 64, SIZE))
    text = case.text().replace(
        'iterator_types = ["reduction", "parallel", "parallel"]',
        'iterator_types = ["parallel", "parallel", "reduction"]',
    )
    # The letters of an Einsum are in alphabetical order; the page counts rows, columns, terms.
    text = text.replace("affine_map<(k, m, n)", "affine_map<(m, n, k)")
    scheduled = f"attrs = {{schedule.nest = #schedule.nest<{STEPS[step]}>}} {{\n          ^bb0"
    module = parse(re.sub(r"\{\s*\^bb0", scheduled, text))
    ConvertLinalgToVectorLoopsPass().apply(context(), module)
    module.verify()
    arrays = case.arrays()
    found = arrays[-1].copy()
    MachineCode(module).run("main", [*arrays[:-1], found])
    case.assert_result(arrays, found)


def test_every_step_changes_the_one_before() -> None:
    removed = re.findall(r"^-#schedule\.nest<(.*)>$", PAGE, re.MULTILINE)
    assert len(STEPS) == 6
    assert removed == STEPS[:-1]


def planned() -> GenericOp:
    """The operation that the page talks of, with the planner's schedule."""
    case = Einsum("mk,kn->mn", (SIZE, SIZE, SIZE))
    text = case.text().replace("affine_map<(k, m, n)", "affine_map<(m, n, k)")
    kinds = 'iterator_types = ["parallel", "parallel", "reduction"]'
    module = parse(text.replace('iterator_types = ["reduction", "parallel", "parallel"]', kinds))
    XlaPlanSchedulesPass().apply(context(), module)
    return product_of(module)


def test_the_last_step_is_the_default() -> None:
    schedule = schedule_of(planned())
    assert schedule is not None
    assert schedule_text(schedule) == STEPS[-1]


@pytest.mark.parametrize("step", range(6))
def test_steps_are_primitives(step: int) -> None:
    """Each of which the loops before it admit."""
    loops = LoopNest.of(planned())
    (entry,) = parse_schedule_file(f'schedules {{ "k" = #schedule.nest<{STEPS[step]}> }}').entries
    for primitive in primitives_of(entry.schedule, range(3)):
        loops = loops.after(primitive.name, *primitive.arguments)
    assert schedule_text(loops.schedule) == STEPS[step]


def test_python_says_the_same() -> None:
    names: dict[str, Schedule] = {}
    exec(PYTHON[0], names)
    assert schedule_text(names["schedule"]) == STEPS[-1]


def test_the_file_is_read() -> None:
    operation = planned()
    names: dict[str, str | GenericOp] = {"operation": operation}
    exec(PYTHON[1], names)
    entry = parse_schedule_file(str(names["entry"])).entry(operation_key(operation), None)
    assert entry is not None
    assert schedule_text(entry.schedule) == STEPS[0]
