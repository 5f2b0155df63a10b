"""Two spirals told apart by a network of flax: knows nothing of devices but what JAX gives it."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

STEPS, EVERY, POINTS = 400, 20, 512


class Network(nn.Module):
    """Two hidden layers."""

    @nn.compact
    def __call__(self, x):
        for width in (64, 64):
            x = nn.tanh(nn.Dense(width)(x))
        return nn.Dense(2)(x)


def spirals(key):
    """Points, and on which spiral each is."""
    where, noise = jax.random.split(key)
    angle = 3 * jnp.pi * jnp.sqrt(jax.random.uniform(where, (POINTS,)))
    label = jnp.arange(POINTS) % 2
    turned = angle + jnp.pi * label
    points = angle[:, None] * jnp.stack([jnp.cos(turned), jnp.sin(turned)], 1) / 4
    return points + 0.05 * jax.random.normal(noise, points.shape), label


def main():
    """Trains, and prints the loss."""
    network, optimizer = Network(), optax.adam(5e-3)
    points, labels = spirals(jax.random.key(0))
    parameters: Any = network.init(jax.random.key(1), points)
    state = optimizer.init(parameters)

    @jax.jit
    def step(parameters, state):
        def loss(parameters):
            logits: Any = network.apply(parameters, points)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        value, gradient = jax.value_and_grad(loss)(parameters)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(parameters, updates), state, value

    for number in range(STEPS + 1):
        parameters, state, value = step(parameters, state)
        if number % EVERY == 0:
            print(f"step {number} loss {value:.6f}", flush=True)


if __name__ == "__main__":
    main()
