"""
Programs of JAX that several processes run together: each runs this file, as `test_processes.py`
starts it. What is right is computed by numpy, or by XLA in one process.
"""

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from lowerings.pjrt.client import CLIENTS

if "COORDINATOR" in os.environ:
    jax.distributed.initialize(
        os.environ["COORDINATOR"],
        int(os.environ["PROCESS_COUNT"]),
        int(os.environ["PROCESS_NUMBER"]),
    )
else:
    jax.distributed.initialize(cluster_detection_method="mpi4py")
DEVICES = jax.devices()
COUNT, NUMBER = jax.process_count(), jax.process_index()
MESH = Mesh(np.array(DEVICES), ("x",))
HEADER = 56
"""Bytes of a message besides what it is for."""


def sharding(*axes: Any, mesh: Mesh = MESH) -> NamedSharding:
    return NamedSharding(mesh, P(*axes))


def put(whole: np.ndarray, *axes: Any, mesh: Mesh = MESH) -> jax.Array:
    return jax.make_array_from_callback(
        whole.shape, sharding(*axes, mesh=mesh), lambda place: whole[place], dtype=whole.dtype
    )


def numbers(*sizes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)


def assert_is(found: jax.Array, expected: np.ndarray, tolerance: float = 1e-5) -> None:
    """What this process has of an array is what it should be."""
    assert found.shape == expected.shape
    for shard in found.addressable_shards:
        np.testing.assert_allclose(shard.data, expected[shard.index], tolerance, tolerance)


def bytes_sent() -> int:
    """To all other processes so far, in runs of programs."""
    (links,) = {client.links for client in CLIENTS.values() if client.links is not None}
    return sum(link.bytes_moved(sent=True) for link in links.by_process.values())


@contextmanager
def sends(most: float) -> Generator[None]:
    """Inside, this process sends some bytes, and not more than so many, but for headers."""
    before = bytes_sent()
    yield
    assert 0 < bytes_sent() - before <= most


def test_devices_of_all_processes():
    own = [device for device in DEVICES if device.process_index == NUMBER]
    assert (jax.process_count(), jax.process_index()) == (COUNT, NUMBER)
    assert len({device.id for device in DEVICES}) == len(DEVICES) == COUNT * len(own)
    assert jax.local_devices() == own
    assert [device.local_hardware_id for device in own] == list(range(len(own)))
    assert {device.process_index for device in DEVICES} == set(range(COUNT))
    for device in own:
        assert device.default_memory().kind == "device"


def test_arrays_from_what_processes_have():
    whole = numbers(4 * len(DEVICES), 3)
    rows = len(whole) // COUNT
    own = whole[NUMBER * rows : (NUMBER + 1) * rows]
    found = jax.make_array_from_process_local_data(sharding("x"), own)
    assert_is(found, whole)
    assert_is(jax.jit(lambda x: x * 2 + 1)(found), whole * 2 + 1)
    assert_is(jax.device_put(whole, sharding("x")), whole)


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [(("x",), (), ("x",)), ((None, "x"), ("x",), ()), (("x",), (None, "x"), (None, "x"))],
    ids=["rows", "contraction", "columns"],
)
def test_matrix_products(left: Any, right: Any, result: Any):
    a, b = numbers(2 * len(DEVICES), 8 * len(DEVICES)), numbers(8 * len(DEVICES), 16, seed=1)
    multiply = jax.jit(jnp.matmul, out_shardings=sharding(*result))
    assert_is(multiply(put(a, *left), put(b, *right)), a @ b, 1e-4)


def over_devices(function: Callable[..., Any], given: P, result: P) -> Callable[..., Any]:
    return jax.jit(
        jax.shard_map(function, mesh=MESH, in_specs=given, out_specs=result, check_vma=False)
    )


LARGE = 600_000 // len(DEVICES)
"""So that messages are copied out of memory, on one machine."""


@pytest.mark.parametrize("columns", [3, 1000, LARGE], ids=["small", "middle", "large"])
def test_collectives(columns: int):
    count = len(DEVICES)
    whole = numbers(count * count, columns)
    blocks = whole.reshape(count, count, columns)
    x = put(whole, "x")
    total = over_devices(lambda v: jax.lax.psum(v, "x"), P("x"), P())
    assert_is(total(x), blocks.sum(0), 1e-4)
    gathered = over_devices(lambda v: jax.lax.all_gather(v, "x", axis=1), P("x"), P())
    assert_is(gathered(x), blocks.transpose(1, 0, 2))
    scattered = over_devices(lambda v: jax.lax.psum_scatter(v, "x", tiled=True), P("x"), P("x"))
    assert_is(scattered(x), blocks.sum(0), 1e-4)
    turned = [(n, (n + 1) % count) for n in range(count)]
    moved = over_devices(lambda v: jax.lax.ppermute(v, "x", turned), P("x"), P("x"))
    assert_is(moved(x), np.roll(whole, count, axis=0))
    swapped = over_devices(lambda v: jax.lax.all_to_all(v, "x", 0, 0), P("x"), P("x"))
    assert_is(swapped(x), blocks.transpose(1, 0, 2).reshape(whole.shape))


def test_functions_of_jax_for_hosts():
    gathered = multihost_utils.process_allgather(np.array([NUMBER + 5]))
    assert gathered.ravel().tolist() == [n + 5 for n in range(COUNT)]
    assert multihost_utils.broadcast_one_to_all(np.array([NUMBER + 3.0])).tolist() == [3.0]
    multihost_utils.sync_global_devices("here")


def test_random_numbers_are_those_of_one_process():
    def draw(key: jax.Array) -> jax.Array:
        return jax.random.normal(key, (8 * len(DEVICES), 4))

    found = jax.jit(draw, out_shardings=sharding("x"))(jax.random.key(7))
    expected = jax.jit(draw)(jax.device_put(jax.random.key(7), jax.local_devices()[0]))
    assert_is(found, np.asarray(expected), 0)


def training(optimizer: Any, steps: int, mesh: Mesh | None) -> list[float]:
    """The losses of a network that is trained, on a mesh or in one process."""
    import optax  # noqa: PLC0415

    def loss(parameters: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        hidden = jnp.tanh(x @ parameters["in"])
        return jnp.mean((hidden @ parameters["out"] - y) ** 2)

    def step(parameters: Any, state: Any, x: jax.Array, y: jax.Array) -> Any:
        value, gradients = jax.value_and_grad(loss)(parameters, x, y)
        updates, state = optimizer.update(gradients, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    arrays = {"in": numbers(6, 32, seed=2), "out": numbers(32, 1, seed=3)}
    x, y = numbers(64, 6, seed=4), numbers(64, 1, seed=5)
    if mesh is None:
        cpu = jax.local_devices(backend="cpu")[0]
        parameters, x, y = jax.device_put((arrays, x, y), cpu)
    else:
        parameters = {name: put(each, mesh=mesh) for name, each in arrays.items()}
        x, y = put(x, "x", mesh=mesh), put(y, "x", mesh=mesh)
    state = jax.jit(optimizer.init)(parameters)
    run = jax.jit(step, donate_argnums=(0, 1))
    losses: list[float] = []
    for _ in range(steps):
        parameters, state, value = run(parameters, state, x, y)
        losses.append(float(value))
    return losses


def test_training_with_optax():
    optax = pytest.importorskip("optax")
    found = training(optax.adam(1e-2), 5, MESH)
    assert found[-1] < found[0]
    np.testing.assert_allclose(found, training(optax.adam(1e-2), 5, None), 1e-4)


def test_donated_arrays_are_gone():
    x = put(numbers(2 * len(DEVICES), 5), "x")
    found = jax.jit(lambda v: v + v.sum(), donate_argnums=0)(x)
    whole = numbers(2 * len(DEVICES), 5)
    assert x.is_deleted()
    assert_is(found, whole + whole.sum(), 1e-4)


def test_programs_on_some_processes():
    half = len(DEVICES) // 2
    whole = numbers(4 * half, 3)
    programs = [lambda x: x / x.sum(), lambda x: jnp.sort(x, axis=0)[::-1]]
    expected = [whole / whole.sum(), np.sort(whole, axis=0)[::-1]]
    for part, (program, right) in enumerate(zip(programs, expected, strict=True)):
        mesh = Mesh(np.array(DEVICES[part * half : (part + 1) * half]), ("x",))
        found = jax.jit(program)(put(whole, "x", mesh=mesh))
        assert_is(found, right, 1e-4)
    own = numbers(3, seed=NUMBER)
    assert_is(jax.jit(jnp.cumsum)(own), np.cumsum(own))


def test_programs_that_only_some_processes_know():
    """Processes of a mesh run what others never hear of; then all run something together."""
    half = len(DEVICES) // 2
    part = NUMBER * 2 // COUNT
    mesh = Mesh(np.array(DEVICES[part * half : (part + 1) * half]), ("x",))
    whole = numbers(2 * half, 4, seed=part)
    for turn in range(1 + 2 * part):
        program = jax.jit(lambda x, turn=turn: (x * (turn + part + 2)).sum())
        found = program(put(whole, "x", mesh=mesh))
        np.testing.assert_allclose(float(found), (whole * (turn + part + 2)).sum(), 1e-4)
    ones = put(np.ones(len(DEVICES), np.float32), "x")
    assert float(jax.jit(jnp.sum)(ones)) == len(DEVICES)


def test_nobody_gets_whole_arrays():
    count = len(DEVICES)
    own = count // COUNT
    elements = 1 << 16
    whole = numbers(count, elements)
    x = put(whole, "x")
    total = over_devices(lambda v: jax.lax.psum(v, "x"), P("x"), P())
    row = over_devices(lambda v: jnp.zeros_like(v) + v.sum(), P("x"), P("x"))
    jax.block_until_ready((total(x), row(x)))
    # Each device folds a piece, and has the pieces of others brought to it.
    pieces = 2 * 4 * elements / count * own * (count - own)
    with sends(pieces + 4 * COUNT * HEADER):
        assert_is(total(x), whole.sum(0, keepdims=True), 1e-3)
    before = bytes_sent()
    row(x).block_until_ready()
    assert bytes_sent() == before
    weights = put(numbers(256, 16 * count), None, "x")
    multiply = jax.jit(lambda a, b: (a @ b).sum(), out_shardings=sharding())
    given = put(numbers(32, 256), None, None)
    multiply(given, weights)
    with sends(own * (count - own) * 4 + COUNT * HEADER):
        multiply(given, weights).block_until_ready()


def test_threads_take_turns():
    programs = [jax.jit(lambda x, n=n: (x + n).sum()) for n in range(2)]
    x = put(np.ones(len(DEVICES), np.float32), "x")
    for program in programs:
        program(x)
    found: dict[int, float] = {}

    def run(number: int) -> None:
        found[number] = float(programs[number](x))

    for number in range(2):
        thread = threading.Thread(target=run, args=(number,))
        thread.start()
        thread.join()
    assert found == {n: len(DEVICES) * (n + 1) for n in range(2)}


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (lambda x: jax.pure_callback(np.sin, x, x), "calls functions of Python"),
        (lambda x: (jax.debug.print("{}", x.sum()), x)[1], "calls functions of Python"),
        (lambda x: jax.lax.rng_uniform(0.0, 1.0, x.shape) + x.sum(), "whole arrays|random states"),
    ],
    ids=["pure_callback", "debug.print", "random states"],
)
def test_what_cannot_be_run_is_told_before_it_runs(program: Callable[..., Any], reason: str):
    x = put(numbers(2 * len(DEVICES)), "x")
    with pytest.raises(jax.errors.JaxRuntimeError, match=reason):
        jax.jit(program, out_shardings=sharding("x"))(x)
    assert_is(x, numbers(2 * len(DEVICES)))


def test_processes_that_run_other_programs():
    x = put(np.ones(len(DEVICES), np.float32), "x")
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"runs jit__lambda.* and this one jit_"):
        jax.jit(lambda v: (v * (NUMBER + 2)).sum())(x)
    assert float(jax.jit(jnp.sum)(x)) == len(DEVICES)
