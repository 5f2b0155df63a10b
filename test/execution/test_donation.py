"""Arrays that callers give away: results in their memory, and nothing else changed."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from peers import has_jax

import lowerings
from lowerings.backends import Donation
from lowerings.compilation import CompilationError
from lowerings.execution.arrays import ArgumentError

if has_jax():
    import jax

    from lowerings.jax import jit

SUM = """HloModule sum, input_output_alias={ {}: (1, {}, must-alias) }
ENTRY main {
  x = f32[6] parameter(0)
  y = f32[6] parameter(1)
  ROOT r = f32[6] add(x, y)
}
"""
TUPLES = """HloModule tuples, input_output_alias={ {0}: (0, {1,0}), {1,1}: (1, {}, may-alias) }
ENTRY main {
  p = (f32[4], (f32[8], s32[])) parameter(0)
  q = f32[16] parameter(1)
  inner = (f32[8], s32[]) get-tuple-element(p), index=1
  b = f32[8] get-tuple-element(inner), index=0
  n = s32[] get-tuple-element(inner), index=1
  c = f32[8] add(b, b)
  d = f32[16] negate(q)
  pair = (s32[], f32[16]) tuple(n, d)
  ROOT t = (f32[8], (s32[], f32[16])) tuple(c, pair)
}
"""
SWAP = """HloModule swap, input_output_alias={ {0}: (0, {}), {1}: (1, {}) }
ENTRY main {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT t = (f32[3], f32[3]) tuple(y, x)
}
"""
LOOP = """HloModule loop, input_output_alias={ {}: (0, {}) }
body {
  s = (s32[], f32[8,4], f32[8,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,4] get-tuple-element(s), index=1
  rows = f32[8,4] get-tuple-element(s), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  row = f32[1,4] dynamic-slice(rows, i, zero), dynamic_slice_sizes={1,4}
  twice = f32[1,4] add(row, row)
  changed = f32[8,4] dynamic-update-slice(x, twice, i, zero)
  ROOT r = (s32[], f32[8,4], f32[8,4]) tuple(next, changed, rows)
}
condition {
  s = (s32[], f32[8,4], f32[8,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[8,4] parameter(0)
  rows = f32[8,4] parameter(1)
  zero = s32[] constant(0)
  s = (s32[], f32[8,4], f32[8,4]) tuple(zero, x, rows)
  w = (s32[], f32[8,4], f32[8,4]) while(s), condition=condition, body=body
  ROOT r = f32[8,4] get-tuple-element(w), index=1
}
"""
X, Y = np.arange(6, dtype=np.float32), np.full(6, 10, np.float32)


def compiled(text: str, donate: Donation = "aliased", **options: Any) -> Any:
    return lowerings.compile(text, donate=donate, **options)


def test_the_result_is_the_array_that_was_given_away() -> None:
    program = compiled(SUM)
    x, y = X.copy(), Y.copy()
    (result,) = program(x, y)
    assert result is y
    np.testing.assert_array_equal(result, X + Y)
    np.testing.assert_array_equal(x, X)
    # And so on, with the result.
    (again,) = program(x, result)
    assert again is y
    np.testing.assert_array_equal(again, X + X + Y)
    assert str(program.signature) == "main(%x: f32[6], %y: f32[6]) -> (f32[6] in %y)"


def test_who_gives_nothing_away_sees_nothing_change() -> None:
    x, y = X.copy(), Y.copy()
    program = lowerings.compile(SUM)
    (result,) = program(x, y)
    assert not np.shares_memory(result, y)
    np.testing.assert_array_equal(result, X + Y)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)
    assert program.signature.aliases == ()


def test_parameters_that_the_program_does_not_name_can_be_given_away() -> None:
    program = compiled(SUM, donate=[0])
    x, y = X.copy(), Y.copy()
    (result,) = program(x, y)
    assert result is x
    np.testing.assert_array_equal(y, Y)
    program = compiled(SUM, donate=[0, 1])
    x = X.copy()
    (result,) = program(x, y)
    assert result is y
    np.testing.assert_array_equal(x, X)


def test_elements_of_tuples() -> None:
    program = compiled(TUPLES)
    assert program.signature.aliases == ((0, 1), (2, 3))
    a, b, n, q = (
        np.ones(4, np.float32),
        np.ones(8, np.float32),
        np.int32(7),
        np.ones(16, np.float32),
    )
    results = program(a, b, n, q)
    assert results[0] is b
    assert results[2] is q
    assert (b[0], results[1], q[0], a[0]) == (2, 7, -1, 1)


def test_results_that_change_places() -> None:
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    first, second = compiled(SWAP)(x, y)
    assert (first is x, second is y) == (True, True)
    assert (x[0], y[0]) == (0, 1)


@pytest.mark.parametrize("level", ["buffers", "loops"])
def test_interpreted_levels_begin_with_what_the_parameter_is(level: str) -> None:
    program = compiled(SUM, backend="interpreter", level=level)
    y = Y.copy()
    (result,) = program(X, y)
    np.testing.assert_array_equal(result, X + Y)
    np.testing.assert_array_equal(y, Y)


@pytest.mark.riscv64
def test_emulated_programs_begin_with_what_the_parameter_is() -> None:
    (result,) = compiled(SUM, backend="riscv64")(X, Y)
    np.testing.assert_array_equal(result, X + Y)


def test_a_loop_changes_its_state_where_it_was_given() -> None:
    x, rows = np.zeros((8, 4), np.float32), np.ones((8, 4), np.float32)
    (result,) = compiled(LOOP)(x, rows)
    assert result is x
    np.testing.assert_array_equal(x[:, 0], [2, 2, 2, 2, 2, 0, 0, 0])
    np.testing.assert_array_equal(rows, 1)


def test_arrays_that_cannot_be_written_are_copied() -> None:
    program = compiled(SUM)
    y = Y.copy()
    y.flags.writeable = False
    wide = np.full(12, 10, np.float32)
    for given in (y, wide[::2], [10.0] * 6, Y.astype(np.float32).tolist()):
        (result,) = program(X, given)
        np.testing.assert_array_equal(result, X + Y)
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(wide, 10)


def test_parts_of_arrays_can_be_given_away() -> None:
    y = np.full(18, 10, np.float32)
    (result,) = compiled(SUM)(X, y[6:12])
    assert np.shares_memory(result, y)
    np.testing.assert_array_equal(y[:6], 10)
    np.testing.assert_array_equal(y[6:12], X + 10)
    np.testing.assert_array_equal(y[12:], 10)


@pytest.mark.parametrize("start", [0, 3])
def test_memory_of_other_arguments_cannot_be_given_away(start: int) -> None:
    y = np.zeros(12, np.float32)
    with pytest.raises(ArgumentError, match="%y is given away, and parameter %x lies in the same"):
        compiled(SUM)(y[start : start + 6], y[:6])
    np.testing.assert_array_equal(y, 0)


def test_parameters_that_do_not_exist_cannot_be_given_away() -> None:
    for number in (2, -1):
        with pytest.raises(CompilationError, match=f"no parameter {number} to give away"):
            compiled(SUM, donate=[number])


@pytest.mark.parametrize("other", ["s32[6]", "f32[7]", "f32[6,1]"])
def test_arrays_of_other_types_share_nothing(other: str) -> None:
    text = f"""HloModule m, input_output_alias={{ {{0}}: (0, {{}}) }}
    ENTRY main {{
      x = f32[6] parameter(0)
      c = {other} parameter(1)
      ROOT t = ({other}, f32[6]) tuple(c, x)
    }}"""
    program = compiled(text)
    assert program.signature.aliases == ()
    # What the program names is not there, but something else may be.
    assert compiled(text, donate=[1]).signature.aliases == ((0, 1),)


@pytest.mark.parametrize("dtype", ["pred", "s4", "u8", "s64", "bf16", "f8e4m3fn", "f16", "c128"])
def test_all_element_types(dtype: str) -> None:
    text = f"""HloModule m, input_output_alias={{ {{}}: (0, {{}}) }}
    ENTRY main {{
      x = {dtype}[3] parameter(0)
      y = {dtype}[1] parameter(1)
      i = s32[] parameter(2)
      ROOT r = {dtype}[3] dynamic-update-slice(x, y, i)
    }}"""
    program = compiled(text)
    numpy_type = program.signature.parameters[0].dtype
    x, y = np.zeros(3, numpy_type), np.ones(1, numpy_type)
    (result,) = program(x, y, 99)
    assert result is x
    np.testing.assert_array_equal(x, np.array([0, 0, 1], numpy_type))


def test_no_elements_and_one() -> None:
    for sizes in ("[0]", "[]"):
        text = SUM.replace("[6]", sizes)
        shape = () if sizes == "[]" else (0,)
        (result,) = compiled(text)(np.ones(shape, np.float32), np.ones(shape, np.float32))
        np.testing.assert_array_equal(result, np.full(shape, 2, np.float32))


def test_layouts() -> None:
    text = """HloModule m, input_output_alias={ {}: (0, {}) }, entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{LAYOUT}}
    ENTRY main {
      x = f32[2,3]{0,1} parameter(0)
      ROOT r = f32[2,3]{LAYOUT} negate(x)
    }"""
    program = compiled(text.replace("LAYOUT", "0,1"))
    x = np.asfortranarray(np.ones((2, 3), np.float32))
    (result,) = program(x)
    assert np.shares_memory(result, x)
    np.testing.assert_array_equal(x, -1)
    assert compiled(text.replace("LAYOUT", "1,0")).signature.aliases == ()


def test_stablehlo() -> None:
    text = """
    func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 1 : i32},
                    %y: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = stablehlo.add %x, %y : tensor<4xf32>
      %1 = stablehlo.subtract %x, %y : tensor<4xf32>
      return %0, %1 : tensor<4xf32>, tensor<4xf32>
    }"""
    program = compiled(text)
    assert program.signature.aliases == ((0, 1), (1, 0))
    x, y = np.full(4, 5, np.float32), np.full(4, 3, np.float32)
    results = program(x, y)
    assert results[0] is y
    assert results[1] is x
    assert (x[0], y[0]) == (2, 8)


def test_checks_see_values_beside_what_is_given_away(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
      check.expect_eq_const %x, dense<1.0> : tensor<2xf32>
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      check.expect_eq_const %0, dense<2.0> : tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    x = np.ones(2, np.float32)
    (result,) = compiled(text)(x)
    assert result is x
    assert x[0] == 2


@pytest.mark.jax
def test_jit_writes_over_numpy_arrays() -> None:
    step = jit(lambda p, g: {"w": p["w"] - g, "n": p["n"] + 1}, donate_argnums=0)
    p, g = {"w": np.ones((4, 8), np.float32), "n": np.zeros((), np.int32)}, np.full((4, 8), 0.5)
    g = g.astype(np.float32)
    found = step(p, g)
    assert found["w"] is p["w"]
    assert (p["w"][0, 0], p["n"], g[0, 0]) == (0.5, 1, 0.5)
    # JAX arrays are never written: JAX may share them with others.
    given = jax.tree.map(jax.numpy.asarray, p)
    before = np.array(given["w"])
    found = step(given, g)
    np.testing.assert_array_equal(given["w"], before)
    np.testing.assert_array_equal(found["w"], before - g)


def test_bits_of_what_is_not_a_number_stay() -> None:
    text = SUM.replace("f32[6]", "bf16[6]").replace("add(x, y)", "copy(y)")
    bits = np.array([0x7FC1, 0xFF81, 0x8000, 0, 1, 0x7F80], np.uint16)
    y = bits.view(ml_dtypes.bfloat16).copy()
    (result,) = compiled(text)(y.copy(), y)
    np.testing.assert_array_equal(result.view(np.uint16), bits)
