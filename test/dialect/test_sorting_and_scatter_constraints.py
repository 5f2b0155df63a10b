"""Every numbered constraint of sort, topk and scatter, broken alone."""

from collections.abc import Sequence
from typing import Any

import pytest
from small_programs import computation, tuple_of, value
from violations import accepts, assert_violates, cases
from xdsl.ir import Region

from xla_dialect.op import XlaOp
from xla_dialect.ops.elementwise_binary import AddOp, CompareOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.sorting import SortOp, TopkOp
from xla_dialect.types import TokenType, spell

TOKEN = TokenType()


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
    ("name", "label", "build"),
    [
        *cases(
            "sort",
            ("C1", lambda: sort([])),
            ("C1", lambda: sort([TOKEN])),
            ("C1", lambda: sort(["f32[3,4]", "f32[4,3]"], to_apply=less("f32", "f32"))),
            ("C2", lambda: sort(to_apply=less("f64"))),
            ("C2", lambda: sort(to_apply=less("f32", "f32"))),
            ("C2", lambda: sort(to_apply=adding())),
            ("C2", lambda: sort(["f32[2,2]", "s32[2,2]"], to_apply=less("s32", "f32"))),
            ("C3", lambda: sort(dimension=2)),
            ("C3", lambda: sort(dimension=-1)),
            ("C4", lambda: sort(["f32[]"], 0)),
        ),
        *cases(
            "topk",
            ("C1", lambda: topk("f32[]", 0)),
            ("C2", lambda: topk("f32[2,3]", 4)),
            ("C2", lambda: topk("f32[2,3]", -1)),
            ("C3", lambda: topk("pred[3]", 1)),
            ("C3", lambda: topk("c64[3]", 1)),
            ("C3", lambda: topk(TOKEN, 1)),
        ),
        *cases(
            "scatter",
            ("C1", lambda: rows([], updates=[])),
            ("C1", lambda: rows([TOKEN])),
            ("C2", lambda: rows(["f32[16,11]", "f32[16,12]"], updates=["f32[5,11]"] * 2)),
            ("C2", lambda: rows(["f32[16,11]"] * 2, updates=["f32[5,11]", "f32[5,10]"])),
            ("C3", lambda: rows(updates=["f64[5,11]"])),
            ("RC1", lambda: rows(to_apply=adding("f64"))),
            ("RC1", lambda: rows(to_apply=computation(["f32[]"], lambda x: x))),
            ("RC2", lambda: rows(to_apply=less())),
            ("RC2", lambda: rows(to_apply=computation(["f32[]"] * 2, lambda a, b: [a, b]))),
            ("C5", lambda: rows(indices="f32[5,1]")),
            ("C5", lambda: rows(indices="pred[5,1]")),
            ("C6", lambda: rows(index_vector_dim=3)),
            ("C6", lambda: rows(index_vector_dim=-1)),
            ("C7", lambda: rows(updates=["f32[5,5,11]"])),
            ("C7", lambda: rows(updates=["f32[5]"])),
            ("C8", lambda: rows(update_window_dims=[2])),
            ("C8", lambda: rows(update_window_dims=[-1])),
            (
                "C8",
                lambda: rows(
                    updates=["f32[5,1,11]"], update_window_dims=[2, 1], inserted_window_dims=[]
                ),
            ),
            (
                "C8",
                lambda: rows(
                    updates=["f32[5,1,11]"], update_window_dims=[1, 1], inserted_window_dims=[]
                ),
            ),
            ("C9", lambda: rows(inserted_window_dims=[2])),
            ("C9", lambda: rows(inserted_window_dims=[-1])),
            (
                "C9",
                lambda: rows(
                    updates=["f32[5]"], update_window_dims=[], inserted_window_dims=[1, 0]
                ),
            ),
            ("C10", lambda: rows(inserted_window_dims=[])),
            ("C10", lambda: rows(inserted_window_dims=[0, 1])),
            ("C11", lambda: rows(scatter_dims_to_operand_dims=[])),
            ("C11", lambda: rows(scatter_dims_to_operand_dims=[2])),
            ("C11", lambda: rows(indices="s32[5,2]", scatter_dims_to_operand_dims=[0, 0])),
            ("C12", lambda: rows(updates=["f32[5,12]"])),
            ("C13", lambda: rows(updates=["f32[6,11]"])),
            ("C14", lambda: batched(indices="s32[3,1]", updates=["f32[3]"])),
            ("C14", lambda: batched(scatter_indices_batching_dims=[])),
            ("C14", lambda: batched(scatter_indices_batching_dims=[2])),
            ("C14", lambda: batched(["f32[1,3]"], scatter_indices_batching_dims=[1])),
            ("C14", lambda: batched(scatter_dims_to_operand_dims=[0])),
            ("C14", lambda: batched(inserted_window_dims=[0])),
            ("C14", lambda: batched(input_batching_dims=[2])),
            ("Result", lambda: with_result(rows(), "f32[16,12]")),
        ),
    ],
)
def test_constraints(name: str, label: str, build: Any):
    assert_violates(name, label, build)


def with_result(op: XlaOp, result: str) -> XlaOp:
    """The operation with another result type."""
    op.set_result_types([value(result).type])
    return op


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
