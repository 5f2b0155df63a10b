"""Nests of every kind, in loops and as machine code, against numpy."""

import subprocess

import numpy as np
import pytest
from linalg_nests import LARGE_SIZES, NestProgram, random_buffer, random_nest
from machine_code import MachineCode, lower

from lowerings.execution.executable import ThreadCount
from lowerings.ir.target import XlaAttachTargetPass
from lowerings.loops.convert_linalg_to_vector_loops import ConvertLinalgToVectorLoopsPass
from lowerings.scheduling.xla_plan_schedules import XlaPlanSchedulesPass
from xla_dialect.mlir_text import print_mlir

PROGRAMS_AT_ONCE = 25


def programs_of(batch: int) -> dict[str, NestProgram]:
    seeds = range(batch * PROGRAMS_AT_ONCE, (batch + 1) * PROGRAMS_AT_ONCE)
    return {f"nest{seed}": random_nest(seed) for seed in seeds}


def text_of(programs: dict[str, NestProgram]) -> str:
    return "\n".join(p.text().replace("@main", f"@{name}") for name, p in programs.items())


def check(programs: dict[str, NestProgram], vector_bits: int) -> None:
    code = MachineCode(
        lower(
            text_of(programs), [XlaPlanSchedulesPass(vector_bits), ConvertLinalgToVectorLoopsPass()]
        )
    )
    source = np.random.default_rng(0)
    for name, program in programs.items():
        operands = [*program.inputs, *program.outputs]
        buffers = [random_buffer(source, operand) for operand in operands]
        before = [buffer.copy() for buffer in buffers]
        expected = program.expected(buffers)
        code.run(name, buffers)
        count = len(program.inputs)
        for found, held in zip(buffers[:count], before, strict=False):
            assert found.tobytes() == held.tobytes(), "an input was written"
        for found, right in zip(buffers[count:], expected, strict=True):
            if program.body.exact or found.dtype.kind in "biu":
                np.testing.assert_array_equal(found, right, err_msg=program.text())
            else:
                scale = max(1.0, float(np.abs(right).max(initial=0)))
                np.testing.assert_allclose(
                    found, right, rtol=1e-4, atol=1e-5 * scale, err_msg=program.text()
                )


@pytest.mark.parametrize("vector_bits", [0, 256, 512])
@pytest.mark.parametrize("batch", range(4))
def test_random_nests(batch: int, vector_bits: int) -> None:
    check(programs_of(batch), vector_bits)


@pytest.mark.full
@pytest.mark.parametrize("batch", range(100, 200))
def test_many_random_nests(batch: int) -> None:
    check(programs_of(batch), 512)


def check_admission(seeds: range) -> None:
    """Plans nests of any size for many machines; to write them asks every rule."""
    widths = (0, 64, 128, 256, 512, 1 << 16)
    for seed in seeds:
        attach = XlaAttachTargetPass(
            widths[seed % len(widths)],
            multiplies_quads=bool(seed & 1),
            multiplies_bfloats=bool(seed & 2),
            flushes_subnormals=True,
        )
        plan = XlaPlanSchedulesPass(
            parallel_microseconds=(-1, 0, 100)[seed // len(widths) % 3],
            collapse=bool(seed & 12),
            register_tiles=bool(seed & 48),
        )
        text = random_nest(seed, 1 << 30, LARGE_SIZES).text()
        lower(text, [attach, plan, ConvertLinalgToVectorLoopsPass()])


def test_planned_schedules_are_admitted() -> None:
    check_admission(range(256))


@pytest.mark.full
@pytest.mark.parametrize("batch", range(20))
def test_many_planned_schedules_are_admitted(batch: int) -> None:
    check_admission(range(batch * 1000, (batch + 1) * 1000))


def results_of(code: MachineCode, name: str, program: NestProgram) -> list[bytes]:
    source = np.random.default_rng(1)
    buffers = [random_buffer(source, operand) for operand in [*program.inputs, *program.outputs]]
    code.run(name, buffers)
    return [buffer.tobytes() for buffer in buffers]


@pytest.mark.parametrize("batch", range(4))
def test_results_do_not_depend_on_threads(batch: int) -> None:
    programs = programs_of(batch)
    loops = MachineCode(
        lower(
            text_of(programs),
            [XlaPlanSchedulesPass(512, parallel_microseconds=-1), ConvertLinalgToVectorLoopsPass()],
        )
    )
    count = ThreadCount(1)
    shared = MachineCode(
        lower(
            text_of(programs),
            [XlaPlanSchedulesPass(512, parallel_microseconds=0), ConvertLinalgToVectorLoopsPass()],
        ),
        count,
    )
    assert shared.has_tasks
    for name, program in programs.items():
        expected = results_of(loops, name, program)
        for threads in (1, 2, 3):
            count.threads = threads
            assert results_of(shared, name, program) == expected, (threads, program.text())


@pytest.mark.mlir_opt
@pytest.mark.parametrize(("vector_bits", "microseconds"), [(0, -1), (512, -1), (512, 0)])
def test_mlir_accepts_the_loops(mlir_opt_path: str, vector_bits: int, microseconds: int) -> None:
    passes = [
        XlaPlanSchedulesPass(vector_bits, parallel_microseconds=microseconds),
        ConvertLinalgToVectorLoopsPass(),
    ]
    module = lower(text_of(programs_of(0)), passes)
    subprocess.run(
        [mlir_opt_path], input=print_mlir(module), text=True, check=True, capture_output=True
    )
