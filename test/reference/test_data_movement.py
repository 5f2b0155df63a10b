"""Worked examples of the operations that move elements, and their formulas on random arrays."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import Built, constant, evaluate, numbers, same, shape, type_of

from xla_dialect.literals.arrays import literal_of, numpy_dtype
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import (
    BroadcastOp,
    ConcatenateOp,
    CopyOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from xla_dialect.types import ELEMENT_TYPES

V = numbers(
    "f32",
    [
        [[10, 11, 12], [15, 16, 17]],
        [[20, 21, 22], [25, 26, 27]],
        [[30, 31, 32], [35, 36, 37]],
        [[40, 41, 42], [45, 46, 47]],
    ],
)
A = numbers("f32", [0, 1, 2, 3, 4])
B = numbers("f32", np.arange(12).reshape(4, 3))
M = numbers("f32", [[1, 2, 3], [4, 5, 6]])


def reshaped(operand: np.ndarray, sizes: Sequence[int]) -> Any:
    type_ = type_of(np.empty(sizes, operand.dtype))
    return evaluate(lambda x: ReshapeOp(x, result_types=[type_]), operand)


def broadcast(operand: np.ndarray, dimensions: Sequence[int], sizes: Sequence[int]) -> Any:
    type_ = type_of(np.empty(sizes, operand.dtype))
    return evaluate(lambda x: BroadcastOp(x, dimensions=dimensions, result_types=[type_]), operand)


def padded(operand: np.ndarray, value: Any, config: Sequence[tuple[int, int, int]]) -> Any:
    low, high, interior = zip(*config, strict=True) if config else ((), (), ())
    return evaluate(
        lambda x, v: PadOp(
            x, v, edge_padding_low=low, edge_padding_high=high, interior_padding=interior
        ),
        operand,
        np.array(value, operand.dtype),
    )


def sliced(
    operand: np.ndarray, start: Sequence[int], limit: Sequence[int], strides: Sequence[int] = ()
) -> Any:
    strides = strides or [1] * operand.ndim
    return evaluate(
        lambda x: SliceOp(x, start_indices=start, limit_indices=limit, strides=strides), operand
    )


def dynamic_slice(operand: np.ndarray, starts: Sequence[np.ndarray], sizes: Sequence[int]) -> Any:
    def build(x: Any, *indices: Any) -> Built:
        return DynamicSliceOp(x, indices, dynamic_slice_sizes=sizes)

    return evaluate(build, operand, *starts)


def dynamic_update_slice(operand: np.ndarray, update: np.ndarray, *starts: np.ndarray) -> Any:
    def build(x: Any, u: Any, *indices: Any) -> Built:
        return DynamicUpdateSliceOp(x, u, indices)

    return evaluate(build, operand, update, *starts)


FLAT = V.reshape(-1)


@pytest.mark.parametrize(
    ("operand", "sizes", "expected"),
    [
        pytest.param(V, [24], FLAT, id="example 1"),
        pytest.param(V, [8, 3], numbers("f32", [list(r) for m in V for r in m]), id="example 2"),
        pytest.param(V, [4, 6], numbers("f32", FLAT.reshape(4, 6)), id="example 3"),
        pytest.param(numbers("f32", [[5]]), [], numbers("f32", 5), id="example 3"),
        pytest.param(numbers("f32", 5), [1, 1], numbers("f32", [[5]]), id="example 4"),
        pytest.param(
            numbers("f32", np.zeros((0, 3))), [3, 0, 7], np.zeros((3, 0, 7), "f4"), id="0"
        ),
    ],
)
def test_reshape(operand: np.ndarray, sizes: list[int], expected: np.ndarray):
    same(reshaped(operand, sizes), expected)


@pytest.mark.parametrize(
    ("operand", "dimensions", "sizes", "expected"),
    [
        pytest.param(numbers("f32", 2), [], [2, 3], np.full((2, 3), 2, "f4"), id="example 1"),
        pytest.param(
            numbers("f32", [7, 8, 9]),
            [1],
            [2, 3],
            numbers("f32", [[7, 8, 9], [7, 8, 9]]),
            id="example 1",
        ),
        pytest.param(
            numbers("f32", [7, 8, 9]),
            [0],
            [3, 3],
            numbers("f32", [[7, 7, 7], [8, 8, 8], [9, 9, 9]]),
            id="example 1",
        ),
        pytest.param(
            M, [1, 0], [3, 2], numbers("f32", [[1, 4], [2, 5], [3, 6]]), id="Broadcast transposing"
        ),
        pytest.param(numbers("s4", [-3]), [1], [0, 1], numbers("s4", np.zeros((0, 1))), id="empty"),
    ],
)
def test_broadcast(operand: np.ndarray, dimensions: list[int], sizes: list[int], expected: Any):
    same(broadcast(operand, dimensions, sizes), expected)


@given(st.data())
def test_broadcast_formula(data: st.DataObject):
    sizes = data.draw(st.lists(st.integers(0, 3), max_size=4))
    dimensions = data.draw(st.permutations(range(len(sizes))))
    dimensions = dimensions[: data.draw(st.integers(0, len(sizes)))]
    operand = np.arange(np.prod([sizes[d] for d in dimensions], dtype=int))
    operand = operand.reshape([sizes[d] for d in dimensions])
    result = broadcast(operand, dimensions, sizes)
    for place in np.ndindex(*sizes):
        assert result[place] == operand[tuple(place[d] for d in dimensions)]


@pytest.mark.parametrize(
    ("operand", "permutation", "expected"),
    [
        pytest.param(M, [1, 0], numbers("f32", [[1, 4], [2, 5], [3, 6]]), id="example 1"),
        pytest.param(np.zeros((2, 3, 5), "f4"), [2, 0, 1], np.zeros((5, 2, 3), "f4"), id="sizes"),
        pytest.param(numbers("f32", 1), [], numbers("f32", 1), id="rank 0"),
    ],
)
def test_transpose(operand: np.ndarray, permutation: list[int], expected: np.ndarray):
    same(evaluate(lambda x: TransposeOp(x, dimensions=permutation), operand), expected)


@given(st.permutations(range(3)))
def test_transpose_formula(permutation: list[int]):
    operand = np.arange(24).reshape(2, 3, 4)
    result = evaluate(lambda x: TransposeOp(x, dimensions=permutation), operand)
    for place in np.ndindex(*result.shape):
        index = [0] * 3
        for i, p in enumerate(permutation):
            index[p] = place[i]
        assert result[place] == operand[tuple(index)]


@pytest.mark.parametrize(
    ("operand", "start", "limit", "strides", "expected"),
    [
        pytest.param(A, [2], [4], [1], numbers("f32", [2, 3]), id="example 1"),
        pytest.param(B, [2, 1], [4, 3], [1, 1], numbers("f32", [[7, 8], [10, 11]]), id="example 2"),
        pytest.param(A, [0], [5], [2], numbers("f32", [0, 2, 4]), id="example 3"),
        pytest.param(A, [3], [3], [1], numbers("f32", []), id="empty"),
        pytest.param(A, [1], [5], [9], numbers("f32", [1]), id="long stride"),
    ],
)
def test_slice(operand: np.ndarray, start: Any, limit: Any, strides: Any, expected: np.ndarray):
    same(sliced(operand, start, limit, strides), expected)


@pytest.mark.parametrize(
    ("operands", "dimension", "expected"),
    [
        pytest.param(
            [numbers("f32", v) for v in ([2, 3], [4, 5], [6, 7])],
            0,
            numbers("f32", [2, 3, 4, 5, 6, 7]),
            id="example 1",
        ),
        pytest.param(
            [numbers("f32", [[1, 2], [3, 4], [5, 6]]), numbers("f32", [[7, 8]])],
            0,
            numbers("f32", [[1, 2], [3, 4], [5, 6], [7, 8]]),
            id="example 2",
        ),
        pytest.param(
            [numbers("s4", [[1], [2]]), numbers("s4", np.zeros((2, 0))), numbers("s4", [[3], [4]])],
            1,
            numbers("s4", [[1, 3], [2, 4]]),
            id="empty piece",
        ),
        pytest.param([M], 1, M, id="one operand"),
    ],
)
def test_concatenate(operands: list[np.ndarray], dimension: int, expected: np.ndarray):
    same(evaluate(lambda *xs: ConcatenateOp(xs, dimension=dimension), *operands), expected)


X = numbers("f32", [1, 2, 3])


@pytest.mark.parametrize(
    ("operand", "value", "config", "expected"),
    [
        pytest.param(X, 0, [(1, 2, 1)], [0, 1, 0, 2, 0, 3, 0, 0], id="example 1"),
        pytest.param(X, 0, [(-1, 2, 1)], [0, 2, 0, 3, 0, 0], id="negative low"),
        pytest.param(X, 0, [(-1, -2, 2)], [0, 0, 2, 0], id="both negative"),
        pytest.param(X, 9, [(0, -4, 1)], [1], id="negative high"),
        pytest.param(X, 9, [(-2, -1, 1)], [2, 9], id="example 2"),
        pytest.param(numbers("f32", []), 9, [(1, 1, 5)], [9, 9], id="of nothing"),
        pytest.param(X, 9, [(-3, 3, 0)], [9, 9, 9], id="all removed"),
        pytest.param(X, 9, [(5, -8, 0)], [], id="nothing left"),
        pytest.param(numbers("f32", 4), 9, [], 4, id="rank 0"),
    ],
)
def test_pad(operand: np.ndarray, value: int, config: Any, expected: Any):
    same(padded(operand, value, config), numbers("f32", expected))


@given(st.data())
def test_pad_formula(data: st.DataObject):
    """Two dimensions; index by index as the formula has it."""
    sizes = data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
    config: list[tuple[int, int, int]] = []
    result_sizes: list[int] = []
    for size in sizes:
        low, interior = data.draw(st.integers(-4, 3)), data.draw(st.integers(0, 2))
        inside = size + max(size - 1, 0) * interior
        high = data.draw(st.integers(max(-4, -low - inside), 5))
        config.append((low, high, interior))
        result_sizes.append(low + inside + high)
    operand = np.arange(1, sizes[0] * sizes[1] + 1).reshape(sizes)
    expected = np.full(result_sizes, -1)
    for place in np.ndindex(*sizes):
        target = tuple(c[0] + i * (c[2] + 1) for c, i in zip(config, place, strict=True))
        if all(0 <= t < n for t, n in zip(target, result_sizes, strict=True)):
            expected[target] = operand[place]
    same(padded(operand, -1, config), expected)


@pytest.mark.parametrize(
    ("operand", "dimensions", "expected"),
    [
        pytest.param(numbers("f32", [1, 2, 3, 4, 5]), [0], [5, 4, 3, 2, 1], id="example 1"),
        pytest.param(M, [0, 1], [[6, 5, 4], [3, 2, 1]], id="two"),
        pytest.param(M, [], M, id="none"),
    ],
)
def test_reverse(operand: np.ndarray, dimensions: list[int], expected: Any):
    same(evaluate(lambda x: ReverseOp(x, dimensions=dimensions), operand), numbers("f32", expected))


IOTA_300 = numbers("s32", np.arange(300))


@pytest.mark.parametrize(
    ("operand", "starts", "sizes", "expected"),
    [
        pytest.param(A, [("s32", 2)], [2], A[2:4], id="example 1"),
        pytest.param(B, [("s32", 2), ("s32", 1)], [2, 2], B[2:4, 1:3], id="example 2"),
        pytest.param(A, [("s32", 4)], [2], A[3:5], id="example 3"),
        pytest.param(A, [("s32", -3)], [2], A[0:2], id="negative"),
        pytest.param(A, [("s8", -1)], [2], A[0:2], id="s8"),
        pytest.param(A, [("u8", 255)], [2], A[3:5], id="u8"),
        pytest.param(A, [("u32", 2**32 - 1)], [2], A[3:5], id="u32"),
        pytest.param(A, [("u64", 2**64 - 1)], [2], A[3:5], id="u64"),
        pytest.param(IOTA_300, [("u8", 200)], [2], IOTA_300[200:202], id="u8 200"),
        pytest.param(IOTA_300, [("s8", -56)], [2], IOTA_300[0:2], id="s8 -56"),
        pytest.param(A, [("s32", 1)], [0], A[:0], id="empty"),
        pytest.param(numbers("f32", 7), [], [], numbers("f32", 7), id="rank 0"),
        pytest.param(A, [("s4", -2)], [3], A[:3], id="s4"),
    ],
)
def test_dynamic_slice(operand: np.ndarray, starts: Any, sizes: list[int], expected: np.ndarray):
    same(dynamic_slice(operand, [numbers(*start) for start in starts], sizes), expected)


@pytest.mark.parametrize(
    ("operand", "update", "starts", "expected"),
    [
        pytest.param(A, [5, 6], [("s32", 2)], [0, 1, 5, 6, 4], id="example 1"),
        pytest.param(
            B,
            [[12, 13], [14, 15], [16, 17]],
            [("s32", 1), ("s32", 1)],
            [[0, 1, 2], [3, 12, 13], [6, 14, 15], [9, 16, 17]],
            id="example 2",
        ),
        pytest.param(A, [5, 6], [("s32", 9)], [0, 1, 2, 5, 6], id="example 3"),
        pytest.param(A, [5, 6], [("u8", 255)], [0, 1, 2, 5, 6], id="u8"),
        pytest.param(A, [5, 6], [("s8", -1)], [5, 6, 2, 3, 4], id="s8"),
        pytest.param(A, [], [("s32", 1)], A, id="nothing"),
        pytest.param(numbers("f32", 3), 4, [], 4, id="rank 0"),
    ],
)
def test_dynamic_update_slice(operand: np.ndarray, update: Any, starts: Any, expected: Any):
    before = operand.copy()
    indices = [numbers(*start) for start in starts]
    result = dynamic_update_slice(operand, numbers("f32", update), *indices)
    same(result, numbers("f32", expected))
    same(operand, before)


@pytest.mark.parametrize(
    ("type_", "dimension", "expected"),
    [
        pytest.param("s32[4,8]", 0, [[i] * 8 for i in range(4)], id="example 1"),
        pytest.param("s32[4,8]", 1, [list(range(8))] * 4, id="example 2"),
        pytest.param("c64[3]", 0, [0, 1, 2], id="c64"),
        pytest.param("u8[300]", 0, [i % 256 for i in range(300)], id="u8"),
        pytest.param("s4[20]", 0, [*range(8), *range(-8, 0), 0, 1, 2, 3], id="s4"),
        pytest.param(
            "f8e5m2[20]",
            0,
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 10, 12, 12, 12, 14, 16, 16, 16, 16, 20],
            id="f8e5m2",
        ),
        pytest.param("f32[2,0,3]", 2, np.zeros((2, 0, 3)), id="empty"),
    ],
)
def test_iota(type_: str, dimension: int, expected: Any):
    result = evaluate(lambda: IotaOp(iota_dimension=dimension, result_types=[shape(type_)]))
    same(result, numbers(type_.split("[")[0], expected))


def test_iota_rounds():
    result = evaluate(lambda: IotaOp(iota_dimension=0, result_types=[shape("bf16[260]")]))
    same(result[255:], numbers("bf16", [255, 256, 256, 258, 260]))


@pytest.mark.parametrize("row", ELEMENT_TYPES, ids=lambda row: row.name)
def test_moving_keeps_the_bits(row: Any):
    """Every operation, on every bit pattern of narrow types and on random ones of the others."""
    dtype = numpy_dtype(row.type)
    raw = np.random.default_rng(0).integers(0, 256, 24 * dtype.itemsize, dtype=np.uint8)
    operand = (raw & 1).astype(bool) if row.name == "pred" else raw.view(dtype)
    operand = operand.reshape(4, 6)
    zero = np.zeros((), dtype)
    start = numbers("s32", 1)
    same(evaluate(lambda x: TransposeOp(x, dimensions=[1, 0]), operand), operand.T)
    same(evaluate(CopyOp, operand), operand)
    same(reshaped(operand, [3, 8]), operand.reshape(3, 8))
    same(sliced(operand, [1, 0], [4, 6], [2, 3]), operand[1:4:2, ::3])
    same(broadcast(operand[0], [1], [2, 6]), np.stack([operand[0]] * 2))
    same(padded(operand, zero, [(0, 1, 0), (0, 0, 0)])[:4], operand)
    same(evaluate(lambda x: ReverseOp(x, dimensions=[1]), operand), operand[:, ::-1])
    same(evaluate(lambda *xs: ConcatenateOp(xs, dimension=0), operand, operand)[4:], operand)
    same(dynamic_slice(operand, [start, start], [2, 3]), operand[1:3, 1:4])
    same(dynamic_update_slice(operand, operand[:2], start, start)[1:3], operand[:2])
    same(evaluate(lambda: ConstantOp(value=literal_of(operand))), operand)


def test_constant_tuple():
    def build() -> Built:
        return ConstantOp(value=literal_of((numbers("s32", 1), (), (numbers("pred", [1, 0]),))))

    same(evaluate(build), (numbers("s32", 1), (), (numbers("pred", [1, 0]),)))


def test_results_share_no_memory():
    """Neither with arguments nor with each other, nor with constants."""
    operand = numbers("f32", [[1, 2], [3, 4]])
    results = evaluate(
        lambda x: [x, x, TransposeOp(x, dimensions=[1, 0]), constant("f32", [1.0, 2.0])], operand
    )
    for first, second in itertools.combinations([operand, *results], 2):
        assert not np.shares_memory(first, second)
    for result in results:
        assert result.flags.writeable
        assert result.flags.c_contiguous
