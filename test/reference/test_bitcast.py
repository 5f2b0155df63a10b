"""Bitcast: the bytes in the order of one layout, read in the order of another."""

from typing import Any

import numpy as np
import pytest
from small_programs import evaluate, numbers, same

from xla_dialect.diagnostics import XlaError
from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.ops.data_movement import BitcastOp, CopyOp
from xla_dialect.types import BY_NAME, array


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
        bitcast(numbers("f32", [1, 2]), typed("f32", [2], "{0:SC(0:1)}"), typed("f32", [1]))


def test_bitcast_of_packed_elements():
    """Two elements share a byte, the first in its lower half."""
    operand = numbers("s4", [1, -2, 7])
    packed = bitcast(operand, typed("s4", [3], "{0:E(4)}"), typed("u8", [2]))
    assert packed.tolist() == [0xE1, 0x07]
    same(bitcast(packed, typed("u8", [2]), typed("s4", [3], "{0:E(4)}")), operand)
