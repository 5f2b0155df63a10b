"""Layers, states and training steps of flax's nnx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from library_programs.measuring import Made, Maker


def _x(*sizes: int) -> jax.Array:
    return jax.random.normal(jax.random.key(1), sizes)


def _gradient(module: Any, *inputs: jax.Array) -> Made:
    """The value of a layer, the gradient of its mean square, and the state it leaves."""
    graph, state = nnx.split(module)

    def function(state: Any, *inputs: jax.Array) -> Any:
        module = nnx.merge(graph, state)

        def loss(module: Any) -> Any:
            y = module(*inputs)
            return sum(jnp.mean(leaf**2) for leaf in jax.tree.leaves(y)), y

        (value, y), gradient = nnx.value_and_grad(loss, has_aux=True)(module)
        return value, y, gradient, nnx.state(module)

    return function, (state, *inputs)


class _Perceptron(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        # A bias would have a gradient of 0 but for rounding, and Adam makes that a step.
        self.first = nnx.Linear(8, 32, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(32, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.last = nnx.Linear(32, 4, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.last(self.dropout(nnx.relu(self.norm(self.first(x)))))


class _Network(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.first = nnx.Conv(3, 8, (3, 3), rngs=rngs)
        self.second = nnx.Conv(8, 16, (3, 3), strides=2, rngs=rngs)
        self.last = nnx.Linear(16, 10, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = nnx.max_pool(nnx.relu(self.first(x)), (2, 2), (2, 2))
        return self.last(nnx.relu(self.second(x)).mean((1, 2)))


class _Attention(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.norm = nnx.LayerNorm(16, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(4, 16, decode=False, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return x + self.attention(self.norm(x))


def _trained() -> Made:
    model = _Perceptron(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    graph, state = nnx.split((model, optimizer))

    def train(state: Any, x: jax.Array, y: jax.Array) -> Any:
        model, optimizer = nnx.merge(graph, state)
        losses: list[Any] = []
        for _ in range(3):

            def loss(model: Any) -> jax.Array:
                return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

            value, gradient = nnx.value_and_grad(loss)(model)
            optimizer.update(model, gradient)
            losses.append(value)
        return losses, nnx.state((model, optimizer))

    labels = jax.random.randint(jax.random.key(2), (16,), 0, 4)
    return train, (state, _x(16, 8), labels)


def _many(transform: Callable[..., Any]) -> Made:
    """Several layers whose parameters are one array."""

    @nnx.split_rngs(splits=5)
    @nnx.vmap
    def make(rngs: nnx.Rngs) -> Any:
        return nnx.Linear(8, 8, rngs=rngs)

    graph, state = nnx.split(make(nnx.Rngs(0)))

    def function(state: Any, x: jax.Array) -> Any:
        return transform(nnx.merge(graph, state), x)

    return function, (state, _x(4, 8))


def _one_after_another(layers: Any, x: jax.Array) -> jax.Array:
    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    def forward(x: jax.Array, layer: Any) -> jax.Array:
        return jnp.tanh(layer(x))

    return forward(x, layers)


def _side_by_side(layers: Any, x: jax.Array) -> jax.Array:
    return nnx.vmap(lambda layer, x: layer(x), in_axes=(0, None))(layers, x)


PROGRAMS: dict[str, Maker] = {
    "perceptron with dropout": lambda: _gradient(_Perceptron(nnx.Rngs(0)), _x(16, 8)),
    "convolutional network": lambda: _gradient(_Network(nnx.Rngs(0)), _x(2, 16, 16, 3)),
    "attention": lambda: _gradient(_Attention(nnx.Rngs(0)), _x(2, 7, 16)),
    "training with adam": _trained,
    "scan of layers": lambda: _many(_one_after_another),
    "vmap of layers": lambda: _many(_side_by_side),
    "lstm": lambda: _gradient(nnx.RNN(nnx.LSTMCell(8, 16, rngs=nnx.Rngs(0))), _x(2, 9, 8)),
    "gru": lambda: _gradient(nnx.RNN(nnx.GRUCell(8, 16, rngs=nnx.Rngs(0))), _x(2, 9, 8)),
    "embedding": lambda: _gradient(
        nnx.Embed(40, 8, rngs=nnx.Rngs(0)), jax.random.randint(jax.random.key(1), (3, 5), 0, 40)
    ),
    "low rank adaptation": lambda: _gradient(
        nnx.LoRALinear(8, 6, lora_rank=2, rngs=nnx.Rngs(0)), _x(4, 8)
    ),
    "einsum": lambda: _gradient(
        nnx.Einsum("ab,bcd->acd", (8, 3, 4), (3, 4), rngs=nnx.Rngs(0)), _x(5, 8)
    ),
    "normalisation": lambda: _gradient(
        nnx.Sequential(
            nnx.GroupNorm(8, num_groups=2, rngs=nnx.Rngs(0)), nnx.RMSNorm(8, rngs=nnx.Rngs(0))
        ),
        _x(2, 5, 8),
    ),
}
