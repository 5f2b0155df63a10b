"""The physical order of layouts: worked examples of shapes_layouts_broadcasting, and bitcast."""

from typing import Any

import numpy as np
import pytest
from small_programs import evaluate, numbers, same

from xla_dialect.diagnostics import XlaError
from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.ops.data_movement import BitcastOp, CopyOp
from xla_dialect.reference.physical_order import physical
from xla_dialect.types import BY_NAME, array


def place(sizes: tuple[int, ...], layout: str, index: tuple[int, ...]) -> int:
    """Where an element lies in memory."""
    marks = np.zeros(sizes, np.int8)
    marks[index] = 1
    (found,) = np.flatnonzero(physical(marks, Layout.parse(layout)))
    return int(found)


@pytest.mark.parametrize(
    ("sizes", "layout", "index", "expected"),
    [
        pytest.param((4, 2, 3), "{2,1,0}", (3, 1, 2), 23, id="layouts.G2"),
        pytest.param((4, 2, 3), "{0,1,2}", (3, 1, 2), 23, id="layouts.G2"),
        pytest.param((4, 2, 3), "{2,1,0}", (2, 0, 1), 13, id="layouts.G2"),
        pytest.param((4, 2, 3), "{0,1,2}", (2, 0, 1), 10, id="layouts.G2"),
        pytest.param((4, 2, 3), "{1,2,0}", (2, 0, 1), 14, id="layouts.G2"),
        pytest.param((3, 5), "{1,0:T(2,2)}", (2, 3), 17, id="T1"),
        pytest.param((3, 5), "{0,1:T(2,2)}", (2, 3), 14, id="T1 column-major"),
        pytest.param((10, 130), "{1,0:T(8,128)(2,1)}", (9, 129), 3075, id="T3"),
        pytest.param((8, 8), "{1,0:T(2,4)(2,1,1,1)}", (6, 5), 51, id="T6"),
        pytest.param((2, 7, 8, 11, 10), "{4,3,2,1,0:T(*,*,2,*,3)}", (1, 3, 5, 7, 9), 9484, id="T7"),
        pytest.param((5,), "{0:T(8,128)}", (3,), 3, id="T8"),
        pytest.param((4, 130), "{1,0:T(8,128)(4,1)}", (3, 129), 1031, id="T8 s8"),
    ],
)
def test_places(sizes: tuple[int, ...], layout: str, index: tuple[int, ...], expected: int):
    assert place(sizes, layout, index) == expected


@pytest.mark.parametrize(
    ("sizes", "layout", "expected"),
    [
        pytest.param((3, 5), "{1,0:T(2,2)}", 24, id="T1"),
        pytest.param((4, 8), "{1,0:T(2,4)(2,1)}", 32, id="T2"),
        pytest.param((10, 130), "{1,0:T(8,128)(2,1)}", 4096, id="T3"),
        pytest.param((8, 1, 1280, 16384), "{3,2,0,1:T(8,128)(2,1)}", 167772160, id="T4"),
        pytest.param((32, 32, 4096), "{2,1,0:T(8,128)(2,1)S(1)}", 4194304, id="T5"),
        pytest.param((5,), "{0:T(8,128)}", 1024, id="T8"),
        pytest.param((), "{:T(256)}", 256, id="T8 scalar"),
        pytest.param((4, 130), "{1,0:T(8,128)(4,1)}", 2048, id="T8 s8"),
        pytest.param((3, 4), "{1,0:T(3,4)(2,1)}", 16, id="T8 second tile pads"),
        pytest.param((3, 5), "{1,0:T(2,2)L(1)}", 24, id="layouts.G4"),
        pytest.param((3, 5), "{1,0:T(2,2)L(16)}", 32, id="layouts.G4"),
        pytest.param((3, 5), "{1,0:T(2,2)L(128)}", 128, id="layouts.G4"),
        pytest.param((0, 5), "{1,0:T(2,2)}", 0, id="empty"),
    ],
)
def test_sizes(sizes: tuple[int, ...], layout: str, expected: int):
    assert Layout.parse(layout).buffer_elements(sizes) == expected
    if expected < 10**6:
        assert physical(np.zeros(sizes, np.int8), Layout.parse(layout)).size == expected


def test_memory_order():
    letters = np.array([list(b"abc"), list(b"def")], np.uint8)
    assert physical(letters, Layout.parse("{0,1}")).tobytes() == b"adbecf"
    assert physical(letters, Layout.parse("{1,0}")).tobytes() == b"abcdef"


def test_older_form():
    """layouts.G3"""
    letters = np.array([list(b"abc"), list(b"def")], np.uint8)
    layout = Layout((0, 1), padded_dimensions=(3, 5), padding_value="ZERO_PAD")
    assert physical(letters, layout).tobytes() == b"ad\0be\0cf\0" + bytes(6)
    assert layout.buffer_elements((2, 3)) == 15


def test_nested_tiles():
    """T2"""
    expected = [
        [0, 2, 4, 6, 8, 10, 12, 14],
        [1, 3, 5, 7, 9, 11, 13, 15],
        [16, 18, 20, 22, 24, 26, 28, 30],
        [17, 19, 21, 23, 25, 27, 29, 31],
    ]
    for index in np.ndindex(4, 8):
        assert place((4, 8), "{1,0:T(2,4)(2,1)}", index) == expected[index[0]][index[1]]


def typed(name: str, sizes: list[int], layout: str | None = None) -> Any:
    encoding = None if layout is None else LayoutAttr(Layout.parse(layout))
    return array(BY_NAME[name].type, sizes, encoding)


def bitcast(operand: np.ndarray, *types: Any) -> Any:
    """The operand, copied to the first layout, read as each further type in turn."""

    def build(x: Any) -> Any:
        value: Any = CopyOp(x, result_types=[types[0]])
        for type_ in types[1:]:
            value = BitcastOp(value, result_types=[type_])
        return value

    return evaluate(build, operand)


def test_bitcast_in_default_layout():
    operand = numbers("f32", np.arange(6).reshape(2, 3))
    same(bitcast(operand, typed("f32", [2, 3]), typed("f32", [3, 2])), operand.reshape(3, 2))
    same(
        bitcast(operand, typed("f32", [2, 3]), typed("s32", [6])),
        operand.reshape(-1).view(np.int32),
    )
    same(
        bitcast(operand, typed("f32", [2, 3]), typed("u8", [6, 4])),
        operand.reshape(-1, 1).view(np.uint8),
    )


def test_bitcast_transposes():
    """The bytes of a column-major array are those of the row-major transpose."""
    operand = numbers("f32", np.arange(6).reshape(2, 3))
    same(bitcast(operand, typed("f32", [2, 3], "{0,1}"), typed("f32", [3, 2])), operand.T)
    same(
        bitcast(operand, typed("f32", [2, 3]), typed("f32", [3, 2], "{0,1}")),
        operand.T,
    )
    cube = numbers("s16", np.arange(24).reshape(2, 3, 4))
    same(
        bitcast(cube, typed("s16", [2, 3, 4], "{1,2,0}"), typed("s16", [2, 4, 3])),
        cube.transpose(0, 2, 1),
    )


def test_bitcast_through_tiles():
    """Into a tiled buffer and back, and the buffer itself."""
    operand = numbers("s32", np.arange(1, 16).reshape(3, 5))
    tiled = typed("s32", [3, 5], "{1,0:T(2,2)}")
    flat = typed("s32", [24])
    buffer = bitcast(operand, tiled, flat)
    assert buffer.tolist() == [
        1,
        2,
        6,
        7,
        3,
        4,
        8,
        9,
        5,
        0,
        10,
        0,
        11,
        12,
        0,
        0,
        13,
        14,
        0,
        0,
        15,
        0,
        0,
        0,
    ]
    same(bitcast(buffer, flat, tiled), operand)


@pytest.mark.parametrize("name", ["f8e5m2", "f8e4m3fn", "bf16", "f16", "c64", "s64"])
def test_bitcast_between_types(name: str):
    """Every element is its bytes, lowest first."""
    operand = numbers(name, [1, 2, 3])
    size = operand.itemsize
    raw = bitcast(operand, typed(name, [3]), typed("u8", [3 * size]))
    assert raw.tobytes() == operand.tobytes()
    same(bitcast(raw, typed("u8", [3 * size]), typed(name, [3])), operand)


@pytest.mark.parametrize("name", ["pred", "s4", "f4e2m1fn"])
def test_bitcast_of_types_below_a_byte(name: str):
    operand = numbers(name, [0, 1, 0, 1])
    same(bitcast(operand, typed(name, [4]), typed(name, [2, 2])), operand.reshape(2, 2))
    same(bitcast(operand, typed(name, [4]), typed("u8", [4]), typed(name, [4])), operand)


def test_splits_have_no_order_here():
    with pytest.raises(XlaError, match="no physical order"):
        bitcast(numbers("f32", [1, 2]), typed("f32", [2], "{0:SC(0:1)}"), typed("f32", [2]))
