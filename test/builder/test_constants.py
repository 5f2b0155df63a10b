"""Constants from Python and numpy, and types as callers give them."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from built_programs import build, evaluate
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import TensorType, f64

from xla_dialect.builder import BuildError, XlaBuilder
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.mlir_text import print_mlir
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.types import ELEMENT_TYPES, TokenType, spell


def constant(*arguments: Any) -> Any:
    return evaluate(lambda b: b.constant(*arguments))


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (True, "pred[]"),
        (1, "s32[]"),
        (1.5, "f32[]"),
        (1j, "c64[]"),
        ([True, False], "pred[2]"),
        ([True, 2], "s32[2]"),
        ([[1, 2.5]], "f32[1,2]"),
        ([1, 2.5, 1j], "c64[3]"),
        ([], "f32[0]"),
        ([[], []], "f32[2,0]"),
        (np.zeros((2, 0)), "f64[2,0]"),
        (np.float64(1), "f64[]"),
        (np.arange(3, dtype=np.uint8), "u8[3]"),
        (np.zeros(3, ml_dtypes.bfloat16), "bf16[3]"),
        ((1, (2.0, ())), "(s32[], (f32[], ()))"),
        ((np.zeros(2, np.int8), [True]), "(s8[2], pred[1])"),
    ],
)
def test_types_that_nobody_gives(value: Any, type_: str) -> None:
    assert spell(XlaBuilder("c").constant(value).type) == type_


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        (1, "f64", np.float64(1)),
        (1, np.float64, np.float64(1)),
        ([1, 2], "bf16", np.array([1, 2], ml_dtypes.bfloat16)),
        ([1, 2], "f32[2]", np.array([1, 2], np.float32)),
        ([1, 2], (np.uint8, (2,)), np.array([1, 2], np.uint8)),
        ([1, 2], np.zeros(2, np.int16), np.array([1, 2], np.int16)),
        (0.1, "f32", np.float32(0.1)),
        (0.1, "f16", np.float16(0.1)),
        (2.0, "s32", np.int32(2)),
        (-0.0, "f32", np.float32(-0.0)),
        (math.inf, "f32", np.float32(np.inf)),
        (2**64 - 1, "u64", np.uint64(2**64 - 1)),
        ([-1, 2**63 - 1], "s64", np.array([-1, 2**63 - 1])),
        (-8, "s4", np.array(-8, ml_dtypes.int4)),
        (1, "pred", np.bool_(True)),
        (True, "s32", np.int32(1)),
        (1, "c64", np.complex64(1)),
        (1 + 2j, "c128", np.complex128(1 + 2j)),
        (np.float64(0.1), "f32", np.float32(0.1)),
        (np.array([1.0, 2.0]), "s8", np.array([1, 2], np.int8)),
        (np.array([1, 2], ml_dtypes.int4), "f32", np.array([1, 2], np.float32)),
        (np.array([1, 2], ml_dtypes.bfloat16), "s32", np.array([1, 2], np.int32)),
        (np.array([True]), "u8", np.array([1], np.uint8)),
        (7, "s32[2,3]", np.full((2, 3), 7, np.int32)),
        (7, "s32[2,0]", np.full((2, 0), 7, np.int32)),
        ([], "s32[0]", np.zeros(0, np.int32)),
    ],
)
def test_values(value: Any, type_: Any, expected: Any) -> None:
    found = constant(value, type_)
    np.testing.assert_array_equal(found, np.asarray(expected), strict=True)
    if found.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_a_number_fills_any_type_without_its_bytes() -> None:
    module = build(lambda b: b.constant(7, "f32[1000000,1000000]"))
    assert len(print_mlir(module)) < 1000


def test_layouts_are_kept() -> None:
    assert "#xla.layout<{0,1}>" in str(build(lambda b: b.constant([[1, 2]], "f32[1,2]{0,1}")))


@pytest.mark.parametrize(
    ("value", "type_", "message"),
    [
        (1.5, "s32", "1.5 is no s32"),
        (math.nan, "s32", "nan is no s32"),
        (math.inf, "s32", "inf is no s32"),
        (1j, "f32", "a complex number is no f32"),
        (1j, "s32", "a complex number is no s32"),
        (np.array([1j]), "f64", "a complex number is no f64"),
        (2, "pred", "2 does not fit pred"),
        (-1, "u8", "-1 does not fit u8"),
        (256, "u8", "256 does not fit u8"),
        (8, "s4", "8 does not fit s4"),
        (2**31, None, "2147483648 does not fit s32"),
        (2**64, "u64", "18446744073709551616 does not fit u64"),
        (10**400, "f64", "an integer does not fit f64"),
        (1e39, "f32", "does not fit f32"),
        (1e39, "c64", "does not fit c64"),
        (500.0, "f8e4m3fn", "500.0 does not fit f8e4m3fn"),
        (math.inf, "f8e4m3fn", "inf does not fit f8e4m3fn"),
        (math.nan, "f4e2m1fn", "nan does not fit f4e2m1fn"),
        (0.0, "f8e8m0fnu", "0.0 does not fit f8e8m0fnu"),
        ([[1], [2, 3]], None, "rectangular lists, not of list"),
        ("one", None, "not of str"),
        (None, None, "not of NoneType"),
        (np.array(["a"]), None, "dtype <U1"),
        ([1, 2], "f32[3]", r"sizes \[2\], not those of f32\[3\]"),
        (1, "f32[<=3]", r"sizes \[\], not those of f32\[<=3\]"),
        ([1, 2], "(f32[], f32[])[]", "type '.*': expected"),
        ((1,), "(f32[], f32[])", "1 elements for the tuple"),
        (1, "(f32[])", "a Python int is not a tuple"),
        (1, "token[]", r"no constants of type token\[\]"),
        (1, "f33", "type 'f33': expected a shape"),
        (1, "f33[]", "unknown element type 'f33'"),
        (1, str, "not an element type"),
        (1, np.dtype("U1"), "not an element type"),
        (1, ("f32", (-1,)), r"sizes \[-1\] are negative"),
        (1, 3, "3 is not a type"),
        (1, TensorType(TokenType(), []), "not a type of XLA"),
    ],
)
def test_errors(value: Any, type_: Any, message: str) -> None:
    with pytest.raises(BuildError, match=message) as caught:
        XlaBuilder("c").constant(value, type_)
    assert caught.value.file == __file__


def test_a_number_of_a_scalar_type_is_one_operation() -> None:
    b = XlaBuilder("scalar")
    module = b.build(b.constant(1, "f32[]"))
    assert sum(isinstance(op, ConstantOp) for op in module.walk()) == 1


def test_a_value_is_no_constant() -> None:
    b = XlaBuilder("c")
    x = b.constant(1)
    with pytest.raises(BuildError, match="a value already"):
        b.constant(x)  # pyright: ignore[reportArgumentType]
    with pytest.raises(BuildError, match="not of XlaValue"):
        b.constant([x, x])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("given", "spelled"),
    [
        ("f32[4,8]", "f32[4,8]"),
        (" ( s32[] , pred[4] ) ", "(s32[], pred[4])"),
        ("()", "()"),
        ("token[]", "token[]"),
        ("f32[<=4,2]", "f32[<=4,2]"),
        ((np.float32, (4, 8)), "f32[4,8]"),
        (("bf16", []), "bf16[]"),
        ((ml_dtypes.int4, [2]), "s4[2]"),
        (np.zeros((2, 3), np.complex64), "c64[2,3]"),
        (TensorType(f64, [2]), "f64[2]"),
        (TokenType(), "token[]"),
    ],
)
def test_types(given: Any, spelled: str) -> None:
    assert spell(XlaBuilder("t").parameter(0, given).type) == spelled


def test_every_element_type_has_constants() -> None:
    for element in ELEMENT_TYPES:
        one = XlaBuilder("t").constant(-1 if element.name == "s1" else 1, element.name)
        assert (one.element_type, one.shape) == (element.type, ())


@given(st.floats(allow_nan=False), st.sampled_from(["f16", "bf16", "f32", "f64"]))
def test_floats_are_rounded_once(value: float, name: str) -> None:
    (dtype,) = (numpy_dtype(e.type) for e in ELEMENT_TYPES if e.name == name)
    with np.errstate(over="ignore"):
        expected = np.float64(value).astype(dtype)
    if math.isfinite(value) and not np.isfinite(expected):
        with pytest.raises(BuildError, match="does not fit"):
            constant(value, name)
    else:
        np.testing.assert_array_equal(constant(value, name), np.asarray(expected), strict=True)
