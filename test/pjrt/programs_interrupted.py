"""
Ctrl-C in long calls of JAX's programs on our devices: `test_devices.py` runs this file in a process
where these are the default.
"""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback
from jax.sharding import NamedSharding, PartitionSpec

SOON = 1.5
"""Seconds from a signal to KeyboardInterrupt on a busy machine; the calls here take many more."""
STEPS = 2_000_000_000

pytestmark = pytest.mark.usefixtures("interruptible")


@contextmanager
def interrupt(after: float = 0.3) -> Generator[None]:
    """Inside, a signal comes that raises KeyboardInterrupt soon."""
    sent: list[float] = []

    def send() -> None:
        time.sleep(after)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        yield
    assert time.process_time() - sent[0] < SOON
    sender.join()


def assert_is_usable() -> None:
    values = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(jax.jit(lambda x: 2 * x + 1)(values), 2 * values + 1)


def count_to(steps: Any, x: Any) -> Any:
    return lax.fori_loop(0, steps, lambda _, c: c * 1.0000001 + 0.5, x)


def scan(length: int, x: Any) -> Any:
    def step(carry: Any, _: Any) -> Any:
        return jnp.cos(carry @ carry.T + carry), carry[0, 0]

    return lax.scan(step, x, None, length)


def kernels(count: int, x: Any) -> Any:
    for _ in range(count):
        x = jnp.cos(x @ x)
    return x


LONG: dict[str, tuple[Callable[..., Any], Callable[..., Any], Any]] = {
    "known loop": (partial(count_to, STEPS), partial(count_to, 9), np.float32(1)),
    "scan": (partial(scan, 10_000_000), partial(scan, 3), np.ones((16, 16), np.float32)),
    "kernels": (partial(kernels, 60), partial(kernels, 1), np.ones((2000, 2000), np.float32)),
    "elements": (
        lambda x: lax.fori_loop(0, 200, lambda _, c: jnp.sin(c) + jnp.exp(-c), x),
        lambda x: jnp.sin(x) + jnp.exp(-x),
        np.ones(10_000_000, np.float32),
    ),
    "one kernel": (
        lambda x: x @ x,
        lambda x: x[:9, :9] @ x[:9, :9],
        np.eye(8000, dtype=np.float32),
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_call_ends_soon(name: str) -> None:
    function, short, x = LONG[name]
    compiled = jax.jit(function).lower(x).compile()
    x = jax.device_put(x)
    expected = short(x)
    for _ in range(2):
        with interrupt():
            compiled(x)
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-5), jax.jit(short)(x), expected)


def test_the_same_program_runs_to_its_end_afterwards() -> None:
    run = jax.jit(count_to)
    (expected,) = {float(run(9, 1.0)) for _ in range(3)}
    with interrupt():
        run(STEPS, 1.0)
    assert float(run(9, 1.0)) == expected


def test_what_was_not_computed_is_an_error() -> None:
    # The list has its element before Python looks for signals.
    results: list[Any] = []
    run = jax.jit(count_to)
    run(1, 1.0)
    with interrupt():
        results.extend(map(run, [STEPS], [1.0]))
    (result,) = results
    for _ in range(2):
        with pytest.raises(jax.errors.JaxRuntimeError, match="the run was interrupted"):
            np.asarray(result)
    with pytest.raises(jax.errors.JaxRuntimeError, match="the run was interrupted"):
        jax.block_until_ready(result + 1)


def test_donated_arrays_are_gone() -> None:
    run = jax.jit(
        lambda n, x: lax.fori_loop(0, n, lambda _, c: jnp.cos(c) + x[0], x), donate_argnums=1
    )
    x, kept = jnp.ones(1000), jnp.full(1000, 2.0)
    expected = np.cos(np.ones(1000, np.float32)) + 1
    np.testing.assert_allclose(run(1, jnp.ones(1000)), expected, 1e-6)
    for _ in range(2):
        y = jnp.ones(1000)
        with interrupt():
            run(STEPS, y)
        assert y.is_deleted()
        np.testing.assert_array_equal(kept, np.full(1000, 2.0))
    np.testing.assert_allclose(run(1, x), expected, 1e-6)


def over_devices(count: int) -> Any:
    """A loop in which devices exchange what they have, and an array of so many of them."""
    mesh = jax.make_mesh((count,), ("i",), devices=jax.devices()[:count])
    spec = PartitionSpec("i")

    def run(steps: Any, x: Any) -> Any:
        def step(_: Any, c: Any) -> Any:
            return jnp.cos(c) + lax.psum(c, "i") / count

        return lax.fori_loop(0, steps, step, x)

    mapped = jax.shard_map(run, mesh=mesh, in_specs=(PartitionSpec(), spec), out_specs=spec)
    return jax.jit(mapped), jax.device_put(jnp.ones(8 * count), NamedSharding(mesh, spec))


@pytest.mark.parametrize("calls", [1, 6])
@pytest.mark.parametrize("steps", [2, 5000])
def test_devices_together(calls: int, steps: int) -> None:
    """First by Python, then by machine code or threads, as is best for so many steps."""
    run, x = over_devices(2)
    expected = [np.asarray(run(np.int32(steps), x)) for _ in range(calls)]
    for _ in range(2):
        with interrupt():
            run(np.int32(STEPS), x)
    np.testing.assert_array_equal(run(np.int32(steps), x), expected[0])
    assert_is_usable()


def test_devices_that_only_compute() -> None:
    mesh = jax.make_mesh((2,), ("i",), devices=jax.devices()[:2])
    x = jax.device_put(jnp.ones(16), NamedSharding(mesh, PartitionSpec("i")))
    run = jax.jit(partial(count_to, STEPS)).lower(x).compile()
    for _ in range(2):
        with interrupt():
            run(x)
    assert_is_usable()


def test_a_function_of_python() -> None:
    called: list[int] = []

    def wait(n: Any) -> None:
        called.append(int(n))
        if n:
            time.sleep(60)

    run = jax.jit(lambda n: (io_callback(wait, None, n), n + 1)[1])
    assert run(0) == 1
    for _ in range(2):
        with interrupt():
            run(1)
    assert run(0) == 1
    assert called == [0, 1, 1, 0]


def test_who_has_a_handler_of_his_own_is_not_stopped() -> None:
    run = jax.jit(count_to)
    expected = float(run(100_000_000, 1.0))
    caught: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: caught.append(number))
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    assert float(run(100_000_000, 1.0)) == expected
    timer.join()
    assert caught == [signal.SIGINT]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    assert float(run(100_000_000, 1.0)) == expected
    timer.join()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with interrupt():
        run(STEPS, 1.0)


def test_who_waits_for_signals_is_told() -> None:
    run = jax.jit(count_to)
    run(1, 1.0)
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.setblocking(False)
        before = signal.set_wakeup_fd(writer.fileno())
        try:
            with interrupt():
                run(STEPS, 1.0)
        finally:
            signal.set_wakeup_fd(before)
        assert reader.recv(9) == bytes([signal.SIGINT])


def test_calls_of_other_threads_go_on() -> None:
    run = jax.jit(count_to)
    expected = float(run(200_000_000, 1.0))
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(float(run(200_000_000, 1.0))))
    thread.start()
    with interrupt():
        run(STEPS, 1.0)
    thread.join()
    assert found == [expected]
