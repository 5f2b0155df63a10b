"""The result types that gather infers."""

from typing import Any

import pytest
from small_programs import value
from violations import accepts

from xla_dialect.op import XlaOp
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.types import spell

ROWS: dict[str, Any] = {
    "offset_dims": [1],
    "collapsed_slice_dims": [0],
    "start_index_map": [0],
    "index_vector_dim": 1,
    "slice_sizes": [1, 11],
}
BATCHED: dict[str, Any] = {
    "offset_dims": [],
    "collapsed_slice_dims": [1],
    "start_index_map": [1],
    "index_vector_dim": 1,
    "slice_sizes": [1, 1],
    "operand_batching_dims": [0],
    "start_indices_batching_dims": [0],
}


def rows(operand: str = "f32[16,11]", indices: str = "s32[5,1]", **changes: Any) -> XlaOp:
    return GatherOp(value(operand), value(indices), **(ROWS | changes))


def batched(operand: str = "f32[2,3]", indices: str = "s32[2,1]", **changes: Any) -> XlaOp:
    return GatherOp(value(operand), value(indices), **(BATCHED | changes))


def big(indices: str, **attributes: Any) -> XlaOp:
    return GatherOp(value("f32[16,11]"), value(indices), **attributes)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        pytest.param(rows, "f32[5,11]", id="rows"),
        pytest.param(batched, "f32[2]", id="example 6"),
        pytest.param(
            lambda: big(
                "s64[5,2]",
                offset_dims=[1, 2],
                start_index_map=[0, 1],
                index_vector_dim=1,
                slice_sizes=[8, 6],
            ),
            "f32[5,8,6]",
            id="example 1",
        ),
        pytest.param(
            lambda: big(
                "s64[4,5,2]",
                offset_dims=[2, 3],
                start_index_map=[0, 1],
                index_vector_dim=2,
                slice_sizes=[8, 6],
            ),
            "f32[4,5,8,6]",
            id="example 2",
        ),
        pytest.param(
            lambda: rows(indices="s32[4,5,1]", offset_dims=[2], index_vector_dim=2),
            "f32[4,5,11]",
            id="example 3",
        ),
        pytest.param(
            lambda: rows(indices="s32[6,7]", offset_dims=[2], index_vector_dim=2),
            "f32[6,7,11]",
            id="implied index vector",
        ),
        pytest.param(
            lambda: rows(indices="s32[1,5]", index_vector_dim=0),
            "f32[5,11]",
            id="index vector first",
        ),
        pytest.param(
            lambda: rows(offset_dims=[0], indices="s32[5,1]"), "f32[11,5]", id="offset first"
        ),
        pytest.param(lambda: rows(slice_sizes=[0, 0]), "f32[5,0]", id="empty slices"),
    ],
)
def test_result(build: Any, expected: str):
    assert spell(accepts(build).results[0].type) == expected
