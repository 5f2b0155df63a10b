"""Loops that are carried out at once compute what they do in order, whatever depends on what."""

from typing import Any

import numpy as np
import pytest

from lowerings.driver.program import parse_program
from lowerings.interpreter import InterpretedProgram, batching
from xla_dialect.diagnostics import XlaError

AnyArray = np.ndarray

HEAD = """
func.func @main(%x: memref<40xf32>, %r: memref<40xf32>) attributes {xla.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %five = arith.constant 5 : index
  %eight = arith.constant 8 : index
  %end = arith.constant 40 : index
  %f = arith.constant 0.0 : f32
  linalg.fill ins(%f : f32) outs(%r : memref<40xf32>)
"""
X = np.arange(40, dtype=np.float32) - 3


def run(body: str) -> AnyArray:
    program = parse_program(HEAD + body + "\n  func.return\n}", "p.mlir", "mlir")
    (result,) = InterpretedProgram(program)(X)
    return result


def in_order(body: str, monkeypatch: pytest.MonkeyPatch) -> AnyArray:
    with monkeypatch.context() as patch:
        patch.setattr(batching, "LEAST", 1 << 62)
        return run(body)


BODIES = {
    "vectors": """
  scf.for %i = %zero to %end step %eight {
    %0 = vector.load %x[%i] : memref<40xf32>, vector<8xf32>
    %1 = arith.addf %0, %0 : vector<8xf32>
    vector.store %1, %r[%i] : memref<40xf32>, vector<8xf32>
  }""",
    "a nest with sums inside": """
  scf.for %i = %zero to %five step %one {
    %start = arith.muli %i, %eight : index
    scf.for %j = %zero to %eight step %one {
      %place = arith.addi %start, %j : index
      %sum = scf.for %k = %zero to %four step %one iter_args(%s = %f) -> (f32) {
        %0 = memref.load %x[%k] : memref<40xf32>
        %1 = memref.load %x[%place] : memref<40xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %s, %2 : f32
        scf.yield %3 : f32
      }
      memref.store %sum, %r[%place] : memref<40xf32>
    }
  }""",
    "every iteration reads what the one before it wrote": """
  %last = arith.constant 39 : index
  %first = arith.constant 7.0 : f32
  memref.store %first, %r[%zero] : memref<40xf32>
  scf.for %i = %zero to %last step %one {
    %0 = memref.load %r[%i] : memref<40xf32>
    %next = arith.addi %i, %one : index
    memref.store %0, %r[%next] : memref<40xf32>
  }""",
    "the last iteration to write an element wins": """
  scf.for %i = %zero to %end step %one {
    %0 = memref.load %x[%i] : memref<40xf32>
    %place = arith.remsi %i, %five : index
    memref.store %0, %r[%place] : memref<40xf32>
  }""",
    "all iterations write the same element": """
  scf.for %i = %zero to %end step %one {
    %0 = memref.load %x[%i] : memref<40xf32>
    memref.store %0, %r[%five] : memref<40xf32>
  }""",
    "vectors that overlap": """
  %last = arith.constant 32 : index
  scf.for %i = %zero to %last step %four {
    %0 = vector.load %x[%i] : memref<40xf32>, vector<8xf32>
    vector.store %0, %r[%i] : memref<40xf32>, vector<8xf32>
  }""",
    "two stores, one to the place of the other in the next iteration": """
  %last = arith.constant 39 : index
  scf.for %i = %zero to %last step %one {
    %0 = memref.load %x[%i] : memref<40xf32>
    %1 = arith.negf %0 : f32
    %next = arith.addi %i, %one : index
    memref.store %0, %r[%i] : memref<40xf32>
    memref.store %1, %r[%next] : memref<40xf32>
  }""",
    "bounds of an inner loop that depend on the outer one": """
  scf.for %i = %zero to %end step %eight {
    scf.for %j = %zero to %i step %one {
      %0 = memref.load %x[%i] : memref<40xf32>
      memref.store %0, %r[%j] : memref<40xf32>
    }
  }""",
    "a parallel loop": """
  "scf.parallel"(%zero, %five, %one) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %start = arith.muli %i, %eight : index
    scf.for %j = %zero to %eight step %four {
      %place = arith.addi %start, %j : index
      %0 = vector.load %x[%place] : memref<40xf32>, vector<4xf32>
      vector.store %0, %r[%place] : memref<40xf32>, vector<4xf32>
    }
    scf.reduce
  }) : (index, index, index) -> ()""",
    "two parallel indices": """
  "scf.parallel"(%zero, %zero, %five, %eight, %one, %one)
      <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    %start = arith.muli %i, %eight : index
    %place = arith.addi %start, %j : index
    %0 = memref.load %x[%place] : memref<40xf32>
    memref.store %0, %r[%place] : memref<40xf32>
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()""",
    "no iteration": """
  scf.for %i = %end to %zero step %one {
    %0 = memref.load %x[%i] : memref<40xf32>
    memref.store %0, %r[%i] : memref<40xf32>
  }""",
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("batch", [7, 1024])
def test_the_same_as_in_order(name: str, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "BATCH", batch)
    np.testing.assert_array_equal(run(BODIES[name]), in_order(BODIES[name], monkeypatch))


def test_independent_iterations_are_carried_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    put = batching._Watched.put

    def noting(self: batching._Watched, *stored: Any) -> None:
        sizes.append(self.iterations)
        put(self, *stored)

    monkeypatch.setattr(batching._Watched, "put", noting)
    run(BODIES["vectors"] + BODIES["a nest with sums inside"])
    assert sizes == [5, 40]


def test_the_first_error_in_order_is_told() -> None:
    body = """
  scf.for %i = %zero to %end step %one {
    %0 = memref.load %x[%i] : memref<40xf32>
    %far = arith.muli %i, %eight : index
    memref.store %0, %r[%far] : memref<40xf32>
  }"""
    with pytest.raises(XlaError, match=r"p.mlir:\d+:\d+: .*memref.store: index 40 in dimension 0"):
        run(body)
