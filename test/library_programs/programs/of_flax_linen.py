"""Layers and training steps of flax's linen."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from library_programs.measuring import Made, Maker


def _gradient(module: nn.Module, *inputs: jax.Array, **options: Any) -> Made:
    """The value of a layer, and the gradient of its mean square."""
    variables = module.init({"params": jax.random.key(0)}, *inputs, **options)

    def function(variables: Any, *inputs: jax.Array) -> Any:
        def loss(variables: Any) -> Any:
            y = module.apply(variables, *inputs, **options)
            return sum(jnp.mean(leaf**2) for leaf in jax.tree.leaves(y)), y

        return jax.value_and_grad(loss, has_aux=True)(variables)

    return function, (variables, *inputs)


def _x(*sizes: int) -> jax.Array:
    return jax.random.normal(jax.random.key(1), sizes)


class _Perceptron(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for width in (32, 16):
            x = nn.gelu(nn.Dense(width)(x))
        return nn.Dense(4)(x)


class _ConvolutionalNetwork(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for features in (8, 16):
            x = nn.relu(nn.Conv(features, (3, 3))(x))
            x = nn.avg_pool(x, (2, 2), (2, 2))
        return nn.Dense(10)(x.reshape(x.shape[0], -1))


class _Block(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        y = nn.MultiHeadDotProductAttention(4)(
            nn.LayerNorm()(x), mask=nn.make_causal_mask(x[..., 0])
        )
        x = x + y
        return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(64)(nn.LayerNorm()(x))))


class _Normalised(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = nn.GroupNorm(num_groups=4)(x)
        return nn.RMSNorm()(nn.InstanceNorm()(x)) + nn.WeightNorm(nn.Dense(x.shape[-1]))(x)


def _batch_normalised() -> Made:
    module = nn.BatchNorm(use_running_average=False)
    variables = module.init(jax.random.key(0), _x(8, 6))

    def function(variables: Any, x: jax.Array) -> Any:
        return module.apply(variables, x, mutable=["batch_stats"])

    return function, (variables, _x(8, 6))


def _dropped() -> Made:
    module = nn.Dropout(0.5, deterministic=False)

    def function(key: jax.Array, x: jax.Array) -> Any:
        return module.apply({}, x, rngs={"dropout": key})

    return function, (jax.random.key(3), _x(8, 32))


def _remembered() -> Made:
    """Decoding word by word with a cache of keys and values."""
    module = nn.MultiHeadDotProductAttention(2, decode=True)
    variables = module.init(jax.random.key(0), _x(1, 6, 8))

    def function(variables: Any, x: jax.Array) -> Any:
        cache = variables["cache"]
        outputs: list[Any] = []
        for place in range(6):
            y, changed = module.apply(
                {"params": variables["params"], "cache": cache},
                x[:, place : place + 1],
                mutable=["cache"],
            )
            cache = changed["cache"]
            outputs.append(y)
        return jnp.concatenate(outputs, 1)

    return function, (variables, _x(1, 6, 8))


def _scanned() -> Made:
    """Twelve layers as one, in a loop, computed again for the gradient."""
    layers = nn.scan(
        nn.remat(_Layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=12
    )()
    return _gradient(layers, _x(4, 16))


class _Layer(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> tuple[jax.Array, None]:
        return x + nn.tanh(nn.Dense(x.shape[-1])(x)), None


PROGRAMS: dict[str, Maker] = {
    "perceptron": lambda: _gradient(_Perceptron(), _x(16, 8)),
    "convolutional network": lambda: _gradient(_ConvolutionalNetwork(), _x(4, 16, 16, 3)),
    "attention block": lambda: _gradient(_Block(), _x(2, 10, 32)),
    "normalisation": lambda: _gradient(_Normalised(), _x(2, 5, 5, 8)),
    "batch normalisation": _batch_normalised,
    "dropout": _dropped,
    "decoding with a cache": _remembered,
    "scan of layers": _scanned,
    "lstm": lambda: _gradient(nn.RNN(nn.OptimizedLSTMCell(16)), _x(2, 10, 8)),
    "gru, both ways": lambda: _gradient(
        nn.Bidirectional(nn.RNN(nn.GRUCell(8)), nn.RNN(nn.GRUCell(8))), _x(2, 10, 8)
    ),
    "transposed convolution": lambda: _gradient(
        nn.ConvTranspose(4, (3, 3), (2, 2)), _x(2, 7, 7, 3)
    ),
    "embedding": lambda: _gradient(
        nn.Embed(50, 8), jax.random.randint(jax.random.key(1), (4, 9), 0, 50)
    ),
    "bf16 dense": lambda: _gradient(nn.DenseGeneral((4, 8), dtype=jnp.bfloat16), _x(8, 16)),
}
