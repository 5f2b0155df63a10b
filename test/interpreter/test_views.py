"""Views share memory: strides, offsets, and elements that are not bytes."""

from fractions import Fraction

import numpy as np
import pytest

from lowerings.driver.program import parse_program
from lowerings.interpreter import InterpretedProgram
from lowerings.interpreter.multiply_add import multiply_add


def program(text: str) -> InterpretedProgram:
    return InterpretedProgram(parse_program(text, "p.mlir", "mlir"))


def test_a_transposed_slice() -> None:
    run = program("""
    func.func @main(%x: memref<4x6xi32>, %r: memref<2x3xi32>) attributes {xla.entry} {
      %0 = memref.subview %x[1, 1] [3, 2] [1, 3] : memref<4x6xi32> to
        memref<3x2xi32, strided<[6, 3], offset: 7>>
      %1 = memref.reinterpret_cast %0 to offset: [7], sizes: [2, 3], strides: [3, 6] :
        memref<3x2xi32, strided<[6, 3], offset: 7>> to memref<2x3xi32, strided<[3, 6], offset: 7>>
      "memref.copy"(%1, %r) : (memref<2x3xi32, strided<[3, 6], offset: 7>>, memref<2x3xi32>) -> ()
      func.return
    }
    """)
    x = np.arange(24, dtype=np.int32).reshape(4, 6)
    (found,) = run(x)
    np.testing.assert_array_equal(found, x[1:4, 1:5:3].T)


def test_a_negative_stride() -> None:
    run = program("""
    func.func @main(%x: memref<5xi32>, %r: memref<5xi32>) attributes {xla.entry} {
      %0 = memref.reinterpret_cast %x to offset: [4], sizes: [5], strides: [-1] :
        memref<5xi32> to memref<5xi32, strided<[-1], offset: 4>>
      "memref.copy"(%0, %r) : (memref<5xi32, strided<[-1], offset: 4>>, memref<5xi32>) -> ()
      func.return
    }
    """)
    x = np.arange(5, dtype=np.int32)
    np.testing.assert_array_equal(run(x)[0], x[::-1])


def test_writes_are_seen_through_other_views() -> None:
    run = program("""
    func.func @main(%x: memref<2xf32>, %r: memref<2xf32>) attributes {xla.entry} {
      %c0 = arith.constant 0 : index
      %a = memref.alloc() : memref<4xf32>
      %u = memref.subview %a[0] [2] [2] : memref<4xf32> to memref<2xf32, strided<[2]>>
      "memref.copy"(%x, %u) : (memref<2xf32>, memref<2xf32, strided<[2]>>) -> ()
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %0 = memref.load %a[%c0] : memref<4xf32>
      %1 = memref.load %a[%c2] : memref<4xf32>
      memref.store %1, %r[%c0] : memref<2xf32>
      memref.store %0, %r[%c1] : memref<2xf32>
      func.return
    }
    """)
    np.testing.assert_array_equal(run(np.array([1, 2], np.float32))[0], [2, 1])


@pytest.mark.parametrize("name", ["i1", "i4", "i8", "f8E4M3FN", "bf16", "complex<f32>"])
@pytest.mark.parametrize("seed", [0, 1])
def test_memory_that_nothing_was_written_to_is_of_the_type(name: str, seed: int) -> None:
    text = f"""
    func.func @main() -> tensor<64x{name}> {{
      %0 = tensor.empty() : tensor<64x{name}>
      func.return %0 : tensor<64x{name}>
    }}
    """
    module = parse_program(text, "p.mlir", "mlir")
    (found,) = InterpretedProgram(module, seed=seed)()
    (again,) = InterpretedProgram(module, seed=seed)()
    (other,) = InterpretedProgram(module, seed=2)()
    assert found.tobytes() == again.tobytes()
    assert found.tobytes() != other.tobytes()
    if name == "i1":
        assert set(found.view(np.uint8)) <= {0, 1}


def test_values_go_around_between_outputs() -> None:
    """A body that passes one output's value to the other."""
    run = program("""
    func.func @main(%x: tensor<3xi32>, %y: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
      %0, %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
        affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        outs(%x, %y : tensor<3xi32>, tensor<3xi32>) {
      ^bb0(%a: i32, %b: i32):
        linalg.yield %b, %a : i32, i32
      } -> (tensor<3xi32>, tensor<3xi32>)
      func.return %0, %1 : tensor<3xi32>, tensor<3xi32>
    }
    """)
    x, y = np.arange(3, dtype=np.int32), np.arange(3, dtype=np.int32) + 7
    found = run(x, y)
    np.testing.assert_array_equal(found[0], y)
    np.testing.assert_array_equal(found[1], x)


def test_the_product_and_the_sum_round_once() -> None:
    """Against exact fractions; near ties, with cancellation, and of numbers of every size."""
    rng = np.random.default_rng(3)
    for dtype, exponents in ((np.float32, 30), (np.float64, 200), (np.float64, 1000)):
        scale = [np.ldexp(1.0, rng.integers(-exponents, exponents, 300)) for _ in range(2)]
        x, y = ((rng.normal(size=300) * s).astype(dtype) for s in scale)
        with np.errstate(all="ignore"):
            z = (-x * y * rng.choice([1.0, 1 + 2.0**-23, 0.5, 0.0], 300)).astype(dtype)
            found = multiply_add(x, y, z)
        for a, b, c, mine in zip(x, y, z, found, strict=True):
            if not np.isfinite(c):
                continue
            exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
            error = abs(Fraction(float(mine)) - exact) if np.isfinite(mine) else 0
            for neighbour in (
                np.nextafter(mine, dtype(np.inf)),
                np.nextafter(mine, -dtype(np.inf)),
            ):
                if np.isfinite(neighbour):
                    assert error <= abs(Fraction(float(neighbour)) - exact)


def test_complex_constants_have_both_parts() -> None:
    run = program("""
    func.func @main() -> (tensor<1xf32>, tensor<1xf32>) {
      %z = complex.constant [2.0 : f32, 3.0 : f32] : complex<f32>
      %a = complex.re %z : complex<f32>
      %b = complex.im %z : complex<f32>
      %x = tensor.from_elements %a : tensor<1xf32>
      %y = tensor.from_elements %b : tensor<1xf32>
      func.return %x, %y : tensor<1xf32>, tensor<1xf32>
    }
    """)
    real, imaginary = run()
    assert (real[0], imaginary[0]) == (2.0, 3.0)


def test_a_fused_product_beyond_the_largest_number_is_infinite() -> None:
    """As on processors: the exact sum, rounded once."""
    x = np.array([1e200, -1e200, 1e200, 1e308], np.float64)
    y = np.array([1e200, 1e200, 1e-200, 10.0], np.float64)
    z = np.array([-1e300, 1.0, 1e308, -np.inf], np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        found = multiply_add(x, y, z)
    np.testing.assert_array_equal(found, [np.inf, -np.inf, 1e308, -np.inf])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_fused_sum_of_zeros_has_the_sign_of_a_sum(dtype: type) -> None:
    """Of two negative zeros it is negative, of others and of what cancels positive."""
    x = np.array([1, 1, -1, 1, 1, 0, -3], dtype)
    y = np.array([-0.0, 0.0, 0.0, -0.0, 1, -2, 0], dtype)
    z = np.array([-0.0, -0.0, -0.0, 0.0, -1, -0.0, -0.0], dtype)
    found = multiply_add(x, y, z)
    np.testing.assert_array_equal(np.signbit(found), [1, 0, 1, 0, 0, 1, 1])
    np.testing.assert_array_equal(found, np.zeros(7))
