"""The demo tells agreement from disagreement; the benchmark runs and knows its programs."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from explored import Page
from ml_dtypes import bfloat16

from tools.comparison import largest_relative_error
from tools.repository import pictures
from tools.repository.benchmark import __main__ as xla_bench
from tools.repository.benchmark.contenders import (
    Figures,
    Library,
    LibraryFigures,
    error_of_elements,
    is_accurate,
)
from tools.repository.benchmark.libraries import LIBRARIES, libraries_of
from tools.repository.benchmark.report import BEGIN, END, GroupReport, write_page
from xla_dialect.diagnostics import XlaError


@pytest.mark.jax
def test_demo_shows_levels_times_and_a_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tools.repository import demo  # noqa: PLC0415

    monkeypatch.setattr(demo, "PAGE", tmp_path / "demo.html")
    monkeypatch.setattr(demo, "TURNS", 3)
    assert demo.show() == 0
    shown = capsys.readouterr().out
    for part in ("ENTRY main", "linalg.generic", "func.func private @con", "vector.fma", "vfmadd"):
        assert part in shown
    assert "the result is as XLA's" in shown
    assert (
        "contraction_kernel_0"
        in Page((tmp_path / "demo.html").read_text()).lines("xla-outline-kernels")[6]
    )


@pytest.mark.jax
def test_demo_shows_disagreement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tools.repository import demo  # noqa: PLC0415

    monkeypatch.setattr(demo, "PAGE", tmp_path / "demo.html")
    monkeypatch.setattr(demo, "TURNS", 3)
    own = demo.jit
    monkeypatch.setattr(demo, "jit", lambda layer: own(lambda *given: layer(*given) * 1.001))
    assert demo.show() == 1
    assert "NOT AS XLA'S" in capsys.readouterr().out


def test_the_times_are_drawn_from_the_page() -> None:
    page = pictures.PERFORMANCE.read_text(encoding="utf-8")
    drawn = pictures.drawn_times(page)
    texts = [each.text for each in ElementTree.fromstring(drawn).iter() if each.text]
    for name, (_, ratio) in pictures.measured_rows(page)["models"].items():
        assert name in texts
        assert any(text.startswith(f"{ratio:.2f} ") for text in texts)
    with pytest.raises(XlaError, match="has no row"):
        pictures.drawn_times(page.replace("| softmax |", "| hardmax |"))


@pytest.mark.browser
def test_the_explorer_is_photographed(tmp_path: Path) -> None:
    pictures.photograph(tmp_path / "explorer.png")
    taken = (tmp_path / "explorer.png").read_bytes()
    assert taken.startswith(b"\x89PNG")
    # Nothing but a page full of text takes so much.
    assert len(taken) > 100_000


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


@pytest.mark.full
def test_benchmark_of_starts() -> None:
    answer = bench("starts")
    assert answer.returncode == 0, answer.stderr
    ratios = {
        cells[0]: float(cells[-1])
        for line in answer.stdout.splitlines()
        if line.startswith("| xla-opt") and (cells := [c.strip() for c in line.split("|")[1:-1]])
    }
    # A command line that is only explained needs neither numpy nor xDSL.
    assert ratios["xla-opt --help"] < 1 <= ratios["xla-opt, three lines, -p native"]


@pytest.mark.full
@pytest.mark.jax
def test_benchmark_of_a_kernel(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(f"# Title\n\n{BEGIN}\nold\n{END}\n\nText.\n")
    answer = bench("matmul 128", "--threads=1", f"--write={page}")
    assert answer.returncode == 0, answer.stderr
    assert "geometric mean of the ratios of 1 kernels" in answer.stdout
    assert "1 thread: matmul 128 " in answer.stdout
    assert "Over the best of XLA and libraries, 1 thread: " in answer.stdout
    before, rest = page.read_text().split(BEGIN)
    written, after = rest.split(END)
    assert (before, after) == ("# Title\n\n", "\n\nText.\n")
    assert written.count("| matmul 128 |") == 2
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
        return Figures(name, compile_ratio, 1.0, ratio, 1.0, ratio, 0.0, None, {})

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


def test_only_accurate_libraries_are_compared() -> None:
    beside = {"near": LibraryFigures(1.5, True), "far": LibraryFigures(3.0, False)}
    rows = {
        name: Figures(name, 1.0, 1.0, 1.0, 1.0, ratio, 0.0, None, found)
        for name, ratio, found in (("quick", 0.5, beside), ("slow", 2.0, beside), ("own", 1.0, {}))
    }
    report = GroupReport("kernels", {1: rows}, dict.fromkeys(rows, ""))
    assert list(report.best_lines()) == [["quick", "1.50", "near"], ["slow", "2.00", "XLA"]]
    mean, off, *_ = report.best_means()
    assert "33% of 3 kernels at most 1.05 (aim: 80%), the largest 2.00 (aim: 1.3)" in mean
    assert off == "Less accurate than ours, so they do not count: far in quick, far in slow."


def test_errors_of_small_results_count() -> None:
    expected = np.array([1.0, 1e-6], np.float32)
    near, far = expected * np.float32(1 + 1e-6), expected + np.float32(1e-7)
    elements = Library("library", lambda: lambda: None, error_of_elements)
    assert is_accurate(elements, near, [expected], [expected])
    assert not is_accurate(elements, far, [expected], [expected])
    assert is_accurate(Library("library", elements.start), far, [expected], [expected])


@pytest.mark.full
@pytest.mark.jax
def test_libraries_compute_what_rows_do() -> None:
    import jax  # noqa: PLC0415

    from tools.repository.benchmark.kernels import KERNELS  # noqa: PLC0415

    rows = {row.name: row for row in KERNELS}
    assert rows.keys() >= LIBRARIES.keys()
    for name in LIBRARIES:
        row, libraries = rows[name], libraries_of(name)
        inputs = row.inputs()
        with jax.enable_x64(any(array.dtype == np.float64 for array in inputs)):
            expected = [
                np.asarray(each) for each in jax.tree.leaves(jax.jit(row.function)(*inputs))
            ]
        for library in libraries:
            found = library.start(1, *inputs)()
            results = found if isinstance(found, tuple) else (found,)
            for result, wanted in zip(results, expected, strict=True):
                # numpy adds a million numbers one after the other.
                bound = 0.02 if wanted.dtype == bfloat16 else 1e-4
                error = largest_relative_error(np.asarray(result).astype(wanted.dtype), wanted)
                assert error < bound, (name, library.package)


def test_a_page_without_marks_stays_as_it_is(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text("# Title\n")
    with pytest.raises(XlaError, match="has no place for figures"):
        write_page(page, "figures")
    assert page.read_text() == "# Title\n"
