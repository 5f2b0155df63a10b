"""The result types of sort, topk and scatter."""

from collections.abc import Sequence
from typing import Any

import pytest
from small_programs import computation, tuple_of, value
from violations import accepts
from xdsl.ir import Region

from xla_dialect.op import XlaOp
from xla_dialect.ops.elementwise import AddOp, CompareOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.sorting import SortOp, TopkOp
from xla_dialect.types import spell


def less(*names: str) -> Region:
    """The comparator of arrays of these element types, by the first of them."""
    types = [f"{name}[]" for name in names or ("f32",) for _ in range(2)]
    return computation(types, lambda a, b, *_: CompareOp(a, b, direction="LT"))


def sort(
    inputs: Sequence[Any] = ("f32[3,4]",), dimension: int = 1, to_apply: Region | None = None
) -> XlaOp:
    return SortOp([value(x) for x in inputs], dimension=dimension, regions=[to_apply or less()])


def topk(operand: Any, k: int) -> XlaOp:
    return TopkOp(value(operand), k=k)


ROWS: dict[str, Any] = {
    "update_window_dims": [1],
    "inserted_window_dims": [0],
    "scatter_dims_to_operand_dims": [0],
    "index_vector_dim": 1,
}
BATCHED: dict[str, Any] = {
    "update_window_dims": [],
    "inserted_window_dims": [1],
    "scatter_dims_to_operand_dims": [1],
    "index_vector_dim": 1,
    "input_batching_dims": [0],
    "scatter_indices_batching_dims": [0],
}


def adding(name: str = "f32") -> Region:
    return computation([f"{name}[]"] * 2, AddOp)


def rows(
    inputs: Sequence[Any] = ("f32[16,11]",),
    indices: Any = "s32[5,1]",
    updates: Sequence[Any] = ("f32[5,11]",),
    to_apply: Region | None = None,
    **changes: Any,
) -> XlaOp:
    return ScatterOp(
        [value(x) for x in inputs],
        value(indices),
        [value(x) for x in updates],
        regions=[to_apply or adding()],
        **(ROWS | changes),
    )


def batched(
    inputs: Sequence[Any] = ("f32[2,3]",),
    indices: Any = "s32[2,1]",
    updates: Sequence[Any] = ("f32[2]",),
    **changes: Any,
) -> XlaOp:
    return rows(inputs, indices, updates, **(BATCHED | changes))


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (sort, ["f32[3,4]"]),
        (
            lambda: sort(["f32[3]", "pred[3]"], 0, less("f32", "pred")),
            ["f32[3]", "pred[3]"],
        ),
        (lambda: sort(["f32[<=3]"], 0), ["f32[<=3]"]),
        (lambda: topk("u8[2,3]", 2), ["u8[2,2]", "s32[2,2]"]),
        (lambda: topk("f32[0]", 0), ["f32[0]", "s32[0]"]),
        (rows, ["f32[16,11]"]),
        (batched, ["f32[2,3]"]),
        (lambda: rows(updates=["f32[5,3]"]), ["f32[16,11]"]),
        (lambda: rows(["f32[<=16,11]"]), ["f32[<=16,11]"]),
        (
            lambda: rows(
                ["f32[16,11]", "s32[16,11]"],
                "u8[5]",
                ["f32[5,0]", "s32[5,0]"],
                computation(["f32[]", "s32[]"] * 2, lambda a, b, c, d: [c, b]),
            ),
            ["f32[16,11]", "s32[16,11]"],
        ),
    ],
)
def test_results(build: Any, expected: list[str]):
    assert [spell(result.type) for result in accepts(build).results] == expected


def test_tuple_results():
    """Where HLO has a tuple, the tuple and its elements are both legal."""
    op = topk("f32[4]", 2)
    elements = [result.type for result in op.results]
    op.set_result_types([tuple_of(*elements)])
    op.verify()
