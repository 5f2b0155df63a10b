"""Data movement on the tensors level against the reference, also of empty and rank-0 arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import numbers, shape
from sweeps import each_or_full
from tensors_level import check

from xla_dialect.ops.data_movement import (
    BroadcastOp,
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from xla_dialect.types import ELEMENT_TYPES, array

NAMES = [e.name for e in ELEMENT_TYPES]


def counting(name: str, *sizes: int) -> np.ndarray:
    """Small numbers, as different as the type allows."""
    return numbers(name, np.arange(np.prod(sizes)).reshape(sizes) % (2 if name == "pred" else 7))


RESHAPES = [
    ((), ()),
    ((), (1,)),
    ((), (1, 1, 1)),
    ((1, 1), ()),
    ((1,), (1, 1)),
    ((6,), (2, 3)),
    ((2, 3), (6,)),
    ((2, 3), (3, 2)),
    ((4, 1), (1, 4)),
    ((2, 1, 3), (2, 3, 1)),
    ((1, 2, 3, 1), (1, 1, 6)),
    ((2, 3, 4), (4, 3, 2)),
    ((2, 3, 4), (2, 2, 6)),
    ((2, 3, 4), (6, 1, 4)),
    ((2, 3, 4), (1, 24)),
    ((24, 1), (1, 2, 12)),
    ((0, 3), (5, 0)),
    ((0,), (0, 7, 2)),
    ((2, 0, 3), (0,)),
]


@pytest.mark.parametrize(("before", "after"), RESHAPES)
def test_reshape(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    element_type = shape("s32[]").element_type
    check(
        lambda x: ReshapeOp(x, result_types=[array(element_type, after)]),
        counting("s32", *before),
    )


@given(st.data())
def test_reshape_of_any_sizes(data: st.DataObject) -> None:
    factors = data.draw(st.lists(st.sampled_from([1, 1, 2, 3, 5]), max_size=5))

    def grouped(label: str) -> tuple[int, ...]:
        order = data.draw(st.permutations(factors), label)
        sizes: list[int] = []
        for factor in order:
            if sizes and data.draw(st.booleans()):
                sizes[-1] *= factor
            else:
                sizes.append(factor)
        return tuple(sizes)

    test_reshape(grouped("before"), grouped("after"))


@pytest.mark.parametrize(
    ("sizes", "permutation"),
    [((), []), ((3,), [0]), ((2, 3), [1, 0]), ((2, 3, 4), [2, 0, 1]), ((2, 3, 4), [1, 2, 0])],
)
def test_transpose(sizes: tuple[int, ...], permutation: list[int]) -> None:
    check(lambda x: TransposeOp(x, dimensions=permutation), counting("f32", *sizes))


@pytest.mark.parametrize(
    ("sizes", "dimensions", "result"),
    [
        ((), [], (2, 3)),
        ((), [], ()),
        ((3,), [1], (2, 3)),
        ((2, 3), [1, 0], (3, 2)),
        ((2,), [0], (2, 0)),
        ((1, 3), [0, 2], (1, 2, 3)),
    ],
)
def test_broadcast(sizes: tuple[int, ...], dimensions: list[int], result: tuple[int, ...]) -> None:
    result_type = array(shape("f32[]").element_type, result)
    check(
        lambda x: BroadcastOp(x, dimensions=dimensions, result_types=[result_type]),
        counting("f32", *sizes),
    )


@pytest.mark.parametrize(
    ("size", "low", "high", "interior"),
    [
        (3, 1, 2, 1),
        (3, -1, 2, 1),
        (3, -1, -2, 2),
        (3, 0, -4, 1),
        (3, -2, -1, 1),
        (0, 1, 1, 5),
        (0, 0, 0, 3),
        (3, 0, 0, 0),
        (1, 2, 0, 4),
        (4, -5, 0, 1),
        (4, 3, -3, 0),
        (3, -9, 8, 3),
        (2, 5, -6, 0),
        (3, 0, -3, 0),
    ],
)
def test_pad(size: int, low: int, high: int, interior: int) -> None:
    check(
        lambda x, v: PadOp(
            x,
            v,
            edge_padding_low=[low, 0],
            edge_padding_high=[high, 1],
            interior_padding=[interior, 0],
        ),
        counting("s32", size, 2),
        numbers("s32", 9),
    )


@given(st.integers(0, 4), st.integers(-6, 6), st.integers(-6, 6), st.integers(0, 3))
def test_pad_by_any_amount(size: int, low: int, high: int, interior: int) -> None:
    if low + size + max(size - 1, 0) * interior + high >= 0:
        test_pad(size, low, high, interior)


AMOUNTS = st.tuples(st.integers(-3, 3), st.integers(-3, 3))


@given(st.tuples(AMOUNTS, AMOUNTS, st.just((0, 0)) | AMOUNTS))
def test_pad_of_large_arrays(padding: tuple[tuple[int, int], ...]) -> None:
    """They are put together from slabs, or in one loop nest if rows stay whole."""
    check(
        lambda x, v: PadOp(
            x,
            v,
            edge_padding_low=[low for low, _ in padding],
            edge_padding_high=[high for _, high in padding],
            interior_padding=[0, 0, 0],
        ),
        counting("s32", 30, 31, 32),
        numbers("s32", -9),
    )


@pytest.mark.parametrize("name", each_or_full(NAMES, NAMES[::5]))
def test_pad_of_large_arrays_of_every_element_type(name: str) -> None:
    check(
        lambda x, v: PadOp(
            x,
            v,
            edge_padding_low=[1, -2, 0],
            edge_padding_high=[0, 9, 0],
            interior_padding=[0, 0, 0],
        ),
        counting(name, 30, 12, 64),
        numbers(name, 1),
    )


def test_concatenate() -> None:
    parts = [counting("f32", 2, n) for n in (3, 0, 1)]
    check(lambda *xs: ConcatenateOp(xs, dimension=1), *parts)
    check(lambda x, y: ConcatenateOp([x, y], dimension=0), parts[1], parts[1])
    check(lambda x: ConcatenateOp([x], dimension=0), parts[0])


def test_reverse() -> None:
    check(lambda x: ReverseOp(x, dimensions=[0, 2]), counting("f32", 2, 3, 4))
    check(lambda x: ReverseOp(x, dimensions=[]), counting("f32", 3))
    check(lambda x: ReverseOp(x, dimensions=[0]), counting("f32", 0, 3))


INDICES = [
    ("s32", [0, 1, 4, -1, -(2**31), 2**31 - 1]),
    ("s8", [1, -1, 127]),
    ("u8", [1, 200, 255]),
    ("s64", [-(2**63), 2**63 - 1, 3]),
    ("u32", [2**32 - 1, 2]),
    ("u64", [2**64 - 1, 2**63, 2]),
    ("s4", [-8, 7, 1]),
    ("u4", [15, 1]),
]


@pytest.mark.parametrize(("name", "starts"), INDICES)
def test_dynamic_slices(name: str, starts: list[int]) -> None:
    x, update = counting("f32", 5, 300), counting("f32", 2, 30)
    for start in starts:
        index = numbers(name, start)
        check(lambda a, i: DynamicSliceOp(a, [i, i], dynamic_slice_sizes=[2, 7]), x, index)
        check(lambda a, u, i: DynamicUpdateSliceOp(a, u, [i, i]), x, update, index)


def test_dynamic_slices_of_all_and_nothing() -> None:
    x, index = counting("f32", 2, 3), numbers("s32", 1)
    check(lambda a, i: DynamicSliceOp(a, [i, i], dynamic_slice_sizes=[2, 3]), x, index)
    check(lambda a, i: DynamicSliceOp(a, [i, i], dynamic_slice_sizes=[0, 3]), x, index)
    check(lambda a: DynamicSliceOp(a, [], dynamic_slice_sizes=[]), counting("f32"))
    check(lambda a, u, i: DynamicUpdateSliceOp(a, u, [i, i]), x, x + 1, index)
    check(lambda a, u, i: DynamicUpdateSliceOp(a, u, [i, i]), x, x[:, :0].copy(), index)
    check(lambda a, u: DynamicUpdateSliceOp(a, u, []), counting("f32"), numbers("f32", 5))


def test_slices_with_strides() -> None:
    x = counting("f32", 7, 5)
    check(lambda a: SliceOp(a, start_indices=[1, 0], limit_indices=[7, 5], strides=[3, 2]), x)
    check(lambda a: SliceOp(a, start_indices=[2, 1], limit_indices=[2, 5], strides=[1, 1]), x)
