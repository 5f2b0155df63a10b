"""The layout of an array: spelling and rules of docs/specification/layouts.md."""

from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import value
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.utils.exceptions import ParseError, VerifyException

from xla_dialect.layout import COMBINE, Layout, LayoutAttr, LayoutError
from xla_dialect.ops import XLA
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.types import BY_NAME, array
from xla_dialect.xdsl.text import MlirParser, MlirPrinter

EVERY_FIELD = "{1,0:T(8,128)L(1024)E(32)S(3)SC(1:2)M(64)}"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        pytest.param(EVERY_FIELD, EVERY_FIELD, id="G5 every field"),
        pytest.param("{1,0:L(1)}", "{1,0}", id="G5 default tail padding"),
        pytest.param("{1,0:E(0)}", "{1,0}", id="G5 natural size"),
        pytest.param("{1,0:S(0)}", "{1,0}", id="G5 default memory"),
        pytest.param("{1,0:D(D,C)}", "{1,0}", id="G5 dimension levels"),
        pytest.param("{ 1 , 0 : T( 2 , 2 ) }", "{1,0:T(2,2)}", id="G5 blanks"),
        pytest.param("{0}", "{0}", id="one dimension"),
        pytest.param("{}", "{}", id="no dimension"),
        pytest.param("{:T(256)}", "{:T(256)}", id="scalar"),
        pytest.param("{2,1,0:T(8,128)(2,1)S(1)}", "{2,1,0:T(8,128)(2,1)S(1)}", id="tiles of tiles"),
        pytest.param("{4,3,2,1,0:T(*,*,2,*,3)}", "{4,3,2,1,0:T(*,*,2,*,3)}", id="merged"),
        pytest.param("{1,0:SC(0:1)(1:4,7)}", "{1,0:SC(0:1)(1:4,7)}", id="splits"),
        pytest.param("{0:#(u32)*(u8)}", "{0:#(u32)*(u8)}", id="sparse types parse"),
    ],
)
def test_spelling(text: str, printed: str):
    assert str(Layout.parse(text)) == printed
    assert Layout.parse(printed) == Layout.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{1,0:S(1)T(2,2)}", id="G5 order of the fields"),
        *(
            "",
            "{",
            "{1,0",
            "{1,,0}",
            "{1,0:}x",
            "{1,0} ",
            "{a}",
            "{1,0:T}",
            "{1,0:T()",
            "{1,0:T(2}",
        ),
        *(
            "{1,0:X(1)}",
            "{1,0:L()}",
            "{1,0:T(2,2)T(2,2)}",
            "{1,0:SC(1)}",
            "{1 0}",
            "{1,0:S(1)S(2)}",
        ),
        "{" + "9" * 200 + "}",
    ],
)
def test_misspelled(text: str):
    with pytest.raises(LayoutError):
        Layout.parse(text)


@pytest.mark.parametrize(
    ("rule", "layout", "sizes"),
    [
        ("C1", "{0}", (3, 5)),
        ("C1", "{1,1}", (3, 5)),
        ("C1", "{2,0}", (3, 5)),
        ("C1", "{-1,0}", (3, 5)),
        ("C1", "{0}", ()),
        ("C2", "{1,0:T(0,2)}", (3, 5)),
        ("C2", "{1,0:T(-1,2)}", (3, 5)),
        ("C2", "{1,0:T()}", (3, 5)),
        ("C2", "{1,0:T(2,*)}", (3, 5)),
        ("C2", "{1,0:T(2,2)(0)}", (3, 5)),
        ("C3", "{1,0:L(0)}", (3, 5)),
        ("C3", "{1,0:L(-4)}", (3, 5)),
        ("C5", "{1,0:S(-1)}", (3, 5)),
        ("C6", "{1,0:E(-1)}", (3, 5)),
        ("C7", "{1,0:SC(2:1)}", (3, 5)),
        ("C7", "{1,0:SC(-1:1)}", (3, 5)),
        ("C7", "{1,0:SC(0:1)(0:2)}", (3, 5)),
        ("C7", "{1,0:SC(1:2,2)}", (3, 5)),
        ("C7", "{1,0:SC(1:0)}", (3, 5)),
        ("C7", "{1,0:SC(1:5)}", (3, 5)),
        ("C8", "{1,0:#(u32)}", (3, 5)),
        ("C8", "{1,0:*(u32)}", (3, 5)),
    ],
)
def test_rules(rule: str, layout: str, sizes: tuple[int, ...]):
    parsed = Layout.parse(layout)
    with pytest.raises(LayoutError, match=rf"^\({rule}\) "):
        parsed.validate(sizes)
    copied = CopyOp(
        value(array(BY_NAME["f32"].type, sizes)),
        result_types=[array(BY_NAME["f32"].type, sizes, LayoutAttr(parsed))],
    )
    with pytest.raises(VerifyException, match=rf"^xla.copy: layout of .*\({rule}\) "):
        copied.verify()


@pytest.mark.parametrize(
    "layout",
    [
        Layout((1, 0), padded_dimensions=(3,)),
        Layout((1, 0), padded_dimensions=(3, 4)),
        Layout((1, 0), padded_dimensions=(3, 5, 1)),
        Layout((1, 0), padding_value="ZERO_PAD"),
        Layout((1, 0), tiles=((2, 2),), padded_dimensions=(4, 6)),
    ],
)
def test_rules_of_the_older_form(layout: Layout):
    with pytest.raises(LayoutError, match=r"^\(C4\) "):
        layout.validate((3, 5))


@pytest.mark.parametrize(
    ("layout", "sizes"),
    [
        ("{0:T(8,128)}", (5,)),
        ("{:T(256)}", ()),
        ("{1,0:SC(1:1,4)}", (3, 5)),
        ("{1,0:T(*,2)}", (3, 5)),
        ("{1,0:T(2,2)}", (0, 5)),
    ],
)
def test_legal(layout: str, sizes: tuple[int, ...]):
    Layout.parse(layout).validate(sizes)


def test_default():
    assert Layout.default(3) == Layout((2, 1, 0))
    assert Layout.parse("{1,0}").is_default
    assert Layout.parse("{}").is_default
    assert not Layout.parse("{0,1}").is_default
    assert not Layout.parse("{1,0:S(1)}").is_default


def parsed_type(text: str) -> Any:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(XLA)
    return MlirParser(context, text).parse_type()


def printed(type_: Any) -> str:
    output = StringIO()
    MlirPrinter(output).print_attribute(type_)
    return output.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        f"tensor<3x5xf32, #xla.layout<{EVERY_FIELD}>>",
        "tensor<f32, #xla.layout<{:T(256)}>>",
        "tensor<3x?xf32, #xla.layout<{1,0}, bounds = [?, 7]>>",
        "tensor<3x5xf32, #xla.layout<{0,1}, padded_dimensions = [4, 8], padding_value = ZERO_PAD>>",
        "tuple<tensor<2xf32, #xla.layout<{0:S(5)}>>, !xla.token>",
    ],
)
def test_as_an_encoding(text: str):
    """The attribute is written as HLO writes the layout, further facts after it."""
    type_ = parsed_type(text)
    assert printed(type_) == text
    assert parsed_type(printed(type_)) == type_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tensor<2xf32, #xla.layout<{0:S(1)T(2)}>>", "in a layout"),
        ("tensor<2xf32, #xla.layout<0>>", "expected '{' in a layout, found '0'"),
        (
            "tensor<2xf32, #xla.layout<{0}, colour = 3>>",
            "unknown or repeated layout field 'colour'",
        ),
        ("tensor<2xf32, #xla.layout<{0}, bounds = [1], bounds = [1]>>", "unknown or repeated"),
        (
            "tensor<2xf32, #xla.layout<{0}, padding_value = RED>>",
            "expected one of ZERO_PAD, ONE_PAD, LOWEST_PAD, HIGHEST_PAD, UNKNOWN_PAD; found 'RED'",
        ),
    ],
)
def test_bad_encodings(text: str, message: str):
    with pytest.raises(ParseError, match=message):
        parsed_type(text)


ENTRIES = st.integers(1, 9)
TILES = st.lists(
    st.tuples(st.lists(st.one_of(st.none(), ENTRIES), max_size=3), ENTRIES).map(
        lambda pair: (*pair[0], pair[1])
    ),
    max_size=3,
)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    rank = draw(st.integers(0, 5))
    return Layout(
        tuple(draw(st.permutations(range(rank)))),
        tuple(draw(TILES)),
        draw(st.integers(1, 2048)),
        element_size_in_bits=draw(st.integers(0, 64)),
        memory_space=draw(st.integers(0, 9)),
        dynamic_shape_metadata_prefix_bytes=draw(st.integers(0, 99)),
    )


@given(layouts())
def test_round_trip(layout: Layout):
    assert Layout.parse(str(layout)) == layout
    assert COMBINE is None
    type_ = array(BY_NAME["f32"].type, [3] * len(layout.minor_to_major), LayoutAttr(layout))
    assert parsed_type(printed(type_)) == type_
