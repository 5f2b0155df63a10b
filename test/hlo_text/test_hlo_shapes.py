"""Shapes of HLO text: the types they stand for, and what is wrong with those that are wrong."""

import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, Signedness, TensorType, TupleType, f32

from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.spelling import SpellingError
from xla_dialect.text.shapes import parse_shape, parse_type
from xla_dialect.types import ELEMENT_TYPES, BufferType, OpaqueType, TokenType, spell


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=lambda e: e.name)
def test_element_types(element):
    assert parse_shape(f"{element.name}[2,3]") == TensorType(element.type, [2, 3])


@pytest.mark.parametrize("text", ["f32[2,3]", "f32[2,3]{1,0}", "f32 [ 2 , 3 ] { 1 , 0 }"])
def test_default_layout_is_no_encoding(text: str):
    assert parse_shape(text) == TensorType(f32, [2, 3])


@pytest.mark.parametrize("text", ["f32[]", "f32[]{}", "f32[ ]"])
def test_scalars(text: str):
    assert parse_shape(text) == TensorType(f32, [])


def test_signs():
    assert parse_shape("s8[1]") == TensorType(IntegerType(8), [1])
    assert parse_shape("u8[1]") == TensorType(IntegerType(8, Signedness.UNSIGNED), [1])


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("f32[2,3]{0,1}", Layout((0, 1))),
        ("f32[2,3]{1,0:T(8,128)(2,1)S(1)}", Layout((1, 0), ((8, 128), (2, 1)), memory_space=1)),
        ("s4[2,3]{1,0:E(4)}", Layout((1, 0), element_size_in_bits=4)),
        ("f32[]{:T(256)}", Layout((), ((256,),))),
        ("f32[2,3]{1,0:T(*,4)L(16)}", Layout((1, 0), ((None, 4),), 16)),
    ],
)
def test_layouts(text: str, layout: Layout):
    type_ = parse_shape(text)
    assert isinstance(type_, TensorType)
    assert type_.encoding == LayoutAttr(layout)


def test_bounds_of_dynamic_dimensions():
    type_ = parse_shape("f32[<=3,?,4]{2,1,0}")
    assert isinstance(type_, TensorType)
    assert type_.get_shape() == (DYNAMIC_INDEX, DYNAMIC_INDEX, 4)
    assert type_.encoding == LayoutAttr(Layout((2, 1, 0), bounds=(3, None, None)))
    assert parse_shape("f32[?]") == TensorType(f32, [DYNAMIC_INDEX])


def test_types_that_are_no_arrays():
    assert parse_shape("token[]") == TokenType()
    assert parse_shape("opaque[]") == OpaqueType()
    pair = parse_type("(b(f32[2]{0}), opaque[])")
    assert pair == TupleType((BufferType(TensorType(f32, [2])), OpaqueType()))
    assert spell(pair) == "(b(f32[2]), opaque[])"


@pytest.mark.parametrize(
    "text", ["b()", "b((f32[2]))", "b(token[])", "b(opaque[])", "b(f32[2]", "b"]
)
def test_buffers_hold_arrays(text: str):
    with pytest.raises(SpellingError):
        parse_type(text)


@pytest.mark.parametrize(
    "text", ["f32[/*rows*/2,3]", "f32[2,3]/*layout*/{1,0}", "f32[2,/**/3]{1,0/*row major*/}"]
)
def test_comments(text: str):
    assert parse_type(text) == TensorType(f32, [2, 3])


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("f33[2]", 0, "unknown element type 'f33'; did you mean"),
        ("xyz[2]", 0, "unknown element type 'xyz'"),
        ("opaque[2]", 7, "opaque has no dimensions"),
        ("token[2]", 6, "token has no dimensions"),
        ("f32[-1]", 4, "expected a dimension size, found '-1'"),
        ("f32[2,]", 6, "expected a dimension size, found ''"),
        ("f32[2,a]", 6, "expected a dimension size, found 'a'"),
        ("f32[<=?]", 4, "expected a dimension size, found '<=?'"),
        ("f32[2,9223372036854775808]", 6, "dimension size 9223372036854775808 is greater than"),
        (f"f32[{'9' * 200}]", 4, "dimension size 99999999999999999999... (200 digits) is greater"),
        (f"f32[{'9' * 9000}]", 4, "dimension size 99999999999999999999... (9000 digits)"),
        ("f32[4294967296,4294967296]", 0, "array has more than 2^63 - 1 elements"),
        ("f32[<=4294967296,4294967296]", 0, "array has more than 2^63 - 1 elements"),
        ("f32[2]{0,1}", 6, "(C1) minor_to_major {0,1} is no permutation"),
        ("f32[2,2]{0,0}", 8, "(C1) minor_to_major {0,0} is no permutation"),
        ("f32[2]{0:S(1)T(2)}", 13, "expected '}' in a layout"),
        ("f32[2]{0:T(0)}", 6, "(C2) tile T(0)"),
        ("f32[2]{0:T(9223372036854775807,2)}", 6, "(Size) padding makes the buffer larger"),
        ("f32[2]{0:}}", 10, "expected nothing more"),
    ],
)
def test_errors(text: str, position: int, message: str):
    with pytest.raises(SpellingError) as caught:
        parse_shape(text)
    assert caught.value.position == position
    assert str(caught.value).startswith(message)


def test_leading_zeros():
    assert parse_shape(f"f32[{'0' * 100}2]") == TensorType(f32, [2])
