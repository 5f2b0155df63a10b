"""A flax model trained with optax, its step compiled by `lowerings.jax.jit`."""

from typing import Any

import numpy as np
import pytest
from peers import has_flax
from sweeps import each_or_full

if has_flax():
    import flax.linen as nn
    import jax
    import optax

    from lowerings.jax import jit

pytestmark = [pytest.mark.jax, pytest.mark.flax]

STEPS = 20


def losses(backend: str | None) -> list[float]:
    """The losses of the first steps; without a backend, JAX's own."""

    class Classifier(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            hidden = nn.gelu(nn.LayerNorm()(nn.Dense(32)(x)))
            return nn.Dense(4)(hidden)

    model, optimizer = Classifier(), optax.adam(1e-2)
    random = np.random.default_rng(0)
    images = random.normal(size=(16, 8)).astype(np.float32)
    labels = random.integers(0, 4, 16)

    def step(parameters: Any, state: Any, images: Any, labels: Any) -> Any:
        def loss(parameters: Any) -> Any:
            logits: Any = model.apply(parameters, images)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        value, gradient = jax.value_and_grad(loss)(parameters)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    run = jax.jit(step) if backend is None else jit(step, backend=backend)
    parameters = model.init(jax.random.key(0), images)
    state = optimizer.init(parameters)
    found: list[float] = []
    for _ in range(STEPS):
        parameters, state, value = run(parameters, state, images, labels)
        found.append(float(value))
    return found


@pytest.mark.parametrize("backend", each_or_full(("reference", "llvm"), ("llvm",)))
def test_training_follows_jax(backend: str) -> None:
    found, expected = losses(backend), losses(None)
    assert expected[-1] < 0.5 * expected[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
