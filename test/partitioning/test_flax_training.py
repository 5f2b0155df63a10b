"""A flax model and its optax optimizer, data-parallel: a step in parts is JAX's step."""

from typing import Any

import numpy as np
import pytest
from partitioned import run_in_parts
from peers import DEVICES, has_flax

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program

if has_flax():
    import flax.linen as nn
    import jax
    import optax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

pytestmark = [pytest.mark.jax, pytest.mark.flax]


def test_a_training_step_with_pooling_and_adam() -> None:
    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.max_pool(nn.relu(nn.Conv(8, (3, 3))(x)), (2, 2), strides=(2, 2))
            x = nn.LayerNorm()(x).reshape(x.shape[0], -1)
            return nn.Dense(10)(nn.gelu(nn.Dense(32)(x)))

    model, optimizer = Network(), optax.adamw(1e-3)
    images = np.random.default_rng(0).normal(size=(8, 8, 8, 3)).astype(np.float32)
    labels = np.arange(8, dtype=np.int32)
    parameters = model.init(jax.random.key(0), images)
    state = optimizer.init(parameters)

    def step(parameters: Any, state: Any, images: Any, labels: Any) -> Any:
        def loss(parameters: Any) -> Any:
            logits: Any = model.apply(parameters, images)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        value, gradient = jax.value_and_grad(loss)(parameters)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    mesh = Mesh(np.array(jax.devices()[:DEVICES]), ("x",))
    whole, rows = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("x",)))
    arguments = parameters, state, images, labels
    jitted = jax.jit(step, in_shardings=(whole, whole, rows, rows))
    module = parse_program(jitted.lower(*arguments).as_text())
    PassManager(make_context()).run(module, parse_passes("xla-inline,xla-flatten-tuples"))
    found = run_in_parts(module, [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)])
    for mine, theirs in zip(found, jax.tree.leaves(jitted(*arguments)), strict=True):
        np.testing.assert_allclose(mine, np.asarray(theirs), rtol=1e-5, atol=1e-6)
