"""Windows as the builder makes them; SAME and VALID are docs/specification/windows.md#w4."""

from typing import Any

import numpy as np
import pytest
from built_programs import build, evaluate, f32
from hypothesis import given
from hypothesis import strategies as st

from xla_dialect.builder import BuildError, XlaBuilder, XlaValue
from xla_dialect.builder.arguments import same_padding
from xla_dialect.shapes.window import WindowDimension

LHS = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
RHS = f32([1, 2], [3, 4]).reshape(1, 1, 2, 2)


def same(found: Any, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(found, expected, strict=True)


@given(st.integers(0, 20), st.integers(1, 6), st.integers(1, 6))
def test_same_is_the_size_divided_by_the_stride(size: int, window: int, stride: int) -> None:
    low, high = same_padding(size, window, stride)
    assert 0 <= low <= high <= low + 1
    placements = WindowDimension(window, stride, low, high).placements(size)
    assert placements == (-(-size // stride) if size else 0)


def test_same_depends_on_the_stride() -> None:
    """The example of docs/specification/windows.md#w4."""
    assert same_padding(6, 3, 2) == (0, 1)


@pytest.mark.parametrize(
    ("padding", "expected"),
    [
        ("VALID", f32([37, 47], [67, 77])),
        ("SAME", f32([37, 47, 21], [67, 77, 33], [23, 26, 9])),
        ("kSame", f32([37, 47, 21], [67, 77, 33], [23, 26, 9])),
        ([(0, 1), (0, 1)], f32([37, 47, 21], [67, 77, 33], [23, 26, 9])),
    ],
)
def test_conv(padding: Any, expected: np.ndarray) -> None:
    found = evaluate(lambda b, x, k: b.conv(x, k, [1, 1], padding), LHS, RHS)
    same(found, expected.reshape(1, 1, *expected.shape))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(([2, 2], [(1, 1), (1, 1)]), f32([4, 18], [36, 77]), id="example 2"),
        pytest.param(
            ([1, 1], [(0, 0)] * 2, [2, 2]),
            f32([1, 4, 2, 6], [12, 20, 15, 24], [4, 10, 5, 12], [21, 32, 24, 36]),
            id="example 3",
        ),
        pytest.param(([1, 1], [(0, 0)] * 2, (), [2, 2]), f32([[64]]), id="example 4"),
        pytest.param(([1, 1], [(-1, 0), (0, 0)]), f32([[67, 77]]), id="example 5"),
    ],
)
def test_conv_with_general_padding(arguments: Any, expected: np.ndarray) -> None:
    found = evaluate(lambda b, x, k: b.conv_with_general_padding(x, k, *arguments), LHS, RHS)
    same(found, expected.reshape(1, 1, *expected.shape))


def test_the_shape_of_a_padded_convolution() -> None:
    b = XlaBuilder("shape")
    x, k = b.constant(LHS), b.constant(RHS)
    padded = b.conv_with_general_padding(x, k, [1, 1], [(0, 0), (2, 3)])
    assert padded.shape == (1, 1, 2, 7)


def test_convolutions_with_groups() -> None:
    lhs, rhs = (
        f32([1, 2, 3, 4]).reshape(1, 4, 1),
        np.arange(1, 9, dtype=np.float32).reshape(4, 2, 1),
    )
    found = evaluate(
        lambda b, x, k: b.conv_with_general_padding(x, k, [1], [(0, 0)], feature_group_count=2),
        lhs,
        rhs,
    )
    same(found, f32([5, 11, 39, 53]).reshape(1, 4, 1))
    lhs, rhs = f32([1, 2, 3, 4]).reshape(4, 1, 1), f32([10, 1]).reshape(2, 1, 1)
    found = evaluate(lambda b, x, k: b.conv(x, k, [1], "VALID", batch_group_count=2), lhs, rhs)
    same(found, f32([10, 3], [20, 4]).reshape(2, 2, 1))


def test_a_convolution_without_spatial_dimensions() -> None:
    found = evaluate(
        lambda b, x, k: b.conv(x, k, [], "SAME"), f32([[1, 2]]), f32([1, 2], [3, 4], [5, 6])
    )
    same(found, f32([[5, 11, 17]]))


def test_a_convolution_of_another_element_type() -> None:
    hundred = np.full((1, 1), 100, np.int8)

    def body(b: XlaBuilder, x: XlaValue) -> XlaValue:
        return b.conv(x, x, [], "VALID", preferred_element_type="s32")

    same(evaluate(body, hundred), np.array([[10000]], np.int32))
    with pytest.raises(BuildError, match=r"conv_general: \(C2\)"):
        build(lambda b, x, k: b.conv(x, k, [], "VALID"), "s8[1,1]", "s32[1,1]")


def test_reduce_window() -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    found = evaluate(lambda b, x: b.reduce_window(x, -np.inf, b.max, [2, 3], [2, 3]), x)
    same(found, f32([8, 11], [20, 23]))

    x = f32([10000, 1000, 100, 10, 1])
    for padding, expected in (("kValid", f32([100, 1])), ("kSame", f32([1000, 10, 1]))):
        found = evaluate(
            lambda b, x, p=padding: b.reduce_window(x, np.inf, b.min, [3], [2], padding=p), x
        )
        same(found, expected)


def test_reduce_window_with_dilation_and_of_pairs() -> None:
    x = f32([1, 2, 3, 4, 5])
    for arguments, expected in (
        (([2], [], [2]), [1, 2, 2, 3, 3, 4, 4, 5]),
        (([2], [], [], [2]), [4, 6, 8]),
        (([2], [2], [2], [3], [(1, 1)]), [2, 3, 4, 5]),
        (([2], [], [], [], [(-1, -1)]), [5, 7]),
        (([9],), []),
    ):
        found = evaluate(lambda b, x, a=arguments: b.reduce_window(x, 0, b.add, *a), x)
        same(found, f32(expected))

    def greater(b: XlaBuilder, values: XlaValue) -> Any:
        def later(best: XlaValue, at: XlaValue, value: XlaValue, index: XlaValue) -> Any:
            better = value > best
            return b.select(better, value, best), b.select(better, index, at)

        pair = [values, b.iota("s32[4]", 0)]
        return b.reduce_window(pair, [-np.inf, -1], later, [2])

    values, indices = evaluate(greater, f32([3, 1, 4, 4]))
    same(values, f32([3, 4, 4]))
    same(indices, np.array([0, 2, 2], np.int32))


def test_select_and_scatter() -> None:
    operand = f32([7, 2, 5, 3, 8], [3, 8, 9, 3, 4], [1, 5, 7, 5, 6], [0, 6, 2, 10, 2])
    expected = f32([0] * 5, [0, 0, 8, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 1, 0])

    def body(b: XlaBuilder, x: XlaValue, source: XlaValue) -> XlaValue:
        return b.select_and_scatter(x, b.ge, [2, 3], [2, 2], "kValid", source, 0, b.add)

    same(evaluate(body, operand, f32([2, 6], [3, 1])), expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([2], [2, 2]), r"reduce_window: \(C3\) 2 dimensions, but lists of 1, 2, 1, 1 entries"),
        (([2, 2], [2]), r"\(C3\)"),
        (([2, 2], [2, 2], (), (), [(0, 0)]), r"\(C3\) padding has 1 entries"),
        (([2, 2], [0, 1], (), (), "SAME"), r"xla\.reduce_window: \(C4\) stride"),
        (([0, 2],), r"\(C4\) size"),
        (([2, 2], (), (), (), "same"), "neither SAME, nor VALID, nor pairs"),
        (([2, 2], (), (), (), [(1, 2, 3), (1, 2)]), "neither SAME, nor VALID, nor pairs"),
    ],
)
def test_rules(arguments: Any, message: str) -> None:
    with pytest.raises(BuildError, match=message):
        build(lambda b, x: b.reduce_window(x, 0, b.add, *arguments), "f32[4,8]")


@pytest.mark.parametrize(
    ("window", "labels", "message"),
    [
        ("size", "b0f_o0i->b0f", "xla.convolution: window: expected one of size"),
        ("size=4", "b0f", "xla.convolution: dim_labels: expected labels like"),
        ("size=4", "b0f_o0i->b01", r"xla\.convolution: \(C1\)"),
        ("size=5", "b0f_o0i->b0f", r"xla\.convolution: \(C1\)"),
    ],
)
def test_convolution_rules(window: str, labels: str, message: str) -> None:
    with pytest.raises(BuildError, match=message):
        build(lambda b, x: b.conv_general(x, x, window, labels), "f32[3,4,8]")
