"""Small programs that together use most of HLO and are quick to compile."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from peers import DEVICES, has_jax

from jax_programs.program import Bound, JaxProgram

if has_jax():
    import jax
    import jax.numpy as jnp
    import jax.scipy.linalg
    from jax import lax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
N = np.arange(12, dtype=np.int32).reshape(3, 4)
SQUARE = np.eye(4, dtype=np.float32) * 3 + np.arange(16, dtype=np.float32).reshape(4, 4) / 32
IMAGE = np.linspace(-1, 1, 2 * 8 * 8 * 3, dtype=np.float32).reshape(2, 8, 8, 3)
KERNEL = np.linspace(-1, 1, 3 * 3 * 3 * 4, dtype=np.float32).reshape(3, 3, 3, 4)
ROWS = np.arange(DEVICES * 4, dtype=np.float32).reshape(DEVICES, 4)


SATURATED = Bound(8192, "1 - tanh(x)^2 where tanh(x) is almost 1, and XLA CPU rounds it to less")


def _mesh() -> Any:
    return Mesh(np.array(jax.devices()[:DEVICES]), ("x",))


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on every device, on a row each."""
    rows = PartitionSpec("x")

    def on_mesh(x: Any) -> Any:
        return jax.shard_map(
            function, mesh=_mesh(), in_specs=rows, out_specs=rows, check_vma=False
        )(x)

    return on_mesh


def network(weights: Any, x: Any) -> Any:
    """Two layers."""
    return jnp.tanh(jax.nn.relu(x @ weights["a"]) @ weights["b"]).sum()


def convolution(image: Any, kernel: Any) -> Any:
    """Strided, padded, with channels last."""
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(image, kernel, (2, 1), "SAME", dimension_numbers=numbers)


def constrained(x: Any) -> Any:
    """A sharding in the middle."""
    sharding = NamedSharding(_mesh(), PartitionSpec("x"))
    return lax.with_sharding_constraint(x * 2, sharding).sum()


def nested_loops(x: Any) -> Any:
    """A loop in a loop, with a branch in it that uses values of all of them."""
    scale = x.sum()

    def inner(i: Any, carry: Any) -> Any:
        return lax.cond(i > 1, lambda v: v * scale + i, lambda v: v - x[0], carry)

    return lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, i, inner, c), x[1])


def searching(x: Any) -> Any:
    """A loop that stops by what it finds."""
    return lax.while_loop(
        lambda c: (c[0] < 20) & (c[1].sum() < 100), lambda c: (c[0] + 1, c[1] * 2), (0, x)
    )


def scanned(x: Any) -> Any:
    """A scan with outputs, and its gradient."""

    def run(start: Any) -> Any:
        last, means = lax.scan(lambda c, row: (jnp.sin(c + row), c.mean()), start, x)
        return last.sum() + means.sum()

    return jax.value_and_grad(run)(x[0])


def hinted(x: Any) -> Any:
    """Operations of precisions and element types that HLO text has attributes for."""
    wide = jnp.dot(x, x.T, precision="highest")
    narrow = lax.dot_general(
        x.astype(jnp.bfloat16),
        x.astype(jnp.bfloat16),
        (((1,), (1,)), ((), ())),
        preferred_element_type=jnp.float32,
    )
    return lax.optimization_barrier((wide, narrow, lax.reduce_precision(x, 5, 7)))


def scattered(x: Any, i: Any) -> Any:
    """Updates of single rows, in the ways that there are."""
    return (
        x.at[i].add(1),
        x.at[i, 0].set(2, unique_indices=True),
        x.at[i].max(3.0),
        x.at[1:3].mul(2),
    )


def _gradients() -> dict[str, JaxProgram]:
    """What JAX differentiates and batches."""
    weights = {"a": np.ones((4, 5), np.float32), "b": np.ones((5, 2), np.float32)}
    return {
        "gradient": JaxProgram(jax.grad(network), (weights, X), bound=SATURATED),
        "hessian": JaxProgram(jax.hessian(lambda x: jnp.sum(jnp.tanh(x) ** 3)), (X[0],)),
        "batched": JaxProgram(jax.vmap(jax.grad(lambda x: jnp.prod(jnp.cos(x)))), (X,)),
        "checkpoint": JaxProgram(jax.grad(lambda x: jax.checkpoint(jnp.sin)(x).sum()), (X,)),
        "custom_rule": JaxProgram(jax.grad(lambda x: jax.nn.relu(x).sum()), (X,)),
        "loss": JaxProgram(
            partial(jax.value_and_grad(lambda w, x: -jax.nn.log_softmax(x @ w)[:, 0].mean())),
            (np.ones((4, 3), np.float32), X),
        ),
    }


def _windows() -> dict[str, JaxProgram]:
    """Convolutions, pooling and cumulative operations."""
    return {
        "convolution": JaxProgram(convolution, (IMAGE, KERNEL)),
        "convolution_gradient": JaxProgram(
            jax.grad(lambda k, i: convolution(i, k).sum()), (KERNEL, IMAGE)
        ),
        "depthwise": JaxProgram(
            lambda i, k: lax.conv_general_dilated(
                i,
                k,
                (1, 1),
                ((1, 1), (0, 2)),
                rhs_dilation=(2, 1),
                feature_group_count=3,
                dimension_numbers=("NHWC", "HWIO", "NHWC"),
            ),
            (IMAGE, np.ones((3, 3, 1, 3), np.float32)),
        ),
        "pooling_gradient": JaxProgram(
            jax.grad(
                lambda i: lax.reduce_window(
                    i, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"
                ).sum()
            ),
            (IMAGE,),
        ),
        "cumulative": JaxProgram(lambda x: (jnp.cumsum(x, 1), lax.cummax(x)), (X,)),
        "associative_scan": JaxProgram(lambda x: lax.associative_scan(jnp.add, x), (X,)),
    }


def _control_flow() -> dict[str, JaxProgram]:
    """Sorting with comparators, loops and branches."""
    return {
        "sort": JaxProgram(
            lambda x, n: (jnp.sort(x), jnp.argsort(-x, 0), lax.sort((n, x))), (X, N)
        ),
        "top_k": JaxProgram(lambda x: lax.top_k(x, 2), (X,)),
        "median": JaxProgram(lambda x: (jnp.median(x), jnp.unique(x, size=5)), (X,)),
        "scan": JaxProgram(scanned, (X,)),
        "while": JaxProgram(searching, (X,)),
        "nested_loops": JaxProgram(nested_loops, (X,)),
        "switch": JaxProgram(
            lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda v: v + i], x), (np.int32(1), X)
        ),
    }


def _custom_calls() -> dict[str, JaxProgram]:
    """Linear algebra, Fourier transforms and random numbers."""
    key = np.array([1, 2], np.uint32)
    return {
        "cholesky": JaxProgram(jnp.linalg.cholesky, (SQUARE,)),
        "qr": JaxProgram(jnp.linalg.qr, (SQUARE,)),
        "solve": JaxProgram(
            lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True, trans=1), (SQUARE, X.T)
        ),
        "svd": JaxProgram(jnp.linalg.svd, (SQUARE,)),
        "eigenvalues": JaxProgram(jnp.linalg.eigh, (SQUARE,)),
        "fft": JaxProgram(
            lambda x: (jnp.fft.rfft(x), jnp.fft.ifftn(x), jnp.fft.irfft(x + 0j)), (X,)
        ),
        "random": JaxProgram(
            lambda k: (
                jax.random.normal(k, (4,)),
                jax.random.bits(k),
                jax.random.permutation(k, 5),
            ),
            (key,),
        ),
        "random_bits": JaxProgram(
            lambda k: lax.rng_bit_generator(k, (3,)), (np.arange(4, dtype=np.uint32),)
        ),
    }


def _indexing() -> dict[str, JaxProgram]:
    """Gathers, scatters and slices."""
    return {
        "gather": JaxProgram(
            lambda x, i: (x[i], jnp.take_along_axis(x, x.argsort(1), 1)), (X, N[0] % 3)
        ),
        "scatter": JaxProgram(scattered, (X, np.array([0, 2]))),
        "segments": JaxProgram(
            lambda x, i: jax.ops.segment_sum(x, i, num_segments=2), (X, np.array([0, 1, 1]))
        ),
        "dynamic_slices": JaxProgram(
            lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (1, 4)), (0, i)),
            (X, np.int32(1)),
        ),
    }


def _values() -> dict[str, JaxProgram]:
    """Element types, constants, hints and donation."""
    return {
        "donated": JaxProgram(
            lambda x, y: (x + 1, y - 1, y.sum()), (X, N), {"donate_argnums": (0, 1)}
        ),
        "types": JaxProgram(
            lambda x: [
                x.astype(t) for t in (jnp.int4, jnp.uint4, jnp.float8_e4m3fn, jnp.float8_e5m2, bool)
            ],
            (X,),
        ),
        "constants": JaxProgram(
            lambda x: (
                x + np.array([[np.nan, -1e-7, np.inf, 1e-45]], np.float32),
                np.array([1 + 2j, 3], np.complex64),
                jnp.array([-8, 7], jnp.int4),
                np.arange(300, dtype=np.float32).reshape(2, 3, 5, 10) / 7,
            ),
            (X,),
        ),
        "complex": JaxProgram(lambda x: (jnp.abs(x * 1j + 2), jnp.angle(x + 1j)), (X,)),
        "hinted": JaxProgram(hinted, (X,)),
        "zero_sizes": JaxProgram(
            lambda x: (x.sum(0), jnp.concatenate([x, x]), ()), (np.zeros((0, 3), np.float32),)
        ),
        "nothing": JaxProgram(lambda: (), ()),
    }


def _collectives() -> dict[str, JaxProgram]:
    """Programs for several devices."""
    ring = [(i, (i + 1) % DEVICES) for i in range(DEVICES)]
    functions: dict[str, Callable[..., Any]] = {
        "psum": _spread(lambda x: lax.psum(x, "x")),
        "all_gather": _spread(lambda x: lax.all_gather(x, "x", tiled=True)[:1]),
        "ring": _spread(lambda x: lax.ppermute(x, "x", ring)),
        "reduce_scatter": _spread(lambda x: lax.psum_scatter(x[0], "x", tiled=True)),
        "all_to_all": _spread(lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True).reshape(1, -1)),
        "constrained": constrained,
    }
    return {
        name: JaxProgram(function, (ROWS,), devices=DEVICES) for name, function in functions.items()
    }


_GROUPS = (
    _gradients,
    _windows,
    _control_flow,
    _custom_calls,
    _indexing,
    _values,
    _collectives,
)


def programs() -> dict[str, JaxProgram]:
    """By name."""
    return {name: program for group in _GROUPS for name, program in group().items()}
