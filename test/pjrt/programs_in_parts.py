"""
Programs of JAX over several of our devices, four of them, and by default: `test_devices.py` runs
this file in a process where it is so.
"""

import os
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback
from jax.sharding import NamedSharding, PartitionSpec
from jax_programs.custom_partitioning import PARTS, sums_and_next
from jaxlib.xla_client import DeviceList

from lowerings.execution import joint_runs
from lowerings.execution.executable import Executable
from lowerings.execution.runnable import PartitionedProgram
from lowerings.pjrt.inspection import LOADED

MESH = jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
SPECS = [("x", "y"), ("y",), (("y", "x"),), (None, "x"), ()]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_devices_share_arrays(spec):
    sharding = NamedSharding(MESH, PartitionSpec(*spec))
    given = np.arange(64.0, dtype=np.float32).reshape(8, 8)
    array = jax.device_put(given, sharding)
    np.testing.assert_array_equal(array, given)
    result = jax.jit(lambda x: jnp.sin(x).T, out_shardings=sharding)(array)
    assert result.sharding == sharding
    np.testing.assert_allclose(result, np.sin(given).T, 1e-6)
    np.testing.assert_allclose(jax.jit(jnp.sum)(array), given.sum())


def test_results_are_shared_as_their_operands_are():
    array = jax.device_put(np.arange(64.0).reshape(8, 8), NamedSharding(MESH, PartitionSpec("x")))
    assert jax.jit(lambda x: (x + 1).T)(array).sharding.spec == PartitionSpec(None, "x")
    compiled = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, array.sharding)).lower(array)
    assert "f32[4,8]" in (compiled.compile().as_text() or "")


@pytest.mark.parametrize("dtypes", [("f4", "i4"), ("bool", "u1", "f2", "c8"), ("i4", "i4", "f4")])
def test_collectives_of_several_types_are_shown(dtypes):
    def exchanged(*arrays: Any) -> Any:
        parts = [x if x.dtype == bool else x + 1 for x in arrays]
        gathered = [jax.lax.all_gather(x, ("x", "y"), tiled=True) for x in parts]
        turned = [jax.lax.all_to_all(x, ("x", "y"), 1, 0, tiled=True) for x in parts]
        shifted = [jax.lax.ppermute(x, "x", [(0, 1), (1, 0)]) for x in parts]
        sums = [jax.lax.psum(x, "x") for x in parts]
        return [x.sum(0) for x in gathered], turned, shifted, sums

    rows, columns = PartitionSpec(("x", "y")), PartitionSpec(None, ("x", "y"))
    mapped = jax.shard_map(exchanged, mesh=MESH, in_specs=rows, out_specs=rows, check_vma=False)
    arrays = [
        jax.device_put(np.arange(64).reshape(8, 8).astype(dtype), NamedSharding(MESH, rows))
        for dtype in dtypes
    ]
    whole = NamedSharding(MESH, PartitionSpec())
    turned = NamedSharding(MESH, columns)
    for function, shardings in (
        (mapped, None),
        (lambda *xs: xs, whole),
        (lambda *xs: [jax.lax.with_sharding_constraint(x, turned) for x in xs], whole),
    ):
        compiled = jax.jit(function, out_shardings=shardings).lower(*arrays).compile()
        text = compiled.as_text() or ""
        name = {"f4": "f32", "i4": "s32", "c8": "c64"}[dtypes[-1]]
        assert re.search(rf"{name}\[[0-9,]+\]\S* all-gather\(", text)


LEFT_OPEN = {
    "sinh": jnp.sinh,
    "arccosh": lambda x: jnp.arccosh(x + 1),
    "top_k": lambda x: jax.lax.top_k(x, 3),
    "erf_inv": jax.lax.erf_inv,
    "products": lambda x: (x @ x.T, x.T @ x, x.sum(0)),
    "argsort": lambda x: jnp.argsort(x, 0),
    "reshape": lambda x: (x.reshape(2, 2, 8), x.reshape(-1)),
    "cholesky": lambda x: jnp.linalg.cholesky(x[:, :, None, None] * jnp.eye(2)),
}


@pytest.fixture(params=["shardy", "gspmd"])
def partitioner(request: pytest.FixtureRequest) -> Iterator[str]:
    """JAX prints for Shardy, or for the partitioner before it."""
    before = jax.config.values["jax_use_shardy_partitioner"]
    jax.config.update("jax_use_shardy_partitioner", request.param == "shardy")
    yield request.param
    jax.config.update("jax_use_shardy_partitioner", before)


@pytest.mark.parametrize("name", LEFT_OPEN)
def test_results_are_shared_as_on_xla(name: str, partitioner: str):
    if (name, partitioner) == ("top_k", "gspmd"):
        pytest.skip("the partitioner before Shardy splits no top-k, ours does")
    given = np.random.default_rng(0).uniform(0.1, 0.9, (4, 8)).astype(np.float32)
    results: list[Any] = []
    for devices in (jax.devices()[:4], jax.devices("cpu")[:4]):
        mesh = jax.sharding.Mesh(np.array(devices).reshape(2, 2), ("x", "y"))
        array = jax.device_put(given, NamedSharding(mesh, PartitionSpec("x", "y")))
        results.append(jax.tree.leaves(jax.jit(LEFT_OPEN[name])(array)))
    for ours, theirs in zip(*results, strict=True):
        assert ours.sharding.spec == theirs.sharding.spec
        np.testing.assert_allclose(ours, theirs, 1e-5, 1e-5)


def chosen_logarithms(parameters: Any, x: Any, labels: Any) -> Any:
    """A loss with functions that are called, and biases."""
    w, b, _, last, c = parameters
    dropped = jax.random.bernoulli(jax.random.key(0), 0.5, (8, 16))
    logits = (jax.nn.silu(x @ w + b[None]) * dropped) @ last + c[None]
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))


def squares_behind_layers(parameters: Any, x: Any, labels: Any) -> Any:
    """A loss with a loop over layers."""
    w, b, layers, last, _ = parameters

    def layer(x: Any, own: Any) -> tuple[Any, None]:
        return x + jax.nn.silu(x @ own[0] + own[1]), None

    dropped = jax.random.bernoulli(jax.random.key(0), 0.5, (8, 16))
    first = jax.nn.relu(x @ w + b) * dropped
    deep = jax.lax.scan(jax.remat(layer), first, layers)[0] @ last
    return jnp.mean((deep - labels[:, None]) ** 2)


LOSSES = (chosen_logarithms, squares_behind_layers)
KERNELS: Any = (("x",), (None, "y"))
BATCHES: Any = (("x",), (("x", "y"),), ("x", "y"))


@pytest.mark.parametrize(
    ("loss", "kernel", "batch"),
    [
        pytest.param(
            *(LOSSES[n], KERNELS[k], BATCHES[b]),
            marks=() if n == k == b else pytest.mark.full,
        )
        for n in range(2)
        for k in range(2)
        for b in range(3)
    ],
)
def test_states_are_shared_as_by_xla(loss, kernel, batch):
    values = np.random.default_rng(0).standard_normal(400).astype(np.float32) / 8

    def step(parameters: Any, momenta: Any, *given: Any) -> tuple[Any, Any]:
        gradient = jax.grad(loss)(parameters, *given)
        momenta = jax.tree.map(lambda m, g: 0.9 * m + g, momenta, gradient)
        return jax.tree.map(lambda p, m: p - 0.1 * m, parameters, momenta), momenta

    def shardings(backend: str) -> Any:
        mesh = jax.sharding.Mesh(np.array(jax.devices(backend)[:4]).reshape(2, 2), MESH.axis_names)

        def of(shape: tuple[int, ...], *spec: Any) -> Any:
            sharding = NamedSharding(mesh, PartitionSpec(*spec))
            return jax.device_put(np.resize(values, shape), sharding)

        layers = of((3, 16, 16), None, *kernel), of((3, 16))
        state = of((8, 16), *kernel), of((16,)), layers, of((16, 4), *kernel), of((4,))
        given = of((8, 8), *batch), of((8,), *batch[:1]).astype(int)
        compiled = jax.jit(step).lower(state, state, *given).compile()
        found = [each.spec for each in jax.tree.leaves(compiled.output_shardings)]
        if found == [each.sharding.spec for each in jax.tree.leaves((state, state))]:
            compiled(*compiled(state, state, *given), *given)
        return found

    assert shardings("xdsl") == shardings("cpu")


def test_programs_without_results_run_on_several_devices():
    log = []
    spread = jax.device_put(jnp.arange(8.0), NamedSharding(MESH, PartitionSpec("x")))
    jax.jit(lambda x: jax.debug.callback(lambda v: log.append(float(v)), x.sum()))(spread)
    jax.effects_barrier()
    assert set(log) == {28.0}


def test_devices_work_together():
    summed = jax.shard_map(
        lambda x: jax.lax.psum(x * jax.lax.axis_index("x"), "x"),
        mesh=MESH,
        in_specs=PartitionSpec("x"),
        out_specs=PartitionSpec(),
    )
    np.testing.assert_array_equal(jax.jit(summed)(jnp.arange(8.0)), np.arange(4.0, 8.0))
    mapped = jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")
    np.testing.assert_array_equal(mapped(jnp.arange(4.0)), np.full(4, 6.0))


def test_devices_call_functions_of_python():
    log = []

    @jax.pmap
    def function(x):
        jax.debug.callback(lambda v: log.append(int(v)), x)
        return x + 1

    np.testing.assert_array_equal(function(jnp.arange(4)), np.arange(1, 5))
    jax.effects_barrier()
    assert sorted(log) == [0, 1, 2, 3]


def test_each_device_calls_functions_in_its_order(partitioner: str):
    log = []

    spec = PartitionSpec(("x", "y"))

    @jax.jit
    @jax.shard_map(mesh=MESH, in_specs=spec, out_specs=spec)
    def function(x):
        for number in range(3):
            note = partial(lambda number, x: log.append((x.item(), number)), number)
            io_callback(note, None, x, ordered=True)
        return x * 2

    np.testing.assert_array_equal(function(jnp.arange(4)), [0, 2, 4, 6])
    jax.effects_barrier()
    assert [[n for x, n in log if x == device] for device in range(4)] == [[0, 1, 2]] * 4


def told_twice(tell: Callable[[Any], None], x: Any) -> Any:
    tell(x)
    whole = jax.lax.psum(x, "x")
    tell(whole)
    return x + whole


def told_in_a_loop(tell: Callable[[Any], None], x: Any) -> Any:
    def body(_: Any, x: Any) -> Any:
        tell(x)
        return x + 1

    return jax.lax.fori_loop(0, 2, body, x)


def told_by_some(tell: Callable[[Any], None], x: Any) -> Any:
    def then(x: Any) -> Any:
        tell(x)
        return x * 2

    return jax.lax.cond(x.sum() > 5, then, lambda x: x, x)


@pytest.mark.parametrize("ordered", [False, True], ids=["in any order", "in order"])
@pytest.mark.parametrize("told", [told_twice, told_in_a_loop, told_by_some])
def test_devices_tell_each_its_part(told: Callable[..., Any], ordered: bool):
    results: list[Any] = []
    for backend in ("xdsl", "cpu"):
        log: list[tuple[int, list[float]]] = []
        mesh = jax.sharding.Mesh(np.array(jax.devices(backend)[:4]), ("x",))

        def tell(x: Any, log: list[Any] = log) -> None:
            def note(number: Any, x: Any) -> None:
                log.append((int(number), np.asarray(x).tolist()))

            io_callback(note, None, jax.lax.axis_index("x"), x, ordered=ordered)

        rows = PartitionSpec("x")
        parts = jax.shard_map(partial(told, tell), mesh=mesh, in_specs=rows, out_specs=rows)
        x = jax.device_put(np.arange(8, dtype=np.float32), NamedSharding(mesh, rows))
        compiled = jax.jit(lambda x, parts=parts: parts(x * 2)).lower(x).compile()
        assert "custom-call" in (compiled.as_text() or "")
        found = np.asarray(compiled(x)).tolist()
        jax.effects_barrier()
        results.append((found, sorted(log, key=lambda each: each[0]) if ordered else sorted(log)))
    assert results[0] == results[1]


def test_each_device_computes_its_part():
    rows = NamedSharding(MESH, PartitionSpec("x", "y"))
    columns = NamedSharding(MESH, PartitionSpec("y"))
    a = np.arange(32.0, dtype=np.float32).reshape(4, 8)
    b = np.arange(48.0, dtype=np.float32).reshape(8, 6)
    lowered = jax.jit(jnp.matmul).lower(jax.device_put(a, rows), jax.device_put(b, columns))
    compiled = lowered.compile()
    text = compiled.as_text() or ""
    assert "all-reduce(" in text
    assert "f32[2,4]" in text
    assert "f32[4,8]" not in text
    executable = compiled.runtime_executable()
    assert executable is not None
    program = next(
        loaded.compiled.program
        for loaded in LOADED.values()
        if loaded.compiled.fingerprint.encode() == executable.fingerprint
    )
    assert isinstance(program, PartitionedProgram)
    np.testing.assert_array_equal(compiled(*compiled_arguments(a, rows, b, columns)), a @ b)


def compiled_arguments(a, rows, b, columns):
    return jax.device_put(a, rows), jax.device_put(b, columns)


def test_arrays_are_unreduced():
    mesh = jax.make_mesh((4,), ("i",))
    with jax.set_mesh(mesh):
        spread = jax.device_put(np.arange(8.0, dtype=np.float32), PartitionSpec("i"))
        product = jax.jit(
            lambda x: jnp.einsum(
                "a,a->", x, x, out_sharding=PartitionSpec(unreduced=frozenset("i"))
            )
        )(spread)
        assert [float(part.data) for part in product.addressable_shards] == [1, 13, 41, 85]
        assert float(jax.reshard(product, PartitionSpec())) == 140
        whole = jax.device_put(np.float32(5), PartitionSpec())
        terms = jax.reshard(whole, PartitionSpec(unreduced=frozenset("i")))
        blocks = jax.reshard(spread, PartitionSpec(None, unreduced=frozenset("i")))
        np.testing.assert_array_equal(blocks.addressable_shards[1].data, [0, 0, 2, 3, 0, 0, 0, 0])
        np.testing.assert_array_equal(jax.reshard(blocks, PartitionSpec("i")), spread)
        assert sum(float(part.data) for part in terms.addressable_shards) == 5
        assert float(jax.reshard(terms, PartitionSpec())) == 5


def test_terms_enter_a_manual_computation_as_terms():
    mesh = jax.make_mesh((2, 2), ("x", "y"))
    weights = np.arange(32, dtype=np.float32).reshape(8, 4)
    with jax.set_mesh(mesh):
        split = jax.device_put(weights + 1, PartitionSpec("x", "y"))
        scales = jax.device_put(weights, PartitionSpec("x", None))

        @jax.shard_map(out_specs=PartitionSpec(reduced=frozenset("y")))
        def loss(x, w):
            rows = jax.lax.all_gather(x, "y", axis=1, tiled=True, to="reduced")
            return jax.lax.psum(jnp.sum(rows * w), "x")

        gradient = jax.jit(jax.grad(loss))(
            split, jax.reshard(scales, PartitionSpec("x", None, reduced=frozenset("y")))
        )
    np.testing.assert_array_equal(gradient, weights)


def inspected(function: Callable[..., Any], callback: Callable[[Any], None]) -> Any:
    def computed(x):
        y = function(x)
        jax.debug.inspect_array_sharding(y, callback=callback)
        return y

    return computed


def test_programs_tell_how_devices_share_their_arrays():
    log: list[Any] = []
    sharding = NamedSharding(MESH, PartitionSpec("x", "y"))
    array = jax.device_put(np.arange(64.0).reshape(8, 8), sharding)
    turned = jax.jit(inspected(lambda x: jnp.sin(x).T, log.append)).lower(array).compile()
    assert log == [turned(array).sharding]
    assert log[0].spec == PartitionSpec("y", "x")
    # Whoever loads the program, perhaps in another process, has asked for nothing.
    client, devices = jax.devices()[0].client, DeviceList(tuple(jax.devices()))
    kept = cast(Any, turned.runtime_executable()).serialize()
    client.deserialize_executable(kept, devices)
    assert len(log) == 1

    jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda _, y: inspected(jnp.cos, log.append)(y), x))(
        array
    )
    assert log[1:] == [sharding]
    spec = PartitionSpec("x")
    jax.jit(
        jax.shard_map(inspected(jnp.sin, log.append), mesh=MESH, in_specs=spec, out_specs=spec)
    )(array)
    assert log[2].spec == PartitionSpec()


def test_an_error_of_who_is_told_is_that_of_the_program():
    def fails(sharding):
        raise ValueError("not today")

    array = jax.device_put(jnp.arange(8.0), NamedSharding(MESH, PartitionSpec("x")))
    with pytest.raises(jax.errors.JaxRuntimeError, match="not today"):
        jax.jit(inspected(jnp.sin, fails))(array)


def communicating_programs() -> list[tuple[Callable[..., Any], jax.Array]]:
    """One without communication, one with each kind of collective, and one with ten in a loop."""
    mesh = jax.make_mesh((4,), ("x",))
    part, lax = PartitionSpec("x"), jax.lax
    given = jax.device_put(np.arange(64, dtype=np.float32), NamedSharding(mesh, part))

    def all_kinds(x):
        total = lax.psum_scatter(x, "x", tiled=True)
        whole = lax.all_gather(total * 2, "x", tiled=True)
        moved = lax.ppermute(whole, "x", [(0, 2), (2, 3), (3, 0)])
        return lax.all_to_all(moved + lax.axis_index("x"), "x", 0, 0, tiled=True)

    def loop(x):
        return lax.scan(lambda c, _: (c / 2 + lax.psum(c, "x") / 8, None), x, None, 10)[0]

    def shared(function):
        return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=part, out_specs=part))

    found = [jax.jit(lambda x: jnp.sin(x) * 2), shared(all_kinds), shared(loop)]
    return [(function, given) for function in found]


def threads_of_this_process() -> int:
    return len(os.listdir("/proc/self/task"))


def test_short_programs_start_no_threads(monkeypatch: pytest.MonkeyPatch):
    # How long a run takes is for no test to say.
    monkeypatch.setattr(joint_runs, "LONG_RUN", 60.0)
    programs = communicating_programs()
    before = threads_of_this_process()
    for function, given in programs:
        function(given)
    assert threads_of_this_process() == before


def test_short_programs_need_no_python_after_some_calls(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(joint_runs, "LONG_RUN", 60.0)
    programs = communicating_programs()
    expected = [
        np.asarray([function(given) for _ in range(4)]).max(0) for function, given in programs
    ]
    monkeypatch.delattr(Executable, "run_jointly")
    for (function, given), same in zip(programs, expected, strict=True):
        np.testing.assert_array_equal(function(given), same)


def test_short_programs_run_at_the_same_time():
    (_, (function, given), _) = communicating_programs()
    expected = np.asarray(function(given))
    found: list[np.ndarray] = []

    def call() -> None:
        found.extend(np.asarray(function(given)) for _ in range(100))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    np.testing.assert_array_equal(found, np.broadcast_to(expected, (400, *expected.shape)))


def test_threads_of_long_programs_are_kept(monkeypatch: pytest.MonkeyPatch):
    expected = [np.asarray(function(given)) for function, given in communicating_programs()]
    monkeypatch.setattr(joint_runs, "LONG_RUN", 0.0)
    monkeypatch.setattr(joint_runs, "LONG_RUNS", 1)
    counts: list[int] = []
    programs = communicating_programs()
    for _ in range(3):
        for (function, given), same in zip(programs, expected, strict=True):
            for _ in range(3):
                np.testing.assert_array_equal(function(given), same)
        counts.append(threads_of_this_process())
    assert counts[1:] == counts[:1] * 2


def test_donated_arrays_of_several_devices_are_gone():
    spread = jax.device_put(np.arange(8.0), NamedSharding(MESH, PartitionSpec("x")))
    result = jax.jit(lambda x: x + 1, donate_argnums=0)(spread)
    assert spread.is_deleted()
    np.testing.assert_array_equal(result, np.arange(1.0, 9.0))


def test_devices_print_their_parts():
    log = []
    spread = jax.device_put(np.arange(4), NamedSharding(MESH, PartitionSpec(("x", "y"))))
    jax.jit(lambda x: jax.debug.callback(lambda v: log.append(v.tolist()), x, partitioned=True))(
        spread
    )
    jax.effects_barrier()
    assert sorted(log) == [[0], [1], [2], [3]]


def test_a_computation_uses_constants_of_outside():
    rows = jax.device_put(
        np.array([3.0, -0.0, 0.0, np.nan]), NamedSharding(MESH, PartitionSpec("x"))
    )
    np.testing.assert_array_equal(jax.jit(jnp.sort)(rows), np.sort(rows))


def test_a_row_of_one_device_is_everybodys():
    rows = jax.device_put(np.arange(8).reshape(2, 4), NamedSharding(MESH, PartitionSpec("x")))
    whole = NamedSharding(MESH, PartitionSpec())
    first = jax.jit(lambda x: jax.lax.slice(x, (0, 0), (1, 4)).reshape(4), out_shardings=whole)
    for shard in first(rows).addressable_shards:
        np.testing.assert_array_equal(shard.data, np.arange(4))


def test_authors_say_what_devices_compute():
    x = np.arange(48.0, dtype=np.float32).reshape(8, 6)
    given = jax.device_put(x, NamedSharding(MESH, PartitionSpec("x", "y")))
    PARTS.clear()
    sums, following = jax.jit(lambda x: sums_and_next(x, 2.0))(given)
    assert set(PARTS) == {(4, 3)}
    assert following.sharding == given.sharding
    np.testing.assert_array_equal(sums, x.sum(1) * 2)
    np.testing.assert_array_equal(following, x + 1)


def test_devices_that_wait_for_ever_are_told():
    def function(x, all_sum):
        return jax.lax.cond(
            all_sum | (jax.lax.axis_index("x") == 0),
            lambda y: jax.lax.psum(y, "x"),
            lambda y: y,
            x,
        )

    part, whole = PartitionSpec("x"), PartitionSpec()
    shared = jax.jit(
        jax.shard_map(function, mesh=MESH, in_specs=(part, whole), out_specs=part, check_vma=False)
    )
    mesh = NamedSharding(MESH, part)
    given = jax.device_put(np.arange(8.0), mesh)
    yes, no = (jax.device_put(flag, NamedSharding(MESH, whole)) for flag in (True, False))
    expected = np.asarray(shared(given, yes))
    # From some call on it is machine code that finds out.
    for calls in range(6):
        for _ in range(calls):
            np.testing.assert_array_equal(shared(given, yes), expected)
        with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match="waits forever"):
            shared(given, no)


def test_donated_arrays_without_a_result_of_their_type_stay():
    """As on XLA's CPU: memory that no result can have is not taken away."""
    sharding = NamedSharding(MESH, PartitionSpec("x"))
    for function, is_gone in ((lambda x: x @ x.T, False), (lambda x: x + 1, True)):
        x = jax.device_put(np.arange(16).reshape(8, 2), sharding)
        with warnings.catch_warnings():
            # JAX says so, too, where it knows.
            warnings.simplefilter("ignore", UserWarning)
            jax.block_until_ready(jax.jit(function, donate_argnums=0)(x))
        assert x.is_deleted() == is_gone
