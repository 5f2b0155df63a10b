"""What is counted of the memory of a program."""

import pytest

from lowerings.bufferize.memory_usage import (
    MemoryTraffic,
    MemoryUsage,
    memory_traffic,
    memory_usage,
)
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program, parse_program
from tools.xla_opt import main

KERNELS = """
"memref.global"() <{sym_name = "table", type = memref<3xi16>, initial_value = dense<[1, 2, 3]> : tensor<3xi16>, sym_visibility = "private", constant}> : () -> ()
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>, %n: memref<i1>) attributes {xla.entry} {
  %a = memref.alloc() : memref<4x8xf32>
  func.call @twice(%x, %a) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
  %b = memref.alloc() : memref<8x4xf64>
  %v = memref.subview %a[0, 0] [2, 8] [1, 1] : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1]>>
  %w = memref.subview %y[0, 0] [2, 8] [1, 1] : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1]>>
  "memref.copy"(%v, %w) : (memref<2x8xf32, strided<[8, 1]>>, memref<2x8xf32, strided<[8, 1]>>) -> ()
  func.call @transposed(%a, %b) : (memref<4x8xf32>, memref<8x4xf64>) -> ()
  func.call @transposed(%a, %b) : (memref<4x8xf32>, memref<8x4xf64>) -> ()
  func.return
}
func.func private @twice(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %s = memref.alloca() : memref<16xf32>
  %t = memref.alloc() : memref<4x8xf32>
  linalg.copy ins(%x : memref<4x8xf32>) outs(%t : memref<4x8xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t : memref<4x8xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %d = arith.addf %e, %e : f32
    linalg.yield %d : f32
  }
  func.return
}
func.func private @transposed(%x: memref<4x8xf32>, %y: memref<8x4xf64>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x8xf32>) outs(%y : memref<8x4xf64>) {
  ^bb0(%e: f32, %o: f64):
    %d = arith.extf %e : f32 to f64
    linalg.yield %d : f64
  }
  func.return
}
"""


def usages(text: str, passes: str = "") -> tuple[MemoryUsage, ...]:
    module = load_program(text)
    PassManager(make_context()).run(module, parse_passes(passes))
    return memory_usage(module)


def test_buffers_are_counted_before_and_after_planning() -> None:
    (before,) = usages(KERNELS)
    assert before == MemoryUsage(
        entry="main",
        parameters=128 + 1,
        results=128,
        aliased=0,
        constants=6,
        allocations=3,
        allocated=128 + 256 + 128,
        # %a and %b at once, or %a and what @twice needs.
        peak=128 + 256,
        arena=None,
        stack=64,
        copies=2,
        copied=64 + 128,
    )
    assert before.temporary == 128 + 256 + 64
    (after,) = usages(KERNELS, "xla-plan-buffers")
    assert (after.allocations, after.allocated, after.peak) == (3, 512, 384)
    assert after.arena == 384
    assert (after.parameters, after.results) == (129, 128)


@pytest.mark.parametrize(
    ("operations", "written"),
    [
        ("vector.store %v, %y[%i] : memref<4xf32>, vector<4xf32>", True),
        ("vector.transfer_write %v, %y[%i] : vector<4xf32>, memref<4xf32>", True),
        ("%w = vector.load %y[%i] : memref<4xf32>, vector<4xf32>", False),
    ],
)
def test_vectors_that_are_written_make_a_result(operations: str, written: bool) -> None:
    (usage,) = usages(f"""
    func.func @main(%x: memref<2xf32>, %y: memref<4xf32>) attributes {{xla.entry}} {{
      %i = arith.constant 0 : index
      %v = arith.constant dense<0.0> : vector<4xf32>
      {operations}
      func.return
    }}""")
    assert (usage.parameters, usage.results) == ((8, 16) if written else (24, 0))


def test_shared_kernels_count_for_each_call() -> None:
    transposed = KERNELS.replace(
        "%d = arith.extf %e : f32 to f64\n    linalg.yield %d : f64", "linalg.yield %e : f32"
    )
    transposed = transposed.replace("f64", "f32")
    (usage,) = usages(transposed)
    assert usage.copies == 4
    assert usage.copied == 64 + 128 + 2 * 128


@pytest.mark.parametrize("level", ["buffers", "loops"])
def test_outlining_changes_nothing(level: str) -> None:
    program = """
    func.func @main(%x: tensor<64x64xf32>, %y: tensor<8xf32>) -> (tensor<64x64xf32>, tensor<8xf32>) {
      %0 = xla.dot %x, %x {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = xla.dot %0, %x {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      func.return %1, %y : tensor<64x64xf32>, tensor<8xf32>
    }"""
    passes = "native{to=tensors},xla-bufferize,xla-plan-buffers"
    (planned,) = usages(program, passes)
    (usage,) = usages(program, f"native{{to={level}}}")
    assert planned.copies == 1
    assert planned.copied == 8 * 4
    assert usage.arena == planned.arena == 64 * 64 * 4
    same = ("parameters", "results", "constants", "allocations", "allocated", "peak")
    assert [getattr(usage, name) for name in same] == [getattr(planned, name) for name in same]
    assert usage.copies == (1 if level == "buffers" else None)


def test_nothing_is_counted_above_the_buffers() -> None:
    assert (
        usages("func.func @main(%x: tensor<f32>) -> tensor<f32> { func.return %x : tensor<f32> }")
        == ()
    )


def test_functions_that_call_themselves_have_no_usage() -> None:
    text = """
    func.func @main(%x: memref<f32>) attributes {xla.entry} {
      func.call @main(%x) : (memref<f32>) -> ()
      func.return
    }"""
    assert memory_usage(parse_program(text)) == ()


def test_report_of_xla_opt(capsys: pytest.CaptureFixture[str]) -> None:
    program = "test/programs/lstm.mlir"
    assert main([program, "-p", "native{to=buffers}", "--print-memory", "-o", "/dev/null"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = [line.split("│") for line in captured.err.splitlines() if "│" in line]
    names = [cells[2].strip() for cells in lines]
    assert names == ["xla-bufferize", "xla-outline-kernels", "xla-plan-buffers"]
    assert [cells[1].strip() for cells in lines] == ["buffers", "", ""]
    assert [cells[6].strip() != "-" for cells in lines] == [False, False, True]


def test_report_without_buffers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test/programs/lstm.mlir", "--print-memory", "-o", "/dev/null"]) == 0
    assert "does not get to buffers" in capsys.readouterr().err


def test_traffic_is_that_of_all_calls() -> None:
    """A copy of 64 bytes in @main, two operations on 4x8xf32 in @twice, f32 to f64 called twice."""
    traffic = {each.function: each for each in memory_traffic(load_program(KERNELS), "main")}
    assert traffic == {
        "main": MemoryTraffic("main", False, 1, 1, 64, 64),
        "twice": MemoryTraffic("twice", False, 1, 2, 2 * 128, 2 * 128),
        "transposed": MemoryTraffic("transposed", False, 2, 1, 128, 256),
    }
    assert traffic["transposed"].moved == 2 * (128 + 256)


ACCUMULATED = """
func.func @main(%x: memref<4x8xf32>, %y: memref<4xf32>, %s: memref<f32>) attributes {xla.entry} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x, %s : memref<4x8xf32>, memref<f32>) outs(%y : memref<4xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %d = arith.addf %e, %o : f32
    linalg.yield %d : f32
  }
  func.return
}
"""


def test_traffic_of_what_is_accumulated() -> None:
    """A fill reads no array; what sums are added to is read; a broadcast operand counts once."""
    (only,) = memory_traffic(load_program(ACCUMULATED), "main")
    assert (only.operations, only.read, only.written) == (2, 128 + 4 + 16, 16 + 16)


def test_no_traffic_above_buffers_and_in_loops() -> None:
    text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { func.return %x : tensor<4xf32> }"
    assert memory_traffic(load_program(text), "main") == ()
    module = load_program(ACCUMULATED)
    PassManager(make_context()).run(module, parse_passes("convert-linalg-to-vector-loops"))
    assert memory_traffic(module, "main") == ()
