"""Modules of haiku, transformed to functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp

from library_programs.measuring import Made, Maker


def _x(*sizes: int) -> jax.Array:
    return jax.random.normal(jax.random.key(1), sizes)


def _gradient(forward: Callable[..., Any], *inputs: jax.Array) -> Made:
    """The value, the gradient of its mean square, and the state that it leaves."""
    transformed = hk.transform_with_state(forward)
    key = jax.random.PRNGKey(0)
    parameters, state = transformed.init(key, *inputs)

    def function(parameters: Any, state: Any, key: jax.Array, *inputs: jax.Array) -> Any:
        def loss(parameters: Any) -> Any:
            y, changed = transformed.apply(parameters, state, key, *inputs)
            return sum(jnp.mean(leaf**2) for leaf in jax.tree.leaves(y)), (y, changed)

        return jax.value_and_grad(loss, has_aux=True)(parameters)

    return function, (parameters, state, key, *inputs)


def _attention(x: jax.Array) -> jax.Array:
    initializer = hk.initializers.VarianceScaling(1.0)
    y = hk.LayerNorm(-1, True, True)(x)
    return x + hk.MultiHeadAttention(2, 8, w_init=initializer, model_size=16)(y, y, y)


def _network(x: jax.Array) -> jax.Array:
    x = hk.MaxPool((2, 2, 1), (2, 2, 1), "SAME")(jax.nn.relu(hk.Conv2D(8, 3)(x)))
    x = jax.nn.relu(hk.DepthwiseConv2D(2, 3)(x))
    return hk.Linear(5)(hk.Flatten()(x))


def _normalised(x: jax.Array) -> jax.Array:
    x = hk.BatchNorm(True, True, 0.9)(x, is_training=True)
    return hk.GroupNorm(2)(x)


def _recurrent(core: Callable[[], Any], x: jax.Array) -> Any:
    cell = core()
    return hk.dynamic_unroll(cell, x, cell.initial_state(x.shape[1]))


def _residual_block(x: jax.Array) -> jax.Array:
    block = hk.nets.ResNet.BlockGroup(
        8,
        2,
        2,
        {"decay_rate": 0.9, "create_scale": True, "create_offset": True},
        False,
        False,
        True,
        "group",
    )
    return block(x, True, False)


def _shared(x: jax.Array) -> jax.Array:
    return hk.layer_stack(4)(lambda x: jnp.tanh(hk.Linear(8)(x)))(x)


PROGRAMS: dict[str, Maker] = {
    "perceptron": lambda: _gradient(lambda x: hk.nets.MLP([32, 16, 4])(x), _x(16, 8)),
    "perceptron with dropout": lambda: _gradient(
        lambda x: hk.nets.MLP([32, 4])(x, 0.3, hk.next_rng_key()), _x(16, 8)
    ),
    "convolutional network": lambda: _gradient(_network, _x(2, 12, 12, 3)),
    "attention": lambda: _gradient(_attention, _x(2, 6, 16)),
    "normalisation": lambda: _gradient(_normalised, _x(4, 5, 5, 4)),
    "lstm": lambda: _gradient(lambda x: _recurrent(lambda: hk.LSTM(12), x), _x(6, 3, 8)),
    "gru": lambda: _gradient(lambda x: _recurrent(lambda: hk.GRU(12), x), _x(6, 3, 8)),
    "two cores deep": lambda: _gradient(
        lambda x: _recurrent(lambda: hk.DeepRNN([hk.LSTM(8), jax.nn.relu, hk.VanillaRNN(6)]), x),
        _x(6, 3, 8),
    ),
    "residual blocks": lambda: _gradient(_residual_block, _x(2, 8, 8, 4)),
    "stack of layers": lambda: _gradient(_shared, _x(4, 8)),
    "transposed convolution": lambda: _gradient(
        lambda x: hk.Conv2DTranspose(4, 3, 2)(x), _x(2, 5, 5, 3)
    ),
    "embedding": lambda: _gradient(
        lambda x: hk.Embed(30, 6)(x), jax.random.randint(jax.random.key(1), (4, 5), 0, 30)
    ),
}
