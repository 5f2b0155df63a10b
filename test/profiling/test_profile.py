"""Profiles: what is counted, where it came from, and that nothing else changes."""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

import lowerings
from lowerings.compilation import (
    BACKENDS,
    CompilationError,
    Lowering,
    Options,
    Program,
    compile_source,
)
from lowerings.driver.program import parse_source
from lowerings.driver.source import Source
from lowerings.execution import profile as execution_profile
from lowerings.execution.profile import KernelProfile, Profile, RunEvents
from lowerings.execution.roofline import MeasuredRoofline
from lowerings.profiling.source_operations import SourceOperation
from lowerings.profiling.work import Work
from lowerings.targets.llvm.machine import host
from lowerings.targets.llvm.module import emit_module
from tools import xla_run
from xla_dialect.diagnostics import XlaError

LAYER = """
HloModule layer

ENTRY main {
  x = f32[64,64] parameter(0)
  w = f32[64,64] parameter(1)
  d = f32[64,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot_general" source_file="/home/me/model.py" source_line=3}
  t = f32[64,64] tanh(d), metadata={op_name="jit(f)/tanh" source_file="/home/me/model.py" source_line=4}
  ROOT s = f32[64,64] subtract(t, w)
}
"""
DOT = SourceOperation("jit(f)/dot_general", "/home/me/model.py", 3)
TANH = SourceOperation("jit(f)/tanh", "/home/me/model.py", 4)

LOOP = """
HloModule loop

body {
  state = (s32[], f32[4,64]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[4,64] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  c = f32[4,64] cosine(x)
  ROOT out = (s32[], f32[4,64]) tuple(next, c)
}

condition {
  state = (s32[], f32[4,64]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  seven = s32[] constant(7)
  ROOT less = pred[] compare(i, seven), direction=LT
}

ENTRY main {
  x = f32[4,64] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[4,64]) tuple(zero, x)
  ROOT end = (s32[], f32[4,64]) while(start), condition=condition, body=body
}
"""

JAX = """
module @jit_f {
  func.func public @main(%x: tensor<128xf32>) -> tensor<128xf32> {
    %0 = stablehlo.cosine %x : tensor<128xf32> loc(#cos)
    return %0 : tensor<128xf32>
  }
}
#place = loc("/home/me/train.py":21:8)
#caller = loc("/home/me/main.py":5:0)
#f = loc("f"(#place))
#main = loc("<module>"(#caller))
#stack = loc(callsite(#f at #main))
#cos = loc("jit(f)/cos"(#stack))
"""


def ones(program: Program) -> list[np.ndarray]:
    return [np.ones(each.shape, each.dtype) for each in program.signature.parameters]


def profiled(text: str, runs: int = 1, num_threads: int | None = 1) -> Profile:
    program = lowerings.compile(text, profile=True, num_threads=num_threads)
    for _ in range(runs):
        program(*ones(program))
    return program.profile()


def named(profile: Profile, part: str) -> KernelProfile:
    (found,) = (kernel for kernel in profile.kernels if part in kernel.name)
    return found


def test_calls_work_and_source_lines() -> None:
    profile = profiled(LAYER, runs=3)
    product, rest = named(profile, "contraction"), named(profile, "tanh")
    assert len(profile.kernels) == 2
    assert (profile.runs, product.calls, rest.calls) == (3, 3, 3)
    matrix = 64 * 64
    assert product.work == Work(3 * matrix * 4, 2 * 64**3, 0)
    assert rest.work == Work(3 * matrix * 4, 2 * matrix, 0)
    assert product.operations == (DOT,)
    assert set(rest.operations) == {TANH, SourceOperation("subtract", "<input>", 9)}


def test_times_are_parts_of_the_whole() -> None:
    profile = profiled(LAYER, runs=3)
    times = [kernel.seconds for kernel in profile.kernels]
    assert all(time > 0 for time in times)
    assert sum(times) <= profile.seconds
    assert profile.seconds_outside == pytest.approx(profile.seconds - sum(times))
    assert times == sorted(times, reverse=True)
    for kernel in profile.kernels:
        shortest = kernel.shortest_seconds
        assert 0 < shortest <= kernel.seconds / kernel.calls
        assert kernel.flops * shortest == pytest.approx(kernel.work.f32_operations)
        assert kernel.bandwidth * shortest == pytest.approx(kernel.work.bytes)


def test_calls_in_loops() -> None:
    profile = profiled(LOOP, runs=2)
    kernel = named(profile, "cos")
    assert kernel.calls == 2 * 7
    assert kernel.work == Work(2 * 4 * 64 * 4, 4 * 64, 0)
    assert SourceOperation("cosine", "<input>", 10) in kernel.operations


@pytest.mark.parametrize("room", [1000, 5])
def test_events_are_what_is_counted(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run of a part is one; what there is no room for is counted too."""
    monkeypatch.setattr(execution_profile, "MOST_EVENTS", room)
    found: list[RunEvents] = []
    options = Options(profile=True, on_events=found.append, num_threads=1)
    program = compile_source(Source.of(LOOP), options, compile_cache=False)
    for _ in range(3):
        before = time.monotonic_ns()
        program(*ones(program))
        events = found[-1].events
        assert before <= events[:, 1].min() <= events[:, 2].max() <= time.monotonic_ns()
        assert (events[:, 1] <= events[:, 2]).all()
    profile = program.profile()
    counted = profile.runs + sum(kernel.calls for kernel in profile.kernels)
    assert [len(each.events) + each.lost for each in found] == [counted // 3] * 3
    assert {len(each.events) for each in found} == {min(counted // 3, room)}
    if room == 1000:
        events = np.concatenate([each.events for each in found])
        seconds = (events[:, 2] - events[:, 1]) * 1e-9
        assert profile.seconds == pytest.approx(seconds[events[:, 0] == 0].sum())
        assert profile.seconds_outside == pytest.approx(
            profile.seconds - seconds[events[:, 0] != 0].sum()
        )


def test_places_of_jax() -> None:
    """A call stack of JAX is the line of the innermost function."""
    kernel = named(profiled(JAX), "cos")
    assert kernel.operations == (SourceOperation("jit(f)/cos", "/home/me/train.py", 21),)


def test_equal_kernels_are_one_with_several_places() -> None:
    text = """
ENTRY main {
  x = f32[64,64] parameter(0)
  s = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[64,64] dot(s, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT u = f32[64,64] dot(t, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
    kernels = [each for each in profiled(text, 5).kernels if "contraction" in each.name]
    sites = [site for kernel in kernels for site in kernel.sites]
    lines = sorted(operation.line for site in sites for operation in site.operations)
    assert lines == [4, 5, 6]
    assert [site.calls for site in sites] == [5, 5, 5]
    # The first takes one array twice, the others two.
    assert [kernel.calls for kernel in sorted(kernels, key=lambda each: each.calls)] == [5, 10]


def test_loops_outside_of_kernels() -> None:
    text = """
HloModule sorting
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT
}
ENTRY main {
  x = f32[40,300] parameter(0)
  ROOT s = f32[40,300] sort(x), dimensions={1}, to_apply=less
}
"""
    profile = profiled(text)
    loops = [kernel for kernel in profile.kernels if kernel.name.startswith("loop_")]
    assert loops
    for loop in loops:
        assert loop.operations == (SourceOperation("sort", "<input>", 10),)
        assert loop.work == Work()
        assert loop.roofline_share(MeasuredRoofline(1)) is None


def test_calls_outside_are_measured() -> None:
    text = """
ENTRY main {
  x = f32[8] parameter(0)
  ROOT y = f32[8] custom-call(x), custom_call_target="double_it", api_version=API_VERSION_TYPED_FFI
}
"""
    program = lowerings.compile(text, profile=True, custom_calls={"double_it": lambda op, x: 2 * x})
    (result,) = program(np.ones(8, np.float32))
    assert result.tolist() == [2.0] * 8
    (row,) = program.profile().kernels
    assert (row.calls, row.operations) == (1, (SourceOperation("custom_call", "<input>", 4),))
    assert row.seconds > 0


def test_reset_and_several_callers() -> None:
    """Calls at the same time have code of their own each; the profile is that of all."""
    program = lowerings.compile(LAYER, profile=True, num_threads=1)
    arguments = ones(program)
    program(*arguments)
    assert program.profile(reset=True).runs == 1
    assert program.profile() == Profile(0, 0.0, 1, ())

    def run() -> None:
        for _ in range(20):
            program(*arguments)

    threads = [Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    profile = program.profile()
    assert profile.runs == 80
    assert [kernel.calls for kernel in profile.kernels] == [80, 80]


def test_threads() -> None:
    """What all threads work is not more than all of them can in the time."""
    text = LAYER.replace("64,64", "700,700")
    expected = lowerings.compile(text, num_threads=1)
    program = lowerings.compile(text, profile=True, num_threads=2)
    arguments = [np.random.default_rng(1).random(a.shape, np.float32) for a in ones(program)]
    for found, wanted in zip(program(*arguments), expected(*arguments), strict=True):
        np.testing.assert_array_equal(found, wanted)
    profile = program.profile()
    product = named(profile, "contraction")
    assert len(product.thread_seconds) == profile.threads
    assert 0 < sum(product.thread_seconds) <= product.seconds * profile.threads
    assert product.balance is not None
    assert 1 / profile.threads - 1e-9 <= product.balance <= 1


def test_balance_of_threads() -> None:
    def balance(*seconds: float) -> float | None:
        return KernelProfile("k", 1, 1.0, 1.0, Work(), (), seconds).balance

    assert balance() is None
    assert balance(2.0, 2.0) == 1
    assert balance(4.0, 0.0) == 0.5
    assert balance(4.0, 3.0, 2.0) == 0.75


@pytest.mark.parametrize("text", [LAYER, LOOP, JAX], ids=["layer", "loop", "jax"])
def test_results_and_code_are_the_same(text: str) -> None:
    """Without a profile nothing is measured; with one, kernels are the same."""
    plain, measured = (lowerings.compile(text, profile=profile) for profile in (False, True))
    for one, other in zip(plain(*ones(plain)), measured(*ones(plain)), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(XlaError, match="main was compiled without `profile=True`"):
        plain.profile()

    def lines(profile: bool) -> list[str]:
        lowering = Lowering(parse_source(Source.of(text)), "main", host(), Options(profile=profile))
        lowering.to("loops")
        return emit_module(lowering.module, profile=profile).text.splitlines()

    assert not any("xla.profile" in line or "clock" in line for line in lines(False))
    assert any("xla_clock" in line for line in lines(True))


def test_layouts_and_dynamic_sizes() -> None:
    """Programs that bring arrays into other forms pass the profile on."""
    text = """
HloModule m, entry_computation_layout={(f32[<=8])->f32[<=8]}
ENTRY main {
  x = f32[<=8] parameter(0)
  ROOT y = f32[<=8] cosine(x)
}
"""
    transposed = "ENTRY main { x = f32[4,8]{0,1} parameter(0) ROOT y = f32[4,8]{0,1} cosine(x) }"
    for program, shape in ((text, (5,)), (transposed, (4, 8))):
        compiled = lowerings.compile(program, profile=True)
        compiled(np.ones(shape, np.float32))
        assert named(compiled.profile(), "cos").calls == 1


@pytest.mark.parametrize("backend", [backend for backend in BACKENDS if backend != "llvm"])
def test_other_backends_measure_nothing(backend: str) -> None:
    with pytest.raises(CompilationError, match=f"'{backend}' measures no kernels"):
        lowerings.compile(LAYER, backend=backend, profile=True)


def test_roofline() -> None:
    roofline = MeasuredRoofline(1)
    assert roofline.seconds(Work()) == 0
    computing = roofline.seconds(Work(4, 10**9, 0))
    assert computing == pytest.approx(1e9 / roofline.flops("float"))
    moving = roofline.seconds(Work(10**6, 1, 0))
    assert moving == pytest.approx(1e6 / roofline.bandwidth(10**6))
    kernel = KernelProfile("k", 2, 9 * computing, 2 * computing, Work(4, 10**9, 0), (), ())
    assert kernel.roofline_share(roofline) == pytest.approx(0.5)
    assert replace(kernel, work=Work()).roofline_share(roofline) is None


def run_tool(path: Path, *arguments: str) -> int:
    inputs = ("--input", "64x64xf32=1.0") * 2
    return xla_run.main([str(path), *inputs, *arguments])


@pytest.fixture(name="layer")
def layer_file(tmp_path: Path) -> Path:
    path = tmp_path / "layer.hlo"
    path.write_text(LAYER, encoding="utf-8")
    return path


@pytest.mark.parametrize(("options", "runs"), [((), 10), (("--profile-runs", "0"), 1)])
def test_xla_run(
    layer: Path, options: Sequence[str], runs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    target = layer.with_suffix(".json")
    assert run_tool(layer, "--profile", "--profile-json", str(target), *options) == 0
    printed = capsys.readouterr()
    assert "in each of" in printed.err
    assert "contraction_kernel_0" in printed.err
    assert "model.py:3" in printed.err
    assert printed.out.startswith("f32[64,64]")
    found = json.loads(target.read_text(encoding="utf-8"))["main"]
    assert found["runs"] == runs
    assert [kernel["calls"] for kernel in found["kernels"]] == [runs, runs]
    operations = [each for kernel in found["kernels"] for each in kernel["sites"][0]["operations"]]
    assert {"name": "jit(f)/tanh", "file": "/home/me/model.py", "line": 4} in operations
    assert all(kernel["roofline_share"] > 0 for kernel in found["kernels"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--profile", "--backend", "reference"], "'reference' measures no kernels"),
        (["--profile", "--profile-runs", "-1"], "--profile-runs is -1"),
        (["--profile-json", "p.json", "--split-input-file"], "is for one program"),
        (["--profile-json", "missing/p.json"], "missing/p.json: error: No such file"),
    ],
)
def test_xla_run_errors(
    layer: Path,
    options: Sequence[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(layer.parent)
    assert run_tool(layer, *options) == 1
    printed = capsys.readouterr()
    assert message in printed.out + printed.err
    assert "Traceback" not in printed.err
