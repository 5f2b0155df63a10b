"""Bitcasts between layouts, compiled, beside the reference."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lowerings
from xla_dialect.diagnostics import XlaError
from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import BY_NAME, Array, array


def typed(name: str, sizes: tuple[int, ...], layout: Layout | None = None) -> Array:
    encoding = None if layout is None else LayoutAttr(layout)
    return array(BY_NAME[name].type, sizes, encoding)


def assert_as_reference(source: Array, target: Array) -> None:
    """The bytes of an array in the layout of `source`, read in that of `target`."""
    before, after = (array(t.element_type, t.get_shape()) for t in (source, target))
    text = f"""
    func.func @main(%x: {before}) -> {after} {{
      %0 = xla.copy %x : ({before}) -> {source}
      %1 = xla.bitcast %0 : ({source}) -> {target}
      %2 = xla.copy %1 : ({target}) -> {after}
      func.return %2 : {after}
    }}
    """
    dtype = numpy_dtype(source.element_type)
    values = np.arange(1, 1 + prod(source.get_shape())).reshape(source.get_shape()).astype(dtype)
    (expected,) = lowerings.compile(text, backend="reference")(values)
    (found,) = lowerings.compile(text)(values)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("name", "layout", "padding"),
    [
        ("f32", Layout((0, 1), padded_dimensions=(4, 6)), ""),
        ("f32", Layout((1, 0), padded_dimensions=(4, 6)), "ONE_PAD"),
        ("f32", Layout((1, 0), padded_dimensions=(4, 6)), "LOWEST_PAD"),
        ("s8", Layout((0, 1), padded_dimensions=(4, 6)), "HIGHEST_PAD"),
        ("bf16", Layout((1, 0), tiles=((2, 4), (2, 1))), ""),
        ("pred", Layout((0, 1), tiles=((2, None, 3),)), ""),
        ("f32", Layout((0, 1), tail_padding_alignment_in_elements=8), ""),
        ("s4", Layout((0, 1), element_size_in_bits=8), ""),
    ],
)
def test_padding_is_read(name: str, layout: Layout, padding: str) -> None:
    layout = Layout(**{**vars(layout), "padding_value": padding})
    count = layout.buffer_elements((3, 5))
    assert_as_reference(typed(name, (3, 5), layout), typed(name, (count,)))
    assert_as_reference(typed(name, (count,)), typed(name, (3, 5), layout))


@st.composite
def layouts(draw: st.DrawFn, rank: int) -> Layout:
    order = tuple(draw(st.permutations(range(rank))))
    entries = st.one_of(st.none(), st.integers(1, 4))
    tiles = draw(st.lists(st.lists(entries, max_size=2), max_size=2))
    tail = draw(st.sampled_from([1, 1, 4]))
    widths = tuple((*tile, draw(st.integers(1, 4))) for tile in tiles)
    return Layout(order, widths, tail)


@given(st.data(), st.lists(st.integers(0, 5), max_size=3))
def test_random_layouts(data: st.DataObject, sizes: list[int]) -> None:
    layout = data.draw(layouts(len(sizes)))
    count = layout.buffer_elements(sizes)
    plain, laid_out = typed("s32", (count,)), typed("s32", tuple(sizes), layout)
    assert_as_reference(laid_out, plain)
    assert_as_reference(plain, laid_out)


def test_packed_elements() -> None:
    """Every element takes whole bytes here: only whole elements can change places."""
    packed = typed("s4", (4, 2), Layout((1, 0), element_size_in_bits=4))
    turned = typed("s4", (2, 4), Layout((0, 1), element_size_in_bits=4))
    assert_as_reference(packed, turned)
    with pytest.raises(XlaError, match="packed elements are lowered where nothing but their order"):
        assert_as_reference(packed, typed("s4", (4,)))
