"""The rules B1 to B10 of broadcasting, the worked examples G1 to G13 and the illegal cases N1 to N6.

They are read from docs/specification/broadcasting.md. What they say about values is tested on programs, in
 test/builder.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from specification_tables import numbers, table

from xla_dialect.shapes.broadcasting import (
    BroadcastSteps,
    broadcast_shape,
    degenerate_shape,
    expansion,
    in_dim_shape,
    matched_dimensions,
)
from xla_dialect.violations import Violation

PAGE = "broadcasting.md"
SHAPES = [
    pytest.param(*map(numbers, sizes), id=example)
    for example, *sizes in table(PAGE, "example", "one", "other", "dimensions", "result")
]


@pytest.mark.parametrize(("lhs", "rhs", "dimensions", "result"), SHAPES)
def test_shapes(
    lhs: tuple[int, ...], rhs: tuple[int, ...], dimensions: tuple[int, ...], result: tuple[int, ...]
) -> None:
    assert broadcast_shape(lhs, rhs, dimensions) == result
    assert broadcast_shape(rhs, lhs, dimensions) == result


@pytest.mark.parametrize(
    ("smaller", "larger", "dimensions", "in_dim", "result"),
    [
        [numbers(cell) for cell in row]
        for row in table(
            PAGE, "lower rank", "higher rank", "dimensions", "after the first step", "result"
        )
    ],
)
def test_g13_steps(
    smaller: tuple[int, ...],
    larger: tuple[int, ...],
    dimensions: tuple[int, ...],
    in_dim: tuple[int, ...],
    result: tuple[int, ...],
) -> None:
    assert in_dim_shape(smaller, larger, dimensions) == in_dim
    assert degenerate_shape(in_dim, larger) == result
    assert broadcast_shape(smaller, larger, dimensions) == result


ILLEGAL = [
    pytest.param(*map(numbers, sizes), label, id=case)
    for case, *sizes, label in table(PAGE, "case", "one", "other", "dimensions", "breaks")
]


@pytest.mark.parametrize(("lhs", "rhs", "dimensions", "label"), ILLEGAL)
def test_illegal(
    lhs: tuple[int, ...], rhs: tuple[int, ...], dimensions: tuple[int, ...], label: str
) -> None:
    with pytest.raises(Violation) as caught:
        broadcast_shape(lhs, rhs, dimensions)
    assert caught.value.label == label
    with pytest.raises(Violation) as caught:
        broadcast_shape(rhs, lhs, dimensions)
    assert caught.value.label == label


def test_a_message_says_what_was_found() -> None:
    with pytest.raises(Violation, match=r"\(B5\) dimension 0 of \[3\] matches dimension 0 of \[4"):
        broadcast_shape((4, 3), (3,), (0,))


@pytest.mark.parametrize(
    ("operand", "result", "dimensions", "expected"),
    [
        ((2, 3), (2, 3), (0, 1), None),
        ((), (2, 3), (), BroadcastSteps((), ())),
        ((3,), (2, 3), (1,), BroadcastSteps((3,), (1,))),
        ((1, 3), (2, 3), (0, 1), BroadcastSteps((3,), (1,))),
        ((1, 3), (1, 2, 3), (0, 2), BroadcastSteps((1, 3), (0, 2))),
        ((1,), (0,), (0,), BroadcastSteps((), ())),
        ((1, 1), (1, 4), (0, 1), BroadcastSteps((1,), (0,))),
    ],
)
def test_expansion(
    operand: tuple[int, ...],
    result: tuple[int, ...],
    dimensions: tuple[int, ...],
    expected: BroadcastSteps | None,
) -> None:
    assert expansion(operand, result, dimensions) == expected


sizes = st.integers(0, 3)
shapes = st.lists(sizes, max_size=4).map(tuple)


@given(shapes, shapes)
def test_equal_ranks_are_as_in_numpy(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> None:
    rhs = (*rhs, *lhs)[: len(lhs)]
    try:
        expected = np.broadcast_shapes(lhs, rhs)
    except ValueError:
        with pytest.raises(Violation, match="B8"):
            broadcast_shape(lhs, rhs)
    else:
        assert broadcast_shape(lhs, rhs) == expected


@given(shapes.filter(bool), st.data())
def test_in_dim_is_numpy_with_new_axes(larger: tuple[int, ...], data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(0, len(larger) - 1), min_size=1))
    dimensions = tuple(sorted(chosen))
    smaller = tuple(data.draw(st.sampled_from((larger[d], 1))) for d in dimensions)
    spread = iter(smaller)
    with_new_axes = tuple(next(spread) if d in chosen else 1 for d in range(len(larger)))
    result = broadcast_shape(smaller, larger, dimensions)
    assert result == np.broadcast_shapes(with_new_axes, larger)

    matched = matched_dimensions(smaller, result, dimensions)
    step = expansion(smaller, result, matched)
    assert (step is None) == (smaller == result)
    if step is not None:
        assert np.prod(step.reshaped) == np.prod(smaller)
        assert step.reshaped == tuple(result[d] for d in step.dimensions)
