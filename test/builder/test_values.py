"""The operators of values, and what values say of themselves."""

from typing import Any

import numpy as np
import pytest
from built_programs import build, evaluate, f32, s32

from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.types import BY_NAME

X, Y = f32([1.5, -2, 4]), f32([0.5, -2, 8])
N, M = s32([5, -7, 12]), s32([3, -7, 20])


@pytest.mark.parametrize(
    "expression",
    [
        "x + y", "x - y", "x * y", "x / y", "x ** 2", "-x", "x + 1", "1 - x", "2 * x", "1 / x",
        "2.0 ** x", "x @ y", "n + m", "n - 1", "n * m", "-n", "n & m", "n | m", "n ^ m", "~n",
        "n & 3", "3 | n", "1 ^ n", "x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y", "x > 0",
        "0 < x", "n == -7", "(x > 0) & (y > 1)", "(x > 0) | (y > 1)", "(x > 0) ^ (y > 1)", "~(x > y)",
        "(x > 0) == True",
    ],
)  # fmt: skip
def test_operators_are_those_of_numpy(expression: str) -> None:
    def body(b: XlaBuilder, x: XlaValue, y: XlaValue, n: XlaValue, m: XlaValue) -> Any:
        return eval(expression, {"x": x, "y": y, "n": n, "m": m})

    expected = eval(expression, {"x": X, "y": Y, "n": N, "m": M})
    np.testing.assert_allclose(evaluate(body, X, Y, N, M), expected, rtol=1e-6, strict=True)


def test_what_a_value_says() -> None:
    b = XlaBuilder("v")
    x = b.parameter(0, "f32[4,8]", "x")
    assert (x.shape, x.rank, x.element_type) == ((4, 8), 2, BY_NAME["f32"].type)
    assert repr(x) == "<XlaValue %x: f32[4,8]>"
    assert repr(b.neg(x)) == "<XlaValue: f32[4,8]>"
    assert repr(b.neg(x).named("minus")) == "<XlaValue %minus: f32[4,8]>"
    assert len({x, b.neg(x), x}) == 2


def test_tuples_unpack() -> None:
    def body(b: XlaBuilder, x: XlaValue, n: XlaValue) -> Any:
        pair = b.tuple([x, n])
        first, second = pair
        assert len(pair) == 2
        return first * 2, second + 1, pair[-1]

    found = evaluate(body, X, N)
    np.testing.assert_array_equal(found[0], X * 2)
    np.testing.assert_array_equal(found[1], N + 1)
    np.testing.assert_array_equal(found[2], N)


def test_names_are_printed() -> None:
    text = str(build(lambda b, x: (x + 1).named("sum"), "f32[]"))
    assert "%sum = xla.add" in text
