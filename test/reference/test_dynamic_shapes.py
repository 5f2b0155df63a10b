"""Arrays with dynamic dimensions: their padding takes no part in anything."""

from typing import Any

import numpy as np
import pytest
from small_programs import computation, constant, evaluate, numbers, same, shape

from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.data_movement import (
    BitcastOp,
    BroadcastOp,
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    ReshapeOp,
    SliceOp,
)
from xla_dialect.ops.dynamic_shapes import DynamicReshapeOp, GetDimensionSizeOp, SetDimensionSizeOp
from xla_dialect.ops.elementwise import AddOp, MultiplyOp, NegateOp
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.ops.sorting import TopkOp

ONE_TO_TEN = numbers("f32", np.arange(1, 11))


def sized(x: Any, size: int, dimension: int = 0) -> Any:
    return SetDimensionSizeOp(x, constant("s32", size), dimension=dimension)


def folded(x: Any, op: Any, init: int) -> Any:
    region = computation(["f32[]", "f32[]"], op)
    return ReduceOp([x], [constant("f32", init)], dimensions=[0], regions=[region])


@pytest.mark.parametrize(
    ("size", "op", "init", "expected"),
    [
        pytest.param(5, AddOp, 0, 15, id="sum of 5"),
        pytest.param(5, MultiplyOp, 1, 120, id="product of 5"),
        pytest.param(6, AddOp, 0, 21, id="sum of 6"),
        pytest.param(0, AddOp, 7, 7, id="nothing"),
        pytest.param(10, AddOp, 0, 55, id="everything"),
    ],
)
def test_reductions_ignore_padding(size: int, op: Any, init: int, expected: int):
    same(evaluate(lambda x: folded(sized(x, size), op, init), ONE_TO_TEN), numbers("f32", expected))


def test_get_dimension_size():
    """Worked example: docs/generated/worked_examples.md#get_dimension_size."""
    result = evaluate(
        lambda x: [
            GetDimensionSizeOp(x, dimension=0),
            GetDimensionSizeOp(sized(x, 5), dimension=0),
        ],
        ONE_TO_TEN,
    )
    same(result, (numbers("s32", 10), numbers("s32", 5)))


@pytest.mark.parametrize("size", [-1, 11])
def test_size_out_of_range(size: int):
    """docs/generated/ops.md#set_dimension_size-c4."""
    with pytest.raises(XlaError, match=rf"set_dimension_size: \(C4\) size {size} of dimension 0"):
        evaluate(lambda x: sized(x, size), ONE_TO_TEN)


def pad(x: Any) -> Any:
    zero = constant("f32", 0)
    return PadOp(x, zero, edge_padding_low=[1], edge_padding_high=[2], interior_padding=[1])


def slice_(x: Any, start: int, limit: int, stride: int = 1) -> Any:
    return SliceOp(x, start_indices=[start], limit_indices=[limit], strides=[stride])


def dynamic_slice(x: Any, start: int, size: int) -> Any:
    return DynamicSliceOp(x, [constant("s32", start)], dynamic_slice_sizes=[size])


def update(x: Any, start: int) -> Any:
    return DynamicUpdateSliceOp(x, constant("f32", [8, 9]), [constant("s32", start)])


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        pytest.param(NegateOp, [-1, -2, -3], id="unary"),
        pytest.param(lambda x: AddOp(x, x), [2, 4, 6], id="binary"),
        pytest.param(lambda x: AddOp(x, constant("f32", range(10))), [1, 3, 5], id="with static"),
        pytest.param(lambda x: AddOp(constant("f32", [1] * 10), sized(x, 1)), [2], id="one left"),
        pytest.param(lambda x: sized(x, 5), [1, 2, 3, 0, 0], id="grown"),
        pytest.param(lambda x: ConcatenateOp([x, x], dimension=0), [1, 2, 3] * 2, id="concatenate"),
        pytest.param(pad, [0, 1, 0, 2, 0, 3, 0, 0], id="pad"),
        pytest.param(lambda x: slice_(x, 1, 8), [2, 3], id="slice"),
        pytest.param(lambda x: slice_(x, 0, 10, 2), [1, 3], id="slice with stride"),
        pytest.param(lambda x: slice_(x, 2, 3), [3], id="one element"),
        pytest.param(lambda x: slice_(x, 5, 6), [0], id="one element of the padding"),
        pytest.param(lambda x: slice_(x, 5, 9), [], id="all padding"),
        pytest.param(lambda x: dynamic_slice(x, 7, 10), [1, 2, 3], id="dynamic slice of all"),
        pytest.param(lambda x: dynamic_slice(x, 2, 3), [3, 0, 0], id="dynamic slice of some"),
        pytest.param(lambda x: update(x, 1), [1, 8, 9], id="update inside"),
        pytest.param(lambda x: update(x, 2), [1, 2, 8], id="update half inside"),
        pytest.param(lambda x: update(x, 9), [1, 2, 3], id="update outside"),
    ],
)
def test_of_ten_three_count(build: Any, expected: Any):
    same(evaluate(lambda x: build(sized(x, 3)), ONE_TO_TEN), numbers("f32", expected))


def test_broadcast():
    rows = evaluate(
        lambda x: BroadcastOp(sized(x, 3), dimensions=[1], result_types=[shape("f32[2,<=10]")]),
        ONE_TO_TEN,
    )
    same(rows, numbers("f32", [[1, 2, 3]] * 2))


SIX = numbers("f32", [[1, 2, 3], [4, 5, 6]])


def test_reshape():
    """The only dynamic dimension takes what is left; with two of them it has to be said."""

    def build(x: Any) -> Any:
        return ReshapeOp(sized(x, 2, 1), result_types=[shape("f32[<=6]")])

    same(evaluate(build, SIX), numbers("f32", [1, 2, 4, 5]))
    with pytest.raises(XlaError, match="4 elements do not tell the sizes"):
        evaluate(lambda x: ReshapeOp(sized(x, 2, 1), result_types=[shape("f32[<=3,<=2]")]), SIX)


def dynamic_reshape(x: Any, rows: int, columns: int) -> Any:
    sizes = [constant("s32", rows), constant("s32", columns)]
    return DynamicReshapeOp(sized(x, 2, 1), sizes, result_types=[shape("f32[<=3,<=2]")])


def test_dynamic_reshape():
    same(evaluate(lambda x: dynamic_reshape(x, 2, 2), SIX), numbers("f32", [[1, 2], [4, 5]]))


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        (4, 1, "size 4 of dimension 0, declared as <=3"),
        (-2, -2, "size -2 of dimension 0, declared as <=3"),
        (3, 1, r"4 elements for the sizes \[3, 1\]"),
    ],
)
def test_dynamic_reshape_to_wrong_sizes(rows: int, columns: int, message: str):
    with pytest.raises(XlaError, match=message):
        evaluate(lambda x: dynamic_reshape(x, rows, columns), SIX)


def test_dot_over_what_counts():
    def build(x: Any) -> Any:
        part = sized(x, 3)
        return DotOp(part, part, lhs_contracting_dims=[0], rhs_contracting_dims=[0])

    same(evaluate(build, ONE_TO_TEN), numbers("f32", 14))


def test_what_belongs_together_is_cut():
    """Of arrays whose sizes differ at run time, what all of them have counts."""

    def dot(x: Any) -> Any:
        return DotOp(sized(x, 3), sized(x, 2), lhs_contracting_dims=[0], rhs_contracting_dims=[0])

    same(evaluate(dot, ONE_TO_TEN), numbers("f32", 1 + 4))

    def rows(x: Any) -> Any:
        return ConcatenateOp([sized(x, 3, 1), sized(x, 1, 1)], dimension=0)

    same(evaluate(rows, SIX), numbers("f32", [[1], [4], [1], [4]]))


def test_reshape_group_by_group():
    """Two dynamic dimensions that do not mix keep their sizes."""

    def build(x: Any) -> Any:
        both = sized(sized(x, 1), 2, 1)
        return ReshapeOp(both, result_types=[shape("f32[1,<=2,<=3,1]")])

    same(evaluate(build, SIX), numbers("f32", [[[[1], [2]]]]))


def gather(x: Any, size: int) -> Any:
    return GatherOp(
        sized(x, 2, 1),
        constant("s32", [[1], [0], [7]]),
        offset_dims=[1],
        collapsed_slice_dims=[0],
        start_index_map=[0],
        index_vector_dim=1,
        slice_sizes=[1, size],
    )


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        pytest.param(3, [[4, 5], [1, 2], [4, 5]], id="all of a dynamic dimension"),
        pytest.param(1, [[4], [1], [4]], id="a part"),
    ],
)
def test_gather(size: int, expected: Any):
    same(evaluate(lambda x: gather(x, size), SIX), numbers("f32", expected))


def test_gather_of_what_is_not_there():
    result = evaluate(
        lambda x: GatherOp(
            sized(x, 3),
            constant("s32", [[1], [5]]),
            offset_dims=[],
            collapsed_slice_dims=[0],
            start_index_map=[0],
            index_vector_dim=1,
            slice_sizes=[1],
        ),
        ONE_TO_TEN,
    )
    same(result, numbers("f32", [2, 0]))


def test_scatter_beyond_the_end():
    """A window that is not inside of what is there is skipped."""

    def build(x: Any) -> Any:
        return ScatterOp(
            [sized(x, 3)],
            constant("s32", [[2], [3], [0]]),
            [sized(constant("f32", [10, 20, 30]), 2)],
            update_window_dims=[],
            inserted_window_dims=[0],
            scatter_dims_to_operand_dims=[0],
            index_vector_dim=1,
            regions=[computation(["f32[]", "f32[]"], AddOp)],
        )

    same(evaluate(build, ONE_TO_TEN), numbers("f32", [1, 2, 13]))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda x: TopkOp(sized(x, 3), k=1),
            "topk: dimension 0 of operand 0 cannot be dynamic: it",
        ),
        (
            lambda x: BitcastOp(sized(x, 3), result_types=[shape("s32[10]")]),
            "bitcast: dimension 0 of operand 0 cannot be dynamic: bytes",
        ),
    ],
)
def test_undefined(build: Any, message: str):
    with pytest.raises(XlaError, match=message):
        evaluate(build, ONE_TO_TEN)
