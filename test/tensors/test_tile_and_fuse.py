"""
Chains that share dimensions, tile by tile: attention as people write it, and its gradients.

What is right is what XLA CPU computes of the same program in f64.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from peers import has_jax

import lowerings
from lowerings.pipelines import NATIVE, pass_specs

if has_jax():
    import jax
    import jax.numpy as jnp

pytestmark = pytest.mark.jax

PASS = "linalg-tile-and-fuse"
OF_SMALL = f"{PASS}{{least_bytes=4096 tile_bytes=2048}}"
"""Does with small arrays what it does with large ones."""


PIPELINE = ",".join(OF_SMALL if each == PASS else each for each in pass_specs(NATIVE, "tensors"))
"""To the level of tensors."""


def plain(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)


def causal(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
    rows, columns = (jax.lax.broadcasted_iota("int32", scores.shape, d) for d in (2, 3))
    weights = jax.nn.softmax(jnp.where(rows >= columns, scores, -1e30), axis=-1)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


def padded(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
    lengths = jnp.array([31, 17])
    kept = jnp.arange(k.shape[2]) < lengths[:, None]
    weights = jax.nn.softmax(jnp.where(kept[:, None, None], scores, -jnp.inf), axis=-1)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


def biased(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
    distances = jnp.arange(q.shape[2])[:, None] - jnp.arange(k.shape[2])
    slopes = jnp.exp2(-jnp.arange(1, q.shape[1] + 1, dtype=q.dtype))
    weights = jax.nn.softmax(scores - slopes[:, None, None] * abs(distances), axis=-1)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


def dropped(q: Any, k: Any, v: Any) -> Any:
    scores = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k), axis=-1)
    places = jnp.arange(scores.size, dtype=jnp.uint32).reshape(scores.shape)
    weights = jnp.where(places * jnp.uint32(2654435761) >> 28 < 12, scores / 0.75, 0)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


def heads_last(q: Any, k: Any, v: Any) -> Any:
    turned = (jnp.swapaxes(x, 1, 2) for x in (q, k, v))
    return jax.nn.dot_product_attention(*turned, is_causal=True)


def grouped(q: Any, k: Any, v: Any) -> Any:
    pairs = q.reshape(q.shape[0], -1, 2, *q.shape[2:])
    scores = jnp.einsum("bgrqd,bgkd->bgrqk", pairs, k[:, :2])
    weights = jax.nn.softmax(scores, axis=-1)
    return jnp.einsum("bgrqk,bgkd->bgrqd", weights, v[:, :2])


Function = Callable[..., Any]

ATTENTIONS: Sequence[Function] = (plain, causal, padded, biased, dropped, heads_last, grouped)


def arrays(queries: int, keys: int, width: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((2, 4, n, width)) for n in (queries, keys, keys)]


def gradients(function: Function) -> Function:
    def loss(*arguments: Any) -> Any:
        return (function(*arguments) ** 2).sum()

    return jax.grad(loss, argnums=(0, 1, 2))


def check(function: Function, element_type: str, given: Sequence[np.ndarray]) -> None:
    """A function of arrays of one type, with small tiles, beside JAX's results in f64."""
    narrow = [jnp.asarray(array, element_type) for array in given]
    text = jax.jit(function).lower(*narrow).as_text()
    program = lowerings.compile(text, pipeline=PIPELINE)
    assert "tensor.insert_slice" in program.as_text("tensors")
    with jax.enable_x64(True):
        wide = [jnp.asarray(np.asarray(array), "float64") for array in narrow]
        wanted = [np.asarray(each) for each in jax.tree.leaves(jax.jit(function)(*wide))]
    roundoff = {"float32": 2**-24, "bfloat16": 2**-8}[element_type]
    found = program(*map(np.asarray, narrow))
    for array, right in zip(jax.tree.leaves(found), wanted, strict=True):
        error = np.abs(np.asarray(array, np.float64) - right).max()
        assert error <= 32 * roundoff * np.abs(right).max()


@pytest.mark.parametrize("queries", [48, 53])
@pytest.mark.parametrize("function", ATTENTIONS)
def test_attention(function: Function, queries: int) -> None:
    check(function, "bfloat16", arrays(queries, 32, 8))


@pytest.mark.parametrize("queries", [48, 53])
@pytest.mark.parametrize("function", ATTENTIONS)
def test_gradients_of_attention(function: Function, queries: int) -> None:
    check(gradients(function), "float32", arrays(queries, 32, 8))


@pytest.mark.parametrize("rows", [61, 257, 1009])
def test_rest_of_the_outermost_rows(rows: int) -> None:
    def similarities(a: Any, b: Any, v: Any) -> Any:
        return jnp.exp(-((a[:, None] - b) ** 2).sum(-1)) @ v

    rng = np.random.default_rng(0)
    check(similarities, "float32", [rng.standard_normal((n, 3)) for n in (rows, 64, 64)])


@pytest.mark.parametrize("images", [4, 7])
def test_windows_over_images(images: int) -> None:
    def layers(x: Any, w: Any) -> Any:
        order = ("NHWC", "HWIO", "NHWC")
        x = jax.lax.conv_general_dilated(
            x, w, (2, 1), ((1, 2), (0, 2)), dimension_numbers=order, feature_group_count=16
        )
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 2, 1), (1, 1, 2, 1), "SAME")

    rng = np.random.default_rng(0)
    sizes = (images, 12, 10, 16), (3, 3, 1, 16)
    check(layers, "float32", [rng.standard_normal(each) for each in sizes])


def arena(text: str) -> int:
    """The bytes of temporary memory of a program."""
    (found,) = re.findall(r"xla.arena_bytes = (\d+)", lowerings.compile(text).as_text("buffers"))
    return int(found)


@pytest.mark.parametrize("of", [lambda f: f, gradients], ids=["values", "gradients"])
def test_scores_of_long_sequences_are_never_in_memory(of: Callable[[Function], Function]) -> None:
    shape = jax.ShapeDtypeStruct((1, 12, 4096, 64), "float32")
    text = jax.jit(of(plain)).lower(shape, shape, shape).as_text()
    assert arena(text) < 64 << 20 < 12 * 4096**2 * 4
