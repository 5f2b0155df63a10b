"""The search for schedules on a processor that an emulator counts the instructions of."""

import re
from pathlib import Path

import pytest
from tunable_programs import PRODUCT, SPECS, elementwise, kernel_of

from lowerings.dialects.schedule import Loop, Schedule
from lowerings.driver.program import load_program
from lowerings.execution.emulator import Emulation
from lowerings.ir.target import Target
from lowerings.scheduling.schedule_file import parse_schedule_file, read_schedule_file
from lowerings.tuning.measurement import InstructionMeter, KernelProgram
from lowerings.tuning.program_search import Limits, ProgramSearch
from lowerings.tuning.search import SearchParts, at_random
from tools import xla_run, xla_tune

SCALAR, VECTORS = Emulation(), Emulation("+v")
ONE_BY_ONE = Schedule((Loop(0), Loop(1), Loop(2)))


def meter(program: str) -> InstructionMeter:
    kernel = kernel_of(program, SCALAR.machine)
    compiled = KernelProgram(kernel.function, SCALAR.machine)
    return InstructionMeter(compiled, kernel.default, emulation=SCALAR)


@pytest.mark.riscv64
@pytest.mark.qemu
def test_costs_are_instructions() -> None:
    own = meter(PRODUCT)
    default = own.compiled(kernel_of(PRODUCT, SCALAR.machine).default)
    assert own.cost(default) == own.cost(own.reference)
    # Each of the products takes at least a multiplication.
    assert own.cost(default) > 19 * 23 * 29
    one_by_one = own.compiled(ONE_BY_ONE)
    assert not own.is_wrong(one_by_one)
    assert own.ratio(default, one_by_one, 1) == own.cost(default) / own.cost(one_by_one) < 1


def test_a_kernel_is_lowered_for_its_machine() -> None:
    """What math becomes depends on it, as in the program that the kernel is of."""
    kernel = kernel_of(PRODUCT, SCALAR.machine)
    module = KernelProgram(kernel.function, SCALAR.machine).lowered(kernel.default)
    assert Target.of(module).vector_bits == SCALAR.machine.vector_bits == 0


@pytest.mark.riscv64
@pytest.mark.qemu
def test_a_candidate_that_computes_something_else_is_wrong() -> None:
    right, other = meter(elementwise("add")), meter(elementwise("subtract"))
    assert not right.is_wrong(right.reference)
    assert right.is_wrong(other.reference)


@pytest.mark.riscv64
@pytest.mark.qemu
@pytest.mark.parametrize("features", ["", "+v"])
def test_whatever_is_admitted_is_right(features: str) -> None:
    limits = Limits(seconds=1e6, candidates=6)
    emulation = Emulation(features)
    parts = SearchParts(strategy=at_random)
    result = ProgramSearch(limits, parts, emulation=emulation).run(load_program(PRODUCT))
    ((_, found),) = result.searched
    assert (found.wrong, found.failures) == (0, [])
    assert found.measured >= 2


@pytest.mark.riscv64
@pytest.mark.qemu
def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, output = tmp_path / "p.mlir", tmp_path / "p.schedules"
    program.write_text(PRODUCT)
    options = ["--backend", "riscv64", "--features=+v"]
    arguments = [str(program), *options, "--candidates", "12", "-o", str(output)]
    assert xla_tune.main(arguments) == 0
    assert "instructions by default" in capsys.readouterr().out
    (entry,) = read_schedule_file(output).entries
    assert entry.processor == VECTORS.machine.processor
    noted = re.search(r"(\d+) instructions, by default (\d+)$", entry.note)
    assert noted is not None
    counts: list[int] = []
    for schedules in (["--schedules", str(output)], []):
        run = [str(program), *SPECS, *options, "--count-instructions", *schedules]
        assert xla_run.main(run) == 0
        counts.append(int(capsys.readouterr().err.split()[0]))
    # The program calls the kernel once, from an entry with a few instructions of its own.
    tuned, default = map(int, noted.groups())
    assert counts == pytest.approx([tuned, default], abs=100)
    assert tuned < default


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--features", "+v"], "--features is for riscv64, not llvm"),
        (["--backend", "riscv64", "--threads", "2"], "--threads 2: an emulated program has one"),
        (["--backend", "riscv64", "--features=+nix"], "'+nix' is not a recognized feature"),
        (["--backend", "riscv64"], "qemu-riscv64, which is not installed"),
    ],
)
def test_bad_arguments(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = tmp_path / "p.mlir"
    program.write_text(PRODUCT)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert xla_tune.main([str(program), "-o", str(tmp_path / "x"), *arguments]) == 1
    assert message in capsys.readouterr().err


def test_schedules_of_the_emulated_processor(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / "p.mlir"
    program.write_text(PRODUCT)
    assert xla_tune.main([str(program), "--defaults", "--backend", "riscv64", "--features=+v"]) == 0
    file = parse_schedule_file(capsys.readouterr().out)
    assert [each.processor for each in file.entries] == [VECTORS.machine.processor]
    assert [each.key for each in file.entries] == [kernel_of(PRODUCT).key]


def test_a_file_is_parsed_once(tmp_path: Path) -> None:
    path = tmp_path / "x.schedules"
    path.write_text('schedules {\n  "12" = #schedule.nest<loops = []>\n}\n')
    first = read_schedule_file(path)
    assert read_schedule_file(path) is first
    path.write_text('schedules {\n  "13" = #schedule.nest<loops = []>\n}\n')
    assert [each.key for each in read_schedule_file(path).entries] == ["13"]
