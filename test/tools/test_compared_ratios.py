"""`xla-compare`: what its ratios are worth, and what others on the machine do to them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools import xla_compare
from tools.compare.figures import CallTime, verdict_of
from tools.compare.measuring import call_time
from tools.measuring_times import CONFIDENCE, LoadMeter, MachineLoad, median_interval, processors

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder in which the commands run, with a program of much work and one of little."""
    monkeypatch.chdir(tmp_path)
    layers = "\n  ".join(f"%{n + 1} = stablehlo.tanh %{n} : tensor<64x64xf32>" for n in range(16))
    Path("program.mlir").write_text(
        "func.func @main(%0: tensor<64x64xf32>) -> tensor<64x64xf32> {\n  "
        f"{layers}\n  return %16 : tensor<64x64xf32>\n}}\n"
        "func.func @flat(%0: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
        "  %1 = stablehlo.tanh %0 : tensor<64x64xf32>\n  return %1 : tensor<64x64xf32>\n}\n"
    )


def report(*arguments: str) -> list[dict[str, Any]]:
    """The contenders of a comparison, as its JSON has them."""
    options = ("--compiles=1", "--no-instructions", "--json=report.json")
    assert xla_compare.main([*arguments, *options]) == 0
    return json.loads(Path("report.json").read_text())["contenders"]


@contextmanager
def neighbours(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that work all the time, each in a session of its own as other users' are."""
    command = [sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield started
    finally:
        for each in started:
            each.kill()
            each.wait()


def worked(process: subprocess.Popen[bytes]) -> float:
    """The seconds that a process has worked."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_the_load_is_what_others_work() -> None:
    """Not what this process does, or those that it has waited for."""
    own = "import time; start = time.process_time()\nwhile time.process_time() < start + 0.5: pass"
    with neighbours(len(processors())) as others:
        before = sum(map(worked, others))
        start, meter = time.perf_counter(), LoadMeter.started()
        subprocess.run([sys.executable, "-c", own], check=True)
        ending = time.process_time() + 0.5
        while time.process_time() < ending:
            pass
        load, passed = meter.read(), time.perf_counter() - start
        theirs = (sum(map(worked, others)) - before) / passed
    assert load.others is not None
    # What is not theirs, of all processors, is what this test has worked.
    assert theirs - 0.2 < load.others < len(processors()) - 1.0 / passed + 0.2
    assert load.is_busy


def test_there_are_no_verdicts_on_a_busy_machine(capsys: pytest.CaptureFixture[str]) -> None:
    with neighbours(len(processors())):
        command = ["program.mlir", "program.mlir:label=again", "--turns=6"]
        found = report(*command)[1]["call"]
    assert len(found["interval"]) == 2
    assert found["verdict"] == "open"
    assert "A busy machine slows down" in capsys.readouterr().out


def test_verdicts_of_a_quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = MachineLoad((0,), 0.0)
    monkeypatch.setattr(LoadMeter, "read", lambda _: quiet)
    deep, flat = (f"program.mlir:num_threads=1:entry={entry}" for entry in ("main", "flat"))

    def verdict(*command: str) -> str:
        return report(*command)[1]["call"]["verdict"]

    assert verdict(deep, flat, "--turns=9") == "faster"
    assert verdict(flat, deep, "--turns=9") == "slower"
    assert verdict(flat, deep, "--turns=5") == "open"


def test_what_differs_between_processes_is_not_hidden_by_turns() -> None:
    """Each process has its places in memory: its turns, as many as they are, tell of no others."""
    quiet, first = MachineLoad((0,), 0.0), [1.0, 1.1, 1.2] * 5

    def beside(*ratios: float) -> CallTime:
        own = [[ratio * each for each in first] for ratio in ratios]
        return call_time(own, [first] * len(ratios), quiet)

    low, high = beside(0.5, 1.5, 0.6, 1.4, 0.7, 1.3).interval or (1.0, 1.0)
    assert (low, high) == pytest.approx((0.5, 1.5))
    assert beside(0.5, 1.5, 0.6, 1.4, 0.7, 1.3).verdict == "open"
    assert beside(0.97, 0.97, 0.98, 0.97, 0.98, 0.97).verdict == "faster"
    assert beside(0.5, 0.5).verdict == "open"
    # In one process so small a difference may be that of places.
    assert beside(0.97).verdict == "alike"


@pytest.mark.parametrize(
    ("interval", "margin", "expected"),
    [
        ((0.5, 0.94), 0.05, "faster"),
        ((0.5, 0.96), 0.05, "open"),
        ((0.5, 0.96), 0.0, "faster"),
        ((0.96, 1.04), 0.05, "alike"),
        ((0.96, 1.06), 0.05, "open"),
        ((1.06, 30.0), 0.05, "slower"),
        ((0.04, 25.0), 0.05, "open"),
        (None, 0.05, "open"),
    ],
)
def test_a_verdict_is_what_the_interval_carries(
    interval: tuple[float, float] | None, margin: float, expected: str
) -> None:
    assert verdict_of(interval, margin) == expected


@pytest.mark.parametrize("count", [6, 7, 15, 40])
def test_intervals_have_the_median(count: int) -> None:
    """As often as they say, for times with a long tail, and for those of two kinds."""
    random = np.random.default_rng(count)
    for draw, median in (
        (lambda: np.exp(random.standard_normal(count)), 1.0),
        (lambda: random.standard_normal(count) + 30 * (random.random(count) < 0.1), None),
    ):
        if median is None:
            median = float(np.median([draw() for _ in range(20_000)]))
        found = [median_interval(list(draw())) for _ in range(2_000)]
        hits = sum(each is not None and each[0] <= median <= each[1] for each in found)
        assert hits / len(found) >= CONFIDENCE - 0.02
    assert median_interval(list(range(5))) is None


def test_processors_are_bound() -> None:
    chosen = processors()[-1]
    command = [sys.executable, "-m", "tools.xla_compare", "program.mlir", f"--processors={chosen}"]
    options = ["--json=-", "--turns=1", "--no-instructions"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [*command, *options], check=True, capture_output=True, env=environment, text=True
    )
    assert json.loads(found.stdout)["load"]["processors"] == [chosen]
