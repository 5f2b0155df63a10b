"""Modules of equinox: layers are pytrees."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from library_programs.measuring import Made, Maker


def _x(*sizes: int) -> jax.Array:
    return jax.random.normal(jax.random.key(1), sizes)


def _gradient(module: Any, *inputs: jax.Array, batched: bool = True) -> Made:
    """The value of a layer over a batch, and the gradient of its mean square."""
    arrays, rest = eqx.partition(module, eqx.is_array)

    def function(arrays: Any, *inputs: jax.Array) -> Any:
        @eqx.filter_value_and_grad(has_aux=True)
        def loss(arrays: Any) -> Any:
            module = eqx.combine(arrays, rest)
            y = jax.vmap(module)(*inputs) if batched else module(*inputs)
            return sum(jnp.mean(leaf**2) for leaf in jax.tree.leaves(y)), y

        return loss(arrays)

    return function, (arrays, *inputs)


def _key(number: int = 0) -> jax.Array:
    return jax.random.key(number)


class _Recurrent(eqx.Module):
    cell: Any
    start: Any

    def __call__(self, xs: jax.Array) -> Any:
        def step(state: Any, x: jax.Array) -> Any:
            return self.cell(x, state), None

        return jax.lax.scan(step, self.start, xs)[0]


class _Attention(eqx.Module):
    attention: eqx.nn.MultiheadAttention
    norm: eqx.nn.LayerNorm
    rotary: eqx.nn.RotaryPositionalEmbedding

    def __init__(self) -> None:
        self.attention = eqx.nn.MultiheadAttention(2, 16, key=_key())
        self.norm = eqx.nn.LayerNorm(16)
        self.rotary = eqx.nn.RotaryPositionalEmbedding(16)

    def __call__(self, x: jax.Array) -> jax.Array:
        y = self.rotary(jax.vmap(self.norm)(x))
        mask = jnp.tril(jnp.ones((len(x), len(x)), bool))
        return x + self.attention(y, y, y, mask=mask)


class _Residual(eqx.Module):
    layers: list[Any]

    def __init__(self) -> None:
        keys = jax.random.split(_key(), 3)
        self.layers = [eqx.nn.Conv2d(4, 4, 3, padding=1, key=key) for key in keys]

    def __call__(self, x: jax.Array) -> jax.Array:
        for layer in self.layers:
            x = x + jax.nn.silu(layer(x))
        return eqx.nn.AdaptiveAvgPool2d(2)(x)


class _Activated(eqx.Module):
    embedding: eqx.nn.Embedding
    activation: eqx.nn.PReLU

    def __init__(self) -> None:
        self.embedding = eqx.nn.Embedding(20, 6, key=_key())
        self.activation = eqx.nn.PReLU()

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.activation(self.embedding(x))


def _with_state() -> Made:
    module, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(4, "batch", mode="ema")

    def function(x: jax.Array, state: Any) -> Any:
        return jax.vmap(module, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, state)

    return function, (_x(8, 4), state)


def _checked() -> Made:
    def function(x: jax.Array) -> jax.Array:
        x = eqx.error_if(x, jnp.any(x > 100), "too large")
        return jnp.sqrt(jnp.abs(x))

    return function, (_x(5, 5),)


def _looped() -> Made:
    """A loop with an end that a gradient goes through."""

    def function(x: jax.Array) -> Any:
        def loss(x: jax.Array) -> jax.Array:
            y, _ = eqx.internal.while_loop(
                lambda state: jnp.sum(state[0] ** 2) < 50,
                lambda state: (state[0] * 1.3, state[1] + 1),
                (x, 0),
                max_steps=16,
                kind="checkpointed",
            )
            return jnp.sum(jnp.sin(y))

        return jax.value_and_grad(loss)(x)

    return function, (_x(4) * 0.3,)


PROGRAMS: dict[str, Maker] = {
    "perceptron": lambda: _gradient(eqx.nn.MLP(8, 4, 32, 2, key=_key()), _x(16, 8)),
    "convolutions": lambda: _gradient(_Residual(), _x(2, 4, 8, 8)),
    "attention": lambda: _gradient(_Attention(), _x(3, 6, 16)),
    "lstm": lambda: _gradient(
        _Recurrent(eqx.nn.LSTMCell(8, 12, key=_key()), (jnp.zeros(12), jnp.zeros(12))), _x(3, 7, 8)
    ),
    "gru": lambda: _gradient(
        _Recurrent(eqx.nn.GRUCell(8, 12, key=_key()), jnp.zeros(12)), _x(3, 7, 8)
    ),
    "batch normalisation": _with_state,
    "error_if": _checked,
    "checkpointed while loop": _looped,
    "transposed convolution": lambda: _gradient(
        eqx.nn.ConvTranspose2d(3, 2, 3, 2, key=_key()), _x(2, 3, 5, 5)
    ),
    "pooling": lambda: _gradient(eqx.nn.MaxPool2d(3, 2, use_ceil=True), _x(2, 3, 8, 8)),
    "spectral and weight norm": lambda: _gradient(
        eqx.nn.WeightNorm(eqx.nn.Linear(8, 5, key=_key())), _x(4, 8)
    ),
    "dropout": lambda: (
        lambda key, x: eqx.nn.Dropout(0.3)(x, key=key),
        (_key(5), _x(6, 7)),
    ),
    "prelu and embedding": lambda: _gradient(
        _Activated(),
        jax.random.randint(_key(2), (9,), 0, 20),
    ),
}
