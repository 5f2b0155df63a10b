"""Worked examples of gather, and its definition index by index."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import evaluate, numbers, same

from xla_dialect.ops.gather_scatter import GatherOp


def gather(operand: np.ndarray, indices: np.ndarray, **attributes: Any) -> Any:
    return evaluate(lambda x, i: GatherOp(x, i, **attributes), operand, indices)


BIG = numbers("s32", np.arange(16 * 11).reshape(16, 11))
NINE = numbers("s32", np.arange(1, 10).reshape(3, 3))
WINDOWS = {"slice_sizes": [8, 6], "start_index_map": [0, 1]}


def test_slices():
    """Slices at five places, the fourth clamped."""
    indices = numbers("s64", [[0, 0], [8, 5], [3, 2], [9, 9], [1, 4]])
    out = gather(BIG, indices, offset_dims=[1, 2], index_vector_dim=1, **WINDOWS)
    assert out.shape == (5, 8, 6)
    assert [out[1, 0, 0], out[1, 7, 5], out[2, 1, 2]] == [93, 175, 48]
    assert [out[3, 0, 0], out[4, 7, 5]] == [93, 97]


def test_elements():
    indices = numbers("s32", np.zeros((4, 5, 2)))
    out = gather(BIG, indices, offset_dims=[2, 3], index_vector_dim=2, **WINDOWS)
    assert out.shape == (4, 5, 8, 6)


def test_whole_rows():
    """tf.gather_nd selects whole rows."""
    indices = numbers("s32", np.arange(20).reshape(4, 5, 1) % 16)
    out = gather(
        BIG,
        indices,
        offset_dims=[2],
        collapsed_slice_dims=[0],
        start_index_map=[0],
        index_vector_dim=2,
        slice_sizes=[1, 11],
    )
    same(out, BIG[indices[..., 0]])


ROWS = {
    "start_index_map": [0],
    "collapsed_slice_dims": [0],
    "offset_dims": [1],
    "slice_sizes": [1, 3],
}


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        pytest.param(numbers("s32", [0, 2]), [[1, 2, 3], [7, 8, 9]], id="rows"),
        pytest.param(numbers("s32", [2, 5]), [[7, 8, 9], [7, 8, 9]], id="clamped"),
        pytest.param(numbers("s32", [-1, 1]), [[1, 2, 3], [4, 5, 6]], id="negative"),
        pytest.param(numbers("u32", [4294967295, 1]), [[7, 8, 9], [4, 5, 6]], id="unsigned"),
        pytest.param(numbers("u8", [255, 0]), [[7, 8, 9], [1, 2, 3]], id="u8 255"),
        pytest.param(numbers("s8", [-128, 2]), [[1, 2, 3], [7, 8, 9]], id="s8 -128"),
        pytest.param(numbers("u64", [2**64 - 1]), [[7, 8, 9]], id="u64"),
        pytest.param(numbers("s4", [-1, 7]), [[1, 2, 3], [7, 8, 9]], id="s4"),
        pytest.param(numbers("s32", []), np.zeros((0, 3)), id="no indices"),
    ],
)
def test_rows(indices: np.ndarray, expected: Any):
    same(gather(NINE, indices, index_vector_dim=1, **ROWS), numbers("s32", expected))


def test_columns():
    """Worked example: docs/generated/worked_examples.md#gather."""
    out = gather(
        NINE,
        numbers("s32", [0, 2]),
        start_index_map=[1],
        collapsed_slice_dims=[1],
        offset_dims=[0],
        slice_sizes=[3, 1],
        index_vector_dim=1,
    )
    same(out, numbers("s32", [[1, 3], [4, 6], [7, 9]]))


def test_points():
    """Worked example: docs/generated/worked_examples.md#gather."""
    out = gather(
        NINE,
        numbers("s32", [[0, 2], [2, 1]]),
        offset_dims=[],
        collapsed_slice_dims=[0, 1],
        start_index_map=[0, 1],
        index_vector_dim=1,
        slice_sizes=[1, 1],
    )
    same(out, numbers("s32", [3, 8]))


def test_batching():
    """Worked example: docs/generated/worked_examples.md#gather."""
    operand, indices = numbers("f32", [[0, 1, 2], [3, 4, 5]]), numbers("s32", [2, 0])
    batching = {
        "operand_batching_dims": [0],
        "start_indices_batching_dims": [0],
        "start_index_map": [1],
        "index_vector_dim": 1,
    }
    out = gather(
        operand, indices, collapsed_slice_dims=[1], offset_dims=[], slice_sizes=[1, 1], **batching
    )
    same(out, numbers("f32", [2, 3]))
    out = gather(operand, indices, offset_dims=[1], slice_sizes=[1, 2], **batching)
    same(out, numbers("f32", [[1, 2], [3, 4]]))


def test_scalar_operand():
    """Index vectors of length 0 take the whole operand, once per batch index."""
    out = gather(
        numbers("bf16", 5),
        numbers("s32", np.zeros((3, 0))),
        offset_dims=[],
        start_index_map=[],
        index_vector_dim=1,
        slice_sizes=[],
    )
    same(out, numbers("bf16", [5, 5, 5]))


def test_collapsed_slice_of_size_zero():
    """Inside it reads like size 1, from an empty operand zeros: docs/generated/ops.md#gather-c4."""
    attributes: dict[str, Any] = {
        "offset_dims": [],
        "collapsed_slice_dims": [0],
        "start_index_map": [0],
        "index_vector_dim": 1,
        "slice_sizes": [0],
    }
    same(gather(numbers("s32", [7, 8]), numbers("s32", [5]), **attributes), numbers("s32", [8]))
    same(gather(numbers("s32", []), numbers("s32", [5, 0]), **attributes), numbers("s32", [0, 0]))


def defined(operand: np.ndarray, indices: np.ndarray, sizes: Any, **a: Any) -> np.ndarray:
    """The steps of the semantics, for one index of the result after the other."""
    vector_dim = a["index_vector_dim"]
    si = indices[..., None] if vector_dim == indices.ndim else indices
    result = np.zeros(sizes, operand.dtype)
    batch_dims = [d for d in range(len(sizes)) if d not in a["offset_dims"]]
    dropped = (*a["collapsed_slice_dims"], *a["operand_batching_dims"])
    window = [d for d in range(operand.ndim) if d not in dropped]
    for out in np.ndindex(*sizes):
        g = [out[d] for d in batch_dims]
        s = si[(*g[:vector_dim], slice(None), *g[vector_dim:])]
        start = [0] * operand.ndim
        for k, d in enumerate(a["start_index_map"]):
            start[d] = int(np.clip(int(s[k]), 0, operand.shape[d] - a["slice_sizes"][d]))
        for d, b in zip(a["operand_batching_dims"], a["start_indices_batching_dims"], strict=True):
            start[d] = g[b - (b > vector_dim)]
        for k, d in enumerate(window):
            start[d] += out[a["offset_dims"][k]]
        result[out] = operand[tuple(start)]
    return result


@given(st.data())
def test_definition(data: st.DataObject):
    """Dimension numbers of all kinds."""
    kinds = data.draw(st.lists(st.sampled_from("wcb"), max_size=4))
    sizes = [data.draw(st.integers(1, 3)) for _ in kinds]
    operand = np.arange(np.prod(sizes, dtype=int)).reshape(sizes)
    slice_sizes = [
        data.draw(st.integers(0, n)) if kind == "w" else 1
        for kind, n in zip(kinds, sizes, strict=True)
    ]
    batching = [d for d, kind in enumerate(kinds) if kind == "b"]
    free = [d for d, kind in enumerate(kinds) if kind != "b"]
    index_map = data.draw(st.permutations(free))[: data.draw(st.integers(0, len(free)))]
    extra = data.draw(st.lists(st.integers(0, 3), max_size=2))
    roles = data.draw(st.permutations([*(("b", d) for d in batching), *(("e", n) for n in extra)]))
    vector_dim = data.draw(st.integers(0, len(roles)))
    index_sizes = [sizes[n] if role == "b" else n for role, n in roles]
    positions = [i + (i >= vector_dim) for i in range(len(roles))]
    batch_positions = [positions[roles.index(("b", d))] for d in batching]
    index_sizes.insert(vector_dim, len(index_map))
    count = int(np.prod(index_sizes))
    drawn = data.draw(st.lists(st.integers(-2, 4), min_size=count, max_size=count))
    indices = np.array(drawn, np.int16).reshape(index_sizes)
    if vector_dim == len(roles) and len(index_map) == 1 and data.draw(st.booleans()):
        indices = indices[..., 0]
    windows = kinds.count("w")
    rank = len(roles) + windows
    offset_dims = sorted(data.draw(st.permutations(range(rank)))[:windows])
    attributes: dict[str, Any] = {
        "offset_dims": offset_dims,
        "collapsed_slice_dims": [d for d, kind in enumerate(kinds) if kind == "c"],
        "operand_batching_dims": batching,
        "start_indices_batching_dims": batch_positions,
        "start_index_map": index_map,
        "index_vector_dim": vector_dim,
        "slice_sizes": slice_sizes,
    }
    result = gather(operand, indices, **attributes)
    same(result, defined(operand, indices, result.shape, **attributes))
