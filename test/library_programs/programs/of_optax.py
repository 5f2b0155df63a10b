"""Optimizers and losses of optax."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax

from library_programs.measuring import Made, Maker


def _parameters() -> dict[str, jax.Array]:
    first, second = jax.random.split(jax.random.key(0))
    return {
        "kernel": jax.random.normal(first, (16, 8)) * 0.3,
        "bias": jnp.zeros(8),
        "scale": jax.random.uniform(second, (8,)),
    }


def _loss(parameters: Any, x: jax.Array) -> jax.Array:
    y = jnp.tanh(x @ parameters["kernel"] + parameters["bias"]) * parameters["scale"]
    return jnp.mean((y - 0.5) ** 2)


def _steps(optimizer: Any, count: int = 8) -> Made:
    parameters = _parameters()
    x = jax.random.normal(jax.random.key(1), (32, 16))

    def train(parameters: Any, state: Any, x: jax.Array) -> Any:
        def step(carried: Any, _: Any) -> Any:
            parameters, state = carried
            loss, gradient = jax.value_and_grad(_loss)(parameters, x)
            updates, state = optimizer.update(gradient, state, parameters)
            return (optax.apply_updates(parameters, updates), state), loss

        return jax.lax.scan(step, (parameters, state), None, count)

    return train, (parameters, optimizer.init(parameters), x)


def _line_search() -> Made:
    optimizer = optax.lbfgs()
    parameters = _parameters()
    x = jax.random.normal(jax.random.key(1), (32, 16))

    def train(parameters: Any, state: Any) -> Any:
        objective = partial(_loss, x=x)
        value_and_grad = optax.value_and_grad_from_state(objective)
        for _ in range(3):
            value, gradient = value_and_grad(parameters, state=state)
            updates, state = optimizer.update(
                gradient, state, parameters, value=value, grad=gradient, value_fn=objective
            )
            parameters = optax.apply_updates(parameters, updates)
        return parameters

    return train, (parameters, optimizer.init(parameters))


def _losses() -> Made:
    logits = jax.random.normal(jax.random.key(2), (32, 10))
    labels = jax.random.randint(jax.random.key(3), (32,), 0, 10)

    def losses(logits: jax.Array, labels: jax.Array) -> Any:
        hot = jax.nn.one_hot(labels, 10)
        return (
            optax.softmax_cross_entropy(logits, hot),
            optax.softmax_cross_entropy_with_integer_labels(logits, labels),
            optax.sigmoid_binary_cross_entropy(logits, hot),
            optax.huber_loss(logits, hot),
            optax.log_cosh(logits, hot),
            optax.cosine_similarity(logits, hot),
            optax.kl_divergence(jax.nn.log_softmax(logits), hot),
            optax.hinge_loss(logits[:, 0], 2.0 * hot[:, 0] - 1),
        )

    return losses, (logits, labels)


def _ctc() -> Made:
    logits = jax.random.normal(jax.random.key(4), (2, 12, 6))
    labels = jax.random.randint(jax.random.key(5), (2, 4), 1, 6)

    def loss(logits: jax.Array, labels: jax.Array) -> jax.Array:
        return optax.ctc_loss(logits, jnp.zeros((2, 12)), labels, jnp.zeros((2, 4))).sum()

    return jax.value_and_grad(loss), (logits, labels)


def _schedules() -> Made:
    def values(step: jax.Array) -> Any:
        return [
            schedule(step)
            for schedule in (
                optax.cosine_decay_schedule(0.1, 100),
                optax.warmup_cosine_decay_schedule(0.0, 0.1, 10, 100),
                optax.exponential_decay(0.1, 10, 0.9),
                optax.piecewise_constant_schedule(0.1, {20: 0.5, 50: 0.1}),
                optax.linear_onecycle_schedule(100, 0.1),
            )
        ]

    return jax.vmap(values), (jnp.arange(0, 100, 7),)


PROGRAMS: dict[str, Maker] = {
    "sgd with momentum": lambda: _steps(optax.sgd(0.1, momentum=0.9, nesterov=True)),
    "adam": lambda: _steps(optax.adam(1e-2)),
    "adamw": lambda: _steps(optax.adamw(1e-2, weight_decay=1e-2)),
    "rmsprop": lambda: _steps(optax.rmsprop(1e-2, centered=True)),
    "adafactor": lambda: _steps(optax.adafactor(1e-2, min_dim_size_to_factor=4)),
    "lamb": lambda: _steps(optax.lamb(1e-2)),
    "lion": lambda: _steps(optax.lion(1e-3)),
    "clipped and accumulated": lambda: _steps(
        optax.MultiSteps(optax.chain(optax.clip_by_global_norm(0.1), optax.adam(1e-2)), 2)
    ),
    "noisy sgd": lambda: _steps(optax.noisy_sgd(1e-2)),
    "lbfgs": _line_search,
    "losses": _losses,
    "ctc loss": _ctc,
    "schedules": _schedules,
}
