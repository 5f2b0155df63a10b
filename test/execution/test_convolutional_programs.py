"""Convolutional programs of JAX, with their gradients, as machine code beside XLA CPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from peers import has_jax

import lowerings

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

pytestmark = pytest.mark.jax

NHWC = ("NHWC", "HWIO", "NHWC")
NCHW = ("NCHW", "OIHW", "NCHW")


def random(*sizes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)


def pooled(x: Any, init: float, operation: Any, padding: str) -> Any:
    return lax.reduce_window(x, init, operation, (1, 3, 3, 1), (1, 2, 2, 1), padding)


def network(x: Any, first: Any, depthwise: Any, last: Any) -> Any:
    """The loss of a small network."""
    y = lax.conv_general_dilated(x, first, (1, 1), "SAME", dimension_numbers=NHWC)
    y = pooled(jnp.maximum(y, 0), -jnp.inf, lax.max, "SAME")
    y = lax.conv_general_dilated(
        y,
        depthwise,
        (2, 1),
        "VALID",
        rhs_dilation=(1, 2),
        dimension_numbers=NHWC,
        feature_group_count=depthwise.shape[3],
    )
    y = pooled(jnp.tanh(y), 0.0, lax.add, "VALID") / 9
    return (y.mean((1, 2)) @ last).var()


def transposed(x: Any, kernel: Any) -> Any:
    return lax.conv_transpose(x, kernel, (2, 2), "SAME", dimension_numbers=NHWC)


def grouped(x: Any, kernel: Any) -> Any:
    return lax.conv_general_dilated(
        x, kernel, (2, 2), [(3, 3), (3, 3)], dimension_numbers=NCHW, feature_group_count=2
    )


def summed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of squares, whose gradients reach all operands."""
    return lambda *operands: (function(*operands) ** 2).sum()


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "network": (
        network,
        (random(2, 16, 12, 3), random(3, 3, 3, 8), random(2, 2, 1, 8), random(8, 4)),
    ),
    "transposed": (summed(transposed), (random(2, 5, 6, 4), random(3, 3, 4, 6))),
    "grouped": (summed(grouped), (random(2, 4, 11, 10), random(6, 2, 7, 7))),
    "max pool": (
        summed(lambda x: pooled(x, -jnp.inf, lax.max, "SAME")),
        (random(2, 9, 8, 20),),
    ),
    "cumulative": (
        lambda x: (jnp.cumsum(x, 0) * jnp.cumprod(x, 1) + lax.cummax(x, 1, reverse=True)).sum(),
        (random(7, 9),),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(name: str) -> None:
    function, operands = PROGRAMS[name]
    both = jax.value_and_grad(function, tuple(range(len(operands))))
    lowered = jax.jit(both).lower(*operands)
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(lowered.compile()(*operands))]
    found = lowerings.compile(lowered.as_text())(*operands)
    for mine, theirs in zip(found, expected, strict=True):
        # Both round sums of up to some hundred products, in orders of their own.
        tolerance = 1e-5 * max(1.0, float(np.abs(theirs).max()))
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=tolerance)
