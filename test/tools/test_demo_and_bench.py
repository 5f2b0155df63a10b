"""The demo tells agreement from disagreement; the benchmark runs and knows its programs."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tools.repository import demo
from tools.repository.benchmark import __main__ as xla_bench
from tools.repository.benchmark.contenders import Figures
from tools.repository.benchmark.report import BEGIN, END, GroupReport, write_page
from tools.repository.programs import StoredProgram
from xla_dialect.diagnostics import XlaError


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
    # A process of its own: where the toolkit is measured, it binds itself to one processor.
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "tools.repository.benchmark",
            *arguments,
            "--turns=1",
            "--compiles=1",
        ],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.full
def test_benchmark_of_the_toolkit() -> None:
    answer = bench("toolkit")
    assert answer.returncode == 0, answer.stderr
    for line in ("verification: ", "printing: a constant of ", "sum of rows"):
        assert line in answer.stdout


def test_benchmark_of_starts() -> None:
    answer = bench("starts")
    assert answer.returncode == 0, answer.stderr
    ratios = {
        cells[0]: float(cells[-1])
        for line in answer.stdout.splitlines()
        if line.startswith("│") and (cells := [c.strip() for c in line.strip("│").split("│")])[-1]
    }
    # A command line that is only explained needs neither numpy nor xDSL.
    assert ratios["xla-opt --help"] < 1 <= ratios["xla-opt, three lines, -p native"]


@pytest.mark.jax
def test_benchmark_of_a_kernel(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(f"# Title\n\n{BEGIN}\nold\n{END}\n\nText.\n")
    answer = bench("matmul 128", "--threads=1", f"--write={page}")
    assert answer.returncode == 0, answer.stderr
    assert "geometric mean of the ratios of 1 kernels" in answer.stdout
    assert "1 thread: matmul 128 " in answer.stdout
    before, rest = page.read_text().split(BEGIN)
    written, after = rest.split(END)
    assert (before, after) == ("# Title\n\n", "\n\nText.\n")
    assert "| matmul 128 |" in written
    assert "old" not in written


@pytest.mark.flax
def test_benchmark_of_an_unknown_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert xla_bench.main(["nonesuch"]) == 1
    assert "there is no row 'nonesuch'; there are 'add', 'exp', " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("count", "message"),
    [
        ("0", "argument --threads: '0' is no list of numbers of threads"),
        ("one", "argument --threads: 'one' is no list of numbers of threads"),
        ("1000", "argument --threads: cannot compare 1000 threads on"),
    ],
)
def test_benchmark_of_impossible_threads(
    count: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert xla_bench.main(["add", f"--threads={count}"]) == 1
    assert message in capsys.readouterr().err


def test_rows_that_fall_short() -> None:
    def row(name: str, ratio: float, compile_ratio: float) -> Figures:
        return Figures(name, compile_ratio, 1.0, ratio, 1.0, ratio, 0.0, None)

    rows = (row("fast", 0.5, 6.0), row("slow", 1.2, 1.0), row("large", 0.4, 7.0))
    twice = (row("fast", 1.1, 6.0), row("slow", 0.9, 1.0), row("large", 0.4, 7.0))
    report = GroupReport(
        "kernels",
        {1: {r.name: r for r in rows}, 2: {r.name: r for r in twice}},
        {"fast": "", "slow": "Because.", "large": ""},
    )
    assert list(report.shortfalls()) == [
        "fast: a call takes 1.10 times as long as XLA's with 2 threads. No reason was found yet.",
        "slow: a call takes 1.20 times as long as XLA's with 1 thread. Because.",
        "large: compiling 7.0 times. No reason was found yet.",
    ]
    first, second, compiling = report.means()
    assert "1 thread: geometric mean of the ratios of 3 kernels 0.62" in first
    assert "2 threads: geometric mean of the ratios of 3 kernels 0.73" in second
    assert "largest ratio 7.00" in compiling


def test_a_page_without_marks_stays_as_it_is(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text("# Title\n")
    with pytest.raises(XlaError, match="has no place for figures"):
        write_page(page, "figures")
    assert page.read_text() == "# Title\n"
