"""Programs for several devices, under shard_map."""

from collections.abc import Callable
from typing import Any

import numpy as np
from peers import DEVICES, has_jax

from jax_programs.program import EXACT, SUMS, Bound, JaxProgram

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import Mesh, PartitionSpec

RANDOM = np.random.default_rng(10)
WHOLE = RANDOM.integers(-9, 9, (DEVICES, 8)).astype(np.float32)
X = RANDOM.standard_normal((DEVICES, 8)).astype(np.float32)
W = RANDOM.standard_normal((8, 8)).astype(np.float32)


def on_mesh(
    function: Callable[..., Any], inputs: Any, outputs: Any, names: tuple[str, ...] = ("x",)
) -> Callable[..., Any]:
    """A function of shards as one of whole arrays, over all devices, in as many dimensions."""

    def whole(*arguments: Any) -> Any:
        sizes = (DEVICES,) if len(names) == 1 else (2, DEVICES // 2)
        mesh = Mesh(np.array(jax.devices()[:DEVICES]).reshape(sizes), names)
        mapped = jax.shard_map(
            function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False
        )
        return mapped(*arguments)

    return whole


def exchanges(x: Any) -> Any:
    """Every collective, of whole numbers."""
    ring = [(i, (i + 1) % DEVICES) for i in range(DEVICES)]
    return (
        *(lax.psum(x, "x"), lax.pmax(x, "x"), lax.pmin(x, "x"), lax.pmean(x, "x")),
        *(
            lax.ppermute(x, "x", ring),
            lax.ppermute(x, "x", ring[:2]),
            lax.pshuffle(x, "x", [1, 0, 3, 2]),
        ),
        *(lax.all_gather(x, "x")[:1, 0] * 1, lax.all_gather(x, "x", tiled=True).sum(0)[None]),
        lax.all_to_all(x, "x", 1, 0, tiled=True).reshape(1, 8),
        lax.psum_scatter(x[0], "x", tiled=True)[None],
        lax.psum(x, "x", axis_index_groups=[[0, 3], [1, 2]]),
        jnp.full((1, 2), lax.axis_index("x")) * 10 + lax.axis_size("x"),
    )


def two_dimensional(x: Any) -> Any:
    """Collectives along one dimension of the mesh, or both."""
    return lax.psum(x, "a"), lax.psum(x, "b"), lax.psum(x, ("a", "b")), lax.all_gather(x, "b", axis=1, tiled=True)  # fmt: skip


def parallel_step(w: Any, x: Any) -> Any:
    """Data-parallel: gradients of shards, averaged."""
    loss, gradient = jax.value_and_grad(lambda w: (jnp.tanh(x @ w) ** 2).mean())(w)
    return lax.pmean(loss, "x")[None], w - 0.1 * lax.pmean(gradient, "x")


def sharded_product(x: Any, w: Any) -> Any:
    """Tensor-parallel: the contracted dimension is split."""
    return lax.psum(x @ w, "x")


def pipeline(x: Any) -> Any:
    """A ring of shards, in a loop."""
    ring = [(i, (i + 1) % DEVICES) for i in range(DEVICES)]

    def step(_: Any, carry: Any) -> Any:
        shard, total = carry
        return lax.ppermute(shard, "x", ring), total * 2 + shard

    return lax.fori_loop(0, DEVICES, step, (x, jnp.zeros_like(x)))


def programs() -> dict[str, JaxProgram]:
    """By name."""
    spec = PartitionSpec
    rows, columns = spec("x"), spec(None, "x")
    return {
        "exchanges": JaxProgram(
            on_mesh(exchanges, rows, rows), (WHOLE,), bound=EXACT, devices=DEVICES
        ),
        "two_dimensional": JaxProgram(
            on_mesh(two_dimensional, spec("a", "b"), spec("a", "b"), ("a", "b")),
            (WHOLE,),
            bound=EXACT,
            devices=DEVICES,
        ),
        "data_parallel": JaxProgram(
            on_mesh(parallel_step, (spec(), rows), (rows, spec())),
            (W / 4, X),
            bound=SUMS,
            devices=DEVICES,
        ),
        "tensor_parallel": JaxProgram(
            on_mesh(sharded_product, (columns, rows), spec()), (X, W), bound=SUMS, devices=DEVICES
        ),
        "pipeline": JaxProgram(
            on_mesh(pipeline, rows, rows), (WHOLE,), bound=EXACT, devices=DEVICES
        ),
        "collective_gradient": JaxProgram(
            jax.grad(
                lambda x: on_mesh(lambda v: lax.psum(jnp.sin(v), "x") * v, rows, rows)(x).sum()
            ),
            (X,),
            bound=Bound(64, "sums over devices of functions, times the values"),
            devices=DEVICES,
        ),
    }
