"""
The programs of test/programs on every executor, and their way through the native pipeline.

After every pass a program prints, parses again to the same text and verifies; from the tensors
level on mlir-opt accepts it.
"""

from pathlib import Path

import pytest
from mlir_acceptance import assert_mlir_takes
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program, parse_program
from lowerings.pipelines import LEVELS, NATIVE, pass_specs
from tools import xla_opt
from tools.comparison import DEFAULT_TOLERANCE, largest_relative_error
from tools.repository.programs import StoredProgram, stored_programs
from xla_dialect.verification import verify

TEXTS = [
    pytest.param(program, path, id=path.name)
    for program in stored_programs()
    for path in (program.hlo, program.stablehlo, program.optimized_hlo)
]
LOWERED_TEXTS = [
    pytest.param(
        program,
        path,
        id=path.name,
        # What is read from StableHLO is, but for names, what is read from HLO.
        marks=[pytest.mark.full] if path == program.stablehlo else [],
    )
    for program in stored_programs()
    for path in (program.hlo, program.stablehlo, program.optimized_hlo)
]
CLASSIFIER = next(program for program in stored_programs() if program.name == "mlp_classifier")


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize(("program", "path"), TEXTS)
def test_results_are_those_of_xla(program: StoredProgram, path: Path, backend: str) -> None:
    outputs = lowerings.compile(path, backend=backend)(*program.inputs())
    expected = program.outputs()
    assert len(outputs) == len(expected)
    for output, theirs in zip(outputs, expected, strict=True):
        assert largest_relative_error(output, theirs) <= DEFAULT_TOLERANCE


def texts_after_passes(path: Path) -> list[tuple[str, str]]:
    """The program after every pass of the native pipeline: (pass and level, text)."""
    levels = [stage.level for stage in NATIVE for _ in stage.passes]
    texts: list[tuple[str, str]] = []

    def keep(module_pass: ModulePass, module: ModuleOp) -> None:
        texts.append((levels[len(texts)], f"// after {module_pass.name}\n{module!s}\n"))

    module = load_program(path)
    passes = parse_passes(",".join(pass_specs(NATIVE)))
    PassManager(make_context(), after=[keep]).run(module, passes)
    return texts


@pytest.mark.parametrize(("program", "path"), LOWERED_TEXTS)
def test_every_pass_prints_what_parses_to_the_same(program: StoredProgram, path: Path) -> None:
    before = ""
    for _, text in texts_after_passes(path):
        title, _, body = text.partition("\n")
        if body == before:  # The pass found nothing to do.
            continue
        before = body
        module = parse_program(body, "<printed>", "mlir")
        verify(module, {"<printed>": body})
        assert f"{module!s}\n" == body, title


@pytest.mark.parametrize(("program", "path"), LOWERED_TEXTS)
def test_fusion_that_is_read_gives_the_same_operations(program: StoredProgram, path: Path) -> None:
    """Nothing that decides on groups is left beside what the text says."""
    specs = pass_specs(NATIVE, "tensors")
    place = specs.index("linalg-fuse-producers-and-siblings")
    before, fusing = specs[:place], ",".join(specs[place:])
    module = load_program(path)
    run = PassManager(make_context()).run
    run(module, parse_passes(",".join([*before, "linalg-plan-fusion"])))
    planned = parse_program(f"{module!s}\n", "<printed>", "mlir")
    assert f"{planned!s}" == f"{module!s}"
    run(planned, parse_passes(fusing))
    in_one_go = load_program(path)
    run(in_one_go, parse_passes(",".join([*before, fusing])))
    assert f"{planned!s}" == f"{in_one_go!s}"


@pytest.mark.parametrize(("program", "path"), LOWERED_TEXTS)
def test_schedules_that_are_read_give_the_same_loops(program: StoredProgram, path: Path) -> None:
    """Nothing that decides on loops is left beside what the text says."""
    last_of_level = dict(texts_after_passes(path))
    module = parse_program(last_of_level["schedules"].partition("\n")[2], "<printed>", "mlir")
    loops = pass_specs(NATIVE)[len(pass_specs(NATIVE, "schedules")) :]
    PassManager(make_context()).run(module, parse_passes(",".join(loops)))
    assert f"{module!s}\n" == last_of_level["loops"].partition("\n")[2]


@pytest.mark.mlir_opt
@pytest.mark.parametrize(("program", "path"), LOWERED_TEXTS)
def test_mlir_opt_accepts_tensors_to_loops(
    program: StoredProgram, path: Path, mlir_opt_path: str
) -> None:
    last_of_level = dict(texts_after_passes(path))
    levels = [level for level in LEVELS[LEVELS.index("tensors") :] if level != "schedules"]
    assert_mlir_takes(mlir_opt_path, *(last_of_level[level] for level in levels))
    # MLIR keeps attributes of dialects that it does not know as they are written.
    unknown = ["--allow-unregistered-dialect"]
    assert_mlir_takes(mlir_opt_path, last_of_level["schedules"], options=unknown)


@pytest.mark.parametrize("count", range(len(pass_specs(NATIVE)) + 1))
def test_prefixes_on_the_command_line(
    count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`xla-opt FILE -p PREFIX | xla-opt` prints what `xla-opt FILE -p PREFIX` prints."""
    prefix = ",".join(pass_specs(NATIVE)[:count])
    printed = tmp_path / "printed.mlir"
    assert xla_opt.main([str(CLASSIFIER.hlo), "-p", prefix, "-o", str(printed)]) == 0
    assert xla_opt.main([str(printed)]) == 0
    assert capsys.readouterr().out == printed.read_text(encoding="utf-8")
