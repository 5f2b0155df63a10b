"""Tokens of HLO text: what they are, where they end, and that reading them takes linear time."""

from contextlib import suppress

import pytest

from xla_dialect.spelling import SpellingError
from xla_dialect.text.lexer import Lexer


def tokens(text: str) -> list[tuple[str, str]]:
    lexer = Lexer(text)
    found: list[tuple[str, str]] = []
    while lexer.kind != "end":
        found.append((lexer.kind, lexer.token))
        lexer.advance()
    return found


def test_instruction():
    assert tokens("ROOT %add.1 = f32[2,3]{1,0} add(%a, b), dimensions={0}") == [
        ("name", "ROOT"),
        ("name", "%add.1"),
        ("punctuation", "="),
        ("shape", "f32[2,3]{1,0}"),
        ("name", "add"),
        ("punctuation", "("),
        ("name", "%a"),
        ("punctuation", ","),
        ("name", "b"),
        ("punctuation", ")"),
        ("punctuation", ","),
        ("attribute", "dimensions="),
        ("punctuation", "{"),
        ("name", "0"),
        ("punctuation", "}"),
    ]


@pytest.mark.parametrize(
    "shape",
    [
        "f32[]",
        "f32[2]",
        "f32[ 2 , 3 ]",
        "f32 [2]{0}",
        "f32[2,3] {1,0}",
        "pred[<=10,?]{1,0}",
        "bf16[8,1]{1,0:T(8,128)(2,1)S(1)}",
        "f32[]{:T(256)}",
        "f32[]{}",
        "token[]",
    ],
)
def test_one_shape_is_one_token(shape: str):
    assert tokens(shape) == [("shape", shape)]


def test_brace_of_a_computation_is_no_layout():
    assert tokens("-> f32[2] {\n x") == [
        ("punctuation", "->"),
        ("shape", "f32[2]"),
        ("punctuation", "{"),
        ("name", "x"),
    ]


@pytest.mark.parametrize(
    "name", ["a", "%a", "%0", "a-b", "%bitcast_dynamic-update-slice.3", "_x", "while.6_computation"]
)
def test_one_name_is_one_token(name: str):
    assert tokens(name) == [("name", name)]


def test_name_ends_before_an_arrow():
    assert tokens("a->b") == [("name", "a"), ("punctuation", "->"), ("name", "b")]


def test_attribute_has_no_blank_before_the_equals_sign():
    assert tokens("a =b") == [("name", "a"), ("punctuation", "="), ("name", "b")]
    assert tokens("a=b") == [("attribute", "a="), ("name", "b")]


def test_comments_are_blanks():
    assert tokens('a /* b } " */ c // d\n e/*index=5*/f') == [
        ("name", "a"),
        ("name", "c"),
        ("name", "e"),
        ("name", "f"),
    ]


@pytest.mark.parametrize(
    ("value", "rest"),
    [
        ("{0,1}", ", a"),
        ("bf01_oi01->bf01", ","),
        ("[2,2]<=[2,2]T(1,0)", "}"),
        ('{op_name="a } \\" b" source_line=3}', " x"),
        ("%region_0.1", "\n"),
        ('{"a":{"b":["}"]}}', ","),
        ("{a /* } */ b}", ")"),
        ("0_1x-1_0", "//"),
        ("mesh['a'=2,'b'=2] {'a'}", ", a"),
        ("mesh['a'=2], device_ids=([2]T(0)) {'a'}", "\n"),
        ("mesh['a'=2]", ", a={b}"),
    ],
)
def test_value_is_taken_whole(value: str, rest: str):
    text = f"name= {value}{rest}"
    start, end = Lexer(text).value()
    assert text[start:end] == value


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ('name={"a', 7, "string is never closed"),
        ('name="a', 6, "string is never closed"),
        ("name={a /* b", 9, "comment is never closed"),
        ("name={(a}", 9, "expected ')', found '}'"),
        ("name={(a)", 6, "'{' is never closed"),
        ("name=", 6, "attribute 'name' has no value"),
        ("name= , b", 7, "attribute 'name' has no value"),
    ],
)
def test_value_that_does_not_end(text: str, column: int, message: str):
    lexer = Lexer(text)
    with pytest.raises(SpellingError) as caught:
        lexer.value()
    assert (caught.value.position + 1, caught.value.message) == (column, message)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a \x00", 3, "unexpected character '\\x00'"),
        ("a é", 3, "unexpected character 'é'"),
        ("/* a", 1, "comment is never closed"),
        ('"a', 1, "string is never closed"),
    ],
)
def test_what_is_no_token(text: str, column: int, message: str):
    with pytest.raises(SpellingError) as caught:
        tokens(text)
    assert (caught.value.position + 1, caught.value.message) == (column, message)


# Each would take hours with a quadratic lexer.
@pytest.mark.parametrize(
    "text",
    [
        "f32[" * 150_000,
        "f32[1]{0:" * 100_000,
        "a-" * 250_000,
        "f32[" + "1," * 250_000,
        " \n" * 250_000,
        "/**/" * 250_000,
        "//\n" * 150_000,
        '""' * 200_000,
    ],
)
def test_linear_time(text: str):
    with suppress(SpellingError):
        tokens(text)


@pytest.mark.parametrize(
    "text",
    ["{" * 250_000, '{"a"' * 100_000, "{/**/" * 100_000, "{/ " * 150_000, "{" + "/* " * 150_000],
)
def test_groups_in_linear_time(text: str):
    lexer = Lexer(f"name={text}")
    with pytest.raises(SpellingError, match=r"(string|comment|'\{') is never closed"):
        lexer.value()
