"""`scan`: running sums, directions, dimensions, and XLA beside it."""

from typing import Any

import numpy as np
import pytest
from hlo_examples import Operands, on_reference, on_xla, program
from small_programs import numbers, same

BOTH = """f {
  x = f32[] parameter(0)
  c = f32[] parameter(1)
  s = f32[] add(x, c)
  ROOT t = (f32[], f32[]) tuple(s, s)
}
"""
ROWS = """f {
  x = f32[2] parameter(0)
  y = s32[2] parameter(1)
  c = f32[2] parameter(2)
  n = s32[] parameter(3)
  z = f32[2] convert(y)
  p = f32[2] multiply(x, z)
  d = f32[2] add(c, p)
  k = s32[] add(n, n)
  ROOT t = (f32[2], f32[2], s32[]) tuple(c, d, k)
}
"""
LINE: Operands = {"x": numbers("f32", [1, 2, 3]), "c": numbers("f32", 10)}
TABLE: Operands = {
    "x": numbers("f32", [[1, 2, 3], [4, 5, 6]]),
    "y": numbers("s32", [[1, 1, 2], [2, 1, 0]]),
    "c": numbers("f32", [0, 100]),
    "n": numbers("s32", 1),
}
SHAPES = "(f32[3], f32[]) scan(x, c), dimensions={0}, num_carries=1"


def example(label: str, instruction: str, before: str, operands: Operands, *results: Any) -> Any:
    text = program(f"{instruction}, to_apply=f", operands, before)
    return pytest.param(text, operands, results, id=label)


EXAMPLES = [
    example(
        "the reference's",
        SHAPES,
        BOTH,
        LINE,
        numbers("f32", [11, 13, 16]),
        numbers("f32", 16),
    ),
    example(
        "backwards",
        f"{SHAPES}, is_reverse=true, is_associative=true",
        BOTH,
        LINE,
        numbers("f32", [16, 15, 13]),
        numbers("f32", 16),
    ),
    example(
        "along the second dimension",
        "(f32[2,3], f32[2], s32[]) scan(x, y, c, n), dimensions={1}, num_carries=2",
        ROWS,
        TABLE,
        numbers("f32", [[0, 1, 3], [100, 108, 113]]),
        numbers("f32", [9, 113]),
        numbers("s32", 8),
    ),
    example(
        "only a carry",
        "f32[] scan(x, c), dimensions={0}, num_carries=1",
        BOTH.replace("t = (f32[], f32[]) tuple(s, s)", "t = f32[] add(s, c)"),
        LINE,
        numbers("f32", 91),
    ),
    example(
        "no carry",
        "f32[3] scan(x), dimensions={0}, num_carries=0",
        "f {\n  x = f32[] parameter(0)\n  ROOT y = f32[] negate(x)\n}\n",
        {"x": numbers("f32", [1, 2, 3])},
        numbers("f32", [-1, -2, -3]),
    ),
    example(
        "no input",
        "(f32[4], f32[]) scan(c), dimensions={0}, num_carries=1",
        "f {\n  c = f32[] parameter(0)\n  d = f32[] add(c, c)\n"
        "  ROOT t = (f32[], f32[]) tuple(c, d)\n}\n",
        {"c": numbers("f32", 1)},
        numbers("f32", [1, 2, 4, 8]),
        numbers("f32", 16),
    ),
]
NO_STEPS = example(
    "no steps",
    "(f32[0], f32[]) scan(x, c), dimensions={0}, num_carries=1",
    BOTH,
    {"x": numbers("f32", []), "c": numbers("f32", 10)},
    numbers("f32", []),
    numbers("f32", 10),
)


@pytest.mark.parametrize(("text", "operands", "expected"), [*EXAMPLES, NO_STEPS])
def test_scan(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    same(on_reference(text, operands), expected)


@pytest.mark.jax
@pytest.mark.parametrize(("text", "operands", "expected"), EXAMPLES)
def test_scan_on_xla(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    same(on_xla(text, operands), expected)
