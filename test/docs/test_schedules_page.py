"""docs/schedules.md: its steps are admitted and compute what numpy does; the last is the default."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from einsums import Einsum
from loops_level import AnyArray, context, parse, run
from machine_code import MachineCode
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp

from lowerings.dialects.schedule import Schedule, schedule_of, schedule_text, set_schedule
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.loops.access import static_memref
from lowerings.loops.convert_linalg_to_vector_loops import ConvertLinalgToVectorLoopsPass
from lowerings.scheduling.primitives import LoopNest, Primitive, primitives_of
from lowerings.scheduling.schedule_file import operation_key, parse_schedule_file
from lowerings.scheduling.xla_plan_schedules import XlaPlanSchedulesPass
from xla_dialect.mlir_text import print_mlir
from xla_dialect.runtime.runs import entry_function

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


PROGRAMS = dict(
    re.findall(r'^```hlo title="(\w+)\.hlo"\n(.*?)^```', PAGE, re.MULTILINE | re.DOTALL)
)
TABLES = [
    re.findall(r"^\| `(.*)` \|", table, re.MULTILINE)
    for table in PAGE.split("| primitive | time |")[1:]
]
TABLES_OF = {"convolution": TABLES[:3], "attention": TABLES[3:]}
SMALLER = {"convolution": ("[8,28,", "[2,6,"), "attention": ("[12,", "[2,")}
"""What is run, so that plain loops do not take seconds."""


def on_buffers(text: str) -> ModuleOp:
    module = parse_program(text)
    PassManager(context()).run(module, parse_passes("native{to=buffers}"))
    return module


def nests_of(module: ModuleOp) -> list[GenericOp]:
    return [op for op in module.walk() if isinstance(op, GenericOp)]


@cache
def primitives_by_default(name: str) -> list[Sequence[Primitive]]:
    """For each operation of a program of the page what makes its default of plain loops."""
    module = on_buffers(PROGRAMS[name])
    XlaPlanSchedulesPass().apply(context(), module)
    made: list[Sequence[Primitive]] = []
    for op in nests_of(module):
        schedule = schedule_of(op)
        assert schedule is not None
        made.append([*primitives_of(schedule, LoopNest.of(op).nest.loop_dimensions)])
    return made


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_primitives_of_a_program_make_its_default(name: str) -> None:
    assert [[str(each) for each in made] for made in primitives_by_default(name)] == TABLES_OF[name]


def convolution(*arrays: AnyArray) -> AnyArray:
    x, k, scale, shift = arrays
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows, columns = x.shape[1:3]
    windows = [
        padded[:, i : i + rows, j : j + columns] @ k[i, j] for i in range(3) for j in range(3)
    ]
    return np.maximum(sum(windows) * scale + shift, 0)


def attention(*arrays: AnyArray) -> AnyArray:
    q, k, v = arrays
    weights = np.exp(q @ k.swapaxes(1, 2))
    return weights / weights.sum(-1, keepdims=True) @ v


EXPECTED = {"convolution": convolution, "attention": attention}


def check_step(name: str, count: int) -> None:
    """After so many primitives of each operation, or all that it has."""
    module = on_buffers(PROGRAMS[name].replace(*SMALLER[name]))
    for op, made in zip(nests_of(module), primitives_by_default(name), strict=True):
        loops = LoopNest.of(op)
        for primitive in made[:count]:
            loops = loops.after(primitive.name, *primitive.arguments)
        set_schedule(op, loops.schedule)
    rest = "xla-plan-schedules,convert-linalg-to-vector-loops,expand-small-floats,expand-math"
    PassManager(context()).run(module, parse_passes(rest))
    types = [static_memref(each) for each in entry_function(module, "main").function_type.inputs]
    *shapes, result, _ = (type_.get_shape() for type_ in types if type_ is not None)
    random = np.random.default_rng(count)
    arrays = [random.standard_normal(shape, np.float32) / 4 for shape in shapes]
    (found,) = run(print_mlir(module), arrays, [f"f32[{','.join(map(str, result))}]"])
    right = EXPECTED[name](*(array.astype(np.float64) for array in arrays))
    np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("name", "count"), [("convolution", 5), ("attention", 9)])
def test_steps_of_a_program(name: str, count: int) -> None:
    check_step(name, count)


@pytest.mark.full
@pytest.mark.parametrize("count", range(9))
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_step_of_a_program(name: str, count: int) -> None:
    check_step(name, count)
