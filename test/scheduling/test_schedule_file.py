"""Files of schedules: their text, what is taken from them, and what is said of bad ones."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import lowerings
from lowerings.compilation import Options, cache_entry
from lowerings.dialects.schedule import Loop, Schedule, ScheduleWarning, schedule_of
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.driver.source import Source
from lowerings.loops.nest import NESTS
from lowerings.scheduling.schedule_file import (
    ScheduleEntry,
    ScheduleFile,
    operation_key,
    parse_schedule_file,
    read_schedule_file,
)
from lowerings.targets.llvm.machine import host
from tools import xla_opt, xla_run
from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import print_mlir

PRODUCT = """
func.func @main(%a: tensor<7x13xf32>, %b: tensor<13x11xf32>) -> tensor<7x11xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<7x13xf32>, tensor<13x11xf32>) -> tensor<7x11xf32>
  return %0 : tensor<7x11xf32>
}
"""
SPECS = ["--input", "7x13xf32=1.0", "--input", "13x11xf32=2.0"]


def scheduled(option: str = "") -> list:
    """The operations of the product with their schedules."""
    module = load_program(PRODUCT)
    passes = parse_passes(f"native{{to=buffers}},xla-plan-schedules{option}")
    PassManager(make_context()).run(module, passes)
    return [op for op in module.walk() if type(op) in NESTS]


def file_for(tmp_path: Path, schedule: str, processor: str | None = None) -> Path:
    """A file with a schedule for the contraction."""
    key = operation_key(scheduled()[-1])
    head = "schedules" if processor is None else f'schedules for "{processor}"'
    path = tmp_path / "given.schedules"
    path.write_text(f'{head} {{\n  "{key}" = #schedule.nest<{schedule}>\n}}\n')
    return path


def test_text_round_trip(tmp_path: Path) -> None:
    steps = (Loop(1, 32), Loop(0, 6), Loop(2))
    entries = [
        ScheduleEntry("12", Schedule(steps, 1, 16, folded_fills=(0,)), 'a "note", \\ and\nmore'),
        ScheduleEntry("12", Schedule(steps), processor="one"),
        ScheduleEntry("34", Schedule((Loop(0),)), processor='the "other"'),
    ]
    file = ScheduleFile(entries)
    file.write(tmp_path / "x")
    found = read_schedule_file(tmp_path / "x")
    assert [(e.key, e.schedule, e.note, e.processor) for e in found.entries] == [
        (e.key, e.schedule, e.note, e.processor) for e in entries
    ]
    assert str(found) == str(file)
    assert found.entries[1].place == f"{tmp_path / 'x'}:7:3"
    assert parse_schedule_file("// nothing\n").entries == ()


def test_own_entries_come_first() -> None:
    all_, one = ScheduleEntry("k", Schedule(())), ScheduleEntry("k", Schedule(()), processor="one")
    file = ScheduleFile([all_, one])
    assert file.entry("k", "one") is one
    assert file.entry("k", "two") is all_
    assert file.entry("other", "one") is None
    newer = ScheduleEntry("k", Schedule((Loop(0),)), processor="one")
    assert file.updated([newer]).entries == (all_, newer)


def test_keys_are_the_same_in_other_processes() -> None:
    program = (
        "from test_schedule_file import scheduled, operation_key\n"
        "print(*map(operation_key, scheduled()))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{Path(__file__).parent}:{Path.cwd()}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()[-1]
        for seed in ("1", "2")
    }
    assert answers == {operation_key(scheduled()[-1])}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("7x", "8x"),
        ("f32", "f64"),
        (
            "contracting_dims = [1] x [0]",
            "contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST]",
        ),
    ],
)
def test_keys_tell_operations_apart(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes and types do; what does not reach the operation does not."""
    before = operation_key(scheduled()[-1])
    monkeypatch.setitem(globals(), "PRODUCT", PRODUCT.replace(old, new))
    after = operation_key(scheduled()[-1])
    assert (before == after) == ("precision" in new)


def test_a_schedule_is_taken_with_the_fills_that_are_there(tmp_path: Path) -> None:
    path = file_for(tmp_path, "loops = [d0, d1 by 4, d2], vector = d1 x 4, fold_fills = [0, 7]")
    found = schedule_of(scheduled(f'{{file="{path}"}}')[-1])
    assert found == Schedule((Loop(0), Loop(1, 4), Loop(2)), 1, 4, folded_fills=(0,))
    path = file_for(tmp_path, "loops = [d2, d0, d1 by 4], vector = d1 x 4, fold_fills = [0]")
    found = schedule_of(scheduled(f'{{file="{path}"}}')[-1])
    assert found is not None
    assert found.folded_fills == ()


@pytest.mark.parametrize(
    ("schedule", "rule"),
    [
        ("loops = [d0, d1, d5]", r"\(SR1\) d5 is no dimension of 3"),
        ("loops = [d0, d1 by 4, d2], vector = d1 x 3", r"\(SR2\)"),
        ("loops = [d0, d1 by 11, d2 by 13]", ""),
        ("loops = [d0, d1 by 11, d2 by 13, d0], vector = d1 x 11", r"\(SR2\)"),
    ],
)
def test_what_is_not_admitted_is_planned(schedule: str, rule: str, tmp_path: Path) -> None:
    path = file_for(tmp_path, schedule)
    if not rule:
        assert schedule_of(scheduled(f'{{file="{path}"}}')[-1]) != schedule_of(scheduled()[-1])
        return
    with pytest.warns(ScheduleWarning, match=rule) as warned:
        found = scheduled(f'{{file="{path}"}}')
    assert str(warned[0].message).startswith(f"{path}:2:3: linalg.generic does not admit")
    assert schedule_of(found[-1]) == schedule_of(scheduled()[-1])


def test_programs_run_by_them(tmp_path: Path) -> None:
    path = file_for(tmp_path, "loops = [d2, d0, d1 by 4], vector = d1 x 4", host().processor)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((7, 13), (13, 11)))
    (found,) = lowerings.compile(PRODUCT, schedules=path)(a, b)
    np.testing.assert_allclose(found, a @ b, rtol=1e-5, atol=1e-5)
    (interpreted,) = lowerings.compile(
        PRODUCT, schedules=path, backend="interpreter", level="loops"
    )(a, b)
    np.testing.assert_allclose(interpreted, a @ b, rtol=1e-5, atol=1e-5)
    with pytest.raises(XlaError, match="backend 'reference' obeys no schedules"):
        lowerings.compile(PRODUCT, schedules=path, backend="reference")


def test_the_cache_knows_their_content(tmp_path: Path) -> None:
    path = file_for(tmp_path, "loops = [d2, d0, d1 by 4], vector = d1 x 4")

    def key(schedules: Path | None) -> str:
        options = Options(schedules=schedules)
        entry = cache_entry(Source(PRODUCT), options, tmp_path / "cache")
        assert entry is not None
        return entry.key

    keys = [key(None), key(path)]
    same = path.rename(tmp_path / "moved")
    assert key(same) == keys[1]
    keys.append(key(file_for(tmp_path, "loops = [d2, d0, d1 by 8], vector = d1 x 8")))
    assert len(set(keys)) == 3


@pytest.mark.jax
def test_functions_of_jax_run_by_them(tmp_path: Path) -> None:
    from lowerings.jax import jit  # noqa: PLC0415

    path = file_for(tmp_path, "loops = [d0, d1, d9]", host().processor)
    ones = np.ones((7, 13), np.float32), np.ones((13, 11), np.float32)
    with pytest.warns(ScheduleWarning, match="d9 is no dimension"):
        found = jit(lambda a, b: a @ b, schedules=path)(*ones)
    np.testing.assert_array_equal(found, np.full((7, 11), 13, np.float32))
    path = file_for(tmp_path, "loops = [d1, d2, d0]", host().processor)
    lowered = jit(lambda a, b: a @ b, schedules=path).lower(*ones)
    assert "#schedule.nest<loops = [d1, d2, d0]>" in lowered.as_text("schedules")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("schedule {}", "1:1", "expected 'schedules'"),
        ("schedules for x {}", "1:15", "string literal"),
        ('schedules {\n  "a" = 7\n}', "2:9", "expected #schedule.nest<...>"),
        ('schedules {\n  "a" #schedule.nest<loops = []>\n}', "2:7", "'='"),
        ('schedules {\n  "a" = #schedule.nest<loops = [x0]>\n}', "2:33", "expected a dimension"),
        ('schedules {\n  "a" = #schedule.nest<vector = d0 x 4>\n}', "2:24", "entry 'loops'"),
        (
            'schedules {\n  "a" = #schedule.nest<loops = []>',
            "2:35",
            "string literal expected of an operation's key, or '}'",
        ),
        (
            'schedules {\n "a" = #schedule.nest<loops = []>\n "a" = #schedule.nest<loops = []>\n}',
            "3:2",
            "a second entry 'a'",
        ),
        ("schedules { } }", "1:15", "expected 'schedules'"),
    ],
)
def test_bad_files(
    text: str, place: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.mlir").write_text(PRODUCT)
    path = tmp_path / "bad.schedules"
    path.write_text(text)
    program, option = str(tmp_path / "p.mlir"), ["--schedules", str(path)]
    for run in (
        lambda: xla_opt.main([program, "-p", "native", *option]),
        lambda: xla_run.main([program, *SPECS, *option]),
    ):
        assert run() == 1
        first = capsys.readouterr().err.splitlines()[0]
        assert first.startswith(f"{path}:{place}: error: "), first
        assert message in first


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_unreadable_files(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.mlir").write_text(PRODUCT)
    path = tmp_path / "bad.schedules"
    if content is not None:
        path.write_bytes(content)
    program, option = str(tmp_path / "p.mlir"), ["--schedules", str(path)]
    assert xla_opt.main([program, "-p", "native", *option]) == 1
    assert xla_run.main([program, *SPECS, *option]) == 1
    assert capsys.readouterr().err.count(f"{path}: error: ") == 2


def test_tools_say_what_is_not_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.mlir").write_text(PRODUCT)
    path = file_for(tmp_path, "loops = [d0, d1, d5]", host().processor)
    arguments = [str(tmp_path / "p.mlir"), "-p", "native{to=schedules}"]
    assert xla_opt.main([*arguments, "--schedules", str(path)]) == 0
    with_file = capsys.readouterr()
    assert xla_opt.main(arguments) == 0
    assert with_file.out == capsys.readouterr().out
    assert with_file.err == (
        f"xla-opt: warning: {path}:2:3: linalg.generic does not admit this schedule: "
        "(SR1) d5 is no dimension of 3\n"
    )
    assert xla_opt.main([str(tmp_path / "p.mlir"), "--schedules", str(path)]) == 1
    assert (
        "--schedules is for pipelines with the pass xla-plan-schedules" in capsys.readouterr().err
    )


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(XlaError, match="error: No such file or directory"):
        ScheduleFile().write(tmp_path / "missing" / "x")


@pytest.mark.parametrize("name", ["dot", "reduce", "reduce_window", "sort", "transpose", "gather"])
def test_planned_schedules_are_admitted(name: str, tmp_path: Path) -> None:
    """Taken from a file, what the planner says gives the module that it gives."""
    program = Path(__file__).parents[1] / "run" / f"{name}.mlir"

    def lowered(option: str = "") -> ModuleOp:
        module = load_program(program)
        passes = parse_passes(f"native{{to=buffers}},xla-plan-schedules{option}")
        PassManager(make_context()).run(module, passes)
        return module

    planned, entries = lowered(), []
    for op in planned.walk():
        schedule = schedule_of(op)
        if schedule is not None:
            entries.append(ScheduleEntry(operation_key(op), schedule))
    assert entries
    ScheduleFile(entries).write(tmp_path / "planned")
    text = print_mlir(lowered(f'{{file="{tmp_path / "planned"}" vector-bits=0}}'))
    assert text == print_mlir(planned)
