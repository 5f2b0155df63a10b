"""Physics and learning of brax."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from brax import envs, math
from brax.training import networks
from brax.training.acme import running_statistics, specs
from brax.training.agents.ppo import losses as ppo_losses

from library_programs.measuring import Made, Maker


def _steps(name: str, backend: str, count: int = 3) -> Made:
    environment = envs.get_environment(name, backend=backend)
    state = environment.reset(jax.random.PRNGKey(0))

    def function(state: Any, actions: jax.Array) -> Any:
        for action in actions:
            state = environment.step(state, action)
        return state.obs, state.reward, state.done

    actions = jax.random.uniform(
        jax.random.PRNGKey(1), (count, environment.action_size), minval=-1.0
    )
    return function, (state, actions)


def _reset(name: str, backend: str) -> Made:
    environment = envs.get_environment(name, backend=backend)

    def function(key: jax.Array) -> Any:
        state = environment.reset(key)
        return state.obs, state.pipeline_state.q

    return function, (jax.random.PRNGKey(2),)


def _turned() -> Made:
    def function(axis: jax.Array, angle: jax.Array, v: jax.Array) -> Any:
        quaternion = math.quat_rot_axis(math.normalize(axis)[0], angle)
        turned = math.rotate(v, quaternion)
        return (
            turned,
            math.inv_rotate(turned, quaternion),
            math.quat_to_3x3(quaternion),
            math.quat_to_euler(quaternion),
            math.from_to(v, turned),
        )

    x = jax.random.normal(jax.random.PRNGKey(3), (2, 9, 3))
    return jax.vmap(function), (x[0], jnp.linspace(0.1, 2.0, 9), x[1])


def _policy() -> Made:
    network = networks.make_policy_network(8, 17, hidden_layer_sizes=(32, 32))
    parameters = network.init(jax.random.PRNGKey(4))
    x = jax.random.normal(jax.random.PRNGKey(5), (16, 17))

    def function(parameters: Any, x: jax.Array) -> Any:
        return jax.value_and_grad(lambda p: jnp.sum(network.apply(None, p, x) ** 2))(parameters)

    return function, (parameters, x)


def _advantages() -> Made:
    def function(key: jax.Array) -> Any:
        values = jax.random.normal(key, (4, 20, 3))
        done = (values[3] > 1.5).astype(jnp.float32)
        return ppo_losses.compute_gae(
            done, 1 - done, values[0], values[1], values[2, 0], 0.95, 0.99
        )

    return function, (jax.random.PRNGKey(6),)


def _statistics() -> Made:
    state = running_statistics.init_state(specs.Array((5,), jnp.float32))

    def function(state: Any, batch: jax.Array) -> Any:
        for part in batch:
            state = running_statistics.update(state, part)
        return running_statistics.normalize(batch, state), state.mean, state.std

    return function, (state, jax.random.normal(jax.random.PRNGKey(7), (3, 10, 5)) * 2 + 1)


PROGRAMS: dict[str, Maker] = {
    "pendulum, generalized": lambda: _steps("inverted_pendulum", "generalized"),
    "double pendulum, generalized": lambda: _steps("inverted_double_pendulum", "generalized"),
    "pendulum, positional": lambda: _steps("inverted_pendulum", "positional"),
    "pendulum, spring": lambda: _steps("inverted_pendulum", "spring"),
    "reacher, spring": lambda: _steps("reacher", "spring"),
    "hopper, positional": lambda: _steps("hopper", "positional", 1),
    "reset of swimmer": lambda: _reset("swimmer", "generalized"),
    "rotations": _turned,
    "policy network": _policy,
    "advantages": _advantages,
    "running statistics": _statistics,
}
