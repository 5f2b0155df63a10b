"""Reducing and bisecting: passes with a fault each, and programs in which it is hidden."""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import faulty_passes
import ml_dtypes
import numpy as np
import pytest
from faulty_passes import CRASHES, FAILURES, WRONG_RESULTS, Fault, FaultyPass
from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from lowerings.delta_debugging import Reducer
from lowerings.delta_debugging.reducer import size_of
from lowerings.driver.pass_manager import parse_passes
from lowerings.driver.program import load_program
from lowerings.execution.limited import Death, TimeIsOver, in_child, time_limit
from lowerings.rewriting.counting import RewriteCounter
from lowerings.rewriting.passes import differences_of
from tools import xla_opt, xla_reduce
from tools.array_spec import parse_array_specs
from tools.pass_instrumentation import CountedPass
from tools.reduce.bisection import bisect, first_that_holds
from tools.reduce.differences import Differs
from tools.reduce.interestingness import (
    Crashes,
    Fails,
    Test,
    Uninteresting,
    gist,
    run_passes,
)
from tools.reduce.running import spec_of
from xla_dialect.mlir_text import print_mlir
from xla_dialect.verification import verify

PROGRAM = """
HloModule faults
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT sum = f32[] add(a, b) }
ENTRY main {
  x = f32[4,6] parameter(0), metadata={op_name="x"}
  y = f32[6,4] parameter(1)
  zero = f32[] constant(0)
  zeros = f32[4,6] broadcast(zero), dimensions={}
  t = f32[4,6] transpose(y), dimensions={1,0}
  above = pred[4,6] compare(x, t), direction=GT
  chosen = f32[4,6] select(above, x, t)
  lower = f32[4,6] subtract(chosen, x)
  decayed = f32[4,6] exponential(lower)
  positive = f32[4,6] maximum(decayed, zeros)
  moved = f32[4,6] add(positive, t)
  product = f32[4,4] dot(moved, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  row = f32[4] reduce(moved, zero), dimensions={1}, to_apply=add
  rows = f32[4,4] broadcast(row), dimensions={0}
  lines = s32[4,4] iota(), iota_dimension=0
  numbers = f32[4,4] convert(lines)
  scaled = f32[4,4] divide(product, rows)
  counted = f32[4,4] multiply(scaled, numbers)
  part = f32[3,4] slice(counted), slice={[0:3], [0:4]}
  cube = f32[2,4,6] broadcast(moved), dimensions={1,2}
  exchanged = f32[2,4,6] multiply(cube, cube)
  squares = f32[4,6] reduce(exchanged, zero), dimensions={0}, to_apply=add
  deep = f32[2,4,4] dot(exchanged, y), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  mixed = f32[2,4,6] multiply(exchanged, cube)
  ROOT all = (f32[3,4], f32[4,6], f32[2,4,4], f32[2,4,6]) tuple(part, squares, deep, mixed)
}
"""


def program() -> ModuleOp:
    return load_program(PROGRAM)


def reduced(test: Test, module: ModuleOp, passes: Sequence[ModulePass]) -> ModuleOp:
    first = test.within_time(module.clone(), passes)
    assert first is not None

    def holds(candidate: ModuleOp) -> bool:
        found = test.within_time(candidate, passes)
        return found is not None and test.is_same(first, found)

    return Reducer(module, holds).run()


OPERATIONS_LEFT: dict[Fault, int] = {
    # The computation of a reduction, and what an exponential is of.
    faulty_passes.reduces_from_the_left: 2,
    faulty_passes.drops_the_second_exponential: 2,
}
NOT_HERE = {faulty_passes.transposes_by_the_inverse}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(f, marks=() if n < 2 or f in OPERATIONS_LEFT else pytest.mark.full)
        for n, f in enumerate(WRONG_RESULTS)
        if f not in NOT_HERE
    ],
    ids=lambda fault: fault.__name__,
)
def test_wrong_results_become_small(fault: Fault) -> None:
    passes = [FaultyPass(fault)]
    module = reduced(Differs(), program(), passes)
    verify(module)
    assert size_of(module) <= OPERATIONS_LEFT.get(fault, 1), print_mlir(module)
    assert Differs().find(module, passes) is not None


@pytest.mark.parametrize("fault", FAILURES, ids=lambda fault: fault.__name__)
def test_failures_become_small(fault: Fault) -> None:
    assert size_of(reduced(Fails(), program(), [FaultyPass(fault)])) == 1


@pytest.mark.parametrize("fault", CRASHES, ids=lambda fault: fault.__name__)
def test_crashes_become_small(fault: Fault) -> None:
    assert size_of(reduced(Crashes(), program(), [FaultyPass(fault)])) == 1


class KillsItself(ModulePass):
    """What an assertion of native code does."""

    name = "kills-itself"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(each.name == "xla.select" for each in op.walk()):
            os.kill(os.getpid(), signal.SIGABRT)


def test_signals_are_crashes() -> None:
    found = Crashes().find(program(), [KillsItself()])
    assert found is not None
    assert found.message == "SIGABRT"
    assert size_of(reduced(Crashes(), program(), [KillsItself()])) == 1


@pytest.mark.parametrize(
    "name", ["mlp_classifier.hlo", pytest.param("transformer_block.hlo", marks=pytest.mark.full)]
)
def test_equal_searches_find_equal_programs(name: str) -> None:
    path = Path(__file__).parents[1] / "programs" / name
    texts = [
        print_mlir(
            Reducer(
                load_program(path), lambda m: any(op.name == "xla.exponential" for op in m.walk())
            ).run()
        )
        for _ in range(2)
    ]
    assert texts[0] == texts[1]
    assert size_of(load_program(texts[0])) == 1


LEVELS = {
    "xla": "xla.exponential",
    "tensors": "math.exp",
    "buffers": "math.exp",
    "loops": "scf.for",
}


@pytest.mark.parametrize("level", LEVELS)
def test_programs_of_every_level(level: str, tmp_path: Path) -> None:
    path = tmp_path / "program.mlir"
    source = tmp_path / "source.hlo"
    source.write_text(PROGRAM)
    assert not xla_opt.main([str(source), "-p", f"native{{to={level}}}", "-o", str(path)])
    module = load_program(path)
    before = size_of(module)
    wanted = LEVELS[level]
    small = Reducer(module, lambda m: any(op.name == wanted for op in m.walk())).run()
    verify(small)
    assert size_of(small) <= 4 < before / 4
    assert load_program(print_mlir(small)).is_structurally_equivalent(small)


def test_what_was_found_stays_after_an_interruption() -> None:
    calls = 0

    def holds(module: ModuleOp) -> bool:
        nonlocal calls
        calls += 1
        if calls == 12:
            raise KeyboardInterrupt
        return any(op.name == "xla.exponential" for op in module.walk())

    module = program()
    reducer = Reducer(module, holds)
    found = reducer.run()
    assert not reducer.progress.is_complete
    assert size_of(found) < size_of(module)
    assert holds(found)


def test_time_ends_the_search() -> None:
    def holds(module: ModuleOp) -> bool:
        time.sleep(0.05)
        return any(op.name == "xla.exponential" for op in module.walk())

    reducer = Reducer(program(), holds, seconds=0.2)
    reducer.run()
    assert not reducer.progress.is_complete
    assert reducer.progress.seconds < 5


EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.mlir"))
NOT_ONE_PROGRAM = {"transfers"}
"""Its parts use the same channels."""


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[] if path.stem in ("reduction", "tuples") else pytest.mark.full)
        for path in EXAMPLES
        if path.stem not in NOT_ONE_PROGRAM
    ],
    ids=lambda path: path.stem,
)
def test_every_operation_alone(path: Path) -> None:
    """What an operation needs is left, and what is left is valid and can be printed."""
    module = load_program(path)
    names = {op.name for op in module.walk() if op.name.startswith("xla.")}
    for name in sorted(names - {"xla.return"}):
        small = Reducer(module, lambda m, name=name: any(op.name == name for op in m.walk())).run()
        verify(small)
        assert size_of(small) <= 6, print_mlir(small)
        assert load_program(print_mlir(small)).is_structurally_equivalent(small)


def test_bisection_names_the_pass_and_the_rewrite() -> None:
    passes = [FaultyPass(fault) for fault in (faulty_passes.counts_along_the_other,)]
    right = FaultyPass(lambda op, rewriter: None)
    object.__setattr__(right, "name", "right")
    passes = [right, *passes, right]
    culprit = bisect(Differs(), program(), passes)
    assert [each.name for each in culprit.passes] == ["right", "counts-along-the-other"]
    assert culprit.rewrite == 1
    changed = [line for line in culprit.diff.splitlines() if line[:2] in ("- ", "+ ")]
    assert len(changed) == 2
    assert "iota_dimension = 0" in changed[0]
    assert "iota_dimension = 1" in changed[1]


def test_bisection_counts_to_the_rewrite() -> None:
    """The first of two transposed operands is right: it is used nowhere."""
    module = load_program(
        "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {\n"
        "%0 = xla.subtract %x, %y : tensor<2xf32>\n"
        "%1 = xla.subtract %y, %x : tensor<2xf32>\n"
        "func.return %1 : tensor<2xf32>\n}"
    )
    passes = [FaultyPass(faulty_passes.subtracts_the_other_way)]
    assert bisect(Differs(), module, passes).rewrite == 2


def test_what_only_special_numbers_show_is_found_beside_what_is_rounded() -> None:
    """Where passes round tangents, and say nothing of what becomes of their NaNs."""
    module = load_program(
        """func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>)
            -> (tensor<2x3xf32>, tensor<2x3xf32>) {
          %0 = xla.maximum %x, %y : tensor<2x3xf32>
          %1 = xla.tan %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
          func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
        }"""
    )
    passes = [*parse_passes("xla-simplify"), FaultyPass(faulty_passes.maximum_forgets_nans)]
    passes += parse_passes("native{to=tensors}")
    assert not Differs().first(module.clone(), [*parse_passes("native{to=tensors}")])
    culprit = bisect(Differs(), module, passes)
    assert culprit.passes[-1].name == "maximum-forgets-nans"
    assert culprit.rewrite == 1
    assert "expected nan" in culprit.finding.message


class ReadsBehindTheEnd(ModulePass):
    """An index that is one too large."""

    name = "reads-behind-the-end"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            if isinstance(each, ConstantOp):
                each.properties["value"] = IntegerAttr(4, IndexType())


def test_what_is_undefined_after_a_pass_is_a_difference() -> None:
    module = load_program(
        """func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
          %last = arith.constant 3 : index
          %y = tensor.extract %x[%last] : tensor<4xf32>
          %z = tensor.from_elements %y : tensor<f32>
          func.return %z : tensor<f32>
        }"""
    )
    culprit = bisect(Differs(expected="interpreter"), module, [ReadsBehindTheEnd()])
    assert culprit.first == 1
    assert "tensor.extract" in culprit.finding.message


@pytest.mark.parametrize(("last", "first"), [(1, 1), (2, 1), (9, 4), (100, 77), (100, 100)])
def test_first_that_holds(last: int, first: int) -> None:
    assert first_that_holds(lambda n: n >= first, last) == (first, first)


def test_what_is_not_known_is_left_open() -> None:
    known = {1: False, 2: None, 3: None, 4: True}
    assert first_that_holds(lambda n: known[n], 4) == (2, 4)
    assert first_that_holds(lambda n: None, 3) == (1, 3)


PIPELINE = parse_passes("native")


@pytest.mark.parametrize(
    "share", [0.5, *(pytest.param(n / 8, marks=pytest.mark.full) for n in range(8))]
)
def test_passes_may_stop_after_any_rewrite(share: float) -> None:
    """What is half done is valid, runs, and computes the same."""
    counted = 0
    module = program()
    for module_pass in PIPELINE:
        before, counter = module.clone(), RewriteCounter()
        run_passes(module, [CountedPass(module_pass, counter)])
        if counter.done:
            counted += 1
            half = [CountedPass(module_pass, RewriteCounter(int(share * counter.done)))]
            assert not Differs().obstacle(before.clone(), half), module_pass.name
            half[0].counter.done = 0
            assert Differs().first(before, half) is None, module_pass.name
    assert counted >= 6


def test_counting_changes_nothing() -> None:
    plain, counted = program(), program()
    run_passes(plain, PIPELINE)
    wrapped = [CountedPass(each, RewriteCounter()) for each in PIPELINE]
    run_passes(counted, wrapped)
    assert print_mlir(counted) == print_mlir(plain)
    assert [*map(differences_of, wrapped)] == [*map(differences_of, PIPELINE)]


def test_earlier_runs_of_a_pass_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "%one = xla.constant dense<1.0> : tensor<2xf32>\n"
        "%0 = xla.multiply %x, %one : tensor<2xf32>\n"
        "%1 = xla.logistic %0 : tensor<2xf32>\n"
        "func.return %1 : tensor<2xf32>\n}"
    )
    pipeline = "xla-simplify,xla-expand-compound,xla-simplify,convert-xla-to-linalg"
    test = 'command{run="grep -q math.exp"}'
    assert not xla_opt.main([str(path), "-p", pipeline, "--bisect", test])
    shown = capsys.readouterr().out
    assert "pass 4 of 4: convert-xla-to-linalg" in shown
    command_line = next(line for line in shown.splitlines() if line.startswith("to see it: "))
    arguments = shlex.split(command_line)[4:]
    for less, wanted in ((0, True), (1, False)):
        words = arguments[-1].rpartition("=")
        last = f"{words[0]}={int(words[2]) - less}"
        assert not xla_opt.main([*arguments[:-1], last])
        assert ("math.exp" in capsys.readouterr().out) is wanted


def test_bisection_needs_a_difference() -> None:
    right = FaultyPass(lambda op, rewriter: None)
    with pytest.raises(Uninteresting, match="finds nothing"):
        bisect(Differs(), program(), [right])


def test_children() -> None:
    assert in_child(lambda: [1, "two"], 10) == [1, "two"]
    assert in_child(lambda: time.sleep(60), 0.1) == Death(0, is_late=True)
    assert in_child(lambda: os._exit(3), 10) == Death(0)
    assert in_child(lambda: os.kill(os.getpid(), signal.SIGSEGV), 10) == Death(signal.SIGSEGV)


def test_time_limits() -> None:
    with pytest.raises(TimeIsOver), time_limit(0.05):
        time.sleep(10)
    with time_limit(0.05):
        pass
    time.sleep(0.1)


def test_gist_has_no_names_numbers_and_places() -> None:
    first = gist("a.mlir:3:4: xla.pad: (C3) interior padding is [-1] in @main at %7")
    assert first == gist("b.hlo:17:1: xla.pad: (C3) interior padding is [-22] in @other at %x")
    assert "(C3)" in first
    assert "xla.pad" in first


def run_tool(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = xla_reduce.main(arguments)
    output = capsys.readouterr()
    return code, output.out, output.err


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ('fails{message="["}', "message"),
        ("fails{nothing=1}", "no option 'nothing'"),
        ("fails{message=1,2}", "message is '1,2', wanted str"),
        ("differs{executor=gpu}", "no executor 'gpu'"),
        ("differs{inputs=small}", "no inputs 'small'"),
        ("differs{tolerance=-1}", "tolerance is a number"),
        ("differs{tolerance=nan}", "tolerance is a number"),
        ("command", "what is run"),
        ("/nowhere/test.sh", "No such file"),
        ("false", "finds nothing"),
        ("fails", "finds nothing"),
    ],
)
def test_errors_are_one_message(
    test: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.hlo"
    path.write_text(PROGRAM)
    code, out, error = run_tool([str(path), "--test", test], capsys)
    assert code == 1
    assert not out
    assert message in error
    assert "Traceback" not in error
    assert "internal error" not in error


def test_a_script_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, script = tmp_path / "program.hlo", tmp_path / "test.sh"
    path.write_text(PROGRAM)
    script.write_text("#!/bin/sh\ngrep -q 'dot(' \"$1\"\n")
    script.chmod(0o755)
    code, out, error = run_tool([str(path), "--test", str(script)], capsys)
    assert code == 0
    assert out.startswith("HloModule")
    assert out.count(" = ") <= 3
    assert "became 1" in error
    # As mlir-reduce has it: 1 is interesting.
    assert subprocess.run([script, os.devnull], check=False).returncode == 1
    code, out, _ = run_tool(
        [str(path), "--quiet", "--test", f'command{{run="{script}" exit=1}}'], capsys
    )
    assert code == 1


def test_executors_beside_each_other() -> None:
    """Machine code and the reference agree; after a faulty pass they do not."""
    compare = Differs(executor="llvm", tolerance=1e-4)
    assert compare.first(program(), []) is None
    faulty = [FaultyPass(faulty_passes.maximum_is_minimum)]
    assert compare.first(program(), faulty) is not None


@pytest.mark.parametrize("level", ["tensors", "loops"])
def test_machine_code_of_every_level(level: str) -> None:
    compare = Differs(executor="llvm", tolerance=1e-4)
    passes = [*parse_passes(f"native{{to={level}}}")]
    assert compare.obstacle(program(), passes) == ""
    assert compare.first(program(), passes) is None
    faulty = FaultyPass(faulty_passes.maximum_is_minimum)
    assert compare.first(program(), [faulty, *passes]) is not None


@pytest.mark.jax
def test_xla_cpu_is_an_executor() -> None:
    compare = Differs(executor="xla-cpu", tolerance=1e-4)
    assert compare.first(program(), []) is None
    assert compare.obstacle(program(), []) == ""
    faulty = [FaultyPass(faulty_passes.maximum_is_minimum)]
    beside = replace(compare, executor="", expected="xla-cpu")
    assert beside.first(program(), faulty) is not None


def test_arrays_as_options() -> None:
    for array in (
        np.array([[1.5, -0.0], [np.inf, np.nan]], np.float32),
        np.array([0.1, 1e300]),
        np.array([True, False]),
        np.array([-128, 127], np.int8),
        np.array(2**64 - 1, np.uint64),
        np.zeros((2, 0), np.int32),
        np.array([1 + 2j, 0.5 - 1j], np.complex64),
        np.array([0.1, -3], ml_dtypes.bfloat16),
    ):
        (again,) = parse_array_specs(spec_of(array), np.random.default_rng(0))
        assert again.dtype == array.dtype
        assert again.tobytes() == array.tobytes()
