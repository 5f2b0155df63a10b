"""Worked examples of convert and bitcast-convert, and all pairs of element types."""

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import evaluate, numbers, same, shape, type_of

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, ElementType

NAN, INF = np.nan, np.inf
SWEEP = [NAN, INF, -INF, 1e20, -1e20, 300.5, -300.5, -1.5, 2147483648, -0.0, 0.5, -0.5]
WIDE = [1e9, -1e9, INF, NAN, -0.0, 0.3]
ONE_NAN = [NAN, NAN, NAN, NAN, 0, 0.3125]

CONVERT: list[tuple[str, str, Any, str, Any]] = [
    ("example 1", "s32", [0, 1, 2], "f32", [0, 1, 2]),
    ("example 2", "f32", SWEEP, "s8", [0, 127, -128, 127, -128, 127, -128, -1, 127, 0, 0, 0]),
    ("example 2", "f32", SWEEP, "u8", [0, 255, 0, 255, 0, 255, 0, 0, 255, 0, 0, 0]),
    (
        "example 2",
        "f32",
        SWEEP,
        "s32",
        [0, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 300, -300, -1, 2**31 - 1, 0, 0, 0],
    ),
    (
        "example 2",
        "f32",
        SWEEP,
        "u32",
        [0, 2**32 - 1, 0, 2**32 - 1, 0, 300, 0, 0, 2**31, 0, 0, 0],
    ),
    ("example 2", "f32", SWEEP, "s4", [0, 7, -8, 7, -8, 7, -8, -1, 7, 0, 0, 0]),
    ("example 2", "f32", SWEEP, "pred", [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1]),
    ("s64", "f32", SWEEP[:5], "s64", [0, 2**63 - 1, -(2**63), 2**63 - 1, -(2**63)]),
    ("u64", "f32", SWEEP[:5], "u64", [0, 2**64 - 1, 0, 2**64 - 1, 0]),
    ("s64 limits", "f64", [2.0**63, -(2.0**63), 2.0**62], "s64", [2**63 - 1, -(2**63), 2**62]),
    ("u64 limits", "f64", [2.0**64, 2.0**63, -0.9], "u64", [2**64 - 1, 2**63, 0]),
    ("u2", "bf16", [NAN, 9, -1, 1.9], "u2", [0, 3, 0, 1]),
    ("example 3", "s32", [300, -300, 128, -129], "s8", [44, -44, -128, 127]),
    ("example 3", "s32", [300, -300, 128, -129], "u8", [44, 212, 128, 127]),
    ("example 3", "s32", [17, -1, 8], "u4", [1, 15, 8]),
    ("example 3", "s32", [17, -1, 8], "s4", [1, -1, -8]),
    ("s4 to u64", "s4", [-1, 7], "u64", [2**64 - 1, 7]),
    ("example 3", "s64", [16777217, 16777219], "f32", [16777216, 16777220]),
    (
        "example 3",
        "f32",
        [65519, 65520, 5.9604645e-8, 2.98e-8],
        "f16",
        [65504, INF, 5.9604645e-8, 0],
    ),
    (
        "example 3",
        "f32",
        [448, 464, 465, 500, INF, -1e9],
        "f8e4m3fn",
        [448, 448, NAN, NAN, NAN, NAN],
    ),
    ("example 3", "f32", [57344, 61439, 61440, 1e9, INF], "f8e5m2", [57344, 57344, INF, INF, INF]),
    ("example 3", "f32", WIDE, "f8e4m3fnuz", ONE_NAN),
    ("example 3", "f32", WIDE, "f8e5m2fnuz", ONE_NAN),
    ("example 3", "f32", WIDE, "f8e4m3b11fnuz", ONE_NAN),
    ("example 3", "f32", WIDE, "f8e4m3", [INF, -INF, INF, NAN, -0.0, 0.3125]),
    ("example 3", "f32", WIDE, "f8e3m4", [INF, -INF, INF, NAN, -0.0, 0.296875]),
    ("example 3", "f32", WIDE, "f8e8m0fnu", [1073741824, NAN, NAN, NAN, NAN, 0.25]),
    ("s1", "f32", [0.9, -0.9, 1, -1, 7, -7, NAN, -INF], "s1", [0, 0, 0, -1, 0, -1, 0, -1]),
    ("u1", "f32", [0.9, -0.9, 1, -1, 7, -7, NAN, INF], "u1", [0, 0, 1, 0, 1, 0, 0, 1]),
    ("s1 wraps", "s32", [0, 1, 2, 3, -1], "s1", [0, -1, 0, -1, -1]),
    ("u1 wraps", "s32", [0, 1, 2, 3, -1], "u1", [0, 1, 0, 1, 1]),
    ("from s1", "s1", [0, -1], "f32", [0, -1]),
    ("s1 to pred", "s1", [0, -1], "pred", [0, 1]),
    ("pred to s1", "pred", [0, 1], "s1", [0, -1]),
    (
        "f6e2m3fn",
        "f32",
        [7.5, 7.7, -9, 0.0625, INF, NAN],
        "f6e2m3fn",
        [7.5, 7.5, -7.5, 0, 7.5, -0.0],
    ),
    ("f6e3m2fn", "f32", [28, 29, -99, 0.03125, INF, NAN], "f6e3m2fn", [28, 28, -28, 0, 28, -0.0]),
    ("example 3", "f32", WIDE, "f4e2m1fn", [6, -6, 6, -0.0, -0.0, 0.5]),
    ("example 3", "f32", [1.00390625, 1.01171875], "bf16", [1, 1.015625]),
    ("example 3", "c64", [1 + 2j], "f32", [1]),
    ("example 3", "c64", [1.5 + 2j], "s32", [1]),
    ("complex to pred", "c64", [0, 1j, 1, complex(NAN, 0)], "pred", [0, 1, 1, 1]),
    ("real to complex", "f64", [1.5, INF], "c64", [1.5, complex(INF, 0)]),
    ("pred to number", "pred", [0, 1], "f8e5m2", [0, 1]),
    ("pred to s2", "pred", [0, 1], "s2", [0, 1]),
    ("once, not twice", "f64", [1 + 2**-8 + 2**-40], "bf16", [1 + 2**-7]),
    ("once, not twice", "f64", [1 + 2**-4 + 2**-40], "f8e4m3fn", [1.125]),
    ("once, not twice", "s64", [2**54 + 2**46 + 1], "bf16", [2.0**54 + 2.0**47]),
    ("once, not twice", "u64", [2**63 + 2**55 + 1], "bf16", [2.0**63 + 2.0**56]),
    ("f64 overflow", "f64", [3.5e38, -3.5e38, 3.39617753e38], "bf16", [INF, -INF, INF]),
    ("f64 to f16", "f64", [1 + 2**-11 + 2**-40], "f16", [1 + 2**-10]),
    ("s64 to f16", "s64", [2049, 2051, 65519, 65520], "f16", [2048, 2052, 65504, INF]),
]


def converted(array: np.ndarray, name: str) -> Any:
    type_ = shape(f"{name}[{','.join(map(str, array.shape))}]")
    return evaluate(lambda x: ConvertOp(x, result_types=[type_]), array)


@pytest.mark.parametrize(
    ("source", "operand", "target", "expected"),
    [case[1:] for case in CONVERT],
    ids=[f"ConvertElementType {c[0]} {c[1]} to {c[3]}" for c in CONVERT],
)
def test_convert(source: str, operand: Any, target: str, expected: Any):
    same(converted(numbers(source, operand), target), numbers(target, expected))


NAMES = [row.name for row in ELEMENT_TYPES]


@pytest.mark.parametrize("source", NAMES)
def test_convert_small_numbers(source: str):
    """0 and 1, where the type has them, mean the same in every type."""
    for target in NAMES:
        values = {0, 1}
        values -= {0} if "f8e8m0fnu" in (source, target) else set()
        values -= {1} if "s1" in (source, target) else set()
        same(converted(numbers(source, [*values]), target), numbers(target, [*values]))


FLOATS = [row.name for row in ELEMENT_TYPES if row.element_class == ElementClass.FLOAT]


def nearest(value: Fraction, name: str) -> float:
    """The value of a narrow type that is nearest to a number inside its range, ties to even."""
    dtype = numpy_dtype(BY_NAME[name].type)
    codes = np.arange(1 << BY_NAME[name].bits).astype(f"u{dtype.itemsize}")
    every = codes.view(dtype).astype(np.float64)
    finite = np.isfinite(every)
    distances = {
        (abs(Fraction(float(x)) - value), int(code) & 1, float(x))
        for x, code in zip(every[finite], codes[finite], strict=True)
    }
    return min(distances)[2]


@pytest.mark.parametrize("name", ["f8e3m4", "f8e4m3", "f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz"])
@given(st.floats(-12, 12))
def test_f64_rounds_once_to_nearest_even(name: str, value: float):
    assert float(converted(np.array(value), name)) == nearest(Fraction(value), name)


@pytest.mark.parametrize("name", ["s64", "u64"])
@given(st.data())
def test_integers_round_once(name: str, data: st.DataObject):
    info = np.iinfo(numpy_dtype(BY_NAME[name].type))
    value = data.draw(st.integers(int(info.min), int(info.max)))
    result = float(converted(np.array(value, info.dtype), "bf16"))
    step = Fraction(2) ** max(abs(value).bit_length() - 8, 0)
    assert abs(Fraction(result) - value) <= step / 2


@given(st.floats(width=32), st.sampled_from(["s2", "s4", "u4", "s8", "u16", "s32", "u32", "s64"]))
def test_float_to_integer_saturates(value: float, name: str):
    info = ml_dtypes.iinfo(numpy_dtype(BY_NAME[name].type))
    low, high = int(info.min), int(info.max)
    if np.isnan(value):
        expected = 0
    elif np.isinf(value):
        expected = high if value > 0 else low
    else:
        expected = min(max(int(value), low), high)
    assert int(converted(np.array(value, np.float32), name)) == expected


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(["s2", "u2", "s4", "u4", "s16", "u64"]))
def test_integers_wrap(value: int, name: str):
    row = BY_NAME[name]
    wrapped = value % (1 << row.bits)
    if row.element_class == ElementClass.SIGNED and wrapped >> (row.bits - 1):
        wrapped -= 1 << row.bits
    assert int(converted(np.array(value), name)) == wrapped


@pytest.mark.parametrize("name", FLOATS)
def test_widening_is_exact(name: str):
    """Every value of a narrow float is itself in f64 and comes back."""
    row = BY_NAME[name]
    if row.bits > 16:
        return
    dtype = numpy_dtype(row.type)
    every = np.arange(1 << row.bits).astype(f"u{dtype.itemsize}").view(dtype)
    wide = converted(every, "f64")
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wide, every.astype(np.float64))
    same(converted(wide, name), every)


BITCAST: list[tuple[str, np.ndarray, np.ndarray]] = [
    ("u16", numbers("f32", 1.0), numbers("u16", [0x0000, 0x3F80])),
    ("u8", numbers("f32", 1.0), numbers("u8", [0, 0, 128, 63])),
    ("s32 to s8", numbers("s32", 0x04030201), numbers("s8", [1, 2, 3, 4])),
    ("s32 to f32", numbers("s32", [0x3F800000]), numbers("f32", [1.0])),
    ("u8 to u4", numbers("u8", [0x12, 0xF4]), numbers("u4", [[2, 1], [4, 15]])),
    ("u4 to u8", numbers("u4", [[2, 1], [4, 15]]), numbers("u8", [0x12, 0xF4])),
    ("s8 to s4", numbers("s8", [18, -12]), numbers("s4", [[2, 1], [4, -1]])),
    ("f64 to bf16", numbers("f64", 1.0), numbers("bf16", [0, 0, 0, 1.875])),
    (
        "u8 to u32",
        numbers("u8", [[1, 2, 3, 4], [5, 6, 7, 8]]),
        numbers("u32", [0x04030201, 0x08070605]),
    ),
    ("s16 to s4", numbers("s16", 0x7F21), numbers("s4", [1, 2, -1, 7])),
    ("s4 to s16", numbers("s4", [1, 2, -1, 7]), numbers("s16", 0x7F21)),
    ("u4 to u2", numbers("u4", [0b1101]), numbers("u2", [[1, 3]])),
    ("u2 to u4", numbers("u2", [[1, 3]]), numbers("u4", [0b1101])),
    ("u4 to s4", numbers("u4", [15, 8]), numbers("s4", [-1, -8])),
    ("u4 to f4", numbers("u4", [7, 15]), numbers("f4e2m1fn", [6, -6])),
    ("u8 to pred", numbers("u8", [0, 1, 2, 255]), numbers("pred", [0, 1, 1, 1])),
    ("pred to u8", numbers("pred", [0, 1]), numbers("u8", [0, 1])),
    ("pred to u4", numbers("pred", [1]), numbers("u4", [[1, 0]])),
    ("u2 to pred", numbers("u2", [0, 0, 0, 1]), numbers("pred", True)),
    ("c128 to c64", numbers("c128", 0), numbers("c64", [0, 0])),
    ("empty", np.zeros((0, 2), np.uint16), np.zeros(0, np.float32)),
    ("empty to narrower", np.zeros(0, np.float32), np.zeros((0, 8), ml_dtypes.int4)),
]


@pytest.mark.parametrize(
    ("operand", "expected"),
    [case[1:] for case in BITCAST],
    ids=[f"BitcastConvertType {case[0]}" for case in BITCAST],
)
def test_bitcast_convert(operand: np.ndarray, expected: np.ndarray):
    same(bitcast(operand, expected), expected)


def bitcast(operand: np.ndarray, like: np.ndarray) -> Any:
    return evaluate(lambda x: BitcastConvertOp(x, result_types=[type_of(like)]), operand)


@pytest.mark.parametrize("old", ELEMENT_TYPES, ids=lambda row: row.name)
def test_bitcast_convert_and_back(old: ElementType):
    """To every type that is allowed: there and back gives the same bits."""
    dtype = numpy_dtype(old.type)
    is_complex = old.element_class == ElementClass.COMPLEX
    for new in ELEMENT_TYPES:
        if (new.element_class == ElementClass.COMPLEX) != is_complex:
            continue
        if ElementClass.PRED in (old.element_class, new.element_class):
            continue
        if max(new.bits, old.bits) % min(new.bits, old.bits):
            continue
        quotient = max(new.bits // old.bits, 1)
        raw = np.arange(3 * quotient * dtype.itemsize, dtype=np.uint8) * 37
        operand = raw.view(dtype).reshape((3, quotient) if quotient > 1 else (3,))
        sizes = (3, old.bits // new.bits) if old.bits > new.bits else (3,)
        there = bitcast(operand, np.zeros(sizes, numpy_dtype(new.type)))
        back = bitcast(there, operand)
        if old.bits >= 8:
            assert back.tobytes() == operand.tobytes()
        else:
            same(back, operand)
