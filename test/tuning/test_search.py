"""The search for schedules: what it tries, keeps, refuses, and says when it is interrupted."""

from collections.abc import Generator
from math import isclose
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tunable_programs import PRODUCT, SPECS, elementwise, kernel_of
from xdsl.utils.exceptions import PassFailedException

import lowerings
from lowerings.dialects.schedule import Loop, Schedule
from lowerings.driver.program import load_program
from lowerings.scheduling.schedule_file import ScheduleFile, read_schedule_file
from lowerings.targets.llvm.machine import host
from lowerings.tuning.measurement import KernelProgram, Meter, TimeMeter, Unit
from lowerings.tuning.program_search import Limits, ProgramSearch, TunableKernel, tunable_kernels
from lowerings.tuning.search import STRATEGIES, Found, Search, SearchParts, at_random
from lowerings.tuning.space import Strategy, TuningProblem, mutated, seeds
from tools import xla_opt, xla_run, xla_tune
from tools.command_line import sample_file
from xla_dialect.diagnostics import XlaError, read_text


class FakeMeter(Meter):
    """
    Times that follow from the schedule alone, least with rows in tiles of 5.

    Refuses schedules with four tiles; those in lanes of 8 are wrong.
    """

    unit = Unit("turns", 2)

    def __init__(self) -> None:
        self.compiled_schedules: list[Schedule] = []
        self.default = kernel_of(PRODUCT).default

    def compiled(self, schedule: Schedule) -> Schedule:
        self.compiled_schedules.append(schedule)
        if sum(loop.tile > 1 for loop in schedule.loops) >= 4:
            raise PassFailedException("too many tiles")
        return schedule

    def is_wrong(self, candidate: Schedule) -> bool:
        return candidate.lanes == 8

    def cost(self, candidate: Schedule) -> float:
        tiles = [loop.tile for loop in candidate.loops if loop.dimension == 0]
        return 1.0 + abs(tiles[-1] - 5)


def searched(
    strategy: Strategy, seed: int = 0, candidates: int = 60, meter: FakeMeter | None = None
) -> tuple[Found, list[Schedule]]:
    """What a search on the product finds, and what it tried."""
    meter = meter or FakeMeter()
    problem = kernel_of(PRODUCT).problem(host(), 1, ScheduleFile())
    search = Search(problem, meter, SearchParts(strategy=strategy), Random(seed))
    found = search.run(lambda found: len(meter.compiled_schedules) <= candidates)
    return found, meter.compiled_schedules[1:]


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_seed_decides_what_is_tried(name: str) -> None:
    found, tried = searched(STRATEGIES[name])
    again, tried_again = searched(STRATEGIES[name])
    assert (found, tried) == (again, tried_again)
    assert len(tried) == len(set(tried)) == 60, "nothing is tried twice"
    assert searched(STRATEGIES[name], seed=1)[1] != tried


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_best_is_found(name: str) -> None:
    found, tried = searched(STRATEGIES[name], candidates=400)
    meter = FakeMeter()
    fit = [s for s in tried if sum(e.tile > 1 for e in s.loops) < 4 and not meter.is_wrong(s)]
    assert meter.cost(found.schedule) == min(map(meter.cost, fit)) == 1.0
    assert isclose(found.ratio, 1.0 / meter.cost(kernel_of(PRODUCT).default))
    assert found.measured == len(fit)
    assert found.wrong == sum(s.lanes == 8 and sum(e.tile > 1 for e in s.loops) < 4 for s in tried)
    assert found.not_admitted == len(tried) - found.measured - found.wrong
    assert min(found.wrong, found.not_admitted) > 0, "the test meets both"


def scripted(*schedules: Schedule, then: BaseException | None = None) -> Strategy:
    """Proposes some schedules, and raises."""

    def strategy(*_: Any) -> Generator[Schedule, float, None]:
        for schedule in schedules:
            time = yield schedule
            assert time > 0
        if then is not None:
            raise then

    return strategy


BETTER = Schedule((Loop(0, 5), Loop(1), Loop(2)))
WORSE = Schedule((Loop(0, 17), Loop(1), Loop(2)))


def test_interrupted_it_keeps_the_best() -> None:
    found, _ = searched(scripted(BETTER, WORSE, then=KeyboardInterrupt()))
    assert found.interrupted
    assert found.schedule == BETTER
    assert found.measured == 2


def test_none_better_means_the_default() -> None:
    found, _ = searched(scripted(WORSE, Schedule((Loop(0, 5), Loop(1, 8)), 1, 8)))
    assert found.schedule == kernel_of(PRODUCT).default
    assert (found.ratio, found.measured, found.wrong) == (1.0, 1, 1)


def test_failures_of_the_compiler_are_told() -> None:
    class Broken(FakeMeter):
        def compiled(self, schedule: Schedule) -> Schedule:
            if schedule == WORSE:
                raise AssertionError("no such lane")
            return super().compiled(schedule)

    found, _ = searched(scripted(WORSE, BETTER), meter=Broken())
    assert found.schedule == BETTER
    assert found.failures == [
        "#schedule.nest<loops = [d0 by 17, d1, d2]>: AssertionError('no such lane')"
    ]


def test_a_candidate_that_computes_something_else_is_wrong() -> None:
    kernels = [kernel_of(elementwise(name)) for name in ("add", "subtract")]
    default = kernels[0].default
    meter, other = (TimeMeter(KernelProgram(each.function, host()), default) for each in kernels)
    assert not meter.is_wrong(meter.compiled(default))
    # Sums in another order round differently: that is no error.
    assert not meter.is_wrong(meter.compiled(Schedule((Loop(0), Loop(1, 37)), 1, 37)))
    assert meter.is_wrong(other.reference)


PROGRAMS = {
    "product": PRODUCT,
    "reduction": elementwise("maximum"),
    "transpose": """
        func.func @main(%a: tensor<7x19x13xf32>) -> tensor<13x19x7xf32> {
          %0 = stablehlo.transpose %a, dims = [2, 1, 0] : (tensor<7x19x13xf32>) -> tensor<13x19x7xf32>
          return %0 : tensor<13x19x7xf32>
        }
    """,
    "narrow product": PRODUCT.replace("f32", "bf16"),
    "part of a matrix": """
        func.func @main(%a: tensor<17x40xf64>) -> tensor<6x13xf64> {
          %0 = stablehlo.slice %a [3:15:2, 7:33:2] : (tensor<17x40xf64>) -> tensor<6x13xf64>
          %1 = stablehlo.cosine %0 : tensor<6x13xf64>
          return %1 : tensor<6x13xf64>
        }
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_is_admitted_is_right(name: str) -> None:
    """Schedules far from the planner's compile, or break a rule; and compute the same."""
    limits = Limits(seconds=1e6, candidates=20)
    result = ProgramSearch(limits, SearchParts(strategy=at_random)).run(
        load_program(PROGRAMS[name])
    )
    assert result.searched
    for each in result.kernels:
        assert each.found is not None, each.reason
        assert (each.found.wrong, each.found.failures) == (0, [])
        assert each.found.measured >= 3


def test_whatever_threads_share_is_right() -> None:
    limits = Limits(seconds=1e6, candidates=20, threads=2)
    result = ProgramSearch(limits, SearchParts(strategy=at_random)).run(load_program(PRODUCT))
    ((_, found),) = result.searched
    assert (found.wrong, found.failures) == (0, [])
    random, problem = Random(0), kernel_of(PRODUCT).problem(host(), 2, ScheduleFile())
    shared = [mutated(problem, problem.default, random) for _ in range(100)]
    loops = [loop for each in shared if each is not None for loop in each.loops]
    assert any(loop.is_parallel for loop in loops)


ODD_SHAPES = ("matmul_odd", "matmul_batched", "transpose_odd", "sum_of_threes")


@pytest.mark.parametrize("name", ODD_SHAPES)
def test_odd_shapes_are_one_kernel_each(name: str) -> None:
    kernel = kernel_of(read_text(sample_file(name)))
    meter = TimeMeter(KernelProgram(kernel.function, host()), kernel.default)
    assert not meter.is_wrong(meter.reference)


def test_seeds_pack_and_do_not() -> None:
    kernel = kernel_of(PRODUCT)
    found = seeds(kernel.problem(host(), 1, ScheduleFile()))
    assert len(found) == len(set(found))
    assert {any(each.packs) for each in found} == {True, False}


def fake_search(strategy: Strategy, known: ScheduleFile, on_result: Any = None) -> ProgramSearch:
    return ProgramSearch(
        Limits(seconds=1e6),
        SearchParts(strategy=strategy),
        known,
        make_meter=lambda kernel: FakeMeter(),
        on_result=on_result or (lambda result: None),
    )


def test_what_is_found_runs_programs(tmp_path: Path) -> None:
    result = fake_search(scripted(BETTER), ScheduleFile()).run(load_program(PRODUCT))
    (one,) = result.kernels
    assert one.is_better
    assert one.found is not None
    assert result.geometric_mean == one.found.ratio < 1
    assert result.costs()[1] / result.costs()[0] == pytest.approx(one.found.ratio)
    entry = one.entry(host().processor)
    assert "contraction_kernel_0 of 19x23xf32, 23x29xf32, 19x29xf32: " in entry.note
    ScheduleFile([entry]).write(tmp_path / "x")
    assert read_schedule_file(tmp_path / "x").entries[0].schedule == BETTER
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((19, 23), (23, 29)))
    (found,) = lowerings.compile(PRODUCT, schedules=tmp_path / "x")(a, b)
    np.testing.assert_allclose(found, a @ b, rtol=1e-5, atol=1e-5)


def test_known_schedules_are_tried_first() -> None:
    known = fake_search(scripted(BETTER), ScheduleFile()).run(load_program(PRODUCT))
    file = ScheduleFile([known.kernels[0].entry(host().processor)])
    problem = kernel_of(PRODUCT).problem(host(), 1, file)
    assert problem.known == (BETTER,)
    first = at_random(problem, lambda *_: BETTER, Random(0))
    assert next(first) == BETTER
    assert BETTER in seeds(problem)


def test_an_interrupted_program_keeps_its_kernels() -> None:
    two = PRODUCT.replace(
        "  return %0 : tensor<19x29xf32>",
        "  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<19x29xf32>) -> tensor<29x19xf32>\n"
        "  %2 = stablehlo.dot_general %1, %a, contracting_dims = [1] x [0]"
        " : (tensor<29x19xf32>, tensor<19x23xf32>) -> tensor<29x23xf32>\n"
        "  return %2 : tensor<29x23xf32>",
    ).replace("-> tensor<19x29xf32> {", "-> tensor<29x23xf32> {")
    assert len(tunable_kernels(load_program(two), "main", host())) >= 2
    interrupting = scripted(BETTER, then=KeyboardInterrupt())
    told: list[Any] = []
    result = fake_search(interrupting, ScheduleFile(), told.append).run(load_program(two))
    assert result.interrupted
    assert len(result.kernels) == len(told) == 1
    assert result.kernels[0].is_better


def interrupted_strategy(*_: Any) -> Generator[Schedule, float, None]:
    """For the command line."""
    yield Schedule((Loop(0), Loop(1), Loop(2)))
    raise KeyboardInterrupt


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, output = tmp_path / "p.mlir", tmp_path / "p.schedules"
    program.write_text(PRODUCT)
    output.write_text('schedules for "another" {\n  "12" = #schedule.nest<loops = []>\n}\n')
    arguments = [str(program), "--candidates", "4", "-o", str(output)]
    assert xla_tune.main(arguments) == 0
    printed = capsys.readouterr().out
    assert "contraction_kernel_0" in printed
    assert "geometric mean of the ratios" in printed
    assert f"{output}: " in printed
    read_schedule_file(output)
    assert xla_opt.main([str(program), "-p", "native", "--schedules", str(output)]) == 0
    assert xla_run.main([str(program), *SPECS, "--schedules", str(output)]) == 0
    assert capsys.readouterr().err == ""


def test_interrupted_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, output = tmp_path / "p.mlir", tmp_path / "p.schedules"
    program.write_text(PRODUCT)
    before = 'schedules for "another" {\n  "12" = #schedule.nest<loops = []>\n}\n'
    output.write_text(before)
    monkeypatch.syspath_prepend(Path(__file__).parent)
    option = "--strategy=test_search:interrupted_strategy"
    assert xla_tune.main([str(program), "-o", str(output), option]) == 0
    assert "interrupted: what was found until then is kept" in capsys.readouterr().out
    assert output.read_text() == before, "a scalar product is no better"


def test_no_file_is_made_where_nothing_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, output = tmp_path / "p.mlir", tmp_path / "p.schedules"
    monkeypatch.syspath_prepend(Path(__file__).parent)
    option = "--strategy=test_search:interrupted_strategy"
    for text in (
        PRODUCT,
        "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %x : tensor<3xf32>\n}\n",
    ):
        program.write_text(text)
        assert xla_tune.main([str(program), "-o", str(output), option]) == 0
        said = capsys.readouterr().out
        assert f"no schedule is better than the planner's: {output} is not written" in said
        assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategy", "nix"], "--strategy nix: expected MODULE:NAME"),
        (["--strategy", "no_such_module:x"], "No module named 'no_such_module'"),
        (["--space", "math:nix"], "--space math:nix: "),
        (["--space", ":nix"], "--space :nix: expected MODULE:NAME"),
        (
            ["--entry", "nix"],
            "there is no function @nix; --entry NAME tunes another (there are: @main)",
        ),
        (["--seconds", "0"], "0 is no positive number of seconds"),
        (["--seconds", "soon"], "soon is no positive number of seconds"),
        (["--threads", "-1"], "-1 is no whole number from 1 on"),
        (["-o", "/nowhere/x"], "/nowhere/x: error: No such file or directory"),
    ],
)
def test_bad_arguments(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.mlir"
    program.write_text(PRODUCT)
    given = arguments if "-o" in arguments else [*arguments, "-o", str(tmp_path / "x")]
    assert xla_tune.main([str(program), *given]) == 1
    assert message in capsys.readouterr().err


def test_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, output = tmp_path / "p.mlir", tmp_path / "x"
    program.write_text("nonsense")
    assert xla_tune.main([str(program), "-o", str(output)]) == 1
    assert f"{program}:1:1: error: Operation nonsense is not registered" in capsys.readouterr().err
    program.write_text(PRODUCT)
    output.write_text("nonsense")
    assert xla_tune.main([str(program), "-o", str(output)]) == 1
    assert f"{output}:1:1: error: expected 'schedules'" in capsys.readouterr().err
    assert output.read_text() == "nonsense", "what cannot be read is not overwritten"


def test_steps_of_the_space_change_something() -> None:
    problem: TuningProblem = kernel_of(PRODUCT).problem(host(), 2, ScheduleFile())
    random = Random(0)
    for _ in range(200):
        assert mutated(problem, problem.default, random) != problem.default


def test_kernels_that_cannot_run_alone_are_told() -> None:
    def refuse(kernel: TunableKernel) -> Meter:
        raise XlaError("no such arrays")

    search = ProgramSearch(make_meter=refuse)
    (one,) = search.run(load_program(PRODUCT)).kernels
    assert (one.found, one.reason) == (None, "no such arrays")
