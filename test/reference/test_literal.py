"""Literals: bytes to arrays and back, for every element type."""

from typing import Any

import numpy as np
import pytest
from small_programs import numbers, same, shape
from xdsl.dialects.builtin import ArrayAttr, BytesAttr, DenseIntOrFPElementsAttr, StringAttr, f80

from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import spell_array
from xla_dialect.literals.arrays import (
    MemoryLimitError,
    bits_of,
    check_memory,
    element_type_of,
    flatten_results,
    from_numpy,
    literal_of,
    numpy_dtype,
    to_numpy,
)
from xla_dialect.types import ELEMENT_TYPES, ElementType


@pytest.mark.parametrize("row", ELEMENT_TYPES, ids=lambda row: row.name)
def test_round_trip(row: ElementType):
    dtype = numpy_dtype(row.type)
    assert element_type_of(dtype) == row.type
    assert dtype.itemsize == max(1, row.bits // 8)
    raw = np.random.default_rng(0).integers(0, 256, 6 * dtype.itemsize, dtype=np.uint8)
    array = (raw & 1).astype(bool) if row.name == "pred" else raw.view(dtype)
    array = array.reshape(2, 3)
    literal = from_numpy(array)
    assert str(literal.type) == str(shape(f"{row.name}[2,3]"))
    found = to_numpy(literal)
    same(found, array)
    assert isinstance(found, np.ndarray)
    assert not found.flags.writeable
    assert from_numpy(found) == literal


@pytest.mark.parametrize("row", ELEMENT_TYPES, ids=lambda row: row.name)
def test_values_as_xdsl_has_them(row: ElementType):
    """What xDSL reads from the literal's bytes are the numbers of the array."""
    values = {"f8e8m0fnu": [1, 2], "s1": [0, -1]}.get(row.name, [0, 1])
    literal = from_numpy(numbers(row.name, values))
    expected: Any = [(0, 0), (1, 0)] if row.name.startswith("c") else values
    if row.name == "pred":
        expected = [0, -1]
    assert list(literal.get_values()) == list(expected)


def dense(type_: str, data: bytes) -> DenseIntOrFPElementsAttr[Any]:
    return DenseIntOrFPElementsAttr(shape(type_), BytesAttr(data))


def test_pred_bytes():
    """0x00 is false; 0x01 and 0xff are both true."""
    same(to_numpy(dense("pred[3]", b"\x00\x01\xff")), numbers("pred", [0, 1, 1]))
    assert from_numpy(numbers("pred", [0, 1])).data.data == b"\x00\xff"


def test_narrow_integers_are_sign_extended():
    assert from_numpy(numbers("s4", [-8, 7])).data.data == b"\xf8\x07"
    assert from_numpy(numbers("u4", [15, 7])).data.data == b"\x0f\x07"
    same(to_numpy(dense("s4[2]", b"\xf8\x07")), numbers("s4", [-8, 7]))


def test_compact_splat():
    """One element for all: no memory is taken, whatever the shape."""
    array = to_numpy(dense("f32[1000,1000]", np.float32(2).tobytes()))
    assert isinstance(array, np.ndarray)
    assert array.shape == (1000, 1000)
    assert array.strides == (0, 0)
    assert array[999, 999] == 2


def test_empty():
    same(to_numpy(dense("f32[0,3]", b"")), np.zeros((0, 3), "f4"))
    same(to_numpy(dense("f32[0,3]", bytes(4))), np.zeros((0, 3), "f4"))


def test_views():
    """No copy is made of the bytes."""
    literal = from_numpy(np.arange(5, dtype=np.float32))
    first, second = to_numpy(literal), to_numpy(literal)
    assert isinstance(first, np.ndarray)
    assert isinstance(second, np.ndarray)
    assert np.shares_memory(first, second)


def test_tuples():
    value = (numbers("s32", 1), (), (numbers("pred", [1, 0]),))
    literal = literal_of(value)
    assert isinstance(literal, ArrayAttr)
    same(to_numpy(literal), value)
    same(flatten_results([value, numbers("s32", 3)]), (value[0], value[2][0], numbers("s32", 3)))


def test_limits():
    with pytest.raises(MemoryLimitError, match=r"f32\[2\] has 8 bytes, the limit is 7 bytes"):
        to_numpy(from_numpy(numbers("f32", [1, 2])), limit=7)
    check_memory(shape("f32[2]"), limit=8)
    with pytest.raises(MemoryLimitError):
        check_memory(shape("f32[4294967296,4294967296]"))


@pytest.mark.parametrize(
    ("convert", "message"),
    [
        (lambda: to_numpy(StringAttr("x")), "is not a literal"),
        (lambda: numpy_dtype(f80), "f80 is not an element type of XLA"),
        (lambda: element_type_of(np.dtype("U1")), "no element type of XLA has the dtype <U1"),
        (lambda: to_numpy(dense("f32[3]", bytes(8))), r"2 elements for f32\[3\]"),
        (lambda: to_numpy(dense("f32[2]", bytes(7))), r"7 bytes are no elements of f32\[2\]"),
        (
            lambda: from_numpy(numbers("f32", [1]), shape("f32[2]")),
            r"a literal of f32\[2\] from f32\[1\]",
        ),
        (
            lambda: from_numpy(numbers("f32", [1]), shape("s32[1]")),
            r"a literal of s32\[1\] from f32\[1\]",
        ),
        (lambda: literal_of(None), "a token has no literal"),
    ],
)
def test_errors(convert: Any, message: str):
    with pytest.raises(XlaError, match=message):
        convert()


def test_spelling():
    assert spell_array(numbers("bf16", [[1, 2]])) == "bf16[1,2]"
    assert spell_array(np.array("a")) == "<U1[]"


def test_bits():
    assert bits_of(numbers("s4", [-1, 7])).tolist() == [15, 7]
    assert bits_of(numbers("f32", [1.0])).tolist() == [0x3F800000]
    assert bits_of(numbers("pred", [True])).tolist() == [1]
