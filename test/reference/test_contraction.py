"""Worked examples of dot, and its formula with every sum as it is defined."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import blocks_in_pairs, evaluate, numbers, same, shape
from sweeps import row

from xla_dialect.ops.contraction import DotOp
from xla_dialect.reference.contraction import contract

INF = np.inf


def dot(
    lhs: np.ndarray,
    rhs: np.ndarray,
    contracting: tuple[Sequence[int], Sequence[int]],
    batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
    result: str | None = None,
) -> Any:
    return evaluate(
        lambda a, b: DotOp(
            a,
            b,
            lhs_contracting_dims=contracting[0],
            rhs_contracting_dims=contracting[1],
            lhs_batch_dims=batch[0],
            rhs_batch_dims=batch[1],
            result_types=None if result is None else [shape(result)],
        ),
        lhs,
        rhs,
    )


def test_matrices():
    """Worked example: docs/generated/worked_examples.md#dot."""
    lhs, rhs = numbers("f32", [[1, 2, 3], [4, 5, 6]]), numbers("f32", [[1, 1, 1], [2, 2, 2]])
    same(dot(lhs, rhs, ([1], [1])), numbers("f32", [[6, 12], [15, 30]]))


def test_batches():
    """Worked example: docs/generated/worked_examples.md#dot."""
    lhs = numbers("f32", [[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
    rhs = numbers("f32", [np.eye(2)] * 2)
    same(dot(lhs, rhs, ([2], [1]), ([0], [0])), lhs)


def test_sizes():
    """Worked example: docs/generated/worked_examples.md#dot."""
    lhs, rhs = np.ones((2, 3, 4), "f4"), np.ones((2, 4, 5), "f4")
    assert dot(lhs, rhs, ([2], [1]), ([0], [0])).shape == (2, 3, 5)
    lhs, rhs = np.ones((2, 6, 3, 4), "f4"), np.ones((2, 6, 4, 5), "f4")
    assert dot(lhs, rhs, ([3], [2]), ([0, 1], [0, 1])).shape == (2, 6, 3, 5)


ONES_17 = [256] + [1] * 16


@pytest.mark.parametrize(
    ("name", "lhs", "rhs", "result", "expected"),
    [
        pytest.param("bf16", ONES_17, [1] * 17, "bf16", 272, id="bf16"),
        pytest.param("bf16", ONES_17, [1] * 17, "f32", 272, id="bf16 as f32"),
        pytest.param("f16", [2048] + [1] * 16, [1] * 17, "f16", 2064, id="f16"),
        pytest.param("f16", [6e4, 6e4, -6e4], [1] * 3, "f16", 6e4, id="f16 overflow"),
        pytest.param("s8", [100, 100], [100, 100], "s32", 20000, id="s8 as s32"),
        pytest.param("s8", [100, 100], [100, 100], "s8", 32, id="s8"),
        pytest.param("pred", [1, 1], [1, 1], "pred", 1, id="pred"),
        pytest.param("pred", [1, 0], [0, 1], "pred", 0, id="pred none"),
        pytest.param("f32", [1e8, 1, -1e8, 1], [1] * 4, "f32", 1, id="order"),
        pytest.param("f32", [], [], "f32", 0, id="empty"),
        pytest.param("f32", [INF, 1], [0, 1], "f32", np.nan, id="inf * 0"),
        pytest.param("f8e4m3fn", [448, 448], [448, 448], "f32", 401408, id="f8 as f32"),
        pytest.param("f8e4m3fn", [448], [2], "f8e4m3fn", np.nan, id="f8 overflows once"),
        pytest.param("s4", [7, 7], [7, 7], "s4", 2, id="s4"),
        pytest.param("u4", [15, 15], [15, 15], "u8", 194, id="u4 as u8"),
        pytest.param("c64", [1 + 1j, 2], [1j, 3], "c64", 5 + 1j, id="c64"),
        pytest.param("s8", [1, 2], [3, 4], "f32", 11, id="s8 as f32"),
    ],
)
def test_inner_product(name: str, lhs: Any, rhs: Any, result: str, expected: Any):
    found = dot(numbers(name, lhs), numbers(name, rhs), ([0], [0]), result=f"{result}[]")
    same(found, numbers(result, expected))


def test_outer_product():
    """Worked example: docs/generated/worked_examples.md#dot."""
    found = dot(numbers("f32", [1, 2]), numbers("f32", [3, 4, 5]), ([], []))
    same(found, numbers("f32", [[3, 4, 5], [6, 8, 10]]))


def test_different_operand_types():
    """u8 x s8 as s32: docs/generated/ops.md#dot-c1."""
    lhs, rhs = numbers("u8", [[200, 1]]), numbers("s8", [[-100], [5]])
    same(dot(lhs, rhs, ([1], [0]), result="s32[1,1]"), numbers("s32", [[-19995]]))


def in_order(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """`[b,m,k] x [b,k,n]`: for every element the sum in order of k, rounded at every step."""
    total = np.zeros((*lhs.shape[:2], rhs.shape[2]), lhs.dtype)
    for k in range(lhs.shape[2]):
        total = total + lhs[:, :, k, None] * rhs[:, None, k, :]
    return total


def by_definition(lhs: Any, rhs: Any) -> np.ndarray:
    """The same with sums of floats in blocks ((RC4)), of complex numbers by parts."""
    if lhs.dtype.kind not in "fc" or not lhs.shape[2]:
        return in_order(lhs, rhs)
    if lhs.dtype.kind == "c":
        real = by_definition(lhs.real, rhs.real) - by_definition(lhs.imag, rhs.imag)
        imaginary = by_definition(lhs.real, rhs.imag) + by_definition(lhs.imag, rhs.real)
        return (real + 1j * imaginary).astype(lhs.dtype)
    products = lhs.transpose(2, 0, 1)[..., None] * rhs.swapaxes(0, 1)[:, :, None, :]
    return lhs.dtype.type(0) + blocks_in_pairs(products)


ORDERED_SIZES = [
    (1, 3, 500, 2),
    (1, 40, 30, 50),
    (2, 200, 9, 300),
    (3, 1, 5, 4),
    (2, 0, 3, 4),
    (2, 3, 0, 40),
    (40, 30, 4, 30),
    (1, 1, 3000, 1),
    (1, 60, 300, 1),
    (1, 1, 300, 60),
    (2, 9, 200, 9),
    (3, 70, 1, 8),
    (1, 17, 1030, 67),
]


@pytest.mark.parametrize("sizes", ORDERED_SIZES, ids=str)
@pytest.mark.parametrize("name", ["f32", "f64", "s16", "u64", "pred", "c64"])
def test_sums(sizes: tuple[int, int, int, int], name: str):
    b, m, k, n = sizes
    random = np.random.default_rng(2)
    lhs = numbers(name, random.standard_normal((b, m, k)) * 100)
    rhs = numbers(name, random.standard_normal((b, k, n)) * 100)
    expected = by_definition(lhs, rhs)
    for first, second in ((1, 1), (1, 2), (2, 1), (2, 2)):
        stored = (
            lhs if first == 2 else np.ascontiguousarray(lhs.swapaxes(1, 2)),
            rhs if second == 1 else np.ascontiguousarray(rhs.swapaxes(1, 2)),
        )
        with row(first, second):
            same(dot(*stored, ([first], [second]), ([0], [0])), expected)


@pytest.mark.parametrize("name", ["f32", "f64", "c64"])
def test_blocked_sums_without_einsum(name: str):
    """What runs where numpy fuses a multiplication with the addition after it."""
    random = np.random.default_rng(2)
    lhs = numbers(name, random.standard_normal((2, 30, 20)))
    rhs = numbers(name, random.standard_normal((2, 20, 1100)))
    same(contract(lhs, rhs.swapaxes(1, 2)), by_definition(lhs, rhs))


@given(
    st.lists(
        st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-30, 3e38, INF, -INF, np.nan]),
        min_size=12,
        max_size=12,
    ),
    st.booleans(),
)
def test_sums_of_special_products(values: list[float], many: bool):
    """Signs of zeros, overflow and NaN, by either way that a dot is computed."""
    lhs = numbers("f32", values).reshape(1, 4, 3)
    rhs = numbers("f32", values[::-1]).reshape(1, 3, 4)
    if many:
        rhs = np.tile(rhs, 5)
    with np.errstate(all="ignore"):
        expected = in_order(lhs, rhs)
    same(dot(lhs, rhs, ([2], [1]), ([0], [0])), expected)


@given(st.data())
def test_dimension_numbers(data: st.DataObject):
    """All choices of dimensions, by the formula on integers."""
    kinds = data.draw(st.lists(st.sampled_from("bklr"), max_size=5))
    sizes = [data.draw(st.integers(0, 3)) for _ in kinds]
    left = data.draw(st.permutations([i for i, kind in enumerate(kinds) if kind != "r"]))
    right = data.draw(st.permutations([i for i, kind in enumerate(kinds) if kind != "l"]))
    batch = [i for i, kind in enumerate(kinds) if kind == "b"]
    contracted = [i for i, kind in enumerate(kinds) if kind == "k"]
    lhs = np.arange(np.prod([sizes[i] for i in left], dtype=int)).reshape([sizes[i] for i in left])
    rhs = np.arange(np.prod([sizes[i] for i in right], dtype=int)).reshape(
        [sizes[i] for i in right]
    )
    result = [*batch, *(i for i in left if kinds[i] == "l"), *(i for i in right if kinds[i] == "r")]
    expected = np.einsum(lhs, left, rhs + 1, right, result)
    found = dot(
        lhs,
        rhs + 1,
        ([left.index(i) for i in contracted], [right.index(i) for i in contracted]),
        ([left.index(i) for i in batch], [right.index(i) for i in batch]),
    )
    same(found, expected)
