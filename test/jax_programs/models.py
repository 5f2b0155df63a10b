"""Models of flax and steps of optax."""

from collections.abc import Callable
from typing import Any

import numpy as np
from peers import has_flax

from jax_programs.program import Bound, JaxProgram

if has_flax():
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax

RANDOM = np.random.default_rng(12)
IMAGES = RANDOM.standard_normal((2, 8, 8, 3)).astype(np.float32)
VECTORS = RANDOM.standard_normal((4, 6)).astype(np.float32)
TOKENS = RANDOM.integers(0, 11, (2, 5), dtype=np.int32)
LABELS = np.array([1, 0, 2, 1], np.int32)

LAYERS = Bound(256, "a few layers of sums, normalized by their own variances")


def applied(model: Any, *inputs: Any, **options: Any) -> JaxProgram:
    """The model with parameters from a fixed key."""
    random = np.random.default_rng(1)
    shapes = jax.eval_shape(lambda: model.init(jax.random.key(0), *inputs))
    variables = jax.tree.map(lambda s: random.uniform(-0.5, 0.5, s.shape).astype(s.dtype), shapes)
    return JaxProgram(
        lambda variables, *inputs: model.apply(variables, *inputs, **options),
        (variables, *inputs),
        bound=LAYERS,
    )


def convolutional() -> JaxProgram:
    """Convolutions, pooling, batch normalization."""

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.relu(nn.BatchNorm(use_running_average=False)(nn.Conv(4, (3, 3))(x)))
            x = nn.max_pool(x, (2, 2), strides=(2, 2))
            x = nn.avg_pool(nn.ConvTranspose(3, (2, 2), (2, 2))(x), (2, 2))
            return nn.Dense(3)(x.reshape(len(x), -1))

    return applied(Network(), IMAGES, mutable=["batch_stats"])


def transformer() -> JaxProgram:
    """Embedding, attention with a causal mask, and an MLP, with normalizations of each kind."""

    class Block(nn.Module):
        @nn.compact
        def __call__(self, tokens: Any) -> Any:
            x = nn.Embed(11, 8)(tokens)
            mask = nn.make_causal_mask(tokens)
            x = x + nn.MultiHeadDotProductAttention(2)(nn.LayerNorm()(x), mask=mask)
            x = x + nn.Dense(8)(nn.gelu(nn.Dense(16)(nn.RMSNorm()(x))))
            return nn.GroupNorm(2)(x)

    return applied(Block(), TOKENS)


def recurrent() -> JaxProgram:
    """Scanned cells."""

    class Recurrent(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            hidden: Any = nn.RNN(nn.LSTMCell(4))(x)
            return nn.RNN(nn.GRUCell(5))(hidden, seq_lengths=jnp.array([2, 3]))

    return applied(Recurrent(), VECTORS.reshape(2, 3, 4))


def step(optimizer: Any, dropout: bool = False) -> Callable[..., Any]:
    """One step of training a linear classifier; the batch, and so all after it, is given."""

    def train(parameters: Any, state: Any, x: Any, labels: Any) -> Any:
        def loss(parameters: Any) -> Any:
            hidden: Any = jnp.tanh(x @ parameters["w"] + parameters["b"])
            if dropout:
                hidden = nn.Dropout(0.4, deterministic=False).apply(
                    {}, hidden, rngs={"dropout": jax.random.key(1)}
                )
            return optax.softmax_cross_entropy_with_integer_labels(hidden, labels).mean()

        value, gradient = jax.value_and_grad(loss)(parameters)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    return train


def trained(optimizer: Any, dropout: bool = False) -> JaxProgram:
    """A step with an optimizer, from its first state."""
    parameters = {
        "w": RANDOM.standard_normal((6, 3)).astype(np.float32),
        "b": np.zeros(3, np.float32),
    }
    shapes = jax.eval_shape(optimizer.init, parameters)
    state = jax.tree.map(lambda s: np.zeros(s.shape, s.dtype), shapes)
    arguments = (parameters, state, VECTORS, LABELS)
    return JaxProgram(step(optimizer, dropout), arguments, bound=LAYERS)


def programs() -> dict[str, JaxProgram]:
    """By name."""
    schedule = optax.warmup_cosine_decay_schedule(0.0, 0.1, 5, 20)
    clipped = optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(0.1, momentum=0.9))
    return {
        "flax_convolutional": convolutional(),
        "flax_transformer": transformer(),
        "flax_recurrent": recurrent(),
        "optax_adamw": trained(optax.adamw(schedule), dropout=True),
        "optax_clipped_sgd": trained(clipped),
        "optax_lion_and_rmsprop": trained(optax.chain(optax.scale_by_rms(), optax.lion(0.01))),
        "optax_adafactor": trained(optax.adafactor(0.01)),
    }
