"""Literals of HLO text: the bytes they stand for, and what is wrong with those that are wrong."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, TupleType

from xla_dialect.spelling import SpellingError
from xla_dialect.text.lexer import without_comments
from xla_dialect.text.literals import parse_literal
from xla_dialect.text.shapes import parse_shape

INF, NAN = float("inf"), float("nan")


def type_of(shape: str) -> Any:
    return parse_shape(shape)


def bytes_of(shape: str, text: str) -> bytes:
    type_ = parse_shape(shape)
    literal = parse_literal(without_comments(text), type_)
    assert isinstance(literal, DenseIntOrFPElementsAttr)
    assert literal.type is type_
    return literal.data.data


@pytest.mark.parametrize(
    ("shape", "text", "dtype", "values"),
    [
        ("f32[]", "1.5", np.float32, 1.5),
        ("f32[]", " -0 ", np.float32, -0.0),
        ("f32[3]", "{1, -2.5e-3, .5}", np.float32, [1, -2.5e-3, 0.5]),
        ("f32[3]", "{inf,-inf,nan}", np.float32, [INF, -INF, NAN]),
        ("f32[2]", "{3e-39, 1e-60}", np.float32, [3e-39, 0]),
        ("f32[]", "3.40282347e+38", np.float32, np.finfo(np.float32).max),
        ("f64[2]", "{1e308, 5e-324}", np.float64, [1e308, 5e-324]),
        ("f16[2]", "{65504, 6e-8}", np.float16, [65504, 6e-8]),
        ("bf16[2]", "{3.390625, -inf}", ml_dtypes.bfloat16, [3.390625, -INF]),
        ("f8e4m3fn[3]", "{448, nan, 0.015625}", ml_dtypes.float8_e4m3fn, [448, NAN, 0.015625]),
        ("f8e5m2[2]", "{-inf, 1.75}", ml_dtypes.float8_e5m2, [-INF, 1.75]),
        ("f8e4m3[2]", "{inf, 240}", ml_dtypes.float8_e4m3, [INF, 240]),
        ("f8e4m3fnuz[1]", "{240}", ml_dtypes.float8_e4m3fnuz, [240]),
        ("f8e5m2fnuz[1]", "{57344}", ml_dtypes.float8_e5m2fnuz, [57344]),
        ("f8e4m3b11fnuz[1]", "{30}", ml_dtypes.float8_e4m3b11fnuz, [30]),
        ("f8e3m4[1]", "{15.5}", ml_dtypes.float8_e3m4, [15.5]),
        ("f8e8m0fnu[2]", "{1, 0.5}", ml_dtypes.float8_e8m0fnu, [1, 0.5]),
        ("f4e2m1fn[3]", "{6, -6, 0.5}", ml_dtypes.float4_e2m1fn, [6, -6, 0.5]),
        ("s8[2]", "{-128, 127}", np.int8, [-128, 127]),
        ("s4[3]", "{-8, 7, -1}", np.int8, [-8, 7, -1]),
        ("s2[2]", "{-2, 1}", np.int8, [-2, 1]),
        ("u4[2]", "{0, 15}", np.uint8, [0, 15]),
        ("s64[2]", "{-9223372036854775808, 9223372036854775807}", np.int64, [-(2**63), 2**63 - 1]),
        ("u64[1]", "{18446744073709551615}", np.uint64, [2**64 - 1]),
        ("c64[2]", "{(1, -0), (nan, -inf)}", np.float32, [1, -0.0, NAN, -INF]),
        ("c128[]", "(1.5,2)", np.float64, [1.5, 2]),
        ("s32[2,3]", "{ {1, 2, 3}, {4, 5, 6} }", np.int32, [1, 2, 3, 4, 5, 6]),
        ("s32[2,3]{0,1}", "{ {1, 2, 3}, {4, 5, 6} }", np.int32, [1, 2, 3, 4, 5, 6]),
        ("s32[1,1,2]", "{ { /*i0=0*/ { /*i1=0 {,(*/ 1, 2 } } }", np.int32, [1, 2]),
        ("s32[2]", "{1, // one, }\n 2}", np.int32, [1, 2]),
        ("f32[0]", "{}", np.float32, []),
        ("f32[2,0]", "{ {}, {} }", np.float32, []),
        ("f32[0,2]", "{ }", np.float32, []),
        ("f32[0,1000000000000]", "{}", np.float32, []),
        ("c64[2,0,9]", "{{},{}}", np.float32, []),
    ],
)
def test_values(shape: str, text: str, dtype: type, values: object):
    with np.errstate(under="ignore"):
        assert bytes_of(shape, text) == np.array(values, dtype).tobytes()


@pytest.mark.parametrize("text", ["{true, false, true}", "{1,0,1}", "{true,0, 1}"])
def test_pred_is_held_as_xdsl_holds_i1(text: str):
    type_ = type_of("pred[3]")
    literal = parse_literal(without_comments(text), type_)
    assert literal == DenseIntOrFPElementsAttr.from_list(type_, [1, 0, 1])


@pytest.mark.parametrize(
    ("shape", "text", "bits"),
    [
        ("f32[]", "nan", 0x7FC00000),
        ("f32[]", "-nan", 0xFFC00000),
        ("f32[]", "nan(0x7)", 0x7F800007),
        ("f32[]", "-nan(0x400001)", 0xFFC00001),
        ("f64[]", "nan(0x1)", 0x7FF0000000000001),
        ("bf16[]", "nan(0x3)", 0x7F83),
        ("f16[]", "-nan", 0xFE00),
        ("f8e5m2[]", "nan(0x1)", 0x7D),
    ],
)
def test_bits_of_nan(shape: str, text: str, bits: int):
    assert int.from_bytes(bytes_of(shape, text), "little") == bits


def test_payload_inside_a_complex_number():
    data = bytes_of("c64[1]", "{(nan(0x1), 2)}")
    assert data == (0x7F800001).to_bytes(4, "little") + np.float32(2).tobytes()


def test_tuple():
    literal = parse_literal("( {1, 2}, ((3, 4), 5), () )", tuple_of_tuples())
    assert isinstance(literal, ArrayAttr)
    pair, inner, empty = literal.data
    assert pair == parse_literal("{1,2}", parse_shape("s32[2]"))
    assert inner == ArrayAttr(
        [parse_literal("(3,4)", parse_shape("c64[]")), parse_literal("5", parse_shape("f32[]"))]
    )
    assert empty == ArrayAttr([])


def tuple_of_tuples():
    inner = TupleType((type_of("c64[]"), type_of("f32[]")))
    return TupleType((type_of("s32[2]"), inner, TupleType(())))


@pytest.mark.parametrize(
    ("shape", "text", "position", "message"),
    [
        ("f32[]", "", 0, "expected a literal of type f32[]"),
        ("f32[]", "abc", 0, "'abc' is no value of f32"),
        ("f32[]", "1 2", 2, "expected the end of the literal, found '2'"),
        ("f32[]", "{1}", 0, "braces are nested deeper than the 0 dimensions of f32[]"),
        ("f32[]", "1_0", 0, "'1_0' is no value of f32"),
        ("f32[]", "infinity", 0, "'infinity' is no value of f32"),
        ("f32[]", "1e40", 0, "'1e40' is out of range for f32"),
        ("f64[]", "1e309", 0, "'1e309' is out of range for f64"),
        ("f16[]", "65520", 0, "'65520' is out of range for f16"),
        ("f32[]", "nan(0x0)", 0, "'nan(0x0)' is out of range for f32"),
        ("f32[]", "nan(0x800000)", 0, "'nan(0x800000)' is out of range for f32"),
        ("f8e4m3fn[]", "500", 0, "'500' is out of range for f8e4m3fn"),
        ("f8e4m3fn[]", "inf", 0, "'inf' is out of range for f8e4m3fn"),
        ("f8e4m3fn[]", "nan(0x1)", 0, "'nan(0x1)' is no value of f8e4m3fn"),
        ("f4e2m1fn[2]", "{6, 100}", 4, "'100' is out of range for f4e2m1fn"),
        ("s32[]", "1.0", 0, "'1.0' is no value of s32"),
        ("s8[]", "128", 0, "'128' is out of range for s8"),
        ("s4[]", "-9", 0, "'-9' is out of range for s4"),
        ("u8[1]", "{-1}", 1, "'-1' is out of range for u8"),
        ("u64[]", "18446744073709551616", 0, "'18446744073709551616' is out of range for u64"),
        ("pred[]", "2", 0, "'2' is no value of pred"),
        ("c64[1]", "{1}", 1, "'1' is no value of c64"),
        ("c64[1]", "{(1,2,3)}", 1, "'(1,2,3)' is no value of c64"),
        ("c64[1]", "{(1,)}", 1, "'(1,)' is no value of c64"),
        ("f32[2]", "{1}", 2, "dimension 0 of f32[2] has 2 elements, the literal has 1"),
        ("f32[2]", "{1,2,3}", 6, "dimension 0 of f32[2] has 2 elements, the literal has 3"),
        ("f32[2]", "{1,,2}", 3, "unexpected ','"),
        ("f32[2]", "{1,2,}", 5, "unexpected '}'"),
        ("f32[2]", "{1 2}", 3, "expected ',', found '2'"),
        ("f32[2]", "3{1,2}", 0, "expected '{' for dimension 0 of f32[2], found '3'"),
        ("f32[2]", "{1,2} 3", 6, "expected the end of the literal, found '3'"),
        ("f32[2,2]", "{1,2,3,4}", 1, "expected '{' for dimension 1 of f32[2,2], found '1'"),
        ("f32[1,2]", "{{1,x}}", 4, "'x' is no value of f32"),
        ("f32[0]", "{ 5 }", 4, "dimension 0 of f32[0] has 0 elements, the literal has 1"),
        ("f32[1000000000000]", "{1}", 2, "dimension 0 of f32[1000000000000] has 1000000000000"),
        ("f32[9,0,1000000000000]", "{}", 1, "dimension 0 of f32[9,0,1000000000000] has 9 elements"),
        ("f32[2,2]", "{{...}, {1,2}}", 2, "'...' stands for all elements of an array"),
        # Of other arrays it would be the first element.
        ("c64[2]", "1", 0, "expected '{' for dimension 0 of c64[2], found '1'"),
        ("c64[2]", "(1,2)", 0, "expected '{' for dimension 0 of c64[2], found '(1,2)'"),
        ("f32[?]", "{1,2}", 0, "f32[?] has a dynamic dimension: no literal says its size"),
        ("token[]", "1", 0, "no literal has the type token[]"),
    ],
)
def test_errors(shape: str, text: str, position: int, message: str):
    with pytest.raises(SpellingError) as caught:
        parse_literal(text, parse_shape(shape))
    assert caught.value.position == position
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("({1,2}, ((3,4), 5))", 0, "tuple literal has 2 elements, its type "),
        ("{1,2}", 0, "expected a tuple literal in parentheses"),
        ("({1,2}, ((3,4), x), ())", 16, "'x' is no value of f32"),
        ("({1,2}, ((3,4), 5), ()) (1)", 24, "expected nothing after a tuple literal"),
        ("({1,2}, , ())", 8, "expected a tuple literal in parentheses"),
    ],
)
def test_errors_in_tuples(text: str, position: int, message: str):
    with pytest.raises(SpellingError) as caught:
        parse_literal(text, tuple_of_tuples())
    assert caught.value.position == position
    assert str(caught.value).startswith(message)


def test_large_constant():
    values = np.random.default_rng(0).standard_normal((200, 1000)).astype(np.float32)
    rows = ", ".join(f"{{ {', '.join(map(repr, row))} }}" for row in values.tolist())
    assert bytes_of("f32[200,1000]", f"{{ {rows} }}") == values.tobytes()
