"""What `xla-run` runs, and what becomes of the results."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tools import xla_run
from xla_dialect.types import BY_NAME

FUNCTIONS = """func.func @first() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @second(%x: tensor<2xbf16>, %n: tensor<i32>) -> (tensor<2xbf16>, tensor<i32>) {
  %0 = stablehlo.add %x, %x : tensor<2xbf16>
  return %0, %n : tensor<2xbf16>, tensor<i32>
}
func.func @third() {
  return
}
func.func private @hidden() -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}
"""
MAIN = """func.func @main() -> tensor<i32> {
  %0 = stablehlo.constant dense<7> : tensor<i32>
  return %0 : tensor<i32>
}
"""
BACKENDS = ["reference", "llvm"]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.mlir"
    path.write_text(FUNCTIONS)
    return path


@pytest.mark.parametrize("backend", BACKENDS)
def test_which_functions_run(
    backend: str, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [str(program), "--backend", backend]
    assert xla_run.main(command) == 0
    assert capsys.readouterr().out == "f32[2] [1., 2.]\n"  # @first and @third
    inputs = ["--input", "2xbf16=1.5", "--input", "s32=3"]
    for name in ("second", "@second"):
        assert xla_run.main([*command, "--entry", name, *inputs]) == 0
        assert capsys.readouterr().out == "bf16[2] [3, 3]\ns32[] 3\n"
    program.write_text(MAIN + FUNCTIONS)
    assert xla_run.main(command) == 0
    assert capsys.readouterr().out == "s32[] 7\n"
    assert xla_run.main([*command, "--all-functions"]) == 0
    assert capsys.readouterr().out == "s32[] 7\nf32[2] [1., 2.]\n"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--entry", "second"],
            "xla-run: error: 0 inputs for 2 parameters; give each with --input:\n"
            "  second(%x: bf16[2], %n: s32[]) -> (bf16[2], s32[])\n"
            "--input 2xbf16=random gives random numbers, --seed 0 to all that are missing\n",
        ),
        (
            ["--entry", "hidden"],
            "xla-run: error: there is no public function @hidden (there are: @first, @second, "
            "@third)\n",
        ),
        (["--all-functions", "--input", "f32=1"], "1 inputs for 0 parameters; give each with"),
        (["--entry", "first", "--expected-output", "3xf32=0"], "shape [2], expected [3]"),
        (
            ["--entry", "first", "--expected-output", "2xf32=[1, 2.5]"],
            "xla-run: error: result 0 (f32[2]): 1 of 2 elements differ, the first at [1]: 2.0, "
            "expected 2.5 (error 2097152 ULP)\n",
        ),
    ],
)
def test_what_does_not_fit(
    arguments: list[str],
    message: str,
    backend: str,
    program: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert xla_run.main([str(program), "--backend", backend, *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_results_are_stored_and_expected(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "some" / "folder"
    command = [str(program), "--entry", "second", "--input", "2xbf16=[1.5, nan]", "--input"]
    assert xla_run.main([*command, "s32=3", "--output-dir", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["second.0.npy", "second.1.npy"]
    stored = np.load(folder / "second.0.npy").view(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(stored.astype(np.float32), np.array([3, np.nan], np.float32))
    expected = [f"--expected-output=@{folder}/second.{i}.npy" for i in range(2)]
    assert xla_run.main([*command, "s32=3", *expected]) == 0
    assert xla_run.main([*command, "s32=4", *expected]) == 1


def test_no_name_of_a_function_leads_out_of_the_folder(program: Path, tmp_path: Path) -> None:
    program.write_text(MAIN.replace("@main", '@"../outside/a b"'))
    folder = tmp_path / "results"
    assert xla_run.main([str(program), "--output-dir", str(folder)]) == 0
    assert [path.name for path in folder.iterdir()] == ["..%2Foutside%2Fa%20b.0.npy"]
    program.write_text(FUNCTIONS)
    assert xla_run.main([str(program), "--output-dir", str(program)]) == 1


@pytest.mark.parametrize("backend", [[], ["--backend=reference"], ["--backend=interpreter"]])
def test_checks_of_functions_that_a_loop_calls(
    backend: list[str], program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text("""func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.while(%i = %0) : tensor<i32> cond {
    %2 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %3 = call @next(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }
  return %1 : tensor<i32>
}
func.func private @next(%i: tensor<i32>) -> tensor<i32> {
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %2 = stablehlo.constant dense<true> : tensor<i1>
  %3 = stablehlo.add %i, %1 : tensor<i32>
  %4 = stablehlo.constant dense<5> : tensor<i32>
  %5 = stablehlo.compare LT, %i, %4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  check.expect_eq %5, %2 : tensor<i1>
  return %3 : tensor<i32>
}
""")
    assert xla_run.main([str(program), "--input", "s32=5", *backend]) == 0
    assert xla_run.main([str(program), "--input", "s32=6", *backend]) == 1
    assert ":18:3: error: check.expect_eq: 1 of 1 elements differ, the first at []: false, " in (
        capsys.readouterr().err
    )


def test_an_empty_part_passes_and_numbers_the_others(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(f"// only this\n// -----\n{MAIN}// -----\nfunc.func @f(\n")
    assert xla_run.main([str(program), "--split-input-file"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["chunk 1: PASS", "chunk 2: PASS"]
    assert lines[2].startswith(f"chunk 3: FAIL: {program}:")
    assert len(lines) == 3


PARTS = """
func.func @sum() -> tensor<i32> {
  %0 = xla.constant dense<2> : tensor<i32>
  %1 = xla.add %0, %0 : tensor<i32>
  check.expect_eq_const %1, dense<4> : tensor<i32>
  func.return %1 : tensor<i32>
}
func.func @root() {
  %0 = xla.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %1 = xla.sqrt %0 : tensor<2xf32>
  check.expect_eq_const %1, dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  func.return
}
// -----
func.func @overflow() {
  %0 = xla.constant dense<100> : tensor<i8>
  %1 = xla.add %0, %0 : tensor<i8>
  check.expect_eq_const %1, dense<127> : tensor<i8>
  func.return
}
// -----
func.func @takes_an_argument(%x: tensor<i8>) -> tensor<i8> {
  func.return %x : tensor<i8>
}
"""


@pytest.mark.parametrize(
    "executor",
    [
        ["reference"],
        ["llvm"],
        ["interpreter"],
        ["interpreter", "--level", "loops"],
        pytest.param(["riscv64"], marks=pytest.mark.riscv64),
    ],
    ids=" ".join,
)
def test_every_function_of_every_part_on_every_executor(
    executor: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "parts.mlir"
    path.write_text(PARTS)
    options = ["--all-functions", "--split-input-file", "--backend", *executor]
    assert xla_run.main([str(path), *options]) == 1
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == "chunk 1: PASS"
    assert second.startswith(f"chunk 2: FAIL: {path}:18:3: error: check.expect_eq_const: 1 of 1")
    assert "without arguments" in third


@pytest.mark.parametrize("backend", ["reference", "llvm", "interpreter"])
def test_a_program_without_operations(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "same.mlir"
    path.write_text(
        "func.func @main(%x: tensor<2xui8>) -> tensor<2xui8> {\n  func.return %x : tensor<2xui8>\n}"
    )
    assert xla_run.main([str(path), "--backend", backend, "--input", "2xui8=200"]) == 0
    assert capsys.readouterr().out == "u8[2] [200, 200]\n"


@pytest.mark.parametrize("element", [name for name in BY_NAME if name != "token"])
def test_what_is_said_of_missing_inputs_works(
    element: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the element type, and the number of dimensions."""
    program = tmp_path / "program.hlo"
    program.write_text(
        f"HloModule m\nENTRY e {{\n  x = {element}[2,3] parameter(0)\n"
        f"  y = {element}[] parameter(1)\n  ROOT r = ({element}[2,3], {element}[]) tuple(x, y)\n}}\n"
    )
    command = [str(program), "--backend", "reference"]
    assert xla_run.main(command) == 1
    (first,) = re.findall("(--input) (.*) gives", capsys.readouterr().err)
    assert xla_run.main([*command, *first]) == 1
    (second,) = re.findall("(--input) (.*) gives", capsys.readouterr().err)
    assert xla_run.main([*command, *first, *second]) == 0
    assert xla_run.main([*command, *first, "--seed", "0"]) == 0
    assert xla_run.main([*command, "--seed", "0"]) == 0
