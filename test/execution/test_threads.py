"""Programs on several threads: the same bits for any number, from any number of callers."""

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from built_programs import build
from loops_level import parse, spec
from xdsl.dialects.builtin import ModuleOp

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.execution import executable
from lowerings.execution.executable import Executable, thread_count
from lowerings.execution.function_signature import signature_of
from lowerings.execution.loops_compiler import compile_loops_module
from lowerings.execution.signature import Signature
from lowerings.ir.functions import functions_of
from lowerings.pipelines import NATIVE, pass_specs
from xla_dialect.builder import XlaBuilder
from xla_dialect.diagnostics import XlaError

B = XlaBuilder


def random(*sizes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)


def softmax(b: B, x: Any) -> Any:
    exps = b.exp(b.sub(x, b.reduce(x, -np.inf, b.max, [1]), broadcast_dimensions=[0]))
    return b.div(exps, b.reduce(exps, 0.0, b.add, [1]), broadcast_dimensions=[0])


def counted(b: B, x: Any) -> Any:
    """Several results, one of them of another type."""
    return b.tuple([b.sin(x), b.reduce(b.convert_element_type(b.gt(x, 0.0), "s32"), 0, b.add, [1])])


def merged(b: B, x: Any, y: Any) -> Any:
    """By no key of each element, as sorts by digits need it."""
    return b.sort([x, y], lambda a, c, i, j: b.lt(b.sub(a, c), 0.0), 1, is_stable=True)


def running_sum(b: B, x: Any, dimension: int = 1) -> Any:
    size = x.shape[dimension]
    window, padding = [1] * len(x.shape), [(0, 0)] * len(x.shape)
    window[dimension], padding[dimension] = size, (size - 1, 0)
    return b.reduce_window(x, 0.0, b.add, window, [1] * len(x.shape), padding=padding)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "elementwise": (lambda b, x, y: b.add(x, b.mul(y, y)), (random(37, 23), random(37, 23))),
    "scalar operand": (lambda b, x, y: b.mul(x, y), (random(1031), random())),
    "bool": (lambda b, x, y: b.lt(x, y), (random(301), random(301, seed=1))),
    "broadcast": (lambda b, x, y: b.add(x, y, broadcast_dimensions=[1]), (random(5, 9), random(9))),
    "softmax": (softmax, (random(29, 65),)),
    "several results": (counted, (random(17, 40),)),
    "rows": (lambda b, x: b.reduce(x, 0.0, b.add, [1]), (random(33, 100),)),
    "columns": (lambda b, x: b.reduce(x, 0.0, b.add, [0]), (random(200, 133),)),
    "blocks of columns": (lambda b, x: b.reduce(x, 0.0, b.add, [0]), (random(11, 5003),)),
    "everything": (lambda b, x: b.reduce(x, 0.0, b.add, [0, 1]), (random(70, 61),)),
    "transpose": (lambda b, x: b.transpose(x, [1, 0]), (random(45, 83),)),
    "three dimensions turned": (lambda b, x: b.transpose(x, [2, 0, 1]), (random(3, 21, 18),)),
    "concatenation": (lambda b, x, y: b.concatenate([x, y], 1), (random(9, 31), random(9, 2))),
    "product": (lambda b, x, y: b.dot(x, y), (random(61, 70), random(70, 95))),
    "packed product": (
        lambda b, x, y: b.dot(x, b.transpose(y, [1, 0])),
        (random(67, 300), random(259, 300)),
    ),
    "long sums": (lambda b, x, y: b.dot(x, y), (random(40, 900), random(900, 700))),
    "matrix and vector": (lambda b, x, y: b.dot(x, y), (random(77, 130), random(130))),
    "vector and matrix": (lambda b, x, y: b.dot(x, y), (random(130), random(130, 77))),
    "convolution": (
        lambda b, x, w: b.conv(x, w, [1, 1], "SAME"),
        (random(2, 5, 14, 11), random(7, 5, 3, 3)),
    ),
    "pooling": (
        lambda b, x: b.reduce_window(x, -np.inf, b.max, [1, 3, 3], [1, 2, 2], padding="SAME"),
        (random(6, 25, 25),),
    ),
    "sorted rows": (lambda b, x: b.sort(x, b.lt_total_order, 1), (random(37, 3000),)),
    "sorted columns": (lambda b, x: b.sort(x, b.lt_total_order, 0), (random(3000, 37),)),
    "merged rows": (merged, (random(37, 301), random(37, 301, seed=1))),
    "largest of rows": (lambda b, x: b.top_k(x, 5), (random(40, 4000),)),
    "smallest of rows": (lambda b, x: b.top_k(x, 500, largest=False), (random(19, 4000),)),
    "running sums of rows": (running_sum, (random(48, 5000),)),
    "running sums of matrices": (
        lambda b, x: running_sum(b, x, 1),
        (random(21, 300, 100),),
    ),
    "slice at a place": (
        lambda b, x, n: b.dynamic_slice(x, [n, 3], [20, 30]),
        (random(40, 50), np.array(17, np.int32)),
    ),
    "nothing": (lambda b, x: b.add(x, x), (random(0, 5),)),
    "sum of nothing": (lambda b, x: b.reduce(x, 0.0, b.add, [1]), (random(5, 0),)),
    "one": (lambda b, x: b.exp(x), (random(),)),
}


def compiled(
    body: Callable[..., Any], arrays: tuple[np.ndarray, ...], least: int = 0
) -> Executable:
    """The program with every loop parallel that takes at least so many microseconds."""
    signature = signature_of(functions_of(build(body, *arrays))["main"])
    return compile_loops_module(loops_module(body, arrays, least), signature)


def loops_module(body: Callable[..., Any], arrays: tuple[np.ndarray, ...], least: int) -> ModuleOp:
    module = build(body, *arrays)
    plan = "xla-plan-schedules"
    options = {plan: f"{plan}{{vector-bits=512 parallel-microseconds={least}}}"}
    passes = [options.get(spec, spec) for spec in pass_specs(NATIVE)]
    PassManager(make_context()).run(module, parse_passes(",".join(passes)))
    return module


def bits(results: tuple[np.ndarray, ...]) -> list[bytes]:
    return [result.tobytes() for result in results]


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_do_not_depend_on_the_number_of_threads(name: str) -> None:
    body, arrays = PROGRAMS[name]
    program = compiled(body, arrays)
    program.num_threads = 1
    expected = program(*arrays)
    reference = lowerings.compile(
        str(build(body, *arrays)), input_format="mlir", backend="reference"
    )
    for found, right in zip(expected, reference(*arrays), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-4)
    for count in (2, 3):
        program.num_threads = count
        for _ in range(3):
            assert bits(program(*arrays)) == bits(expected)


@pytest.mark.parametrize(
    "name", [name for name in PROGRAMS if name.split()[0] in ("sorted", "merged", "running")]
)
def test_lines_are_shared_in_parts(name: str) -> None:
    body, arrays = PROGRAMS[name]
    assert compiled(body, arrays, 100).has_parallel_loops
    few = tuple(array[(slice(0, 2),) * array.ndim] for array in arrays)
    assert not compiled(body, few, 100).has_parallel_loops


LARGE = (random(600, 1100),)


def wave(b: B, x: Any) -> Any:
    return softmax(b, b.sin(b.mul(x, 3.0)))


def test_much_work_is_shared_and_little_is_not() -> None:
    assert compiled(wave, LARGE, 100).has_parallel_loops
    assert not compiled(wave, (random(60, 110),), 100).has_parallel_loops
    assert not compiled(wave, LARGE, -1).has_parallel_loops


def test_the_number_of_threads_may_change_between_calls() -> None:
    program = lowerings.compile(str(build(wave, *LARGE)), input_format="mlir", num_threads=1)
    assert isinstance(program, Executable)
    assert program.num_threads == 1
    expected = bits(program(*LARGE))
    for count in (2, 5, 1, 1000):
        program.num_threads = count
        assert program.num_threads == count
        assert bits(program(*LARGE)) == expected
    with pytest.raises(ValueError, match="num_threads is 0"):
        program.num_threads = 0


def test_as_many_threads_as_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable, "usable_processors", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [thread_count(limit) for limit in (None, 1, 3, 64)] == [4, 1, 3, 4]
    for text, count in (("2", 2), ("3,1", 3), ("16", 4), ("0", 4), ("many", 4), ("", 4)):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert thread_count(None) == count
        assert thread_count(3) == 3


def test_several_callers_at_once() -> None:
    """Of one program and of others, each with threads of its own."""
    arrays = [(random(600, 1100, seed=seed),) for seed in range(3)]
    programs = [compiled(wave, LARGE, 100), compiled(lambda b, x: b.add(x, b.exp(x)), LARGE, 50)]
    for program in programs:
        program.num_threads = 2
    expected = [[bits(program(*each)) for each in arrays] for program in programs]
    wrong: list[tuple[int, int]] = []

    def call(first: int) -> None:
        for turn in range(first, first + 12):
            which, number = turn % 2, turn % 3
            if bits(programs[which](*arrays[number])) != expected[which][number]:
                wrong.append((which, number))

    callers = [threading.Thread(target=call, args=(first,)) for first in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


OUTSIDE = """
func.func @main(%n: memref<i64>, %r: memref<64xi64>) attributes {xla.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %number = memref.load %n[] : memref<i64>
  %shift = arith.index_cast %number : i64 to index
  "scf.parallel"(%c0, %c64, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %place = arith.addi %i, %shift : index
    memref.store %number, %r[%place] : memref<64xi64>
    scf.reduce
  }) : (index, index, index) -> ()
  memref.store %number, %r[%shift] : memref<64xi64>
  func.return
}
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_a_bounds_check_fails_on_any_thread(threads: int) -> None:
    signature = Signature((spec("s64[]"),), (spec("s64[64]"),))
    program = compile_loops_module(parse(OUTSIDE), signature, check_bounds=True)
    program.num_threads = threads
    for number in (40, -3, 64):
        with pytest.raises(XlaError, match=r"index -?\d+ in dimension 0 of memref<64xi64>"):
            program(np.array(number))
        (found,) = program(np.array(0))
        assert not found.any()


FORKING = """
import os
import numpy as np
import lowerings
from xla_dialect.builder import XlaBuilder

def compiled(name):
    b = XlaBuilder(name)
    module = b.build(getattr(b, name)(b.exp(b.parameter(0, "f32[600,1100]"))))
    program = lowerings.compile(str(module), input_format="mlir")
    program.num_threads = 3
    assert program.has_parallel_loops
    return program

values = np.linspace(0, 1, 660_000, dtype=np.float32).reshape(600, 1100)
program = compiled("sin")
(before,) = program(values)
for _ in range(3):
    child = os.fork()
    if child == 0:
        (after,) = program(values)
        (other,) = compiled("cos")(values)
        expected = np.cos(np.exp(values.astype(np.float64)))
        is_right = np.array_equal(before, after) and np.allclose(other, expected, atol=1e-5)
        os._exit(0 if is_right else 1)
    assert os.waitpid(child, 0)[1] == 0
assert np.array_equal(before, program(values)[0])
"""


def test_a_child_process_compiles_and_calls() -> None:
    """Its threads are its own; those of the parent go on."""
    subprocess.run([sys.executable, "-c", FORKING], check=True, timeout=60)
