"""The models that the benchmark measures, one row each. Only loaded where JAX and flax are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from ..programs import StoredProgram, stored_functions
from .contenders import Maker, Row, f32, indices
from .kernels import convolution
from .transformer import LAYERS, SEQUENCE, VOCABULARY, WIDTH, transformer


def stored_row(name: str) -> Row:
    """A program of test/programs with its arguments."""
    inputs = StoredProgram(name, "").inputs()
    makers: list[Maker] = [lambda _, array=array: array for array in inputs]
    return Row(name, stored_functions()[name], tuple(makers))


# ---- A transformer of twelve layers: tokens to logits


def scaled(*sizes: int) -> Maker:
    """Weights of f32 that keep the variance of what they are multiplied with."""
    make = f32(*sizes)
    return lambda random: make(random) / np.float32(np.sqrt(sizes[0]))


_LAYER = (
    scaled(WIDTH, 3 * WIDTH),
    scaled(WIDTH, WIDTH),
    scaled(WIDTH, 4 * WIDTH),
    scaled(4 * WIDTH, WIDTH),
)

# ---- A step of training a classifier with Adam


def _classifier(parameters: Any, images: Any) -> Any:
    for weight in parameters[:-1]:
        images = jnp.tanh(images @ weight)
    return images @ parameters[-1]


def _trained(model: Callable[..., Any], images: Any, labels: Any, *parameters: Any) -> Any:
    """The parameters after the first step of Adam, and the loss."""

    def loss(parameters: Any) -> Any:
        scores = jax.nn.log_softmax(model(parameters, images))
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

    optimizer = optax.adam(1e-3)
    value, gradient = jax.value_and_grad(loss)(parameters)
    updates, state = optimizer.update(gradient, optimizer.init(parameters), parameters)
    return optax.apply_updates(parameters, updates), state, value


_WIDTHS = (784, 512, 256, 10)
_MATRICES = tuple(scaled(*sizes) for sizes in pairwise(_WIDTHS))

# ---- A residual network, and a step of training it


_conv, _half_conv = (convolution("last", (stride, stride)) for stride in (1, 2))


def _residual_network(parameters: Any, images: Any) -> Any:
    first, *blocks, last = parameters
    x = jax.nn.relu(_conv(images, first))
    for number in range(0, len(blocks), 3):
        shortcut, inner, outer = blocks[number : number + 3]
        hidden = jax.nn.relu(_half_conv(x, inner))
        x = jax.nn.relu(_conv(hidden, outer) + _half_conv(x, shortcut))
    return x.mean((1, 2)) @ last


def _kernel(*sizes: int) -> Maker:
    make = f32(*sizes)
    scale = np.float32(np.sqrt(2 / np.prod(sizes[:-1])))
    return lambda random: make(random) * scale


_CHANNELS = (32, 64, 128)
_NETWORK = (
    _kernel(3, 3, 3, 32),
    *(
        kernel
        for few, many in pairwise(_CHANNELS)
        for kernel in (
            _kernel(1, 1, few, many),
            _kernel(3, 3, few, many),
            _kernel(3, 3, many, many),
        )
    ),
    scaled(128, 10),
)

# ---- Others


def _lstm_gradient(sequence: Any, weight: Any, bias: Any) -> Any:
    lstm = stored_functions()["lstm"]
    return jax.grad(lambda w, b: jnp.square(lstm(sequence, w, b)[0]).sum(), (0, 1))(weight, bias)


def _bodies(positions: Any, velocities: Any) -> Any:
    """A hundred steps of bodies that attract each other."""

    def step(_: Any, state: Any) -> Any:
        x, v = state
        apart = x[None] - x[:, None]
        distance = lax.rsqrt(jnp.square(apart).sum(-1) + 0.01)
        v = v + 1e-3 * (apart * (distance**3)[..., None]).sum(1)
        return x + 1e-3 * v, v

    return lax.fori_loop(0, 100, step, (positions, velocities))


class _Block(nn.Module):
    """Attention and feed-forward layers of flax."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = x + nn.MultiHeadDotProductAttention(8)(nn.LayerNorm()(x))
        return x + nn.Dense(256)(nn.gelu(nn.Dense(1024)(nn.LayerNorm()(x))))


class _Encoder(nn.Module):
    """Embedding, four blocks, scores."""

    @nn.compact
    def __call__(self, tokens: Any) -> Any:
        x = nn.Embed(1000, 256)(tokens)
        for _ in range(4):
            x = _Block()(x)
        return nn.Dense(1000)(nn.LayerNorm()(x))


def _flax_encoder() -> Row:
    model = _Encoder()
    tokens = np.zeros((2, 64), np.int32)
    shapes = jax.eval_shape(lambda: model.init(jax.random.key(0), tokens))
    leaves, tree = jax.tree.flatten(shapes)

    def function(tokens: Any, *leaves: Any) -> Any:
        return model.apply(jax.tree.unflatten(tree, leaves), tokens.reshape(2, 64))

    parameters = (scaled(*leaf.shape) for leaf in leaves)
    return Row("encoder of flax", function, (indices(128, 1000), *parameters))


MODELS = (
    stored_row("mlp_classifier"),
    stored_row("transformer_block"),
    Row(
        "transformer of 12 layers",
        transformer,
        (indices(SEQUENCE, VOCABULARY), scaled(VOCABULARY, WIDTH), *_LAYER * LAYERS),
    ),
    _flax_encoder(),
    stored_row("lstm"),
    replace(stored_row("lstm"), name="lstm, gradient", function=_lstm_gradient),
    Row(
        "classifier, a step of Adam",
        partial(_trained, _classifier),
        (f32(64, 784), indices(64, 10), *_MATRICES),
    ),
    Row(
        "residual network",
        lambda images, *parameters: _residual_network(parameters, images),
        (f32(4, 32, 32, 3), *_NETWORK),
        "XLA calls a library for convolutions, compiled already; ours differ in all shapes.",
    ),
    Row(
        "residual network, a step of Adam",
        partial(_trained, _residual_network),
        (f32(4, 32, 32, 3), indices(4, 10), *_NETWORK),
    ),
    Row("64 bodies, 100 steps", _bodies, (f32(64, 3), f32(64, 3))),
)
