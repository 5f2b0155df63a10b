"""Scatter on the tensors level and as machine code, against the reference."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peers import has_jax
from small_programs import computation, numbers
from sweeps import each_or_full
from tensors_level import check, check_natively
from window_programs import random_numbers, scalar_types

import lowerings
from xla_dialect.op import XlaOp
from xla_dialect.ops.elementwise import AddOp, MultiplyOp, OrOp, SubtractOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.types import ELEMENT_TYPES

if has_jax():
    import jax
    import jax.numpy as jnp

AnyArray = np.ndarray[Any, np.dtype[Any]]
Reducer = Callable[..., Any]

ROWS: dict[str, Any] = {
    "update_window_dims": [1],
    "inserted_window_dims": [0],
    "scatter_dims_to_operand_dims": [0],
    "index_vector_dim": 1,
}


def scatter(names: Sequence[str], reducer: Reducer, **attributes: Any) -> Callable[..., XlaOp]:
    """Builds a scatter of inputs of these element types, then indices, then updates."""
    count = len(names)

    def build(*values: Any) -> XlaOp:
        regions = [computation(scalar_types(names) * 2, reducer)]
        inputs, indices, updates = values[:count], values[count], values[count + 1 :]
        return ScatterOp(inputs, indices, updates, regions=regions, **attributes)

    return build


def check_scatter(build: Callable[..., XlaOp], *arguments: AnyArray) -> None:
    check(build, *arguments)
    check_natively(build, *arguments)


def twice_minus(x: Any, y: Any) -> XlaOp:
    """The order of the operands, and of the updates, shows."""
    return SubtractOp(AddOp(x, x).result, y)


def last(_x: Any, y: Any) -> Any:
    return y


@given(st.data())
def test_any_dimension_numbers(data: st.DataObject) -> None:
    """Windows of one element and longer, overlapping and outside, anywhere among the updates."""
    sizes = tuple(data.draw(st.sampled_from([1, 2, 4, 20])) for _ in range(data.draw(RANKS)))
    dimensions = range(len(sizes))
    index_map = data.draw(st.permutations(dimensions))[: data.draw(st.integers(0, len(sizes)))]
    windows = [data.draw(st.integers(1, n)) for n in sizes]
    inserted = [d for d in dimensions if windows[d] == 1 and data.draw(st.booleans())]
    kept = [d for d in dimensions if d not in inserted]
    batch = data.draw(st.sampled_from([(), (1,), (3,), (2, 3), (0,)]))
    vector = data.draw(st.integers(0, len(batch)))
    rank = len(batch) + len(kept)
    window_dims = sorted(data.draw(st.permutations(range(rank)))[: len(kept)])
    scattered = iter(batch)
    window_sizes = dict(zip(window_dims, (windows[d] for d in kept), strict=True))
    update_sizes = [window_sizes[d] if d in window_sizes else next(scattered) for d in range(rank)]
    build = scatter(
        ["s32"],
        data.draw(st.sampled_from([AddOp, twice_minus, last])),
        update_window_dims=window_dims,
        inserted_window_dims=inserted,
        scatter_dims_to_operand_dims=list(index_map),
        index_vector_dim=vector,
    )
    seed = data.draw(st.integers(0, 99))
    indices = np.random.default_rng(seed).integers(
        -1, 5, [*batch[:vector], len(index_map), *batch[vector:]]
    )
    check_scatter(
        build,
        random_numbers(seed, "s32", sizes),
        numbers("s32", indices),
        random_numbers(seed + 1, "s32", update_sizes),
    )


RANKS = st.integers(0, 3)


@pytest.mark.parametrize(
    "name",
    each_or_full((e.name for e in ELEMENT_TYPES), ("pred", "u4", "f8e5m2", "bf16", "f32", "c64")),
)
@pytest.mark.parametrize("row", [3, 17])
def test_every_type(name: str, row: int) -> None:
    """Elements one by one and rows; in f16 and narrower the order of additions shows."""
    reducer = OrOp if name == "pred" else AddOp
    check_scatter(
        scatter([name], reducer, **ROWS),
        random_numbers(0, name, (4, row)),
        numbers("s32", [2, 0, 2, 7, 2]),
        random_numbers(1, name, (5, row)),
    )


@pytest.mark.parametrize("row", [2, 16])
def test_several_inputs(row: int) -> None:
    def exchanged(x: Any, y: Any, a: Any, b: Any) -> list[XlaOp]:
        return [AddOp(x, a), MultiplyOp(y, b)]

    check_scatter(
        scatter(["s32", "f64"], exchanged, **ROWS),
        random_numbers(0, "s32", (4, row)),
        random_numbers(1, "f64", (4, row)),
        numbers("s32", [2, 0, 2, -1]),
        random_numbers(2, "s32", (4, row)),
        random_numbers(3, "f64", (4, row)),
    )


@pytest.mark.parametrize(
    ("name", "indices"),
    [
        ("s8", [-128, 127, 3]),
        ("u8", [255, 128, 3]),
        ("s32", [-(2**31), 2**31 - 1, 4]),
        ("u32", [2**32 - 1, 2**31, 4]),
        ("s64", [-(2**63), 2**63 - 1, -1]),
        ("u64", [2**64 - 1, 2**63, 4]),
        ("s4", [-8, 7, 4]),
        ("u2", [3, 0, 1]),
    ],
)
def test_hostile_indices(name: str, indices: list[int]) -> None:
    """Only what is inside is written."""
    for row in (3, 16):
        check_scatter(
            scatter(["s32"], AddOp, **ROWS),
            random_numbers(0, "s32", (5, row)),
            numbers(name, indices),
            random_numbers(1, "s32", (3, row)),
        )


@pytest.mark.parametrize("window", [1, 16])
def test_batching(window: int) -> None:
    build = scatter(
        ["s32"],
        AddOp,
        update_window_dims=[2],
        inserted_window_dims=[1],
        input_batching_dims=[0],
        scatter_indices_batching_dims=[1],
        scatter_dims_to_operand_dims=[1],
        index_vector_dim=2,
    )
    check_scatter(
        build,
        random_numbers(0, "s32", (2, 3, window)),
        numbers("s32", [[0, 2], [3, 2], [1, 1], [-1, 2]]),
        random_numbers(1, "s32", (4, 2, window)),
    )


def test_empty() -> None:
    for rows, row, count in ((0, 3, 2), (3, 0, 2), (3, 3, 0)):
        check_scatter(
            scatter(["s32"], AddOp, **ROWS),
            random_numbers(0, "s32", (rows, row)),
            numbers("s32", [0, -1][:count]),
            random_numbers(1, "s32", (count, row)),
        )


def random(*sizes: int) -> AnyArray:
    return np.random.default_rng(len(sizes)).standard_normal(sizes).astype(np.float32)


WORDS = np.array([3, -1, 3, 9, 0, 12, -13], np.int32)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[AnyArray, ...]]] = {
    "add": (lambda x, i, u: x.at[i].add(u), (random(10), WORDS, random(7))),
    "set": (lambda x, i, u: x.at[i].set(u), (random(10, 4), WORDS[:5], random(5, 4))),
    "multiply": (lambda x, i, u: x.at[i].mul(u), (random(10, 3), WORDS, random(7, 3))),
    "maximum": (lambda x, i, u: x.at[i].max(u), (random(10, 40), WORDS, random(7, 40))),
    "columns": (lambda x, i, u: x.at[:, i].add(u), (random(6, 10), WORDS, random(6, 7))),
    "dropped": (
        lambda x, i, u: x.at[i].add(u, mode="drop"),
        (random(10, 4), WORDS, random(7, 4)),
    ),
    "apply": (lambda x, i: x.at[i].apply(jnp.sin), (random(10), WORDS[:2])),
    "embedding gradient": (
        lambda table, i, g: jax.grad(lambda t: (t[i] ** 2 * g).sum())(table),
        (random(10, 32), WORDS, random(7, 32)),
    ),
    "histogram": (lambda i: jnp.bincount(i, length=12), (WORDS,)),
    "segment sum": (
        lambda x, i: jax.ops.segment_sum(x, i, num_segments=5),
        (random(7, 3), WORDS),
    ),
}


@pytest.mark.jax
@pytest.mark.parametrize("name", PROGRAMS)
def test_jax_programs(name: str) -> None:
    function, arguments = PROGRAMS[name]
    compiled = lowerings.compile(jax.jit(function).lower(*arguments).as_text())
    (found,) = compiled(*arguments)
    np.testing.assert_allclose(found, jax.jit(function)(*arguments), rtol=1e-5, atol=1e-6)
