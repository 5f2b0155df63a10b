"""What xla-opt says beside its output: passes, times, reproducers of crashes."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from lowerings.pipelines import PIPELINES
from lowerings.targets.llvm.machine import MACHINES
from lowerings.universe import UNIVERSE, toolkit_universe
from tools.pass_instrumentation import Reproducer
from tools.xla_opt import main
from xla_dialect.ops.elementwise import NegateOp

PROGRAM = """\
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.call %x {to_apply = @f} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.negate %x : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
"""


def refuse_negation(module: ModuleOp, error: Exception) -> None:
    main_function = next(iter(module.ops))
    if any(isinstance(op, NegateOp) for op in main_function.walk()):
        raise error


class CrashOnNegatePass(ModulePass):
    """Crashes where @main negates."""

    name = "test-crash-on-negate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refuse_negation(op, KeyError("negate"))


class FailOnNegatePass(ModulePass):
    """Fails where @main negates."""

    name = "test-fail-on-negate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refuse_negation(op, PassFailedException("no negation please"))


@pytest.fixture(autouse=True)
def failing_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module_pass in (CrashOnNegatePass, FailOnNegatePass):
        monkeypatch.setitem(
            toolkit_universe().all_passes, module_pass.name, lambda each=module_pass: each
        )


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return str(path)


PIPELINE = "xla-flatten-tuples,xla-inline,test-crash-on-negate,xla-simplify{max_constant_bytes=7}"


def test_a_crash_writes_a_reproducer_that_replays(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "crash.mlir"
    option = f"--mlir-pass-pipeline-crash-reproducer={path}"
    assert main([program, "-p", PIPELINE, option]) == 1
    said = capsys.readouterr().err
    assert "internal error: KeyError: 'negate'" in said
    assert "note: pass test-crash-on-negate failed" in said
    assert f"xla-opt {path} --run-reproducer" in said
    assert "Traceback" not in said
    reproducer = Reproducer.parse(path.read_text())
    assert reproducer is not None
    assert reproducer.pipeline == "test-crash-on-negate,xla-simplify{max_constant_bytes=7}"
    assert reproducer.verify_each
    assert "xla.negate" in reproducer.module
    assert "xla.call" not in reproducer.module, "the passes before the crash are done"
    path_of_second = tmp_path / "second.mlir"
    again = ["--run-reproducer", f"--pass-pipeline-crash-reproducer={path_of_second}"]
    assert main([str(path), *again]) == 1
    assert "pass test-crash-on-negate failed" in capsys.readouterr().err
    assert path_of_second.read_text() == path.read_text()


def test_a_crash_without_the_option_writes_to_the_temporary_folder(
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main([program, "-p", PIPELINE, "--disable-verify", "--debug"]) == 1
    said = capsys.readouterr().err
    (path,) = tmp_path.glob("xla-opt-crash-*.mlir")
    assert f"xla-opt {path} --run-reproducer" in said
    assert "Traceback (most recent call last)" in said
    reproducer = Reproducer.parse(path.read_text())
    assert reproducer is not None
    assert not reproducer.verify_each


def test_a_pass_that_gives_up_writes_a_reproducer_if_asked(
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    passes = ["-p", "xla-inline,test-fail-on-negate"]
    assert main([program, *passes]) == 1
    assert "reproduce" not in capsys.readouterr().err
    assert list(tmp_path.glob("xla-opt-crash-*")) == []
    path = tmp_path / "failure.mlir"
    assert main([program, *passes, f"--mlir-pass-pipeline-crash-reproducer={path}"]) == 1
    said = capsys.readouterr().err
    assert "no negation please" in said
    assert f"{path} --run-reproducer" in said
    assert "xla.negate" in path.read_text()


def test_a_reproducer_that_cannot_be_written_is_said(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    option = f"--mlir-pass-pipeline-crash-reproducer={tmp_path / 'no' / 'folder.mlir'}"
    assert main([program, "-p", PIPELINE, option]) == 1
    said = capsys.readouterr().err
    assert "internal error: KeyError" in said
    assert "no reproducer: " in said
    assert "No such file" in said


def test_a_reproducer_reads_without_running_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "reproducer.mlir"
    path.write_text(Reproducer(PROGRAM, "xla-inline").text())
    assert main([str(path)]) == 0
    assert "xla.call" in capsys.readouterr().out
    assert main([str(path), "--run-reproducer"]) == 0
    assert "xla.call" not in capsys.readouterr().out
    assert main([str(path), "--run-reproducer", "-p", "xla-inline"]) == 1
    assert "takes the passes from the reproducer" in capsys.readouterr().err


def test_a_program_is_no_reproducer(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([program, "--run-reproducer"]) == 1
    assert "there is no `mlir_reproducer`" in capsys.readouterr().err


@pytest.mark.parametrize("pipeline", ['a{b="c \\" d"}', "native{to=xla},x", ""])
@pytest.mark.parametrize("verify_each", [True, False])
def test_reproducers_are_read_as_they_were_written(pipeline: str, verify_each: bool) -> None:
    reproducer = Reproducer("builtin.module {\n}", pipeline, verify_each)
    read = Reproducer.parse(reproducer.text())
    assert read is not None
    assert (read.module.rstrip(), read.pipeline, read.verify_each) == (
        "builtin.module {\n}",
        pipeline,
        verify_each,
    )


def test_reproducers_of_mlir_opt_are_read() -> None:
    passes = "builtin.module(canonicalize, cse{x=1})"
    resource = f"mlir_reproducer: {{ pipeline: {json.dumps(passes)}, disable_threading: false }}"
    read = Reproducer.parse(f"module {{\n}}\n{{-# external_resources: {{ {resource} }} #-}}")
    assert read is not None
    assert read.pipeline == "canonicalize, cse{x=1}"


# ---- Times

LINE = re.compile(r" +(\d+\.\d{4}) \( *(\d+\.\d)%\)  ( *)(.*)")


def timing_lines(report: str) -> list[tuple[float, float, int, str]]:
    """Seconds, percent, depth and name of each line of a report."""
    matches = filter(None, map(LINE.fullmatch, report.splitlines()))
    return [(float(m[1]), float(m[2]), len(m[3]) // 2, m[4]) for m in matches]


def test_timing_is_a_tree(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([program, "-p", "xla-inline,native{to=tensors}", "--timing"]) == 0
    captured = capsys.readouterr()
    assert "Execution time report" not in captured.out
    lines = timing_lines(captured.err)
    expected = [(0, "Setup"), (0, "Parser"), (0, "xla-inline"), (0, "'native' Pipeline")]
    for stage in PIPELINES["native"][:2]:
        expected.append((1, f"'{stage.level}' Level"))
        for spec in stage.passes:
            expected.append((2, spec.partition("{")[0]))
    expected += [(0, "Output"), (0, "Rest"), (0, "Total")]
    assert [(depth, name) for _, _, depth, name in lines if name != "Verifier"] == expected
    names = [name for _, _, _, name in lines]
    verified = {before for before, name in pairwise(names) if name == "Verifier"}
    # A pass that says it changed nothing is not verified after.
    assert {"xla-inline", "convert-xla-to-linalg"} <= verified
    assert "xla-expand-bitcast" not in verified
    seconds = {name: time for time, _, _, name in lines}
    levels = [time for time, _, _, name in lines if name.endswith("Level")]
    assert sum(levels) == pytest.approx(seconds["'native' Pipeline"], abs=2e-4)
    top = [time for time, _, depth, name in lines if depth == 0 and name != "Total"]
    assert sum(top) == pytest.approx(seconds["Total"], abs=1e-3)
    assert lines[-1][1] == 100.0


def test_chunks_share_timers_and_failures_are_timed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "chunks.mlir"
    path.write_text(f"{PROGRAM}// -----\n{PROGRAM}")
    passes = ["-p", "xla-flatten-tuples,xla-flatten-tuples", "--mlir-timing"]
    assert main([str(path), "--split-input-file", *passes]) == 0
    names = [name for _, _, _, name in timing_lines(capsys.readouterr().err)]
    assert names.count("xla-flatten-tuples") == 2
    assert names.count("Parser") == 1
    assert main([str(path), "--split-input-file", "-p", PIPELINE, "--timing"]) == 1
    names = [name for _, _, _, name in timing_lines(capsys.readouterr().err)]
    assert "xla-inline" in names
    assert "test-crash-on-negate" not in names


# ---- Lists


def test_list_passes_has_pipelines_levels_and_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--list-passes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    levels = "<xla|tensors|buffers|schedules|loops>"
    assert f"  native{{from={levels} to={levels} target=MACHINE}}" in lines
    for stage in PIPELINES["native"]:
        assert f"      {stage.level}: {', '.join(stage.passes)}" in lines
    for name in UNIVERSE.all_passes:
        text = lines[lines.index(f"  {name}") + 1]
        assert text.startswith("      "), f"{name} has no line of documentation"
        assert text.endswith("."), f"the first sentence of {name} does not end: {text}"
    start = lines.index("  xla-simplify")
    assert lines[start + 2].startswith("      {max_constant_bytes: int} (default ")
    assert lines[start + 3].startswith("          The largest constant ")


def test_list_targets_has_options_and_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-targets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("  riscv-asm")
    assert lines[start + 1] == "      Optimised RISC-V assembly for a module of the loops level."
    assert lines[start + 2 : start + 4] == [
        "      {cpu: str} (default '')",
        "          The processor, as LLVM names it.",
    ]
    for name in (*UNIVERSE.all_targets, *MACHINES):
        text = lines[lines.index(f"  {name}") + 1]
        assert text.startswith("      "), f"{name} has no line of documentation"


def test_printing_around_unknown_passes_is_an_error(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([program, "--print-ir-after=xla-inlin"]) == 1
    assert "there is no pass 'xla-inlin'" in capsys.readouterr().err
