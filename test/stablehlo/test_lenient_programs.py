"""What jaxlib's parser takes although types say something else: comparisons, sizes of sums."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from stablehlo_oracle import rejection, results

import lowerings

EXECUTORS = ["reference", "llvm"]
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "LT": np.less,
    "GE": np.greater_equal,
    "NE": np.not_equal,
}


def comparison(bits: int, unsigned: bool, direction: str, order: str) -> str:
    type_ = f"tensor<5x{'u' if unsigned else ''}i{bits}>"
    return (
        f"func.func public @main(%x: {type_}, %y: {type_}) -> tensor<5xi1> {{\n"
        f"  %0 = stablehlo.compare {direction}, %x, %y, {order} : ({type_}, {type_})"
        " -> tensor<5xi1>\n  return %0 : tensor<5xi1>\n}\n"
    )


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("bits", [8, 32, 64])
@pytest.mark.parametrize("unsigned", [False, True])
def test_integers_are_compared_as_the_comparison_says(
    unsigned: bool, bits: int, direction: str, backend: str
) -> None:
    own, other = (np.dtype(f"{kind}{bits // 8}") for kind in ("ui" if unsigned else "iu"))
    random = np.random.default_rng(bits)
    x, y = (random.integers(0, 256, 5 * bits // 8, np.uint8).view(own) for _ in range(2))
    y[0] = x[0]
    text = comparison(bits, unsigned, direction, "SIGNED" if unsigned else "UNSIGNED")
    (found,) = lowerings.compile(text, backend=backend)(x, y)
    np.testing.assert_array_equal(found, ORDERS[direction](x.view(other), y.view(other)))


def einsum(declared: str, config: str = "ij,jk->ki") -> str:
    x, y, result = "tensor<2x3xf32>", "tensor<3x4xf32>", f"tensor<{declared}xf32>"
    return (
        f"func.func public @main(%x: {x}, %y: {y}) -> {result} {{\n"
        f'  %0 = "stablehlo.einsum"(%x, %y) <{{einsum_config = "{config}"}}> : ({x}, {y})'
        f" -> {result}\n  return %0 : {result}\n}}\n"
    )


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("declared", ["4x2", "2x4", "4x5", "4x2x1"])
def test_sizes_of_einsum_are_those_of_its_letters(declared: str, backend: str) -> None:
    x, y = (np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4))
    x, y = x.astype(np.float32), y.astype(np.float32)
    (found,) = lowerings.compile(einsum(declared), backend=backend)(x, y)
    np.testing.assert_array_equal(found, (x @ y).T)


@pytest.mark.jax
@pytest.mark.parametrize("declared", ["2x4", "4x2x1"])
def test_einsum_beside_xla(declared: str) -> None:
    x, y = np.ones((2, 3), np.float32), np.full((3, 4), 2, np.float32)
    (found,) = lowerings.compile(einsum(declared))(x, y)
    np.testing.assert_array_equal(found, results(einsum(declared), x, y)[0])


@pytest.mark.jax
@pytest.mark.parametrize("text", [comparison(8, False, "LT", "UNSIGNED"), einsum("4x5")])
def test_jaxlib_takes_them(text: str) -> None:
    assert rejection(text) is None
