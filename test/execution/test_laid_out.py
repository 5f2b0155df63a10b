"""Arrays are handed over in logical order, whatever layouts a program has."""

from typing import Any

import numpy as np
import pytest
from peers import has_jax

import lowerings
from lowerings.execution.arrays import ArgumentError
from lowerings.execution.laid_out import to_logical_order, to_memory_order
from lowerings.execution.signature import ArraySpec
from lowerings.layouts.memory_order import MemoryOrder

if has_jax():
    import jax
    from jax.experimental.layout import Format, Layout, with_layout_constraint


def spec(order: MemoryOrder, *sizes: int) -> ArraySpec:
    return ArraySpec.of("f32", *sizes, order=order)


COLUMN_MAJOR = spec(MemoryOrder((1, 0)), 2, 3)
PADDED = spec(MemoryOrder((0, 1), widths=(2, 5)), 2, 3)
TILED = spec(MemoryOrder((0, 1), tiles=((2, 2),)), 3, 5)
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_arrays_that_lie_as_the_program_wants_are_not_copied() -> None:
    fortran = np.asfortranarray(X)
    into = to_memory_order(COLUMN_MAJOR)
    assert into is not None
    assert np.shares_memory(into(fortran), fortran)
    assert into(fortran).flags.c_contiguous
    wide = np.zeros((4, 5), np.float32)[1:3, :3]
    into = to_memory_order(PADDED)
    assert into is not None
    assert np.shares_memory(into(wide), wide)
    assert into(wide).shape == (2, 5)


def test_other_arrays_are_copied() -> None:
    into = to_memory_order(PADDED)
    assert into is not None
    np.testing.assert_array_equal(into(X), [[0, 1, 2, 0, 0], [3, 4, 5, 0, 0]])
    into = to_memory_order(TILED)
    assert into is not None
    assert into(np.ones((3, 5), np.float32)).shape == (2, 3, 2, 2)


@pytest.mark.parametrize("of", [COLUMN_MAJOR, PADDED, TILED])
def test_there_and_back(of: ArraySpec) -> None:
    values = np.arange(np.prod(of.shape), dtype=np.float32).reshape(of.shape)
    into, out = to_memory_order(of), to_logical_order(of)
    assert into is not None
    assert out is not None
    memory = np.ascontiguousarray(into(values))
    np.testing.assert_array_equal(out(memory), values)


def test_results_are_views_of_what_was_written() -> None:
    for of in (COLUMN_MAJOR, PADDED):
        memory = np.zeros(of.in_memory.shape, np.float32)
        out = to_logical_order(of)
        assert out is not None
        assert np.shares_memory(out(memory), memory)
        assert out(memory).shape == of.shape


def test_row_major_arrays_need_nothing() -> None:
    plain = ArraySpec.of("f32", 2, 3)
    assert to_memory_order(plain) is None
    assert to_logical_order(plain) is None


NEGATE = """
func.func @main(%x: tensor<2x3xf32, #xla.layout<{0,1}>>, %y: tensor<3xf32>)
    -> (tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<3xf32>) {
  %0 = xla.negate %x : tensor<2x3xf32, #xla.layout<{0,1}>>
  %1 = xla.negate %y : tensor<3xf32>
  func.return %0, %1 : tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<3xf32>
}
"""


def test_signature_and_arguments() -> None:
    program = lowerings.compile(NEGATE)
    assert (
        str(program.signature) == "main(%x: f32[2,3]{0,1}, %y: f32[3]) -> (f32[2,3]{0,1}, f32[3])"
    )
    found, row = program(X, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(found, -X)
    np.testing.assert_array_equal(row, [-1, -2, -3])
    assert found.strides == (4, 8)
    for wrong in ((X,), (X.T, X[0]), (X.astype(np.float64), X[0])):
        with pytest.raises(ArgumentError, match="main"):
            program(*wrong)


ENTRY = """\
HloModule m, entry_computation_layout={(f32[2,3]{0,1}, (f32[4,5]{1,0}, f32[]))->(f32[3,2]{0,1}, f32[4,5]{0,1})}
ENTRY main {
  x = f32[2,3]{1,0} parameter(0)
  p = (f32[4,5]{1,0}, f32[]) parameter(1)
  y = f32[4,5]{1,0} get-tuple-element(p), index=0
  t = f32[3,2]{1,0} transpose(x), dimensions={1,0}
  n = f32[4,5]{1,0} negate(y)
  ROOT r = (f32[3,2], f32[4,5]) tuple(t, n)
}
"""


def test_entry_computation_layout_is_what_callers_see() -> None:
    program = lowerings.compile(ENTRY)
    parameters = program.signature.parameters
    assert [each.order for each in parameters] == [MemoryOrder((1, 0)), None, None]
    y = np.arange(20, dtype=np.float32).reshape(4, 5)
    turned, negative = program(X, y, np.float32(0))
    np.testing.assert_array_equal(turned, X.T)
    np.testing.assert_array_equal(negative, -y)
    assert turned.strides == (4, 12)
    assert negative.strides == (4, 16)


def test_layout_modes_of_jax() -> None:
    text = """
    func.func public @main(%arg0: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"})
        -> (tensor<2x3xf32> {mhlo.layout_mode = "default"}) {
      %0 = stablehlo.negate %arg0 : tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }
    """
    program = lowerings.compile(text)
    assert str(program.signature) == "main(%arg0: f32[2,3]{0,1}) -> (f32[2,3])"
    np.testing.assert_array_equal(program(X)[0], -X)


@pytest.mark.jax
def test_layouts_that_jax_asks_for() -> None:
    """Of parameters and results, and in the middle; as StableHLO, and as XLA optimises it."""
    column_major = Layout(major_to_minor=(1, 0))
    device = jax.sharding.SingleDeviceSharding(jax.devices()[0])

    def function(x: Any) -> tuple[Any, Any]:
        y = with_layout_constraint(x * 2, column_major)
        return y.T, y.sum(0)

    lowered = jax.jit(
        function,
        in_shardings=Format(column_major, device),
        out_shardings=(Format(column_major, device), None),
    ).lower(X)
    for text in (lowered.as_text(), str(lowered.compile().as_text())):
        program = lowerings.compile(text)
        signature = program.signature
        orders = [each.order for each in (*signature.parameters, *signature.results)]
        assert orders == [MemoryOrder((1, 0)), MemoryOrder((1, 0)), None]
        turned, sums = program(X)
        np.testing.assert_array_equal(turned, 2 * X.T)
        np.testing.assert_array_equal(sums, 2 * X.sum(0))
        assert turned.strides == (4, 12)
