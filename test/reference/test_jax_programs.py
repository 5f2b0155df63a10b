"""JAX programs, read from HLO text, beside what XLA CPU computes from the same inputs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from peers import has_jax
from small_programs import same
from sweeps import each_or_full

from xla_dialect.hlo_text import read_hlo
from xla_dialect.literals.arrays import flatten_results, numpy_dtype
from xla_dialect.reference import run
from xla_dialect.runtime.runs import nest_arguments
from xla_dialect.types import BY_NAME, ElementClass

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

pytestmark = pytest.mark.jax

MOVED = ("pred", "s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f8e5m2")
FLOATS = ("f8e4m3fn", "bf16", "f16", "f32", "f64", "c64", "c128")


def values(name: str, *sizes: int, seed: int = 1) -> np.ndarray:
    """Small numbers, so that sums of a few of them are exact in every type."""
    random = np.random.default_rng(seed)
    dtype = numpy_dtype(BY_NAME[name].type)
    if name == "pred":
        return random.integers(0, 2, sizes).astype(bool)
    numbers = (
        random.integers(0, 4, sizes) if name.startswith("u") else random.integers(-3, 4, sizes)
    )
    return numbers.astype(dtype)


def compare(function: Callable[..., Any], *arguments: Any, rtol: float | None = None) -> None:
    """Runs a JAX function on XLA, and its HLO text on the reference: the same, or within rtol."""
    with jax.enable_x64(True):
        lowered = jax.jit(function).lower(*arguments)
        expected = [np.asarray(leaf) for leaf in jax.tree.leaves(lowered.compile()(*arguments))]
    text = lowered.as_text(dialect="hlo")
    module = read_hlo(text, "program.hlo")
    module.verify()
    found = flatten_results(run(module, nest_arguments(module, arguments)))
    for mine, theirs in zip(found, expected, strict=True):
        if rtol is None:
            same(mine, theirs)
        else:
            np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol)


def moves(x: Any, y: Any, i: Any) -> Any:
    """Everything that moves elements without computing with them."""
    zero = jnp.zeros((), x.dtype)
    return (
        x.T,
        x.reshape(3, 2, 4),
        x[::-1, 1::2],
        x[1:3],
        jnp.concatenate([x, y[:1]], 0),
        lax.pad(x, zero, ((1, 2, 1), (-1, -2, 2))),
        jnp.broadcast_to(x[:, None], (4, 3, 6)),
        lax.dynamic_slice(x, (i, i), (2, 3)),
        lax.dynamic_update_slice(x, y[:2, :3], (i, i)),
        jnp.where(y == y[0, 0], x, y),
        lax.rev(x, (0, 1)),
        lax.select(i > 1, x, y),
        jnp.full((2, 2), x[0, 0]),
    )


@pytest.mark.parametrize("name", each_or_full((*MOVED, *FLOATS), ("pred", "s4", "bf16", "c64")))
def test_moves(name: str):
    compare(moves, values(name, 4, 6), values(name, 4, 6, seed=2), np.int32(2))


@pytest.mark.parametrize("start", [-1, 9])
def test_moves_with_clamped_starts(start: int):
    compare(moves, values("f32", 4, 6), values("f32", 4, 6, seed=2), np.int32(start))


def gathers(x: Any, rows: Any, points: Any) -> Any:
    """Gathers of every kind that jax.numpy makes."""
    return (
        x.at[rows].get(mode="clip"),
        x.at[:, rows].get(mode="clip"),
        x.at[points[:, 0], points[:, 1]].get(mode="clip"),
        jnp.take_along_axis(x, rows[None] % 3, 0, mode="clip"),
        jax.vmap(lambda row, i: lax.dynamic_slice(row, (i,), (3,)))(x, rows[:4]),
    )


@pytest.mark.parametrize(
    "name", each_or_full(("pred", "s4", "u8", "s32", "bf16", "f32", "c128"), ("u8", "f32"))
)
def test_gathers(name: str):
    rows = np.array([3, 0, 9, -1, 1, 2], np.int32)
    points = np.array([[0, 0], [3, 5], [7, -2], [1, 9]], np.int32)
    compare(gathers, values(name, 4, 6), rows, points)


def exact_reductions(x: Any) -> Any:
    """Reductions without rounding."""
    return (
        x.max(0),
        x.min(1),
        x.max(),
        jnp.argmax(x, 1),
        jnp.argmin(x, 0),
        (x != 0).any(1),
        (x > 0).all(),
    )


REDUCED = ("s8", "u8", "s32", "u64", "bf16", "f16", "f32", "f64")


@pytest.mark.parametrize("name", each_or_full(REDUCED, ("u8", "s32", "bf16", "f32")))
def test_exact_reductions(name: str):
    operand = values(name, 5, 7)
    if BY_NAME[name].element_class == ElementClass.FLOAT:
        operand[2, 3] = np.nan
        operand[4, 4] = -np.inf
    compare(exact_reductions, operand)


def added(x: Any) -> Any:
    zero = np.zeros((), x.dtype)
    return (
        lax.reduce(x, zero, lax.add, (0,)),
        lax.reduce(x, zero, lax.add, (0, 2)),
        lax.reduce(x, np.ones((), x.dtype), lax.mul, (1,)),
    )


SUMMED = ("s8", "u8", "s16", "s32", "u64", "f32", "f64", "c64")


@pytest.mark.parametrize("name", each_or_full(SUMMED, ("s8", "u64", "f32", "c64")))
def test_sums(name: str):
    """Of numbers so small that no order rounds."""
    compare(added, values(name, 3, 4, 5))


def dots(x: Any, y: Any) -> Any:
    return (
        lax.dot_general(x, y, (((1,), (1,)), ((), ()))),
        lax.dot_general(x[0], y[0], (((0,), (0,)), ((), ()))),
        lax.dot_general(x, y, (((1,), (1,)), ((0,), (0,)))),
        lax.dot_general(x[:2, 0], y[:3, 0], (((), ()), ((), ()))),
    )


DOTTED = ("s8", "u8", "s32", "u64", "bf16", "f16", "f32", "f64", "c64")


@pytest.mark.parametrize("name", each_or_full(DOTTED, ("s8", "bf16", "f32", "c64")))
def test_dots(name: str):
    compare(dots, values(name, 4, 6), values(name, 4, 6, seed=2))


def test_dot_with_another_result_type():
    for name, result in (("s8", jnp.int32), ("u8", jnp.int32), ("bf16", jnp.float32)):
        compare(
            lambda x, y, t=result: lax.dot_general(
                x, y, (((1,), (0,)), ((), ())), preferred_element_type=t
            ),
            values(name, 4, 6),
            values(name, 6, 3, seed=2),
        )


def loops(x: Any, n: Any) -> Any:
    return (
        lax.fori_loop(0, 5, lambda i, c: (c[0] + i, c[1] * 2), (x, n)),
        lax.while_loop(lambda c: c[1] < 20, lambda c: (c[0] + 1, c[1] + 3), (x, n)),
        lax.scan(lambda c, row: (c + row, c * 2), jnp.zeros_like(x[0]), x),
        lax.cond(n > 2, lambda v: v + 1, lambda v: v * 2, x),
        lax.switch(n, [lambda v: v, lambda v: -v, lambda v: v * v], x),
        jax.jit(lambda v: v * 3)(x),
    )


@pytest.mark.parametrize("n", each_or_full((0, 1, 2, 7, -3), (2, 7)))
def test_control_flow(n: int):
    compare(loops, values("s32", 4, 3), np.int32(n))


def network(x: Any, w: Any, b: Any) -> Any:
    hidden = jax.nn.gelu(x @ w + b)
    normed = (hidden - hidden.mean(-1, keepdims=True)) * lax.rsqrt(
        hidden.var(-1, keepdims=True) + 1e-5
    )
    return jax.nn.softmax(normed, -1), jax.nn.log_softmax(normed), jnp.tanh(normed).sum()


@pytest.mark.parametrize("name", each_or_full(("f32", "f64"), ("f32",)))
def test_network(name: str):
    random = np.random.default_rng(5)
    dtype = numpy_dtype(BY_NAME[name].type)
    arguments = [
        random.standard_normal(sizes).astype(dtype) for sizes in ((8, 16), (16, 32), (32,))
    ]
    compare(network, *arguments, rtol=2e-5 if name == "f32" else 1e-12)
    compare(jax.grad(lambda *xs: network(*xs)[1].sum(), (0, 1, 2)), *arguments, rtol=1e-4)
