"""
What JAX's profiler sees of our devices, four of them: `test_devices.py` runs this file in a process
where they are the default.
"""

import gzip
import inspect
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

from lowerings.pjrt import execution, profiler
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.programs import CompiledProgram

PREFIX = "/device:CUSTOM:xdsl:"


@dataclass(frozen=True)
class Event:
    """An event of a trace."""

    device: int
    line: str
    name: str
    start: float
    """Nanoseconds of the trace."""
    end: float
    statistics: dict[str, Any]


def traced(folder: Path, action: Callable[[], object]) -> list[Event]:
    """The events of our devices while something is done, as JAX's reader of traces gives them."""
    chosen = jax.profiler.ProfileOptions()
    chosen.python_tracer_level = 0
    with jax.profiler.trace(folder, profiler_options=chosen):
        action()
    (path,) = folder.rglob("*.xplane.pb")
    return [
        Event(
            int(plane.name.removeprefix(PREFIX)),
            line.name,
            event.name,
            event.start_ns,
            event.end_ns,
            dict(event.stats),
        )
        for plane in jax.profiler.ProfileData.from_file(str(path)).planes
        if plane.name.startswith(PREFIX)
        for line in plane.lines
        for event in line.events
    ]


def named(events: list[Event], name: str) -> list[Event]:
    return [event for event in events if name in event.name]


def runs(events: list[Event], program: str) -> list[Event]:
    return [event for event in events if event.name == program]


def layer(x: jax.Array) -> jax.Array:
    y = jnp.tanh(x @ x)
    return y - y.mean(1, keepdims=True)


def line_of(text: str) -> str:
    """Where a line of `layer` is."""
    lines, first = inspect.getsourcelines(layer)
    return f"{__file__}:{first + next(n for n, line in enumerate(lines) if text in line)}"


def test_kernels_have_names_sources_and_times(tmp_path: Path):
    compiled, x = jax.jit(layer), jnp.full((128, 128), 0.01)
    expected = np.asarray(compiled(x))
    before = time.perf_counter_ns()
    found: list[np.ndarray] = []
    events = traced(tmp_path, lambda: found.extend(np.asarray(compiled(x)) for _ in range(3)))
    passed = time.perf_counter_ns() - before
    for each in found:
        np.testing.assert_array_equal(each, expected)
    programs = runs(events, "jit_layer")
    assert len(programs) == 3
    assert 0 < sum(event.end - event.start for event in programs) < passed
    kernels = [event for event in events if event.line == "kernels"]
    (product,) = {event.name for event in named(kernels, "contraction")}
    assert Counter(event.name for event in kernels)[product] == 3
    for event in kernels:
        assert event.statistics["program"] == "jit_layer"
        assert any(run.start <= event.start <= event.end <= run.end for run in programs)
    statistics = next(event.statistics for event in kernels if event.name == product)
    assert statistics["op_name"] == "jit(layer)/dot_general"
    assert statistics["source"] == line_of("x @ x")
    rest = " ".join(event.statistics["op_name"] for event in kernels if event.name != product)
    for operation in ("tanh", "reduce_sum", "sub"):
        assert f"jit(layer)/{operation}" in rest


def test_viewers_show_them_beside_what_the_host_did(tmp_path: Path):
    """The file that Perfetto reads: our events lie within those of the host that called us."""
    compiled, x = jax.jit(layer), jnp.full((128, 128), 0.01)
    compiled(x)

    def action() -> None:
        with jax.profiler.TraceAnnotation("around"):
            compiled(x).block_until_ready()

    traced(tmp_path, action)
    (path,) = tmp_path.rglob("*.trace.json.gz")
    shown = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    rows = {e["args"]["name"]: e["pid"] for e in shown if e.get("name") == "process_name"}
    timed = [event for event in shown if event.get("ph") == "X"]
    (around,) = (event for event in timed if event["name"] == "around")
    ours = [event for event in timed if event["pid"] == rows[f"{PREFIX}0"]]
    assert "jit_layer" in {event["name"] for event in ours}
    for event in ours:
        assert around["ts"] - 100 < event["ts"]
        assert event["ts"] + event["dur"] < around["ts"] + around["dur"] + 100
    (product,) = (event for event in ours if "contraction" in event["name"])
    assert product["args"]["op_name"] == "jit(layer)/dot_general"


def test_calls_are_left_to_machine_code_where_nobody_traces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    calls: list[object] = []
    by_python = execution._run

    def run(*given: Any) -> Any:
        calls.append(given)
        return by_python(*given)

    monkeypatch.setattr(execution, "_run", run)
    compiled, x = jax.jit(lambda x: x * 3), jnp.arange(4.0)
    compiled(x)
    assert not calls
    traced(tmp_path, lambda: compiled(x))
    assert len(calls) == 1
    # A program that is compiled while a trace is taken is handed over behind it.
    later = jax.jit(lambda x: x * 5)
    traced(tmp_path / "later", lambda: later(x))
    assert len(calls) == 2
    later(compiled(x))
    assert len(calls) == 2
    assert profiler.current() is None


def test_another_trace_compiles_nothing_again(tmp_path: Path):
    compiled, x = jax.jit(layer), jnp.ones((8, 8))
    for number, count in enumerate((1, 0)):
        events = traced(tmp_path / str(number), lambda: compiled(x))
        assert len(runs(events, "jit_layer")) == 1
        assert len(named(events, "compile")) == count


def test_each_call_in_a_loop_is_an_event(tmp_path: Path):
    def steps(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 25, lambda _, y: jnp.cos(y), x)

    compiled, x = jax.jit(steps), jnp.ones((64, 64))
    events = traced(tmp_path, lambda: compiled(x))
    kernels = [event for event in named(events, "cos") if event.line == "kernels"]
    assert len(kernels) == 25
    assert all("cos" in event.statistics["op_name"] for event in kernels)
    ordered = sorted(kernels, key=lambda event: event.start)
    assert all(a.end <= b.start for a, b in itertools.pairwise(ordered))


def test_devices_have_their_own_events(tmp_path: Path):
    devices = jax.devices()
    mesh = jax.make_mesh((4,), ("x",), devices=devices)
    sharding = jax.NamedSharding(mesh, P("x"))
    x = jax.device_put(jnp.arange(64.0).reshape(8, 8), sharding)
    on_all = jax.jit(lambda x: jnp.sin(x).sum())
    manual = jax.jit(
        jax.shard_map(
            lambda x: jax.lax.psum(jnp.tanh(x), "x"), mesh=mesh, in_specs=P("x"), out_specs=P()
        )
    )
    on_one = jax.jit(lambda x: jnp.sin(x) + 1)
    alone = jax.device_put(jnp.ones(3), devices[2])
    expected = np.asarray(on_all(x)), np.asarray(manual(x))
    results: list[Any] = []
    events = traced(tmp_path, lambda: results.extend((on_all(x), manual(x), on_one(alone))))
    for result, each in zip(results, expected, strict=False):
        np.testing.assert_array_equal(result, each)
    # Each device runs the first two, and one of them the third, too.
    found = Counter(event.device for event in runs(events, "jit__lambda"))
    assert found == Counter([*range(4), *range(4), 2])
    for name in ("sin", "tanh"):
        kernels = [event for event in named(events, name) if event.line == "kernels"]
        assert {event.device for event in kernels} == set(range(4))
        assert all(name in event.statistics["op_name"] for event in kernels)


def test_events_of_threads_do_not_overlap_on_a_line(tmp_path: Path):
    compiled, x = jax.jit(layer), jnp.ones((96, 96))
    compiled(x)
    calls = 10

    def call() -> None:
        for _ in range(calls):
            compiled(x).block_until_ready()

    def action() -> None:
        threads = [threading.Thread(target=call) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    events = traced(tmp_path, action)
    assert len(runs(events, "jit_layer")) == 4 * calls
    assert len(named(events, "contraction")) == 4 * calls
    for line in {event.line for event in events}:
        own = sorted((e for e in events if e.line == line), key=lambda event: event.start)
        assert all(a.end <= b.start for a, b in itertools.pairwise(own))


def test_functions_of_python_and_donated_arrays(tmp_path: Path):
    def doubled(x: np.ndarray) -> np.ndarray:
        return 2 * x

    @jax.jit
    def calling(x: jax.Array) -> jax.Array:
        return jax.pure_callback(doubled, x, jnp.sin(x))

    donating = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.arange(16.0)
    expected, results = 2 * np.sin(np.arange(16.0, dtype=np.float32)), list[Any]()

    def action() -> None:
        given = jnp.zeros(16)
        results.extend((calling(x), donating(given), given.is_deleted()))

    events = traced(tmp_path, action)
    np.testing.assert_allclose(results[0], expected, rtol=1e-6)
    np.testing.assert_array_equal(results[1], np.ones(16))
    assert results[2] is True
    assert named(events, "sin")
    assert len(runs(events, "jit_calling")) == 1


def test_what_cannot_be_compiled_again_has_its_calls_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object) -> None:
        raise PluginError(ErrorCode.UNIMPLEMENTED, "not again")

    monkeypatch.setattr(CompiledProgram, "with_events", refuse)
    compiled, results = jax.jit(lambda x: x * 7), list[Any]()
    x = jnp.arange(3.0)
    for number in range(2):
        events = traced(tmp_path / str(number), lambda: results.append(compiled(x)))
        np.testing.assert_array_equal(results[-1], [0, 7, 14])
        assert [event.line for event in events] == ["programs"]
        assert len(runs(events, "jit__lambda, without its kernels: not again")) == 1


def test_a_trace_that_is_too_long_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(profiler, "MOST_EVENTS", 20)
    compiled, x = jax.jit(layer), jnp.ones((16, 16))
    events = traced(tmp_path, lambda: [compiled(x) for _ in range(50)])
    whole, kernels = runs(events, "jit_layer"), [e for e in events if e.line == "kernels"]
    per_run = 1 + len(kernels) // len(whole)
    assert 20 - per_run < per_run * len(whole) <= 20
    lost = (50 - len(whole)) * per_run
    assert runs(events, f"{lost} events of jit_layer are left out: there is no room")
