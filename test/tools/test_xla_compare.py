"""`xla-compare`: contenders, figures that do not vary, reports, and what fails."""

import json
import re
import subprocess
import sys
from dataclasses import asdict
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lowerings.compilation import Lowering
from lowerings.driver.pass_manager import machine_target
from lowerings.driver.program import load_program
from lowerings.ir.target import Target
from lowerings.pipelines import LEVELS, NATIVE
from lowerings.scheduling.schedule_file import operation_key
from lowerings.scheduling.xla_plan_schedules import XlaPlanSchedulesPass
from lowerings.targets.llvm.machine import host, riscv64
from tools import xla_compare, xla_opt
from tools.compare.compiling import lowering_of
from tools.compare.contender import ComparisonEffort, parse_contenders
from tools.compare.figures import difference, seconds
from tools.compare.measuring import failure_of, runs_of, trials

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")
QUICK = ["--turns=2", "--compiles=1"]
WITHOUT_EMULATOR = [*QUICK, "--no-instructions"]
PASSES = [spec.partition("{")[0] for stage in NATIVE for spec in stage.passes]

TWICE = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = xla.add %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}
func.func @other(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = xla.multiply %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}
func.func @wide(%x: tensor<5xf32>) -> tensor<5xf32> {
  func.return %x : tensor<5xf32>
}
func.func @pair(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  func.return %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
}
func.func @short(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = xla.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
  func.return %0 : tensor<32xf32>
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run, with a program and the file of the page."""
    monkeypatch.chdir(tmp_path)
    Path("twice.mlir").write_text(TWICE)
    layer = re.search(r'^```mlir title="layer.mlir"\n(.*?)^```', PAGE, re.M | re.S)
    assert layer is not None
    Path("layer.mlir").write_text(layer[1])
    return tmp_path


def report(*arguments: str) -> dict[str, Any]:
    """The JSON of a comparison, the contenders by label."""
    assert xla_compare.main([*arguments, "--json=report.json"]) == 0
    found = json.loads(Path("report.json").read_text(), parse_constant=pytest.fail)
    return {each["label"]: each for each in found["contenders"]}


def test_what_contenders_are_called() -> None:
    def labels(*texts: str) -> list[str]:
        return [each.label for each in parse_contenders(texts)]

    file = "twice.mlir"
    options = f"{file}:num_threads=2:without=linalg-cse"
    assert labels(file, options, file) == ["default", options[len(file) + 1 :], "default #2"]
    assert labels(file, "layer.mlir", f"{file}:label=a b") == [file, "layer.mlir", "a b"]
    assert labels(*[f"{file}:label=a"] * 3) == ["a", "a #2", "a #3"]


def test_options_of_contenders() -> None:
    Path("a:b,c.mlir").write_text(TWICE)
    pipeline = "native{to=buffers},xla-plan-schedules{vector-bits=128 register-tiles=false}"
    text = f"a:b,c.mlir:pipeline={pipeline}:without=linalg-cse:without=xla-inline:entry=@other"
    (contender,) = parse_contenders([text])
    assert contender.source.file_name == "a:b,c.mlir"
    assert contender.entry == "other"
    names = [each.module_pass.name for each in contender.passes(host())]
    usual = [spec.partition("{")[0] for stage in NATIVE[:3] for spec in stage.passes]
    left = [name for name in usual if name not in ("linalg-cse", "xla-inline")]
    assert names == [*left, "xla-plan-schedules"]
    assert contender.passes(host())[-1].module_pass == XlaPlanSchedulesPass(
        128, register_tiles=False
    )


def test_passes_plan_for_the_machine() -> None:
    """As `lowerings.compile` does."""
    (usual,) = parse_contenders(["twice.mlir"])
    for machine in (host(), riscv64(), riscv64(features="+v")):
        found = Target.of(lowering_of(usual, machine).module)
        assert asdict(found) == asdict(machine_target(machine))


def test_figures_that_do_not_vary() -> None:
    found = report("layer.mlir", "layer.mlir:without=linalg-fuse-producers-and-siblings", *QUICK)
    fused, unfused = found.values()
    x, w, b, result = 64 * 128 * 4, 128 * 96 * 4, 96 * 4, 64 * 96 * 4
    product = x + w + 3 * result  # filled with zeros, read and written
    assert fused["kernels"] == fused["kernel_calls"] == 2
    assert fused["moved_bytes"] == product + result + b + result
    assert fused["memory"]["allocated"] == result
    assert unfused["kernels"] > 2
    assert unfused["moved_bytes"] > fused["moved_bytes"]
    assert fused["difference"] == 0
    assert unfused["difference"] < 1e-6
    for own in found.values():
        times = own["call"]
        assert len(times["turns"]) == 2
        assert min(times["turns"]) <= times["median"] <= max(times["turns"])
        parts = own["compilation"]["parts"]
        levels = [stage.level for stage in NATIVE]
        assert list(parts) == ["reading", *levels, "LLVM IR", "LLVM", "loading"]
        assert own["compilation"]["seconds"] == pytest.approx(sum(parts.values()))
        assert own["code_bytes"] > 0
        assert sum(each["moved"] for each in own["traffic"]) == own["moved_bytes"]


def test_processes_of_their_own() -> None:
    narrow = "layer.mlir:without=linalg-cse:num_threads=1:label=b"
    found = report("layer.mlir", narrow, "--processes=2", "--turns=4", *WITHOUT_EMULATOR[1:])
    here = report("layer.mlir", narrow, *WITHOUT_EMULATOR)
    assert list(found) == list(here)
    for label, own in found.items():
        assert len(own["call"]["turns"]) == 4
        assert own["difference"] == here[label]["difference"]
        for figure in ("kernels", "moved_bytes", "code_bytes", "memory", "traffic"):
            assert own[figure] == here[label][figure]
        parts = ("name", "level", "operations", "changes")
        effects = [[each[part] for part in parts] for each in own["passes"]]
        assert effects == [[each[part] for part in parts] for each in here[label]["passes"]]


ELEMENT = """
func.func @good(%x: tensor<4xf32>, %i: tensor<i64>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @bad(%x: tensor<4xf32>, %i: tensor<i64>) -> tensor<4xf32> {
  %number = tensor.extract %i[] : tensor<i64>
  %index = arith.index_cast %number : i64 to index
  %element = tensor.extract %x[%index] : tensor<4xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %all = linalg.fill ins(%element : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  func.return %all : tensor<4xf32>
}
"""


def test_a_crash_ends_its_own_process() -> None:
    Path("element.mlir").write_text(ELEMENT)
    option = "pipeline=native{from=tensors}"
    texts = [f"element.mlir:entry={name}:{option}:label={name}" for name in ("good", "bad")]
    inputs = [np.ones(4, np.float32), np.array(1 << 40, np.int64)]
    effort = ComparisonEffort(2, 1, 0, 0.0, False, "", 60.0, processes=1)
    good, bad = runs_of(parse_contenders(texts), inputs, effort, lambda _: None)
    assert (good.failure, [len(turns) for turns in good.turns]) == ("", [2])
    assert (bad.failure, bad.turns) == ("its process ended by SIGSEGV", [])
    # What is not native is tried before, with checks.
    options = ["--processes=1", "--input=4xf32=1.0", f"--input=i64={1 << 40}", *WITHOUT_EMULATOR]
    assert f"index {1 << 40} in dimension 0" in report(*texts, *options)["bad"]["failure"]


def test_what_passes_did() -> None:
    (own,) = report("twice.mlir", *WITHOUT_EMULATOR).values()
    assert own["no_instructions"] == "not asked for"
    assert [each["name"] for each in own["passes"]] == PASSES
    by_name = {each["name"]: each for each in own["passes"]}
    converted = by_name["convert-xla-to-linalg"]["changes"]
    assert converted["xla.add"] == -1
    assert converted["linalg.generic"] == converted["arith.addf"] == 1
    assert by_name["linalg-cse"]["changes"] == {}
    previous = by_name["convert-xla-to-scf"]["operations"]
    assert by_name["convert-xla-to-linalg"]["operations"] == previous + sum(converted.values())
    assert {each["level"] for each in own["passes"]} == {stage.level for stage in NATIVE}


IN_THE_MIDDLE = (
    "native{to=tensors},linalg-cse,native{from=tensors}",
    "native{to=tensors},lift-cf-to-scf,linalg-cse,xla-bufferize,native{from=buffers}",
    "xla-inline,native{to=xla},xla-simplify,xla-inline,xla-simplify,native{from=xla}",
)
"""Passes that run again, between levels or before them, and others that are left out."""


def test_passes_are_shown_in_the_order_in_which_they_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    changed = [f"twice.mlir:pipeline={each}:label={n}" for n, each in enumerate(IN_THE_MIDDLE)]
    found = report("twice.mlir", *changed, "--passes", *WITHOUT_EMULATOR)
    table = capsys.readouterr().out.partition("Operations after each pass")[2]
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines()]
    rows = [row for row in cells if row]
    for column, own in enumerate(found.values(), 1):
        shown = [(row[0], int(row[column].split()[0])) for row in rows if row[column] != "-"]
        assert shown == [(each["name"], each["operations"]) for each in own["passes"]]
    # What all of them run is one row.
    assert [row[1:].count("-") for row in rows if row[0] == "xla-bufferize"] == [0]


@pytest.mark.riscv64
@pytest.mark.qemu
def test_instructions() -> None:
    found = report(
        "layer.mlir", "layer.mlir:num_threads=1", "layer.mlir:entry=main:label=x", *QUICK
    )
    counts = {each["instructions"] for each in found.values()}
    # Threads are nothing to the emulated processor; a multiplication for each of the products.
    assert len(counts) == 1
    assert counts.pop() > 64 * 96 * 128


def test_instructions_without_an_emulator(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    (own,) = report("twice.mlir", *QUICK).values()
    assert own["instructions"] is None
    assert "qemu-riscv64, which is not installed" in own["no_instructions"]
    assert "no instructions: programs for riscv64 are run by" in capsys.readouterr().out


def test_schedules() -> None:
    lowering = Lowering(load_program("twice.mlir"), "main", host())
    lowering.to("schedules")
    (op,) = (op for op in lowering.module.walk() if op.name == "linalg.generic")
    Path("plain.schedules").write_text(
        f'schedules {{ "{operation_key(op)}" = #schedule.nest<loops = [d0, d1]> }}'
    )
    found = report("twice.mlir", "twice.mlir:schedules=plain.schedules", *WITHOUT_EMULATOR)
    default, plain = found.values()
    assert plain["schedules"] == "plain.schedules"
    assert default["code_bytes"] != plain["code_bytes"]
    assert plain["difference"] == 0


def test_fusion() -> None:
    """The broadcast of the bias is stored, 64x96xf32, instead of computed by what reads it."""
    Path("alone.fusion").write_text('alone "layer.mlir":3:8\n')
    found = report("layer.mlir", "layer.mlir:fusion=alone.fusion", *WITHOUT_EMULATOR)
    fused, alone = found.values()
    assert alone["kernels"] == fused["kernels"] + 1
    assert alone["memory"]["allocated"] == fused["memory"]["allocated"] + 64 * 96 * 4
    assert alone["moved_bytes"] == fused["moved_bytes"] + 2 * 64 * 96 * 4
    assert alone["difference"] == 0


def test_other_results(capsys: pytest.CaptureFixture[str]) -> None:
    """2x beside x * x: at x = 1 the difference is 1, relative to the 2 that the first has."""
    command = ["twice.mlir", "twice.mlir:entry=other", "--input=4x8xf32=1.0", *WITHOUT_EMULATOR]
    found = report(*command)
    assert found["entry=other"]["difference"] == 0.5
    shown = capsys.readouterr().out
    assert "5.0e-01 !" in shown
    assert "! is more than 1e-05" in shown
    infinite = report(*command[:2], "--input=4x8xf32=nan", *WITHOUT_EMULATOR)
    assert infinite["entry=other"]["difference"] == 0  # NaN in the same places
    infinite = report(*command[:2], "--input=4x8xf32=-inf", *WITHOUT_EMULATOR)
    assert infinite["entry=other"]["difference"] is None


def test_arguments_follow_from_the_seed() -> None:
    def difference_with(*options: str) -> float:
        command = ("twice.mlir", "twice.mlir:entry=other", *WITHOUT_EMULATOR, *options)
        return report(*command)["entry=other"]["difference"]

    x = np.random.default_rng(3).standard_normal((4, 8)).astype(np.float32).astype(np.float64)
    expected = np.abs(x * x - 2 * x).max() / np.abs(2 * x).max()
    assert difference_with("--seed=3") == pytest.approx(expected, rel=1e-5)
    assert difference_with() != difference_with("--seed=3")


def test_ablations() -> None:
    found = report("twice.mlir", "--ablations", *WITHOUT_EMULATOR)
    assert list(found) == ["default", *(f"without {name}" for name in dict.fromkeys(PASSES))]
    needed = {label for label, own in found.items() if "failure" in own}
    assert needed == {
        "without convert-xla-to-linalg",
        "without xla-bufferize",
        "without convert-linalg-to-vector-loops",
    }
    assert "xla.add" in found["without convert-xla-to-linalg"]["failure"]
    assert found["without linalg-cse"]["same_code_as"] == "default"
    assert found["without xla-plan-schedules"]["same_code_as"] is None
    assert found["without xla-outline-kernels"]["kernels"] == 0


def test_programs_given_twice_are_timed_twice() -> None:
    found = report("twice.mlir", "twice.mlir", *WITHOUT_EMULATOR)
    assert [each["same_code_as"] for each in found.values()] == [None, None]


def test_a_process_that_ends_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that waits too long, too; the next contender is tried in a new process."""
    (endless,) = parse_contenders(["twice.mlir:without=linalg-cse"])
    tried = trials([np.ones((4, 8), np.float32)], 60.0)
    assert failure_of(tried, endless) == ""
    assert tried._process is not None
    tried._process.kill()
    tried._process.join()
    assert failure_of(tried, endless) == "its process ended by SIGKILL"
    assert failure_of(tried, endless) == ""
    monkeypatch.setattr(tried, "_time_limit", 0.0)
    assert failure_of(tried, endless) == "it did not end within 0 s"


class Page(HTMLParser):
    """What a page loads, and the tags that are open."""

    def __init__(self, text: str):
        super().__init__()
        self.loaded: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href")]


def test_page(capsys: pytest.CaptureFixture[str]) -> None:
    label = "<b>&\"'"
    command = [
        "twice.mlir",
        f"twice.mlir:label={label}",
        "--passes",
        "--html=page.html",
        *WITHOUT_EMULATOR,
    ]
    assert xla_compare.main(command) == 0
    text = Path("page.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.loaded == []
    assert "script" not in page.tags
    assert "b" not in page.tags
    shown = unescape(re.sub(r"<.*?>", "", text))
    for name in ("convert-linalg-to-vector-loops", "LLVM IR", label):
        assert name in shown
    assert label in capsys.readouterr().out


def test_json_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert xla_compare.main(["twice.mlir", "--json=-", *WITHOUT_EMULATOR]) == 0
    assert json.loads(capsys.readouterr().out)["version"] == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["missing.mlir"], "missing.mlir: error: No such file"),
        (["twice.mlir:threads=2"], "no option 'threads' (there are: pipeline, without"),
        (["twice.mlir:num_threads=0"], "num_threads is 0"),
        (["twice.mlir:num_threads=x"], "num_threads is x"),
        (["twice.mlir:label="], "the option 'label' has no value"),
        (["twice.mlir:pipeline=nativ"], "there is no pass 'nativ'; did you mean native"),
        (["twice.mlir:pipeline=native{to=buffers}"], "cannot emit LLVM IR"),
        (["twice.mlir:without=linalg-dse"], "there is no pass 'linalg-dse' to leave out"),
        (["twice.mlir:without=xla-bufferize"], "without=xla-bufferize: "),
        (["twice.mlir:schedules=missing.schedules"], "missing.schedules"),
        (
            ["twice.mlir:pipeline=xla-inline:schedules=twice.mlir"],
            "schedules is for pipelines with the pass xla-plan-schedules",
        ),
        (["twice.mlir:fusion=missing.fusion"], "missing.fusion"),
        (
            ["twice.mlir:pipeline=xla-inline:fusion=a"],
            "fusion is for pipelines with the pass linalg-plan",
        ),
        (
            ["twice.mlir:entry=nothing"],
            "there is no function @nothing; FILE:entry=NAME compares another (functions: @main, @other",
        ),
        (["twice.mlir", "twice.mlir:entry=wide"], "entry=wide takes other arguments than default"),
        (["twice.mlir", "twice.mlir:entry=pair"], "entry=pair has 2 results, default has 1"),
        (
            ["twice.mlir", "twice.mlir:entry=short"],
            "a result of entry=short is float32[32], expected",
        ),
        (["twice.mlir", "--input=f32=1", "--input=f32=1"], "2 inputs for 1 parameters"),
        (["twice.mlir", "--input=4xf32=1"], "f32[4,8]"),
        (["broken.mlir"], "broken.mlir:2:8: error: "),
        (["replicas.hlo"], "programs of several processes are not compared"),
        (["twice.mlir", "--json=no/where.json"], "no/where.json: error: No such file"),
        (["twice.mlir", "--turns=0"], "0 is no whole number from 1 on"),
        (["twice.mlir", "--processors=2-1"], "2-1 is no list of processors"),
        (["twice.mlir", "--processors=0,x"], "0,x is no list of processors"),
        (["twice.mlir", "--processors=0,9999"], "processor 9999 is none of those that may be used"),
        (["twice.mlir", "--timeout=0"], "0 is no positive number of seconds"),
        ([], "nothing is compared: give a program, or --examples"),
    ],
)
def test_bad_command_lines(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("broken.mlir").write_text(TWICE.replace("xla.add", "xla.dad"))
    Path("replicas.hlo").write_text(
        "HloModule m, replica_count=2\n\nENTRY e {\n  ROOT x = f32[2] parameter(0)\n}\n"
    )
    assert xla_compare.main([*arguments, *WITHOUT_EMULATOR[1:]]) == 1
    errors = capsys.readouterr().err
    assert expected in errors
    assert "Traceback" not in errors
    assert "internal error" not in errors


def test_quantities() -> None:
    assert [seconds(each) for each in (0.0, 1.23456e-7, 1e-6, 0.0123, 100.0)] == [
        "0 ns",
        "123 ns",
        "1 us",
        "12.3 ms",
        "100 s",
    ]
    assert difference(0.0, 0.0) == "0"
    assert difference(1e-6, 1e-5) == "1.0e-06"
    assert difference(np.inf, 1e-5) == "inf !"


@pytest.mark.parametrize("level", LEVELS)
def test_programs_of_every_level(level: str) -> None:
    """Those that `xla-run` takes: the native pipeline goes on from there."""
    assert xla_opt.main(["twice.mlir", "-p", f"native{{to={level}}}", "-o", "lowered.mlir"]) == 0
    found = report("twice.mlir", "lowered.mlir", *WITHOUT_EMULATOR, "--tolerance=0")
    differences = [each["difference"] for each in found.values()]
    assert differences == [0, 0]


def test_allocations_of_a_program_on_memory_are_planned() -> None:
    Path("twice.mlir").write_text(TWICE)
    passes = "native{to=tensors},xla-bufferize"
    assert xla_opt.main(["twice.mlir", "-p", passes, "-o", "buffers.mlir"]) == 0
    report("twice.mlir", "buffers.mlir", *WITHOUT_EMULATOR)


@pytest.mark.parametrize(("call", "code"), [("print({})", 0), ("raise SystemExit({})", 1)])
def test_a_call_without_a_guard_of_the_main_program(folder: Path, call: str, code: int) -> None:
    """Python imports the main program in the processes in which programs are measured."""
    command = ["layer.mlir", "layer.mlir:without=linalg-cse", *QUICK, "--no-instructions"]
    call = call.format(f"xla_compare.main({command})")
    (folder / "measure.py").write_text(f"from xla_dialect_tools import xla_compare\n{call}\n")
    done = subprocess.run(
        [sys.executable, "measure.py"], capture_output=True, text=True, timeout=100, check=False
    )
    assert 'put the call under `if __name__ == "__main__":`' in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == code
