"""Gather on the tensors level against the reference."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import numbers
from tensors_level import check, natively

from xla_dialect.op import XlaOp
from xla_dialect.ops.data_movement import ConcatenateOp
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.types import ELEMENT_TYPES

BIG = numbers("s32", np.arange(16 * 11).reshape(16, 11))
ROWS: dict[str, Any] = {
    "start_index_map": [0],
    "collapsed_slice_dims": [0],
    "offset_dims": [1],
    "slice_sizes": [1, 11],
    "index_vector_dim": 1,
}


def gather(operand: np.ndarray, indices: np.ndarray, **attributes: Any) -> None:
    check(lambda x, i: GatherOp(x, i, **attributes), operand, indices)


@pytest.mark.parametrize("name", [e.name for e in ELEMENT_TYPES])
def test_rows_of_every_element_type(name: str) -> None:
    operand = numbers(name, (np.arange(16 * 11) % 2).reshape(16, 11))
    gather(operand, numbers("s32", [3, 15, 0]), **ROWS)


@pytest.mark.parametrize(
    ("name", "indices"),
    [
        ("s32", [-1, 16, 7, -(2**31), 2**31 - 1]),
        ("u8", [255, 3]),
        ("s8", [-128, 127]),
        ("u32", [2**32 - 1, 1]),
        ("s64", [-(2**63), 2**63 - 1]),
        ("u64", [2**64 - 1, 2**63]),
        ("s4", [-8, 7]),
    ],
)
def test_indices_are_clamped(name: str, indices: list[int]) -> None:
    gather(BIG, numbers(name, indices), **ROWS)
    gather(BIG, numbers(name, [[i, i] for i in indices]), **WINDOWS)


@given(st.data())
def test_single_elements(data: st.DataObject) -> None:
    """What `x[i, j]` of JAX is, with its indices side by side in one array or in several."""
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    counts = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=2))
    name = data.draw(st.sampled_from(["s32", "u8", "s64"]))
    element = data.draw(st.sampled_from(["f32", "f64", "s8", "bf16", "c64"]))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = numbers(element, random.integers(0, 100, sizes))
    low = 0 if name == "u8" else -12
    columns = [numbers(name, random.integers(low, 12, (*counts, 1))) for _ in sizes]
    groups = [columns] if len(sizes) < 3 else [columns[:2], columns[2:]]

    def taken(operand: XlaOp, *given: XlaOp) -> XlaOp:
        parts = list(given)
        inner = [ConcatenateOp([parts.pop(0) for _ in g], dimension=len(counts)) for g in groups]
        rank = list(range(len(sizes)))
        return GatherOp(
            operand,
            ConcatenateOp(inner, dimension=len(counts)),
            offset_dims=[],
            start_index_map=rank,
            collapsed_slice_dims=rank,
            slice_sizes=[1] * len(sizes),
            index_vector_dim=len(counts),
        )

    (found,) = natively(taken, x, *columns)
    where = [np.clip(c[..., 0].astype(int), 0, n - 1) for c, n in zip(columns, sizes, strict=True)]
    np.testing.assert_array_equal(found, x[tuple(where)])


WINDOWS: dict[str, Any] = {
    "slice_sizes": [8, 6],
    "start_index_map": [0, 1],
    "offset_dims": [1, 2],
    "index_vector_dim": 1,
}


def test_page_examples() -> None:
    gather(BIG, numbers("s64", [[0, 0], [8, 5], [3, 2], [9, 9], [1, 4]]), **WINDOWS)
    gather(
        BIG,
        numbers("s32", np.arange(40).reshape(4, 5, 2) % 9),
        **WINDOWS | {"offset_dims": [2, 3], "index_vector_dim": 2},
    )
    gather(
        BIG,
        numbers("s32", np.arange(20).reshape(4, 5, 1) % 16),
        **ROWS | {"offset_dims": [2], "index_vector_dim": 2},
    )


def test_batching() -> None:
    operand = numbers("s32", [[0, 1, 2], [3, 4, 5]])
    for collapsed, offsets, sizes in (([1], [], [1, 1]), ([], [1], [1, 2])):
        gather(
            operand,
            numbers("s32", [2, 0]),
            operand_batching_dims=[0],
            start_indices_batching_dims=[0],
            start_index_map=[1],
            index_vector_dim=1,
            collapsed_slice_dims=collapsed,
            offset_dims=offsets,
            slice_sizes=sizes,
        )


def test_empty() -> None:
    gather(BIG, numbers("s32", np.zeros((0,))), **ROWS)
    gather(BIG, numbers("s32", [1, 2]), **ROWS | {"slice_sizes": [1, 0]})
    point = {"collapsed_slice_dims": [0, 1], "offset_dims": [], "slice_sizes": [1, 1]}
    gather(BIG, numbers("s32", [3, 4]), **WINDOWS | point | {"index_vector_dim": 0})


@given(st.data())
def test_any_dimension_numbers(data: st.DataObject) -> None:
    sizes = (3, 4, 2)
    slice_sizes = [data.draw(st.integers(1, n)) for n in sizes]
    collapsed = [d for d in range(3) if slice_sizes[d] == 1 and data.draw(st.booleans())]
    index_map = data.draw(st.permutations([0, 1, 2]))[: data.draw(st.integers(0, 3))]
    batch = data.draw(st.sampled_from([(), (2,), (2, 3)]))
    vector = data.draw(st.integers(0, len(batch)))
    rank = len(batch) + 3 - len(collapsed)
    offsets = sorted(data.draw(st.permutations(range(rank)))[: 3 - len(collapsed)])
    index_sizes = [*batch[:vector], len(index_map), *batch[vector:]]
    indices = np.random.default_rng(0).integers(-2, 6, index_sizes)
    gather(
        numbers("s32", np.arange(24).reshape(sizes)),
        numbers("s32", indices),
        slice_sizes=slice_sizes,
        collapsed_slice_dims=collapsed,
        start_index_map=list(index_map),
        offset_dims=offsets,
        index_vector_dim=vector,
    )
