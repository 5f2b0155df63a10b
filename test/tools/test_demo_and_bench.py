"""The demo tells agreement from disagreement; the benchmark runs and knows its programs."""

import subprocess
import sys

import numpy as np
import pytest

from tools import demo
from tools.stored_programs import StoredProgram


def test_demo_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.show() == 0
    shown = capsys.readouterr().out
    assert "s32[2,128]" in shown
    assert "Both texts and both executors agree with XLA." in shown


def test_demo_shows_disagreement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = StoredProgram.outputs
    monkeypatch.setattr(
        StoredProgram, "outputs", lambda program: [o * np.float32(1.001) for o in outputs(program)]
    )
    assert demo.show() == 1
    assert "DISAGREEMENT" in capsys.readouterr().out


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    # A process of its own: the benchmark binds itself to one processor.
    return subprocess.run(
        [sys.executable, "-m", "tools.xla_bench", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_benchmark() -> None:
    answer = bench("argmax", "--turns=1", "--compiles=1")
    assert answer.returncode == 0, answer.stderr
    for line in ("argmax.hlo", "argmax.mlir", "argmax_optimized.hlo"):
        assert line in answer.stdout


@pytest.mark.full
def test_benchmark_of_the_toolkit() -> None:
    answer = bench("toolkit", "--turns=1", "--compiles=1")
    assert answer.returncode == 0, answer.stderr
    for line in ("verification: ", "printing: a constant of ", "sum of rows", "xla-opt --help"):
        assert line in answer.stdout


@pytest.mark.jax
def test_benchmark_of_a_kernel() -> None:
    answer = bench("max pool 2x2 NHWC", "--turns=1", "--compiles=1")
    assert answer.returncode == 0, answer.stderr
    assert "max pool 2x2 NHWC" in answer.stdout
    assert "Geometric mean of the ratios of 1 kernels" in answer.stdout
    assert "argmax.hlo" not in answer.stdout


def test_benchmark_of_an_unknown_program() -> None:
    answer = bench("nonesuch")
    assert answer.returncode == 1
    assert "no program named nonesuch; there are mlp_classifier, transformer_block" in answer.stderr
