"""Arrays as buffers and back: the examples of docs/specification/layouts.md, and inverse pairs."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts_by_hand import laid_out, memory_by_hand, orders
from sweeps import row

from xla_dialect.layout import PADDING_VALUES, Layout, LayoutError
from xla_dialect.layouts.physical_order import from_bytes, from_physical, to_bytes, to_physical
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import ELEMENT_TYPES, ElementClass, ElementType

LETTERS = np.array([list(b"abc"), list(b"def")], np.uint8)


@pytest.mark.parametrize(("layout", "expected"), [("{0,1}", b"adbecf"), ("{1,0}", b"abcdef")])
def test_memory_order(layout: str, expected: bytes):
    """G1"""
    assert to_physical(LETTERS, Layout.parse(layout)).tobytes() == expected
    buffer = np.frombuffer(expected, np.uint8)
    assert np.array_equal(from_physical(buffer, Layout.parse(layout), (2, 3)), LETTERS)


def test_older_form():
    """G3, P2"""
    layout = Layout((0, 1), padded_dimensions=(3, 5), padding_value="ZERO_PAD")
    assert to_physical(LETTERS, layout).tobytes() == b"ad\0be\0cf\0" + bytes(6)
    assert layout.buffer_elements((2, 3)) == 15
    whole = np.array([list(b"abc\0\0"), list(b"def\0\0"), list(bytes(5))], np.uint8)
    assert np.array_equal(to_physical(whole, Layout((0, 1))), to_physical(LETTERS, layout))


def test_tiled():
    """T1"""
    numbers = np.array([[10 * i + j for j in range(5)] for i in range(3)]) + 1
    expected = [
        *(1, 2, 11, 12, 3, 4, 13, 14, 5, 0, 15, 0),
        *(21, 22, 0, 0, 23, 24, 0, 0, 25, 0, 0, 0),
    ]
    assert to_physical(numbers, Layout.parse("{1,0:T(2,2)}")).tolist() == expected


def test_tail_padding():
    """G4"""
    numbers = np.arange(15).reshape(3, 5)
    plain = to_physical(numbers, Layout.parse("{1,0:T(2,2)}")).tolist()
    for alignment, size in ((1, 24), (16, 32), (32, 32), (128, 128)):
        padded = to_physical(numbers, Layout.parse(f"{{1,0:T(2,2)L({alignment})}}")).tolist()
        assert padded == plain + [0] * (size - 24)


def test_all_orders():
    for order in orders():
        sizes = (3, 2, 4, 1, 2)[: len(order)]
        numbers = np.arange(int(np.prod(sizes))).reshape(sizes)
        buffer = to_physical(numbers, Layout(order))
        assert buffer.tolist() == memory_by_hand(sizes, Layout(order)), order
        assert np.array_equal(from_physical(buffer, Layout(order), sizes), numbers), order


@given(laid_out())
def test_buffers_by_hand(case: tuple[tuple[int, ...], Layout]):
    sizes, layout = case
    numbers = np.arange(1, 1 + int(np.prod(sizes)), dtype=np.int16).reshape(sizes)
    buffer = to_physical(numbers, layout)
    assert buffer.dtype == np.int16
    assert (buffer - 1).tolist() == memory_by_hand(sizes, layout)
    # What lies in the padding makes no difference.
    buffer = np.where(buffer == 0, np.int16(-1), buffer)
    assert np.array_equal(from_physical(buffer, layout, sizes), numbers)
    data = to_bytes(numbers, layout)
    assert data.size == 2 * layout.buffer_elements(sizes)
    assert np.array_equal(from_bytes(data, np.dtype(np.int16), layout, sizes), numbers)


def test_reading_copies_nothing_without_need():
    """A buffer in row-major order, or in another, is looked at in place."""
    buffer = np.arange(6)
    for layout in ("{1,0}", "{0,1}", "{1,0:L(2)}"):
        assert np.shares_memory(from_physical(buffer, Layout.parse(layout), (2, 3)), buffer)


def test_dynamic_arrays_have_the_room_of_their_bounds():
    layout = Layout((0, 1), bounds=(3, None))
    buffer = to_physical(np.array([[1, 2], [3, 4]]), layout)
    assert buffer.tolist() == [1, 3, 0, 2, 4, 0]
    assert from_physical(buffer, layout, (2, 2)).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(LayoutError, match=r"do not fit into \[3, 2\]"):
        to_physical(np.zeros((4, 2)), layout)


LOWEST: dict[str, Any] = {
    "pred": False,
    "s2": -2,
    "s4": -8,
    "s64": -(2**63),
    "u2": 0,
    "u64": 0,
    "bf16": -np.inf,
    "f32": -np.inf,
    "f8e5m2": -np.inf,
    "f8e4m3": -np.inf,
    "f8e4m3fn": -448,
    "f8e4m3fnuz": -240,
    "f4e2m1fn": -6,
    "f8e8m0fnu": 2.0**-127,
}
HIGHEST: dict[str, Any] = {
    "pred": True,
    "s4": 7,
    "u4": 15,
    "u64": 2**64 - 1,
    "f16": np.inf,
    "f8e3m4": np.inf,
    "f8e4m3fn": 448,
    "f4e2m1fn": 6,
    "f8e8m0fnu": 2.0**127,
}


@pytest.mark.parametrize("padding", ["", *PADDING_VALUES])
def test_padding_values(padding: str):
    """P1, in every type."""
    for element in ELEMENT_TYPES:
        with row(element.name):
            check_padding(padding, element)


def check_padding(padding: str, element: ElementType) -> None:
    layout = Layout((0,), padded_dimensions=(2,), padding_value=padding)
    dtype = numpy_dtype(element.type)
    array = np.ones(1, dtype)
    if padding in ("LOWEST_PAD", "HIGHEST_PAD") and element.element_class == ElementClass.COMPLEX:
        with pytest.raises(LayoutError, match="no lowest and no highest"):
            to_physical(array, layout)
        return
    first, filler = to_physical(array, layout)
    assert first == array[0]
    expected = {"LOWEST_PAD": LOWEST, "HIGHEST_PAD": HIGHEST, "ONE_PAD": {}}.get(padding)
    if expected is None:
        assert not np.array([filler], dtype).view(np.uint8).any()
    elif padding == "ONE_PAD":
        assert filler == array[0]
    elif element.name in expected:
        assert filler == np.array(expected[element.name]).astype(dtype)
        assert np.array(filler).astype(np.float64) == float(expected[element.name])


@pytest.mark.parametrize(
    ("dtype", "width", "values", "expected"),
    [
        (ml_dtypes.int4, 4, [1, -2, 7], [0xE1, 0x07]),
        (ml_dtypes.uint4, 4, [1, 14, 7, 15], [0xE1, 0xF7]),
        (ml_dtypes.uint2, 2, [0, 1, 2, 3, 3], [0b11100100, 0b11]),
        (ml_dtypes.int2, 4, [1, -1], [0x31]),
        (np.bool_, 1, [1, 0, 0, 1, 0, 0, 0, 0, 1], [9, 1]),
        (np.bool_, 8, [1, 0], [1, 0]),
        (ml_dtypes.float4_e2m1fn, 4, [1, -1], [0xA2]),
        (np.uint16, 16, [258], [2, 1]),
    ],
)
def test_packed(dtype: Any, width: int, values: list[int], expected: list[int]):
    """Elements below a byte share bytes if the layout's element size says so, the first lowest."""
    layout = Layout((0,), element_size_in_bits=width)
    array = np.array(values).astype(dtype)
    data = to_bytes(array, layout)
    assert data.tolist() == expected
    assert np.array_equal(from_bytes(data, np.dtype(dtype), layout, array.shape), array)


@given(laid_out(), st.sampled_from([ml_dtypes.int4, ml_dtypes.uint2, np.bool_]))
def test_packed_and_laid_out(case: tuple[tuple[int, ...], Layout], dtype: Any):
    sizes, layout = case
    width = {ml_dtypes.int4: 4, ml_dtypes.uint2: 2, np.bool_: 1}[dtype]
    packed = Layout(
        layout.minor_to_major,
        layout.tiles,
        layout.tail_padding_alignment_in_elements,
        element_size_in_bits=width,
        padded_dimensions=layout.padded_dimensions,
    )
    array = (np.arange(int(np.prod(sizes))) % 2).reshape(sizes).astype(dtype)
    data = to_bytes(array, packed)
    assert data.size == -(-layout.buffer_elements(sizes) * width // 8)
    assert np.array_equal(from_bytes(data, np.dtype(dtype), packed, sizes), array)


@pytest.mark.parametrize(
    ("dtype", "width"),
    [(np.float32, 16), (np.uint8, 4), (ml_dtypes.int4, 2), (np.int8, 3), (ml_dtypes.int4, 16)],
)
def test_element_sizes_that_no_type_has(dtype: Any, width: int):
    layout = Layout((0,), element_size_in_bits=width)
    with pytest.raises(LayoutError, match=f"do not take {width} bits"):
        to_bytes(np.zeros(2, dtype), layout)


def test_what_does_not_fit():
    with pytest.raises(LayoutError, match="layout has 6 elements"):
        from_physical(np.zeros(5), Layout((1, 0)), (2, 3))
    with pytest.raises(LayoutError, match="6 bytes, the layout has 12"):
        from_bytes(np.zeros(6, np.uint8), np.dtype(np.int16), Layout((1, 0)), (2, 3))
    with pytest.raises(LayoutError, match=r"layout \{0\} for sizes \[2, 3\]"):
        to_physical(np.zeros((2, 3)), Layout((0,)))
    with pytest.raises(LayoutError, match="no linear order"):
        to_physical(np.zeros(2), Layout.parse("{0:SC(0:1)}"))
    with pytest.raises(LayoutError, match=r"do not fit into \[1\]"):
        to_physical(np.zeros(2), Layout((0,), padded_dimensions=(1,)))
