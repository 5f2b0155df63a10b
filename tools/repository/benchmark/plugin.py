"""
The device for JAX beside XLA's CPU: calls, compilations, and the start of a process.

`JAX_PLATFORMS=xdsl,cpu python -m tools.repository.benchmark.plugin TURNS` is what is started: JAX
makes the clients that the environment asks for when it starts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import lowerings.pjrt
from lowerings.execution.compile_cache import CACHE_VARIABLE

from ...measuring_times import Call, alternate
from .report import ratios
from .starts import processor_time

COMPILATIONS = 3
STARTS = 3
OURS, XLA = "xdsl", "cpu"
PLATFORMS = {OURS: "xdsl,cpu", XLA: "cpu"}

Times = Mapping[str, Sequence[Sequence[float]]]
"""For each row the seconds of all turns: ours, and XLA's."""


def measure_plugin(turns: int) -> None:
    """Prints what calls, compilations and starts take on our device and on XLA's, and ratios."""
    command = [sys.executable, "-m", __name__, str(turns)]
    environment = os.environ | {"JAX_PLATFORMS": PLATFORMS[OURS], CACHE_VARIABLE: "0"}
    found: Mapping[str, Times] = json.loads(subprocess.check_output(command, env=environment))
    print(
        ratios("a call, µs", found["calls"], 1e6),
        ratios("compilation, ms of processor time", found["compilations"], 1e3),
        ratios("a process, s of processor time", start_times(), 1),
        sep="\n\n",
    )


def increments(count: int) -> Callable[[Any], Call]:
    """`x + 1` of so many small arrays."""

    def make(device: Any) -> Call:
        arrays = [jax.device_put(np.full(8, n, np.float32), device) for n in range(count)]
        function = jax.jit(lambda *given: [each + 1 for each in given])
        return lambda: function(*arrays)

    return make


def donated(device: Any) -> Call:
    """A step that takes the memory of its argument."""
    kept = [jax.device_put(np.ones(8, np.float32), device)]
    step = jax.jit(lambda x: x + 1, donate_argnums=0)

    def call() -> None:
        kept[0] = step(kept[0])

    return call


def eager(device: Any) -> Call:
    """Three operations that are not compiled together."""
    array = jax.device_put(np.ones(8, np.float32), device)
    return lambda: jnp.sum(array * array + array)


def from_host(device: Any) -> Call:
    """An argument of numpy's beside one on the device."""
    function, there = jax.jit(lambda x, y: x + y), jax.device_put(np.ones(8, np.float32), device)
    return lambda: function(there, np.ones(8, np.float32))


def to_host(device: Any) -> Call:
    """A number that Python gets."""
    array = jax.device_put(np.float32(1), device)
    return lambda: float(array + array)


CALLS: Mapping[str, Callable[[Any], Call]] = {
    "1 argument, 1 result": increments(1),
    "10 and 10": increments(10),
    "100 and 100": increments(100),
    "donated": donated,
    "eager operations": eager,
    "argument of numpy": from_host,
    "number for Python": to_host,
}


def adam() -> tuple[Any, Any]:
    """A step on 100 parameters of different sizes."""
    arrays = [np.ones((16 + n % 7, 8 + n % 5), np.float32) for n in range(100)]

    def step(values: Any, gradients: Any, first: Any, second: Any) -> Any:
        first = [0.9 * m + 0.1 * g for m, g in zip(first, gradients, strict=True)]
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, gradients, strict=True)]
        both = zip(values, first, second, strict=True)
        return [x - 1e-3 * m / (jnp.sqrt(v) + 1e-8) for x, m, v in both], first, second

    return step, (arrays,) * 4


def leaves() -> tuple[Any, Any]:
    """300 arrays in, 300 out."""
    arrays = tuple(np.ones(n % 9 + 1, np.float32) for n in range(300))
    return lambda *given: [each + 1 for each in given], arrays


def constant() -> tuple[Any, Any]:
    """A function that closes over 4M floats."""
    values = np.random.default_rng(0).random(4_000_000, np.float32)
    return lambda x: x + values, (np.float32(1),)


def random_bits() -> tuple[Any, Any]:
    """Random bits of XLA's own generator."""

    def bits(key: Any) -> Any:
        return jax.random.bits(jax.random.wrap_key_data(key, impl="rbg"), (1000,))

    return bits, (np.arange(4, dtype=np.uint32),)


COMPILED: Mapping[str, Callable[[], tuple[Any, Any]]] = {
    "Adam on 100 parameters": adam,
    "300 leaves": leaves,
    "a constant of 4M floats": constant,
    "rbg random bits": random_bits,
}

STARTED = {
    "import jax": "import jax",
    "the first program": "import jax, numpy; jax.jit(lambda x: x * 2 + 1)(numpy.ones(8))",
    "30 eager operations": """
import jax, jax.numpy as jnp
a = jnp.arange(12.0).reshape(3, 4)
r = jax.random.normal(jax.random.key(0), (5,))
a.T @ a, a.sum(), a.mean(0), jnp.exp(a), jnp.zeros(3), jnp.ones(4), jnp.sort(r), a.max(), a.std()
jnp.where(a > 3, a, 0), jnp.concatenate([a, a]), jnp.linspace(0, 1, 5), jnp.argmax(a), a[0]
jnp.stack([a, a]), jnp.tanh(a), a.at[0].set(1.0), jnp.cumsum(a), jnp.linalg.norm(a), jnp.abs(a)
jnp.einsum("ij,ij->i", a, a), jnp.clip(a, 0, 1), jnp.sqrt(a), jnp.outer(r, r), jnp.eye(3)
jax.random.uniform(jax.random.key(1), (3,)), a.astype(int), jnp.dot(r, r), print(a)
""",
}
"""What new processes do."""


def start_times() -> Times:
    """The processor time of processes, by turns."""
    times: dict[str, list[list[float]]] = {}
    for name, text in STARTED.items():
        times[name] = [[], []]
        for _ in range(STARTS):
            for found, (platform, platforms) in zip(times[name], PLATFORMS.items(), strict=True):
                known = "import lowerings.pjrt as p; p.initialize()\n" if platform == OURS else ""
                environment = {"JAX_PLATFORMS": platforms, CACHE_VARIABLE: "0"}
                found.append(processor_time(["-c", known + text], environment))
    return times


def compile_times(make: Callable[[], tuple[Any, Any]], devices: Sequence[Any]) -> list[list[float]]:
    """The processor time from the lowered program to the loaded one, on each device by turns."""
    times: list[list[float]] = [[] for _ in devices]
    for _ in range(COMPILATIONS):
        for device, found in zip(devices, times, strict=True):
            function, arguments = make()
            with jax.default_device(device):
                lowered = jax.jit(function).lower(*arguments)
                start = time.process_time()
                lowered.compile()
                found.append(time.process_time() - start)
    return times


def run(turns: int) -> None:
    """What the process with both clients does: prints its figures."""
    devices = [jax.devices(name)[0] for name in (OURS, XLA)]
    calls: dict[str, list[list[float]]] = {}
    for name, make in CALLS.items():
        made: list[Call] = []
        for device in devices:
            with jax.default_device(device):
                made.append(make(device))
        calls[name] = alternate(made, turns)
    compilations = {name: compile_times(make, devices) for name, make in COMPILED.items()}
    print(json.dumps({"calls": calls, "compilations": compilations}))


if __name__ == "__main__":
    lowerings.pjrt.initialize()
    run(int(sys.argv[1]))
