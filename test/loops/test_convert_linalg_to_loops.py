"""What `convert-linalg-to-vector-loops` refuses, and operations on single points."""

import numpy as np
import pytest
from loops_level import context
from machine_code import MachineCode, lower
from xdsl.utils.exceptions import PassFailedException

from lowerings.loops.convert_linalg_to_vector_loops import ConvertLinalgToVectorLoopsPass
from lowerings.scheduling.xla_plan_schedules import XlaPlanSchedulesPass
from xla_dialect.mlir_text import print_mlir
from xla_dialect.xdsl.text import MlirParser


def test_an_index_outside_of_a_memref() -> None:
    text = """
    func.func @main(%a: memref<8xf32>, %b: memref<8xf32>) {
      linalg.generic {
          indexing_maps = [affine_map<(d0) -> (d0 + 1)>, affine_map<(d0) -> (d0)>],
          iterator_types = ["parallel"]}
          ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) {
      ^bb0(%x: f32, %y: f32):
        linalg.yield %x : f32
      }
      func.return
    }
    """
    module = MlirParser(context(), text).parse_module()
    with pytest.raises(
        PassFailedException, match=r"runs from 1 to 8 in dimension 0 of memref<8xf32>"
    ):
        XlaPlanSchedulesPass().apply(context(), module)


def test_a_memref_of_unknown_size() -> None:
    text = """
    func.func @main(%x: f32, %a: memref<?xf32>) {
      linalg.fill ins(%x : f32) outs(%a : memref<?xf32>)
      func.return
    }
    """
    message = r"linalg.fill: expected a static memref, found memref<\?xf32>"
    with pytest.raises(PassFailedException, match=message):
        lower(text, [XlaPlanSchedulesPass(), ConvertLinalgToVectorLoopsPass()])


def test_a_body_with_regions() -> None:
    """Such a body runs point by point."""
    text = """
    func.func @main(%a: memref<5xf32>, %b: memref<5xf32>) attributes {xla.entry} {
      %zero = arith.constant 0.0 : f32
      linalg.generic {
          indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
          iterator_types = ["parallel"]}
          ins(%a : memref<5xf32>) outs(%b : memref<5xf32>) {
      ^bb0(%x: f32, %y: f32):
        %i = linalg.index 0 : index
        %two = arith.constant 2 : index
        %late = arith.cmpi sge, %i, %two : index
        %r = scf.if %late -> (f32) {
          %s = arith.addf %x, %y : f32
          scf.yield %s : f32
        } else {
          scf.yield %zero : f32
        }
        linalg.yield %r : f32
      }
      func.return
    }
    """
    a, b = np.arange(5, dtype=np.float32), np.full(5, 10, np.float32)
    MachineCode(lower(text, [XlaPlanSchedulesPass(), ConvertLinalgToVectorLoopsPass()])).run(
        "main", [a, b]
    )
    np.testing.assert_array_equal(b, [0, 0, 12, 13, 14])


@pytest.mark.parametrize("channels", [2, 4])
@pytest.mark.parametrize("points", [16, 37])
@pytest.mark.parametrize("element", ["f32", "f64", "i8"])
def test_channels_are_taken_apart(channels: int, points: int, element: str) -> None:
    """Whole vectors and short ones at the end, with nothing after the last element."""
    maps = ", ".join(f"affine_map<(d0) -> (d0, {number})>" for number in range(channels))
    newline = "\n        "
    type_ = f"memref<{points}x{channels}x{element}>"
    arguments = ", ".join(f"%x{number}: {element}" for number in range(channels))
    kind = "i" if element.startswith("i") else "f"
    steps = [
        f"%s{number} = arith.sub{kind} {f'%s{number - 1}' if number > 1 else '%x0'}, "
        f"%x{number} : {element}"
        for number in range(1, channels)
    ]
    text = f"""
    func.func @main(%a: {type_}, %b: memref<{points}x{element}>) attributes {{xla.entry}} {{
      linalg.generic {{
          indexing_maps = [{maps}, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}}
          ins({", ".join(["%a"] * channels)} : {", ".join([type_] * channels)})
          outs(%b : memref<{points}x{element}>) {{
      ^bb0({arguments}, %y: {element}):
        {newline.join(steps)}
        linalg.yield %s{channels - 1} : {element}
      }}
      func.return
    }}
    """
    module = lower(text, [XlaPlanSchedulesPass(), ConvertLinalgToVectorLoopsPass()])
    assert "vector.shuffle" in print_mlir(module)
    dtype = {"f32": np.float32, "f64": np.float64, "i8": np.int8}[element]
    a = np.random.default_rng(0).integers(-9, 9, (points, channels)).astype(dtype)
    b = np.zeros(points, dtype)
    MachineCode(module).run("main", [a, b])
    np.testing.assert_array_equal(b, a[:, 0] - a[:, 1:].sum(axis=1, dtype=dtype))


def test_maxima_keep_not_a_number_and_the_sign_of_zero() -> None:
    text = """
    func.func @main(%a: memref<3x40xf32>, %b: memref<3xf32>) attributes {xla.entry} {
      %low = arith.constant 0xFF800000 : f32
      linalg.fill ins(%low : f32) outs(%b : memref<3xf32>)
      linalg.generic {
          indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%a : memref<3x40xf32>) outs(%b : memref<3xf32>) {
      ^bb0(%x: f32, %max: f32):
        %r = arith.maximumf %max, %x : f32
        linalg.yield %r : f32
      }
      func.return
    }
    """
    code = MachineCode(lower(text, [XlaPlanSchedulesPass(), ConvertLinalgToVectorLoopsPass()]))
    for place in range(40):
        a = np.full((3, 40), -0.0, np.float32)
        a[0, place], a[1, place] = np.nan, 0.0
        b = np.empty(3, np.float32)
        code.run("main", [a, b])
        assert np.isnan(b[0])
        assert (b[1:] == 0).all()
        assert list(np.signbit(b[1:])) == [False, True]


def test_sums_start_from_what_the_output_holds() -> None:
    """Negative zeros add up to negative zero, as they do in order."""
    text = """
    func.func @main(%a: memref<40xf32>, %b: memref<f32>) attributes {xla.entry} {
      linalg.generic {
          indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
          iterator_types = ["reduction"]}
          ins(%a : memref<40xf32>) outs(%b : memref<f32>) {
      ^bb0(%x: f32, %sum: f32):
        %r = arith.addf %sum, %x : f32
        linalg.yield %r : f32
      }
      func.return
    }
    """
    code = MachineCode(lower(text, [XlaPlanSchedulesPass(), ConvertLinalgToVectorLoopsPass()]))
    a, b = np.full(40, -0.0, np.float32), np.array(-0.0, np.float32)
    code.run("main", [a, b])
    assert b == 0
    assert np.signbit(b)


def test_a_fill_that_something_else_reads_stays() -> None:
    """Between the fill and the reduction stands a copy of what was filled."""
    text = """
    func.func @main(%a: memref<40xf32>, %b: memref<f32>, %c: memref<f32>) attributes {xla.entry} {
      %one = arith.constant 1.0 : f32
      linalg.fill ins(%one : f32) outs(%b : memref<f32>)
      "memref.copy"(%b, %c) : (memref<f32>, memref<f32>) -> ()
      linalg.generic {
          indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
          iterator_types = ["reduction"]}
          ins(%a : memref<40xf32>) outs(%b : memref<f32>) {
      ^bb0(%x: f32, %sum: f32):
        %r = arith.addf %sum, %x : f32
        linalg.yield %r : f32
      }
      func.return
    }
    """
    code = MachineCode(lower(text, [XlaPlanSchedulesPass(), ConvertLinalgToVectorLoopsPass()]))
    a = np.ones(40, np.float32)
    b, c = np.array(np.nan, np.float32), np.array(np.nan, np.float32)
    code.run("main", [a, b, c])
    assert (b, c) == (41, 1)
