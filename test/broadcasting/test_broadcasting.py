"""The rules B1 to B10 of broadcasting, the worked examples G1 to G13 and the illegal cases N1 to N6.

Labels are those of shapes_layouts_broadcasting.md, section 7. What the examples say about values
is tested on programs, in test/builder.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xla_dialect.broadcasting import (
    Expansion,
    broadcast_shape,
    degenerate_shape,
    expansion,
    in_dim_shape,
    matched_dimensions,
)
from xla_dialect.violation import Violation

SHAPES = [
    pytest.param((2, 3), (), (), (2, 3), id="G1"),
    pytest.param((), (2, 3), (), (2, 3), id="G1-scalar-first"),
    pytest.param((2, 3), (3,), (1,), (2, 3), id="G2"),
    pytest.param((3, 3), (3,), (1,), (3, 3), id="G3-rows"),
    pytest.param((3, 3), (3,), (0,), (3, 3), id="G3-columns"),
    pytest.param((3, 4), (2, 3, 4), (1, 2), (2, 3, 4), id="G4"),
    *(
        pytest.param((size,), (2, 3, 4, 5), (d,), (2, 3, 4, 5), id=f"G5-vector-{d}")
        for d, size in enumerate((2, 3, 4, 5))
    ),
    pytest.param((4, 5), (2, 3, 4, 5), (2, 3), (2, 3, 4, 5), id="G5-matrix-2-3"),
    pytest.param((3, 4), (2, 3, 4, 5), (1, 2), (2, 3, 4, 5), id="G5-matrix-1-2"),
    pytest.param((2, 5), (2, 3, 4, 5), (0, 3), (2, 3, 4, 5), id="G5-matrix-0-3"),
    pytest.param((2, 1), (2, 3), (), (2, 3), id="G6"),
    pytest.param((1, 2, 5), (7, 2, 5), (), (7, 2, 5), id="G7"),
    pytest.param((7, 2, 5), (7, 1, 5), (), (7, 2, 5), id="G8"),
    pytest.param((2, 1), (1, 3), (), (2, 3), id="G10"),
    pytest.param((4,), (1, 2), (0,), (4, 2), id="G11"),
    pytest.param((1, 2), (4, 3, 1), (1, 2), (4, 3, 2), id="G12"),
    pytest.param((), (), (), (), id="B1-two-scalars"),
    pytest.param((2, 3), (2, 3), (0, 1), (2, 3), id="N6-identity-is-legal"),
    pytest.param((0,), (1,), (), (0,), id="B9-zero-and-one"),
    pytest.param((1,), (0, 4), (0,), (0, 4), id="B9-one-and-zero"),
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
        ((), (2, 3), (), (2, 3), (2, 3)),
        ((3,), (4, 3), (1,), (4, 3), (4, 3)),
        ((2, 3), (2, 3, 4), (0, 1), (2, 3, 4), (2, 3, 4)),
        ((2, 1), (2, 3, 4), (0, 2), (2, 3, 1), (2, 3, 4)),
        ((2, 3), (2, 1, 4), (0, 1), (2, 3, 4), (2, 3, 4)),
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
    pytest.param((2, 3), (3,), (), "B7", id="N1"),
    pytest.param((4, 3), (2, 3, 4, 5), (2, 1), "B4", id="N2"),
    pytest.param((4, 3), (2, 3, 4, 5), (2, 1, 2), "B3", id="N3-more-entries"),
    pytest.param((3, 3), (2, 3, 4, 5), (1, 1), "B4", id="N3-matched-twice"),
    pytest.param((3,), (4, 3), (0,), "B5", id="N4"),
    pytest.param((2, 1), (2, 3, 4), (1, 2), "B5", id="N4-matrix"),
    pytest.param((7, 2, 5), (7, 2, 6), (), "B8", id="G9-N5"),
    pytest.param((3, 3), (2, 3, 4), (1, 1), "B4", id="N6-repeated"),
    pytest.param((3,), (2, 3), (-1,), "B4", id="N6-negative"),
    pytest.param((3,), (2, 3), (2,), "B4", id="N6-beyond-rank"),
    pytest.param((3,), (2, 3), (0, 1), "B3", id="N6-longer"),
    pytest.param((2, 3), (2, 3, 4), (0,), "B3", id="N6-shorter"),
    pytest.param((2, 2), (2, 2), (1, 0), "B4", id="N6-equal-ranks"),
    pytest.param((2, 2), (2, 2), (0,), "B3", id="N6-equal-ranks-length"),
    pytest.param((), (2, 2), (0,), "B3", id="N6-scalar"),
    pytest.param((0,), (2,), (), "B8", id="N5-zero-and-two"),
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
        ((), (2, 3), (), Expansion((), ())),
        ((3,), (2, 3), (1,), Expansion((3,), (1,))),
        ((1, 3), (2, 3), (0, 1), Expansion((3,), (1,))),
        ((1, 3), (1, 2, 3), (0, 2), Expansion((1, 3), (0, 2))),
        ((1,), (0,), (0,), Expansion((), ())),
        ((1, 1), (1, 4), (0, 1), Expansion((1,), (0,))),
    ],
)
def test_expansion(
    operand: tuple[int, ...],
    result: tuple[int, ...],
    dimensions: tuple[int, ...],
    expected: Expansion | None,
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
