"""`xla-compare --examples`: ways of compiling on the programs that come with the tools."""

import json
import math
from pathlib import Path

import pytest

from tools.compare.benchmark import Benchmark, mean_ratio
from tools.xla_compare import main

EFFORT = ["--turns=6", "--compiles=1"]


def test_a_way_beside_the_usual_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "figures.json", tmp_path / "page.html"
    options = [":without=linalg-fuse-producers-and-siblings", ":without=linalg-cse:label=same"]
    written = ["--no-instructions", f"--json={path}", f"--html={page}"]
    assert main(["--examples=softmax", *options, *EFFORT, *written]) == 0
    shown = capsys.readouterr().out
    found = Benchmark.read(str(path))
    first, unfused, same = (rows["softmax"] for rows in found.ways.values())
    # What is fused is not stored.
    memory = [first.memory or 0, unfused.memory or 0]
    assert 0 < memory[0] < 64 * 1024 * 4 < memory[1]
    assert f"{memory[0]:,} → {memory[1]:,}" in shown
    assert (first.difference, same.verdict, same.ratio) == (0.0, "same code", 1.0)
    assert 0 < unfused.difference < 1e-6
    assert "geometric mean of 1 ratios" in shown
    assert "softmax" in page.read_text()
    assert json.loads(found.as_json()) == json.loads(path.read_text())
    assert main(["--examples=softmax", "--no-instructions", *EFFORT, f"--against={path}"]) == 0
    assert f"default beside that on {found.processor}" in capsys.readouterr().out


@pytest.mark.qemu
@pytest.mark.riscv64
def test_instructions_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--examples=scalars", *EFFORT, "--json=-"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["ways"]["default"].values()
    assert 10 < row["instructions"] < 100


def test_a_way_that_fails_is_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--examples=scalars", ":without=convert-xla-to-linalg", "--no-instructions"]
    assert main([*arguments, *EFFORT]) == 0
    shown = capsys.readouterr().out
    assert "fails" in shown
    assert "scalars: " in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--examples=none"], "there is no example 'none'"),
        (["--examples=all", "program.mlir"], "program.mlir: with --examples a contender begins"),
        (["--examples=scalars", "--against=none.json"], "none.json: error: No such file"),
        (["--examples=scalars", "--against={page}"], "no figures of xla-compare --examples"),
        ([], "nothing is compared"),
    ],
)
def test_wrong_arguments(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page.json").write_text('{"ways": {"default": {"softmax": {"time": 1}}}}')
    given = [each.format(page=tmp_path / "page.json") for each in arguments]
    assert main(given) == 1
    assert message in capsys.readouterr().err


def test_means() -> None:
    assert mean_ratio([0.5, 2.0]).startswith("geometric mean of 2 ratios 1.000 (")
    assert (
        mean_ratio([3.0]) == "geometric mean of 1 ratios 3.000 (3.000 .. 3.000 with 95% confidence)"
    )
    assert mean_ratio([math.nan]) == ""
