"""Layouts: rules and examples of docs/specification/layouts.md, and strides."""

import numpy as np
import pytest
from hypothesis import given
from layouts_by_hand import laid_out, memory_by_hand, orders, shape, typed
from specification_tables import numbers, table

from xla_dialect.layout import MAX_TILES, Layout, LayoutError
from xla_dialect.layouts.type_layouts import (
    layout_of,
    make_logical_to_physical,
    strides,
    validate_layout_for_shape,
    with_layout,
)

BUFFERS = table(
    "layouts.md", "example", "layout", "physical sizes", "elements of the buffer", "bytes"
)


def test_logical_to_physical():
    for order in orders():
        places = make_logical_to_physical(Layout(order))
        assert [order[-1 - place] for place in places] == list(range(len(order))), order


def test_layout_of_a_type():
    """L4"""
    assert layout_of(shape("f32[2,3]")) == Layout((1, 0))
    assert layout_of(shape("f32[2,3]{0,1}")) == Layout((0, 1))
    assert with_layout(shape("f32[2,3]{0,1}"), Layout((1, 0))) == shape("f32[2,3]")
    assert with_layout(shape("f32[<=2,3]"), Layout((0, 1))) == shape("f32[<=2,3]{0,1}")
    with pytest.raises(LayoutError, match=r"^\(C1\)"):
        with_layout(shape("f32[2,3]"), Layout((0,)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(pytest.param(row[1], numbers(row[2]), id=row[0]) for row in BUFFERS),
        pytest.param("f32[]", (), id="scalar"),
        pytest.param("f32[0,5]{1,0:T(2,2)}", (0, 3, 2, 2), id="empty"),
        pytest.param("f32[10,4]{1,0:SC(0:3)}", (7, 4), id="largest part"),
    ],
)
def test_physical_shape(text: str, expected: tuple[int, ...]):
    type_ = shape(text)
    assert layout_of(type_).physical_shape(type_.get_shape()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(pytest.param(row[1], int(row[3]), id=row[0]) for row in BUFFERS),
        pytest.param("f32[0,5]{1,0:T(2,2)L(128)}", 0, id="empty"),
    ],
)
def test_buffer_elements(text: str, expected: int):
    type_ = shape(text)
    assert layout_of(type_).buffer_elements(type_.get_shape()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[4,2,3]", (6, 3, 1)),
        ("f32[4,2,3]{0,1,2}", (1, 4, 8)),
        ("f32[4,2,3]{1,2,0}", (6, 1, 2)),
        ("f32[]", ()),
        ("f32[0,5]", (5, 1)),
        ("f32[<=4,3]{0,1}", (1, 4)),
        ("f32[3,5]{1,0:T(2,2)}", (None, None)),
        ("f32[7,3,5]{2,1,0:T(2,2)}", (24, None, None)),
        ("f32[2,5]{1,0:T(2,2)}", (2, None)),
        ("f32[4,4]{1,0:T(4)}", (4, 1)),
        ("f32[4,4]{1,0:T(2)}", (4, 1)),
        ("f32[4,5]{1,0:T(2)}", (6, 1)),
        ("f32[2,3,4]{2,1,0:T(*,*,2)}", (12, 4, 1)),
        ("f32[2,3,4]{2,1,0:T(*,4,2)}", (None, None, None)),
        ("f32[2,2,4]{2,1,0:T(*,2,2)}", (8, 2, None)),
        ("f32[5]{0:T(8,128)}", (1,)),
        ("f32[2,2]{1,0:T(4,4)(2,2)}", (2, 1)),
    ],
)
def test_strides(text: str, expected: tuple[int | None, ...]):
    assert strides(shape(text)) == expected


def test_strides_of_the_older_form():
    """P2: sizes are those that dimensions are padded to."""
    padded = typed("f32", (2, 3), Layout((0, 1), padded_dimensions=(3, 5)))
    assert strides(padded) == (1, 3)


def test_splits_have_no_strides():
    with pytest.raises(LayoutError, match="no strides"):
        strides(shape("f32[4]{0:SC(0:1)}"))


@given(laid_out())
def test_strides_are_distances_in_memory(case: tuple[tuple[int, ...], Layout]):
    """Neighbours are one stride apart; where there is none, not all are equally far apart."""
    sizes, layout = case
    memory = np.array(memory_by_hand(sizes, layout), dtype=np.int64)
    places = np.flatnonzero(memory >= 0)
    by_element = places[np.argsort(memory[places])].reshape(sizes)
    for dimension, stride in enumerate(strides(typed("f32", sizes, layout))):
        distances = set(np.diff(by_element, axis=dimension).ravel().tolist())
        if stride is None:
            is_joined_again = len(layout.tiles) > 1 and any(None in tile for tile in layout.tiles)
            assert len(distances) > 1 or not by_element.size or is_joined_again
        else:
            assert distances <= {stride}


@given(laid_out())
def test_buffers_by_hand(case: tuple[tuple[int, ...], Layout]):
    sizes, layout = case
    assert layout.buffer_elements(sizes) == len(memory_by_hand(sizes, layout))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("{0:" + "T" + "(1)" * (MAX_TILES + 1) + "}", "C2"),
        ("{0:T(9223372036854775807)(2)}", "Size"),
        ("{0:T(4294967296,4294967296)}", "Size"),
        ("{0:L(9999999999999999999)}", "Size"),
    ],
)
def test_layouts_beyond_counting(text: str, rule: str):
    with pytest.raises(LayoutError, match=rf"^\({rule}\) "):
        validate_layout_for_shape(typed("f32", (4,), Layout.parse(text)))
    assert MAX_TILES > 3
