"""
Programs of JAX with arrays in the memories of a host, beside XLA's CPU, on one and several devices:
`test_devices.py` runs this file in a process with four devices of ours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.ad_checkpoint import checkpoint_name
from jax.experimental.compute_on import compute_on
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding
from sweeps import each_or_full

VALUES = np.random.default_rng(26).standard_normal((8, 4)).astype(np.float32)
DEVICE, HOST = jax.memory.Space.Device, jax.memory.Space.Host
POLICIES = jax.checkpoint_policies


@dataclass(frozen=True)
class Memories:
    """Three kinds of memory of the same devices."""

    device: Sharding
    host: Sharding
    unpinned: Sharding

    @staticmethod
    def of(backend: str, count: int) -> "Memories":
        devices = jax.devices(backend)[:count]
        mesh = Mesh(np.array(devices), ("x",))
        sharding = NamedSharding(mesh, PartitionSpec("x"))
        found = SingleDeviceSharding(devices[0]) if count == 1 else sharding
        kinds = ("device", "pinned_host", "unpinned_host")
        return Memories(*map(found.with_memory_kind, kinds))

    @property
    def is_one_of_xla(self) -> bool:
        """Whether these are of one device of XLA's CPU."""
        (first, *others) = self.device.device_set
        return not others and first.platform == "cpu"

    def put(self, scale: float = 1) -> tuple[Any, Any]:
        """An array on the device, and one on the host."""
        return jax.device_put(VALUES * scale, self.device), jax.device_put(VALUES + 1, self.host)


PROGRAMS: dict[str, Callable[[Memories], Any]] = {}


def program(function: Callable[[Memories], Any]) -> Callable[[Memories], Any]:
    PROGRAMS[function.__name__] = function
    return function


@program
def results_on_the_host(to: Memories) -> Any:
    x, _ = to.put()
    places = (to.host, to.device, None, to.unpinned)
    return (
        jax.jit(lambda x: x * 2, out_shardings=to.host)(x),
        jax.jit(lambda: jnp.ones((8, 4)), out_shardings=to.host)(),
        jax.jit(lambda x: (x, x.T, x + 1, x), out_shardings=places)(x),
    )


@program
def moved_within(to: Memories) -> Any:
    @jax.jit
    def moved(x: Any, y: Any) -> Any:
        there = jax.device_put(x * 2, to.host)
        return there, jax.device_put(there, to.device) + 1, jax.device_put(y, to.device), y, y * 2

    return moved(*to.put())


@program
def moved_between_programs(to: Memories) -> Any:
    x, y = to.put()
    z = jax.device_put(x, to.unpinned)
    return z, jax.device_put(z, to.host), jax.device_put(y, to.device), jax.device_put(x, DEVICE)


@program
def moved_by_space(to: Memories) -> Any:
    def moved(x: Any, y: Any) -> Any:
        return jax.device_put(x, HOST), jnp.sin(jax.device_put(y, DEVICE)) * x

    return jax.jit(moved)(*to.put())


@program
def parameters_on_the_host(to: Memories) -> Any:
    x, y = to.put()
    same = jax.jit(lambda x: x, in_shardings=to.host, out_shardings=to.host)
    shardings = {"in_shardings": (to.device, to.host), "out_shardings": to.device}
    sum_ = jax.jit(lambda x, y: x + jax.device_put(y, to.device), **shardings)
    return same(y), sum_(x, y), jax.jit(jnp.sin)(y)


@program
def state_is_donated(to: Memories) -> Any:
    add = jax.jit(
        lambda state, x: jax.device_put(state, to.device) + x,
        donate_argnums=0,
        out_shardings=to.host,
    )
    x, state = to.put()
    states = [state]
    for _ in range(3):
        states.append(add(states[-1], x))
    return states[-1], [each.is_deleted() for each in states]


@program
def donated_in_another_memory(to: Memories) -> Any:
    """XLA's CPU ends the process where it has one device: what it would give is computed there."""
    is_fatal = to.is_one_of_xla
    donated = None if is_fatal else 0
    functions = (
        (jax.jit(lambda x: x * 2, out_shardings=to.host, donate_argnums=donated), 0),
        (jax.jit(lambda x: jax.device_put(x * 2, to.host), donate_argnums=donated), 0),
        (jax.jit(lambda x: jax.device_put(x, to.device) * 2, donate_argnums=donated), 1),
        (jax.jit(lambda x: x * 2, donate_argnums=0), 1),
    )
    found: list[Any] = []
    for function, which in functions:
        given = to.put()[which]
        found += [function(given), given.is_deleted() or is_fatal]
    return found


@program
def named_activations(to: Memories) -> Any:
    policy = POLICIES.save_and_offload_only_these_names(
        names_which_can_be_saved=["kept"],
        names_which_can_be_offloaded=["away"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def loss(x: Any) -> Any:
        away = checkpoint_name(jnp.sin(x), "away")
        kept = checkpoint_name(jnp.cos(away), "kept")
        return jnp.sum(jnp.tanh(kept * away))

    return jax.jit(jax.value_and_grad(jax.remat(loss, policy=policy)))(to.put()[0])


@program
def activations_of_layers(to: Memories) -> Any:
    policy = POLICIES.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["y"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def layer(x: Any, _: None) -> Any:
        y = checkpoint_name(jnp.sin(x), "y")
        return jnp.cos(y) + x, None

    def loss(x: Any) -> Any:
        return jnp.sum(jax.lax.scan(jax.remat(layer, policy=policy), x, None, length=5)[0])

    return jax.jit(jax.grad(loss))(to.put()[0])


@program
def matrix_products(to: Memories) -> Any:
    policy = POLICIES.offload_dot_with_no_batch_dims("device", "pinned_host")

    def loss(x: Any) -> Any:
        return jnp.sum(jnp.sin(jnp.sin(x @ x.T) @ x))

    return jax.jit(jax.grad(jax.remat(loss, policy=policy)))(to.put(0.25)[0])


@program
def state_of_an_optimizer(to: Memories) -> Any:
    parameters = jax.device_put({"w": VALUES, "b": VALUES[:, :1]}, to.device)
    state = jax.jit(partial(jax.tree.map, jnp.zeros_like), out_shardings=to.host)(parameters)

    @partial(jax.jit, donate_argnums=(0, 1), out_shardings=(to.device, to.host))
    def step(parameters: Any, state: Any) -> Any:
        gradient = jax.grad(lambda p: jnp.sum(jnp.tanh(p["w"] + p["b"]) ** 2))(parameters)
        state = jax.tree.map(lambda m, g: 0.9 * jax.device_put(m, to.device) + g, state, gradient)
        return jax.tree.map(lambda p, m: p - 0.1 * m, parameters, state), state

    for _ in range(3):
        parameters, state = step(parameters, state)
    return parameters, state


@program
def weights_one_by_one(to: Memories) -> Any:
    weights = jax.device_put(np.stack([VALUES[:4]] * 8), to.host)

    def run(weights: Any, x: Any) -> Any:
        def layer(x: Any, w: Any) -> Any:
            return jnp.tanh(x @ jax.device_put(w, DEVICE)), None

        return jax.lax.scan(layer, x, weights)[0]

    return jax.jit(run)(weights, to.put()[0])


@program
def in_loops_and_branches(to: Memories) -> Any:
    def run(x: Any) -> Any:
        def body(carry: Any) -> Any:
            count, there = carry
            return count + 1, jax.device_put(jax.device_put(there, to.device) + 1, to.host)

        first = (0, jax.device_put(x, to.host))
        _, there = jax.lax.while_loop(lambda carry: carry[0] < 3, body, first)
        chosen = jax.lax.cond(
            x[0, 0] > 0,
            lambda x: jax.device_put(x * 2, to.host),
            lambda x: jax.device_put(x * 3, to.host),
            x,
        )
        return there, chosen

    return jax.jit(run)(to.put()[0])


@program
def computed_on_the_host(to: Memories) -> Any:
    def run(x: Any) -> Any:
        return compute_on("device_host")(jax.jit(lambda x: x * 3))(x)

    x, y = to.put()
    return jax.jit(run)(x), jax.jit(run, out_shardings=to.host)(y)


@program
def compiled_ahead_of_time(to: Memories) -> Any:
    shapes = [jax.ShapeDtypeStruct(VALUES.shape, np.float32, sharding=s) for s in (to.device, to.host)]  # fmt: skip
    function = jax.jit(lambda x, y: (y, x.T), out_shardings=(to.host, to.device))
    compiled = function.lower(*shapes).compile()
    shardings = jax.tree.leaves((compiled.input_shardings, compiled.output_shardings))
    try:
        compiled(*reversed(to.put()))
        error = ""
    except ValueError as found:
        error = str(found).partition("\n")[0].partition(".")[0]
    return compiled(*to.put()), [each.memory_kind for each in shardings], error


def shown(results: Any) -> list[Any]:
    """Where results are; of others, what they are."""
    return [
        (each.sharding.memory_kind, getattr(each.sharding, "spec", None))
        if isinstance(each, jax.Array)
        else each
        for each in jax.tree.leaves(results)
    ]


@pytest.mark.parametrize("count", each_or_full((1, 4), (4,)))
@pytest.mark.parametrize("name", PROGRAMS)
def test_memories_are_those_of_xla(name: str, count: int):
    ours, theirs = (PROGRAMS[name](Memories.of(each, count)) for each in ("xdsl", "cpu"))
    assert shown(ours) == shown(theirs)
    for one, other in zip(*map(jax.tree.leaves, (ours, theirs)), strict=True):
        if isinstance(one, jax.Array):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), 2e-5, 2e-5)
