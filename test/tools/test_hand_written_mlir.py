"""MLIR that no importer writes: every pass, executor and format takes it or says why not."""

from contextlib import suppress
from io import StringIO

import numpy as np
import pytest
from xdsl.utils.exceptions import DiagnosticException

from lowerings.compilation import Options, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError

PROGRAMS = {
    "branch": """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<2xf32>
}""",
    "branch on memory": """
func.func @main(%x: memref<2xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %v = memref.load %x[%c0] : memref<2xf32>
  cf.br ^bb2
^bb2:
  return
}""",
    "branch beside tuples": """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %t = xla.tuple %x : (tensor<2xf32>) -> tuple<tensor<2xf32>>
  cf.br ^bb1
^bb1:
  %0 = xla.get_tuple_element %t {index = 0} : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}""",
    "linalg on memrefs": """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: memref<2xf32>, %y: memref<2xf32>) {
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : memref<2xf32>) outs(%y : memref<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}""",
    "matmul of memrefs": """
func.func @main(%a: memref<4x8xf32>, %b: memref<8x3xf32>, %c: memref<4x3xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x3xf32>) outs(%c : memref<4x3xf32>)
  return
}""",
    "transfers": """
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0], %p {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
  vector.transfer_write %v, %y[%c0] {in_bounds = [true]} : vector<4xf32>, memref<8xf32>
  return
}""",
    "unknown size": """
func.func @main(%a: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %a[%i] : memref<?xf32>
    memref.store %v, %a[%i] : memref<?xf32>
  }
  return
}""",
    "replicas": """
module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = -1 : i32} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
}""",
    "replicas of a wrong type": """
module attributes {xla.replica_count = "x", xla.entry_computation_layout = [1]} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
}""",
    "nested": """
module { module @a {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
} }""",
}
PIPELINES = (
    *(
        name
        for name, of in toolkit_universe().all_passes.items()
        if of().__module__.startswith("lowerings.") and name != "transform-interpreter"
    ),
    "native",
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_passes(name: str) -> None:
    """Those of ours; a script has tests of its own."""
    for pipeline in PIPELINES:
        module = load_program(PROGRAMS[name])
        with suppress(XlaError, DiagnosticException):
            PassManager(make_context()).run(module, parse_passes(pipeline))


@pytest.mark.parametrize("name", PROGRAMS)
def test_executors_and_formats(name: str) -> None:
    for backend in ("llvm", "reference", "interpreter"):
        with suppress(XlaError, DiagnosticException):
            compile_module(load_program(PROGRAMS[name]), Options(backend=backend))
    for target in ("hlo", "stablehlo", "llvm"):
        emitter = toolkit_universe().all_targets[target]()()
        with suppress(XlaError, DiagnosticException):
            emitter.emit(make_context(), load_program(PROGRAMS[name]), StringIO())


def test_what_is_said_of_several_blocks() -> None:
    for name, pipeline in (
        ("branch", "xla-bufferize"),
        ("branch beside tuples", "xla-assign-layouts"),
    ):
        with pytest.raises(XlaError, match=r"func.func: 1, .*it has several blocks"):
            PassManager(make_context()).run(load_program(PROGRAMS[name]), parse_passes(pipeline))


def test_the_reference_has_no_branches() -> None:
    program = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  cf.br ^bb1(%x : tensor<2xf32>)
^bb1(%y: tensor<2xf32>):
  %0 = xla.negate %y : tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
    compiled = compile_module(load_program(program), Options(backend="reference"))
    with pytest.raises(XlaError, match=r":3:3: error: cf.br: the reference does not evaluate"):
        compiled(np.ones(2, np.float32))


ALLOCATION = """
  %t = memref.alloc() : memref<2xf32>
  %v = memref.load %cur[%c0] : memref<2xf32>
  memref.store %v, %t[%c1] : memref<2xf32>
  %w = memref.load %cur[%c1] : memref<2xf32>
  memref.store %w, %t[%c0] : memref<2xf32>
"""
LOOPS = {
    "scf": f"""
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%cur = %x) -> (memref<2xf32>) {{
{ALLOCATION}
    scf.yield %t : memref<2xf32>
  }}""",
    "cf": f"""
  cf.br ^head(%c0, %x : index, memref<2xf32>)
^head(%i: index, %r: memref<2xf32>):
  %goes_on = arith.cmpi slt, %i, %n : index
  cf.cond_br %goes_on, ^body(%r : memref<2xf32>), ^end
^body(%cur: memref<2xf32>):
{ALLOCATION}
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next, %t : index, memref<2xf32>)
^end:""",
}


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
@pytest.mark.parametrize("loop", LOOPS)
def test_loops_that_hand_on_what_they_allocate(loop: str, backend: str) -> None:
    text = f"""
func.func @main(%x: memref<2xf32>, %count: memref<i64>, %result: memref<2xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %number = memref.load %count[] : memref<i64>
  %n = arith.index_cast %number : i64 to index
{LOOPS[loop]}
  linalg.copy ins(%r : memref<2xf32>) outs(%result : memref<2xf32>)
  func.return
}}"""
    swap = compile_module(load_program(text), Options(backend=backend))
    x = np.array([1, 2], np.float32)
    for count in range(4):
        (found,) = swap(x, np.int64(count))
        np.testing.assert_array_equal(found, x[::-1] if count % 2 else x)


def test_linalg_on_memrefs_is_lowered_further() -> None:
    module = load_program(PROGRAMS["linalg on memrefs"])
    PassManager(make_context()).run(module, parse_passes("native{from=buffers}"))
    assert not any(op.name.startswith("linalg.") for op in module.walk())
