"""Structured control flow in machine code."""

import numpy as np
import pytest
from loops_level import compile_loops, parse, run

from lowerings.targets.llvm.module import emit_module
from lowerings.targets.llvm.types import EmissionError


def body_of_main(body: str, arguments: str = "%n: memref<i64>, %r: memref<8xi64>") -> str:
    indices = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(9))
    return f"""
    func.func @main({arguments}) attributes {{xla.entry}} {{
      {indices}
      {body}
      func.return
    }}
    """


READ_BOUND = """
  %raw = memref.load %n[] : memref<i64>
  %bound = arith.index_cast %raw : i64 to index
"""


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("lower", "upper", "step"),
    [(0, 5, 1), (0, 0, 1), (3, -2, 1), (2, 3, 1), (1, 8, 3), (1, 7, 3), (0, 2, 9), (-4, 4, 2)],
)
def test_for_counts(lower: int, upper: int, step: int, known: bool):
    """Sum and last value of the induction variable, whether the bound is known early or late."""
    bound = f"%bound = arith.constant {upper} : index" if known else READ_BOUND
    body = f"""
      {bound}
      %lower = arith.constant {lower} : index
      %step = arith.constant {step} : index
      %zero = arith.constant 0 : i64
      %s:2 = scf.for %i = %lower to %bound step %step iter_args(%a = %zero, %b = %zero)
          -> (i64, i64) {{
        %x = arith.index_cast %i : index to i64
        %sum = arith.addi %a, %x : i64
        scf.yield %sum, %x : i64, i64
      }}
      memref.store %s#0, %r[%c0] : memref<8xi64>
      memref.store %s#1, %r[%c1] : memref<8xi64>
    """
    (found,) = run(body_of_main(body), [np.array(upper)], ["s64[8]"])
    values = range(lower, upper, step)
    assert found[:2].tolist() == [sum(values), values[-1] if values else 0]


def test_for_over_small_integers():
    body = """
      %lower = arith.constant 250 : i32
      %upper = arith.constant 300 : i32
      %step = arith.constant 7 : i32
      %zero = arith.constant 0 : i64
      %s = scf.for %i = %lower to %upper step %step iter_args(%a = %zero) -> (i64) : i32 {
        %x = arith.extsi %i : i32 to i64
        %sum = arith.addi %a, %x : i64
        scf.yield %sum : i64
      }
      memref.store %s, %r[%c0] : memref<8xi64>
    """
    (found,) = run(body_of_main(body), [np.array(0)], ["s64[8]"])
    assert found[0] == sum(range(250, 300, 7))


def test_loops_swap_what_they_carry():
    """Values, and memrefs with sizes known late, change places in each iteration."""
    type_ = "memref<?xi64, strided<[1], offset: ?>>"
    body = f"""
      {READ_BOUND}
      %x = memref.subview %r[0] [%bound] [1] : memref<8xi64> to {type_}
      %y = memref.subview %r[%bound] [%bound] [1] : memref<8xi64> to {type_}
      %p0 = arith.constant 0 : i64
      %p1 = arith.constant 1 : i64
      %u:4 = scf.for %i = %c0 to %c5 step %c1
          iter_args(%a = %x, %b = %y, %f = %p0, %g = %p1) -> ({type_}, {type_}, i64, i64) {{
        memref.store %g, %a[%c1] : {type_}
        %h = arith.addi %f, %g : i64
        scf.yield %b, %a, %g, %h : {type_}, {type_}, i64, i64
      }}
      memref.store %u#3, %u#0[%c0] : {type_}
    """
    text = body_of_main(body, "%n: memref<i64>, %r: memref<8xi64>")
    (found,) = run(text, [np.array(4)], ["s64[8]"])
    # Fibonacci numbers 1, 1, 2, 3, 5 go to both halves in turn; the next, 8, is stored last.
    assert [found[1], found[5], found[4]] == [5, 3, 8]


@pytest.mark.parametrize("start", [0, 1, 27, 97])
def test_while(start: int):
    """The Collatz steps of a number: the condition decides after the first half of each turn."""
    body = """
      %x = memref.load %n[] : memref<i64>
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %two = arith.constant 2 : i64
      %three = arith.constant 3 : i64
      %w:2 = scf.while (%a = %x, %k = %zero) : (i64, i64) -> (i64, i64) {
        %more = arith.cmpi sgt, %a, %one : i64
        scf.condition(%more) %k, %a : i64, i64
      } do {
      ^bb0(%k: i64, %a: i64):
        %odd = arith.andi %a, %one : i64
        %is_odd = arith.trunci %odd : i64 to i1
        %next = scf.if %is_odd -> (i64) {
          %t = arith.muli %a, %three : i64
          %u = arith.addi %t, %one : i64
          scf.yield %u : i64
        } else {
          %h = arith.divsi %a, %two : i64
          scf.yield %h : i64
        }
        %l = arith.addi %k, %one : i64
        scf.yield %next, %l : i64, i64
      }
      memref.store %w#0, %r[%c0] : memref<8xi64>
      memref.store %w#1, %r[%c1] : memref<8xi64>
    """
    (found,) = run(body_of_main(body), [np.array(start)], ["s64[8]"])
    steps, value = 0, start
    while value > 1:
        value, steps = (value * 3 + 1 if value % 2 else value // 2), steps + 1
    assert found[:2].tolist() == [steps, value]


@pytest.mark.parametrize("value", [-1, 0, 3])
def test_if_without_else(value: int):
    body = """
      %x = memref.load %n[] : memref<i64>
      %zero = arith.constant 0 : i64
      memref.store %zero, %r[%c0] : memref<8xi64>
      %positive = arith.cmpi sgt, %x, %zero : i64
      scf.if %positive {
        scf.for %i = %c0 to %c3 step %c1 {
          %before = memref.load %r[%c0] : memref<8xi64>
          %after = arith.addi %before, %x : i64
          memref.store %after, %r[%c0] : memref<8xi64>
        }
      }
    """
    (found,) = run(body_of_main(body), [np.array(value)], ["s64[8]"])
    assert found[0] == max(3 * value, 0)


@pytest.mark.parametrize("condition", ["true", "false"])
def test_if_known_early(condition: str):
    body = f"""
      %c = arith.constant {condition}
      %one = arith.constant 1 : i64
      %two = arith.constant 2 : i64
      %v = scf.if %c -> (i64) {{
        scf.yield %one : i64
      }} else {{
        scf.yield %two : i64
      }}
      memref.store %v, %r[%c0] : memref<8xi64>
      %no = arith.constant false
      scf.if %no {{
        memref.store %two, %r[%c0] : memref<8xi64>
      }}
    """
    text = body_of_main(body)
    assert " br " not in emit_module(parse(text)).text
    (found,) = run(text, [np.array(0)], ["s64[8]"])
    assert found[0] == (1 if condition == "true" else 2)


def test_if_of_memrefs():
    body = f"""
      {READ_BOUND}
      %first = arith.cmpi slt, %bound, %c2 : index
      %v = scf.if %first -> (memref<4xi64, strided<[1], offset: ?>>) {{
        %a = memref.subview %r[%bound] [4] [1]
          : memref<8xi64> to memref<4xi64, strided<[1], offset: ?>>
        scf.yield %a : memref<4xi64, strided<[1], offset: ?>>
      }} else {{
        %b = memref.subview %r[%c4] [4] [1]
          : memref<8xi64> to memref<4xi64, strided<[1], offset: ?>>
        scf.yield %b : memref<4xi64, strided<[1], offset: ?>>
      }}
      %seven = arith.constant 7 : i64
      %zeros = arith.constant dense<0> : vector<8xi64>
      vector.store %zeros, %r[%c0] : memref<8xi64>, vector<8xi64>
      memref.store %seven, %v[%c1] : memref<4xi64, strided<[1], offset: ?>>
    """
    program = compile_loops(body_of_main(body), ["s64[]"], ["s64[8]"])
    assert [int(np.argmax(program(np.array(n))[0])) for n in (0, 1, 2)] == [1, 2, 5]


@pytest.mark.parametrize("value", [-5, 0, 1, 7, 8, 2**62])
def test_index_switch(value: int):
    body = f"""
      {READ_BOUND}
      %v = scf.index_switch %bound -> i64
      case 0 {{
        %a = arith.constant 10 : i64
        scf.yield %a : i64
      }}
      case 7 {{
        %a = arith.constant 17 : i64
        scf.yield %a : i64
      }}
      case -5 {{
        %a = arith.constant 5 : i64
        scf.yield %a : i64
      }}
      default {{
        %a = arith.constant 99 : i64
        scf.yield %a : i64
      }}
      memref.store %v, %r[%c0] : memref<8xi64>
    """
    (found,) = run(body_of_main(body), [np.array(value)], ["s64[8]"])
    assert found[0] == {0: 10, 7: 17, -5: 5}.get(value, 99)


def test_parallel():
    """Two dimensions; a sum and a maximum over all of it."""
    text = """
    func.func @main(%x: memref<3x4xf32>, %y: memref<3x4xf32>, %r: memref<2xf32>)
        attributes {xla.entry} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %s:2 = "scf.parallel"(%c0, %c0, %c3, %c4, %c1, %c1, %zero, %low)
          <{operandSegmentSizes = array<i32: 2, 2, 2, 2>}> ({
      ^bb0(%i: index, %j: index):
        %a = memref.load %x[%i, %j] : memref<3x4xf32>
        %b = arith.addf %a, %a : f32
        memref.store %b, %y[%i, %j] : memref<3x4xf32>
        "scf.reduce"(%a, %b) ({
        ^bb0(%l: f32, %m: f32):
          %n = arith.addf %l, %m : f32
          scf.reduce.return %n : f32
        }, {
        ^bb0(%l: f32, %m: f32):
          %n = arith.maximumf %l, %m : f32
          scf.reduce.return %n : f32
        }) : (f32, f32) -> ()
      }) : (index, index, index, index, index, index, f32, f32) -> (f32, f32)
      memref.store %s#0, %r[%c0] : memref<2xf32>
      memref.store %s#1, %r[%c1] : memref<2xf32>
      func.return
    }
    """
    x = np.random.default_rng(0).integers(-9, 9, (3, 4)).astype(np.float32)
    doubled, reductions = run(text, [x], ["f32[3,4]", "f32[2]"])
    np.testing.assert_array_equal(doubled, 2 * x)
    assert reductions.tolist() == [x.sum(), 2 * x.max()]


def test_parallel_without_iterations():
    body = """
      %zero = arith.constant 3 : i64
      %s = "scf.parallel"(%c0, %c0, %c1, %zero)
          <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
      ^bb0(%i: index):
        %x = arith.index_cast %i : index to i64
        scf.reduce(%x : i64) {
        ^bb0(%l: i64, %m: i64):
          %k = arith.addi %l, %m : i64
          scf.reduce.return %k : i64
        }
      }) : (index, index, index, i64) -> i64
      memref.store %s, %r[%c0] : memref<8xi64>
    """
    (found,) = run(body_of_main(body), [np.array(0)], ["s64[8]"])
    assert found[0] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "scf.for %i = %c0 to %c8 step %c0 {\n}",
            r"scf.for in @main: the step must be positive, found 0",
        ),
        (
            "memref.store %late, %r[%c0] : memref<8xi64>\n%late = arith.constant 0 : i64",
            r"memref.store in @main: an operand is not defined before its use",
        ),
    ],
)
def test_errors(text: str, message: str):
    with pytest.raises(EmissionError, match=message):
        emit_module(parse(body_of_main(text)))
