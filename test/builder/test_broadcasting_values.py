"""What the worked examples of broadcasting say about values (G1 to G13), built, run and compiled.

Labels are those of docs/specification/broadcasting.md; the shapes alone are tested in
test/broadcasting.
"""

from typing import Any

import numpy as np
import pytest
from built_programs import build, evaluate, f32, s32
from hypothesis import given
from hypothesis import strategies as st

from xla_dialect.builder import BuildError, XlaBuilder, XlaValue

ROWS = f32([1, 2, 3], [4, 5, 6])

VALUES = [
    pytest.param(ROWS, f32(7), (), f32([8, 9, 10], [11, 12, 13]), id="G1"),
    pytest.param(ROWS, f32([7, 8, 9]), (1,), f32([8, 10, 12], [11, 13, 15]), id="G2"),
    pytest.param(
        np.zeros((3, 3), np.float32), f32([7, 8, 9]), (1,), f32([[7, 8, 9]] * 3), id="G3-rows"
    ),
    pytest.param(
        np.zeros((3, 3), np.float32), f32([7, 8, 9]), (0,), f32([[7, 8, 9]] * 3).T, id="G3-columns"
    ),
    pytest.param(
        np.arange(12, dtype=np.float32).reshape(3, 4),
        np.ones((2, 3, 4), np.float32),
        (1, 2),
        np.arange(1, 13, dtype=np.float32).reshape(1, 3, 4).repeat(2, 0),
        id="G4",
    ),
    pytest.param(
        f32([[1], [2]]), f32([[1, 2, 3]] * 2), (), f32([2, 3, 4], [3, 4, 5]), id="G6"
    ),
    pytest.param(f32([[1], [2]]), f32([[10, 20, 30]]), (), f32([11, 21, 31], [12, 22, 32]), id="G10"),
    pytest.param(
        f32([1, 2, 3, 4]), f32([[5, 6]]), (0,), f32([6, 7], [7, 8], [8, 9], [9, 10]), id="G11"
    ),
    pytest.param(
        f32([[1, 2]]),
        np.arange(12, dtype=np.float32).reshape(4, 3, 1),
        (1, 2),
        np.arange(12, dtype=np.float32).reshape(4, 3, 1) + f32([1, 2]),
        id="G12",
    ),
]  # fmt: skip


@pytest.mark.parametrize("compiled", [False, True], ids=["reference", "llvm"])
@pytest.mark.parametrize(("lhs", "rhs", "dimensions", "result"), VALUES)
def test_sums(
    lhs: np.ndarray,
    rhs: np.ndarray,
    dimensions: tuple[int, ...],
    result: np.ndarray,
    compiled: bool,
) -> None:
    found = evaluate(lambda b, x, y: b.add(x, y, dimensions), lhs, rhs, compiled=compiled)
    np.testing.assert_array_equal(found, result, strict=True)
    swapped = evaluate(lambda b, y, x: b.sub(x, y, dimensions), rhs, lhs, compiled=compiled)
    np.testing.assert_array_equal(swapped, result - 2 * _spread(rhs, dimensions, result))


def _spread(array: np.ndarray, dimensions: tuple[int, ...], result: np.ndarray) -> np.ndarray:
    """The operand as numpy would have it: new axes where it has none, then its own broadcasting."""
    matched = dimensions if array.ndim < result.ndim else range(array.ndim)
    sizes = dict(zip(matched, array.shape, strict=True))
    new = array.reshape([sizes.get(d, 1) for d in range(result.ndim)])
    return np.broadcast_to(new, result.shape)


def test_comparisons_broadcast_too() -> None:
    found = evaluate(lambda b, x, y: b.lt(x, y, [1]), ROWS, f32([2, 2, 5]))
    np.testing.assert_array_equal(found, [[True, False, True], [False, False, False]])


def test_nothing_is_inserted_where_sizes_agree() -> None:
    module = build(lambda b, x, y: b.add(x, y), "f32[2,3]", "f32[2,3]")
    assert [op.name for op in module.walk()][2:] == ["xla.add", "func.return"]


def test_layouts_are_no_sizes() -> None:
    module = build(lambda b, x, y: b.add(x, y), "f32[2,3]{0,1}", "f32[2,3]")
    assert [op.name for op in module.walk()][2:] == ["xla.add", "func.return"]


ILLEGAL = [
    pytest.param("f32[2,3]", "f32[3]", (), "B7", id="N1"),
    pytest.param("f32[4,3]", "f32[2,3,4,5]", (2, 1), "B4", id="N2"),
    pytest.param("f32[3,3]", "f32[2,3,4,5]", (1, 1), "B4", id="N3"),
    pytest.param("f32[3]", "f32[4,3]", (0,), "B5", id="N4"),
    pytest.param("f32[7,2,5]", "f32[7,2,6]", (), "B8", id="N5"),
    pytest.param("f32[2,2]", "f32[2,2]", (1, 0), "B4", id="N6"),
    pytest.param("f32[2,2]", "f32[]", (0,), "B3", id="N6-scalar"),
]


@pytest.mark.parametrize("method", ["add", "complex", "eq", "lt_total_order"])
@pytest.mark.parametrize(("lhs", "rhs", "dimensions", "label"), ILLEGAL)
def test_illegal(method: str, lhs: str, rhs: str, dimensions: tuple[int, ...], label: str) -> None:
    with pytest.raises(BuildError, match=rf"error: {method}: \({label}\)"):
        build(lambda b, x, y: getattr(b, method)(x, y, dimensions), lhs, rhs)


@given(st.data())
def test_any_broadcast_is_that_of_numpy(data: st.DataObject) -> None:
    sizes = st.integers(0, 3)
    larger = data.draw(st.lists(sizes, max_size=4))
    chosen = data.draw(st.sets(st.sampled_from(range(len(larger))))) if larger else set()
    dimensions = sorted(chosen)
    smaller = [data.draw(st.sampled_from((larger[d], 1))) for d in dimensions]
    lhs = np.arange(np.prod(larger), dtype=np.int32).reshape(larger)
    rhs = np.arange(np.prod(smaller), dtype=np.int32).reshape(smaller) * 100

    found = evaluate(lambda b, x, y: b.add(x, y, dimensions), lhs, rhs)
    np.testing.assert_array_equal(found, lhs + _spread(rhs, tuple(dimensions), lhs), strict=True)


@pytest.mark.parametrize(
    ("lhs", "rhs", "dimensions", "result"),
    [
        ("f32[<=4]", "f32[]", (), "f32[<=4]"),
        ("f32[<=4]", "f32[1]", (), "f32[<=4]"),
        ("f32[<=4]", "f32[4]", (), "f32[<=4]"),
        ("f32[<=4,1]", "f32[1,3]", (), "f32[<=4,3]"),
        ("f32[<=4]", "f32[4,3]", (0,), "f32[<=4,3]"),
    ],
)
def test_dynamic_sizes_count_as_their_bounds(
    lhs: str, rhs: str, dimensions: tuple[int, ...], result: str
) -> None:
    b = XlaBuilder("dynamic")
    sum_ = b.add(b.parameter(0, lhs), b.parameter(1, rhs), dimensions)
    assert repr(sum_) == f"<XlaValue: {result}>"
    b.build(sum_)


def test_select_and_clamp_take_scalars() -> None:
    def body(b: XlaBuilder, x: XlaValue, s: XlaValue) -> Any:
        return b.select(x > s, b.clamp(s, x, 5), -1), b.select(x > 2, 1.5, x), b.select(s > 0, x, s)

    found = evaluate(body, ROWS, f32(2))
    np.testing.assert_array_equal(found[0], [[-1, -1, 3], [4, 5, 5]])
    np.testing.assert_array_equal(found[1], [[1, 2, 1.5], [1.5, 1.5, 1.5]])
    np.testing.assert_array_equal(found[2], ROWS)


def test_select_fills_an_array_of_predicates() -> None:
    found = evaluate(lambda b, n, s: b.select(n > 1, s, 0), s32([1, 2]), f32(2.5))
    np.testing.assert_array_equal(found, f32([0, 2.5]), strict=True)
