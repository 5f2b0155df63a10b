"""Shapes: docs/specification/shapes.md and docs/specification/layouts.md, and what follows."""

import re
from typing import Any

import pytest
from layouts_by_hand import shape
from specification_tables import table

from xla_dialect.layouts.type_layouts import (
    bits_per_element,
    byte_size_of,
    human_string_with_layout,
)
from xla_dialect.shapes.size_arithmetic import is_unknown
from xla_dialect.types import (
    BY_NAME,
    ELEMENT_TYPES,
    ElementClass,
    array,
    compatible,
    element_count,
    sizes_of,
    spell,
)

CLASSES = {
    "pred": ElementClass.PRED,
    "signed integers": ElementClass.SIGNED,
    "unsigned integers": ElementClass.UNSIGNED,
    "floats": ElementClass.FLOAT,
    "complex": ElementClass.COMPLEX,
}


@pytest.mark.parametrize(("text", "rank"), table("shapes.md", "shape", "rank"))
def test_rank(text: str, rank: str):
    """S1"""
    assert len(sizes_of(shape(text))) == int(rank)


def test_sizes_by_increasing_number():
    """S4, S7"""
    assert sizes_of(shape("f32[7,8,9]{0,2,1}")) == (7, 8, 9)
    assert array(BY_NAME["f32"].type, [2, 3, 5, 7]) == shape("f32[2,3,5,7]{3,2,1,0}")


@pytest.mark.parametrize(("name", "elements"), table("shapes.md", "class", "names"))
def test_element_types(name: str, elements: str):
    """S8"""
    names = {row.name for row in ELEMENT_TYPES if row.element_class in CLASSES[name]}
    assert names == set(re.findall(r"\w+", elements))


def test_element_count():
    """S9"""
    assert element_count(sizes_of(shape("f32[]"))) == 1
    assert element_count(sizes_of(shape("f32[2,3]{1,0:T(8,128)}"))) == 6
    assert element_count(sizes_of(shape("f32[<=4,3]"))) == 12
    assert is_unknown(element_count(sizes_of(shape("f32[?]"))))


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=lambda e: e.name)
def test_bits_per_element(element: Any):
    """Whole bytes, unless the layout says otherwise."""
    assert bits_per_element(shape(f"{element.name}[3]")) == max(8, element.bits)
    assert bits_per_element(shape(f"{element.name}[3]{{0:E(4)}}")) == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            pytest.param(text, int(size), id=example)
            for example, text, *_, size in table(
                *("layouts.md", "example", "layout"),
                *("physical sizes", "elements of the buffer", "bytes"),
            )
        ),
        pytest.param("s4[3,5]{1,0:E(4)}", 8, id="packed"),
        pytest.param("s4[3,5]", 15, id="not packed"),
        pytest.param("pred[3]", 3, id="pred"),
        pytest.param("f32[10]{0:SC(0:3)}", 28, id="largest part"),
        pytest.param("f32[<=10]{0:M(1024)}", 40, id="bounded"),
        pytest.param("c128[2,2]", 64, id="complex"),
        pytest.param("f32[0,5]", 0, id="no elements"),
    ],
)
def test_byte_size(text: str, expected: int):
    assert byte_size_of(shape(text)) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("f32[2,3]", "f32[2,3]{0,1:T(2,2)S(1)}", True),
        ("f32[<=2]", "f32[2]", True),
        ("f32[2,3]", "f32[3,2]", False),
        ("f32[2]", "s32[2]", False),
        ("(f32[2], token[])", "(f32[2]{0:T(4)}, token[])", True),
        ("(f32[2])", "f32[2]", False),
        ("(f32[2])", "(f32[2], f32[2])", False),
        ("f32[]", "f32[1]", False),
    ],
    ids="S9 {}".format,
)
def test_compatible(a: str, b: str, expected: bool):
    """S9"""
    assert compatible(shape(a), shape(b)) is expected
    assert compatible(shape(b), shape(a)) is expected


@pytest.mark.parametrize(
    ("text", "plain", "with_layout"),
    [
        ("f32[]", "f32[]", "f32[]"),
        ("f32[5]", "f32[5]", "f32[5]{0}"),
        ("f32[2,3]{0,1:T(2,2)S(1)}", "f32[2,3]", "f32[2,3]{0,1:T(2,2)S(1)}"),
        ("f32[<=3,?]", "f32[<=3,?]", "f32[<=3,?]{1,0}"),
        ("f32[]{:T(256)}", "f32[]", "f32[]{:T(256)}"),
        (
            "(s4[2]{0:E(4)}, (token[]), ())",
            "(s4[2], (token[]), ())",
            "(s4[2]{0:E(4)}, (token[]), ())",
        ),
    ],
)
def test_human_strings(text: str, plain: str, with_layout: str):
    """G5, S8"""
    assert spell(shape(text)) == plain
    assert human_string_with_layout(shape(text)) == with_layout
