"""Programs that would take too long or too much memory end in an error, on every executor."""

import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import lowerings
from lowerings.execution.arrays import OutOfMemory
from tools import xla_run
from xla_dialect.diagnostics import XlaError
from xla_dialect.runtime.limits import TimeLimitReached, physical_memory
from xla_dialect.runtime.runs import MemoryMeter

WHILE = """HloModule m
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  two = s32[] constant(2)
  j = s32[] add(i, two)
  y = f32[4] multiply(x, x)
  ROOT t = (s32[], f32[4]) tuple(j, y)
}
cond {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  ten = s32[] constant(10)
  ROOT p = pred[] compare(i, ten), direction=NE
}
ENTRY main {
  n = s32[] parameter(0)
  x = f32[4] parameter(1)
  t = (s32[], f32[4]) tuple(n, x)
  w = (s32[], f32[4]) while(t), condition=cond, body=body
  ROOT i = s32[] get-tuple-element(w), index=0
}
"""
"""Ends for even numbers up to 10 only."""

EXECUTORS = (
    ("llvm", None),
    ("reference", None),
    ("interpreter", "tensors"),
    ("interpreter", "buffers"),
    ("interpreter", "loops"),
)


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_an_endless_loop_ends_in_an_error_and_the_program_lives_on(
    backend: str, level: str | None
) -> None:
    program = lowerings.compile(WHILE, backend=backend, level=level, time_limit=0.3)
    x = np.ones(4, np.float32)
    for _ in range(2):
        with pytest.raises(TimeLimitReached, match=r"main: did not end within 0\.3 s"):
            program(np.int32(1), x)
        assert program(np.int32(4), x)[0] == 10


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_an_endless_loop_in_one_of_several_processes(backend: str, level: str | None) -> None:
    program = lowerings.compile(WHILE, backend=backend, level=level, time_limit=0.2, replicas=2)
    arguments = [[np.int32(n), np.ones(4, np.float32)] for n in (4, 1)]
    with pytest.raises(XlaError, match=r"did not end within 0\.2 s"):
        program.run_processes(arguments)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_machine_code_that_is_watched() -> None:
    program = lowerings.compile(WHILE, time_limit=60)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        program(np.int32(1), np.ones(4, np.float32))
    assert program(np.int32(0), np.ones(4, np.float32))[0] == 10


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_what_xla_run_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "endless.hlo").write_text(WHILE)
    timer = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    inputs = ["--input", "s32=1", "--input", "4xf32=1"]
    assert xla_run.main([str(tmp_path / "endless.hlo"), *inputs]) == 1
    assert capsys.readouterr().err == "xla-run: interrupted\n"


CUSTOM = WHILE.replace(
    "y = f32[4] multiply(x, x)", 'y = f32[4] custom-call(x), custom_call_target="f"'
)


def test_the_error_of_a_custom_call_ends_the_loop_around_it() -> None:
    calls: list[int] = []

    def f(_: object, x: object) -> object:
        calls.append(0)
        if len(calls) == 3:
            raise ValueError("the third time")
        return x

    program = lowerings.compile(CUSTOM, custom_calls={"f": f})
    with pytest.raises(Exception, match="the third time"):
        program(np.int32(1), np.ones(4, np.float32))
    assert len(calls) == 3
    assert program(np.int32(4), np.ones(4, np.float32))[0] == 10


BROADCAST = """HloModule m
ENTRY main {{
  x = f32[] parameter(0)
  ROOT y = f32[{size}] broadcast(x), dimensions={{}}
}}
"""


def test_a_result_larger_than_the_machine_is_refused() -> None:
    size = physical_memory() // 4 + 1
    with pytest.raises(OutOfMemory, match=f"needs {4 * size + 4} bytes"):
        lowerings.compile(BROADCAST.format(size=size))


TEMPORARIES = """HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[1000,1000] parameter(0)
  zero = f32[] constant(0)
  y = f32[1000,1000] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[1000,1000] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[] reduce(z, zero), dimensions={0,1}, to_apply=f
}
"""
"""Takes 4 MB, and 8 MB for temporary results."""


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_temporary_results_count(backend: str, level: str | None) -> None:
    def call() -> None:
        program = lowerings.compile(
            TEMPORARIES, backend=backend, level=level, memory_limit=7_000_000
        )
        program(np.zeros((1000, 1000), np.float32))

    with pytest.raises(XlaError, match=r"the limit is 7000000"):
        call()


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_what_is_let_go_counts_no_longer(backend: str, level: str | None) -> None:
    loop = WHILE.replace("f32[4]", "f32[40000]")
    program = lowerings.compile(loop, backend=backend, level=level, memory_limit=3_000_000)
    assert program(np.int32(-100), np.ones(40000, np.float32))[0] == 10


def test_the_meter_counts_memory_once_while_it_is_held() -> None:
    meter = MemoryMeter(1 << 20)
    first = np.zeros(1 << 17, np.float32)
    meter.keep((first, first[1:], first.reshape(2, -1)))
    assert meter.used == 1 << 19
    meter.require(1 << 19)
    with pytest.raises(XlaError, match=r"524289 bytes beside the 524288 in use"):
        meter.require((1 << 19) + 1)
    del first
    assert meter.used == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--timeout", "0.2"], "main: did not end within 0.2 s"),
        (["--memory-limit", "10"], "bytes for its arrays, the limit is 10"),
        (["--timeout", "0"], "0 is no positive number of seconds"),
        (["--timeout", "soon"], "soon is no positive number of seconds"),
        (["--timeout", "nan"], "nan is no positive number of seconds"),
        (["--memory-limit", "1e9"], "1e9 is no size such as 4096, 512M or 2G"),
    ],
)
def test_on_the_command_line(
    options: Sequence[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "while.hlo"
    path.write_text(WHILE)
    inputs = ["--input", "s32=1", "--input", "4xf32=1"]
    assert xla_run.main([str(path), "--backend", "llvm", *inputs, *options]) == 1
    assert message in capsys.readouterr().err
