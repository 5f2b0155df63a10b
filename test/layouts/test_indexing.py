"""Indices and places in memory: the examples of docs/specification/layouts.md, and inverse pairs.

Rules of indices are in docs/specification/shapes.md#indices.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from layouts_by_hand import PADDING, laid_out, memory_by_hand, orders, shape, typed
from specification_tables import numbers, table

from xla_dialect.layout import Layout, LayoutError
from xla_dialect.layouts.physical_order import linear_index, multidimensional_indices
from xla_dialect.layouts.type_layouts import layout_of
from xla_dialect.types import Array, sizes_of


def place_of(type_: Array, index: Sequence[int]) -> int:
    return linear_index(layout_of(type_), sizes_of(type_), index)


def element_at(type_: Array, position: int) -> tuple[int, ...] | None:
    index, is_element = multidimensional_indices(
        layout_of(type_), sizes_of(type_), np.array([position])
    )
    return tuple(index[0].tolist()) if is_element[0] else None


@pytest.mark.parametrize(
    ("text", "index", "expected"),
    [
        pytest.param(text, numbers(index), int(position), id=example)
        for example, text, index, position in table(
            "layouts.md", "example", "layout", "element", "position"
        )
    ],
)
def test_places(text: str, index: tuple[int, ...], expected: int):
    assert place_of(shape(text), index) == expected
    assert element_at(shape(text), expected) == index


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "f32[3,5]{1,0:T(2,2)}",
            "00 01 10 11 | 02 03 12 13 | 04 . 14 . | 20 21 . . | 22 23 . . | 24 . . .",
            id="T1",
        ),
        pytest.param(
            "f32[3,5]{0,1:T(2,2)}",
            "00 10 01 11 | 20 . 21 . | 02 12 03 13 | 22 . 23 . | 04 14 . . | 24 . . .",
            id="T1 column-major",
        ),
    ],
)
def test_memory(text: str, expected: str):
    cells = expected.replace("|", "").split()
    for place, cell in enumerate(cells):
        index = None if cell == "." else (int(cell[0]), int(cell[1]))
        assert element_at(shape(text), place) == index
    assert layout_of(shape(text)).buffer_elements(sizes_of(shape(text))) == len(cells)


def test_nested_tiles():
    """T2: two rows interleaved."""
    expected = [
        [0, 2, 4, 6, 8, 10, 12, 14],
        [1, 3, 5, 7, 9, 11, 13, 15],
        [16, 18, 20, 22, 24, 26, 28, 30],
        [17, 19, 21, 23, 25, 27, 29, 31],
    ]
    type_ = shape("bf16[4,8]{1,0:T(2,4)(2,1)}")
    places = [place_of(type_, i) for i in np.ndindex(4, 8)]
    assert np.array_equal(np.reshape(places, (4, 8)), expected)


def test_every_position_of_an_untiled_array():
    """I3, for every order up to rank 5."""
    for order in orders():
        sizes = (3, 2, 4, 1, 2)[: len(order)]
        type_ = typed("f32", sizes, Layout(order))
        for position in range(int(np.prod(sizes))):
            index = element_at(type_, position)
            assert index is not None, order
            assert place_of(type_, index) == position, order


@given(laid_out())
def test_positions_by_hand(case: tuple[tuple[int, ...], Layout]):
    """Both directions are what padding, dividing and moving dimensions gives."""
    sizes, layout = case
    memory = memory_by_hand(sizes, layout)
    positions = np.arange(-1, len(memory) + 1)
    indices, is_element = multidimensional_indices(layout, sizes, positions)
    found = [
        int(np.ravel_multi_index(tuple(index), sizes)) if is_there else PADDING
        for index, is_there in zip(indices, is_element, strict=True)
    ]
    assert found == [PADDING, *memory, PADDING]
    places = linear_index(layout, sizes, list(indices[is_element].T))
    assert np.array_equal(places, positions[is_element]) or not sizes


def test_indices_of_dynamic_arrays():
    """Bounds count as sizes."""
    assert place_of(shape("f32[<=3,4]{0,1}"), (2, 1)) == 5


def test_splits_have_no_linear_order():
    type_ = shape("f32[4]{0:SC(0:1)}")
    with pytest.raises(LayoutError, match="no linear order"):
        place_of(type_, (0,))
    with pytest.raises(LayoutError, match="no linear order"):
        element_at(type_, 0)


def test_symbols_as_indices():
    """Whatever adds, multiplies and divides can be an index: the formula itself, here as text."""

    class Term(str):
        __slots__ = ()

        def __add__(self, other: object) -> "Term":
            return Term(f"({self} + {other})")

        __radd__ = __add__

        def __mul__(self, other: object) -> "Term":
            return Term(f"({self} * {other})")

        def __floordiv__(self, other: object) -> "Term":
            return Term(f"({self} // {other})")

        def __mod__(self, other: object) -> "Term":
            return Term(f"({self} % {other})")

    layout = Layout.parse("{0,1:T(2,2)}")
    formula = linear_index(layout, (3, 5), [Term("i"), Term("j")])
    for i, j in itertools.product(range(3), range(5)):
        assert eval(formula, {"i": i, "j": j}) == linear_index(layout, (3, 5), [i, j])
