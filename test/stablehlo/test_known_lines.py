"""Lines like one that was read before are copied, and differ in nothing from lines that are parsed."""

import re
from unittest import mock

import pytest
from peers import has_jax

from xla_dialect.diagnostics import LocatedError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.parser import KnownLines

if has_jax():
    import jax
    import numpy as np

REPEATED = """
func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xi32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %a, %a : tensor<2x3xf32>
  %named = stablehlo.add %0, %a : tensor<2x3xf32> // A comment.
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %d = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = stablehlo.reduce(%named init: %d) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = "stablehlo.negate"(%0) {mhlo.note = "%0"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = "stablehlo.negate"(%3) {mhlo.note = "%3"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5:2 = stablehlo.optimization_barrier %3, %4 : tensor<2x3xf32>, tensor<2x3xf32>
  %6:2 = stablehlo.optimization_barrier %5#1, %5#0 : tensor<2x3xf32>, tensor<2x3xf32>
  %7 = func.call @f(%6#1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = func.call @f(%7) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %8 : tensor<2x3xf32>
}
func.func private @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %a, %a
       : tensor<2x3xf32>
  %1 = stablehlo.add %0, %0
       : tensor<2x3xf32>
  %2 = stablehlo.add %1, %a : tensor<2x3xf32> %3 = stablehlo.add %2, %2 : tensor<2x3xf32>
  %4 = stablehlo.add %3, %3 : tensor<2x3xf32> %5 = stablehlo.add %a, %4 : tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}
"""


def without_memory(text: str) -> str:
    """The module that is read when no line is copied."""
    with mock.patch.object(KnownLines, "copy", return_value=None):
        return print_mlir(read_stablehlo(text))


def test_copied_lines():
    assert print_mlir(read_stablehlo(REPEATED)) == without_memory(REPEATED)
    with mock.patch.object(KnownLines, "remember") as remember:
        read_stablehlo(REPEATED)
    with mock.patch.object(
        KnownLines, "remember", autospec=True, side_effect=KnownLines.remember
    ) as used:
        read_stablehlo(REPEATED)
    assert remember.call_count - used.call_count >= 6


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("%named = stablehlo.add %0, %a", "%named = stablehlo.add %0, %z", "%z is not defined"),
        ("%named = stablehlo.add %0, %a", "%named = stablehlo.add %0, %b", "used with type"),
        ("%named = stablehlo.add %0, %a", "%0 = stablehlo.add %0, %a", "%0 is already defined"),
        ("%named = stablehlo.add %0, %a", "%named:2 = stablehlo.add %0, %a", "given 2 to bind"),
        ("%6:2 =", "%6 =", "given 1 to bind"),
        ("barrier %5#1, %5#0", "barrier %5#2, %5#0", "index out of bounds"),
    ],
)
def test_errors_are_those_of_a_parsed_line(before: str, after: str, message: str):
    text = REPEATED.replace(before, after)
    assert text != REPEATED
    with pytest.raises(LocatedError, match=re.escape(message)) as copied:
        read_stablehlo(text, "f.mlir")
    with (
        mock.patch.object(KnownLines, "copy", return_value=None),
        pytest.raises(LocatedError) as parsed,
    ):
        read_stablehlo(text, "f.mlir")
    assert str(copied.value) == str(parsed.value)


def test_places_of_copied_lines():
    """An error in a copied operation is where it stands."""
    line = "%{} = stablehlo.reshape %a : (tensor<2xf32>) -> tensor<3xf32>\n"
    good = "%{} = stablehlo.negate %a : tensor<2xf32>\n"
    text = f"func.func @main(%a: tensor<2xf32>) {{\n{good.format(0)}{good.format(1)}{line.format(2)}return\n}}\n"
    with pytest.raises(LocatedError, match=r"^f.mlir:4:6: "):
        read_stablehlo(text, "f.mlir")


@pytest.mark.jax
@pytest.mark.parametrize("debug_info", [False, True])
def test_program_of_jax(debug_info: bool):
    def layers(x: "jax.Array") -> "jax.Array":
        for _ in range(4):
            x = jax.nn.softmax(x @ x, axis=-1) + x.sum(0)
        return x

    text = jax.jit(layers).lower(np.ones((4, 4), np.float32)).as_text(debug_info=debug_info)
    assert print_mlir(read_stablehlo(text)) == without_memory(text)
