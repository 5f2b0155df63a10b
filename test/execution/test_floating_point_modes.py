"""Programs are the same, and compute the same, in whatever mode of the processor they are called."""

from collections.abc import Generator
from contextlib import contextmanager
from platform import machine
from threading import Thread
from typing import Any

import numpy as np
import pytest

import lowerings
from lowerings.backends import Options
from lowerings.compilation import compile_source
from lowerings.driver.source import Source
from lowerings.execution.declared_functions import CustomCalls
from lowerings.runtime import mode_functions

pytestmark = pytest.mark.skipif(machine() != "x86_64", reason="modes are written as x86-64 does")

Array = np.ndarray[Any, np.dtype[Any]]
DEFAULT = 0x1F80
MODES = {
    "flush": DEFAULT | 0x8000,
    "subnormal inputs are 0": DEFAULT | 0x0040,
    "both": DEFAULT | 0x8040,
    "down": DEFAULT | 0x2000,
    "up": DEFAULT | 0x4000,
    "towards 0, both": DEFAULT | 0xE040,
}
EXCEPTIONS_SEEN = 0x3F

SIZE = 1 << 18
TEXT = """
func.func @main(%x: tensor<262144xf32>, %y: tensor<262144xf64>) -> (tensor<262144xf32>, tensor<262144xf64>, tensor<2xf32>, tensor<i32>) {
  %tiny = xla.constant dense<[1.0e-41, 3.0e-45]> : tensor<2xf32>
  %half = xla.constant dense<0.5> : tensor<2xf32>
  %0 = xla.divide %x, %x : tensor<262144xf32>
  %1 = xla.multiply %x, %x : tensor<262144xf32>
  %2 = xla.cosine %y : tensor<262144xf64>
  %3 = xla.divide %2, %y : tensor<262144xf64>
  %4 = xla.multiply %tiny, %half : tensor<2xf32>
  %one = xla.constant dense<1.0e-41> : tensor<f32>
  %5 = xla.bitcast_convert %one : (tensor<f32>) -> tensor<i32>
  func.return %1, %3, %4, %5 : tensor<262144xf32>, tensor<262144xf64>, tensor<2xf32>, tensor<i32>
}
"""


@contextmanager
def mode(bits: int) -> Generator[None]:
    """Inside, the processor is in a mode; it has to be in it at the end, too."""
    enter, leave = mode_functions()
    enter()
    leave(bits)
    try:
        yield
    finally:
        found = enter() & ~EXCEPTIONS_SEEN
    assert found == bits


def arguments() -> tuple[Array, Array]:
    """The squares of some of the first are subnormal."""
    random = np.random.default_rng(0)
    x = random.uniform(1e-24, 1e-20, SIZE).astype(np.float32)
    return x, random.uniform(1, 100, SIZE)


EXECUTORS = {
    "reference": Options(backend="reference"),
    "llvm": Options(backend="llvm", num_threads=1),
    "threads": Options(backend="llvm", num_threads=2),
    "interpreter": Options(backend="interpreter"),
}


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_programs_are_compiled_and_run_in_one_mode(executor: str, name: str) -> None:
    source, options = Source.of(TEXT), EXECUTORS[executor]
    given = arguments()
    expected = compile_source(source, options)(*given)
    assert 0 < expected[0][expected[0] < np.finfo(np.float32).tiny].max()
    with mode(MODES[name]):
        found = compile_source(source, options)(*given)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.tobytes() == theirs.tobytes()


def test_functions_of_python_are_called_in_the_default_mode() -> None:
    text = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = xla.custom_call %x {custom_call_target = "halves"} : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""
    seen: list[int] = []

    def halves(_op: Any, x: Array) -> Array:
        enter, leave = mode_functions()
        seen.append(enter())
        leave(seen[-1])
        return x * np.float32(0.5)

    calls: CustomCalls = {"halves": halves}
    program = lowerings.compile(text, custom_calls=calls)
    x = np.full(4, 1e-41, np.float32)
    with mode(MODES["both"]):
        (found,) = program(x)
    assert [each & ~EXCEPTIONS_SEEN for each in seen] == [DEFAULT]
    np.testing.assert_array_equal(found.view(np.int32), (x * np.float32(0.5)).view(np.int32))


def test_other_threads_of_python() -> None:
    """A thread begins in the mode of the thread that made it."""
    program = compile_source(Source.of(TEXT), EXECUTORS["threads"])
    given = arguments()
    expected = program(*given)
    found: list[tuple[Array, ...]] = []
    with mode(MODES["both"]):
        threads = [Thread(target=lambda: found.append(program(*given))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 2
    for results in found:
        for mine, theirs in zip(results, expected, strict=True):
            assert mine.tobytes() == theirs.tobytes()
